// A panel of HTML that the server made (everything in it is escaped there); its buttons apply a fix, lead to the field
// in the form, press another button, or copy the code above them.

import { copyText } from "../common/copying.js";
import { around, part } from "../common/dom.js";
import { Folds } from "../common/folds.js";
import { goToPlace } from "./gutter.js";
import { hideWithoutRoom, keeping } from "./before.js";
import { offerToRepair, watchTexts } from "./editor.js";
import { markFields } from "../launch/marked_fields.js";
import { askOfChecks } from "../launch/to_configure.js";
import { shortened } from "./shortened.js";
import { holdWhatIsTypedIn } from "./steady.js";
import { onWayOut, placed, showWayOut } from "./way_out.js";

/** @import { Props, Trigger, Watch } from "../types.d.ts" */

/** Line and column. @param {string} text @returns {[number, number]} */
function readPlace(text) {
  const [line, column] = text.split(":").map(Number);
  return [line, column];
}

/** Says in a button that it was pressed, until what is shown is drawn anew or nobody answered.
 * @param {HTMLElement} button */
function wait(button) {
  const says = button.textContent;
  button.textContent = button.dataset.meanwhile ?? says;
  button.setAttribute("aria-disabled", "true"); // it keeps the focus
  const again = () => {
    button.textContent = says;
    button.removeAttribute("aria-disabled");
  };
  window.addEventListener("dsgui:not-answered", again, { once: true });
}

const [TAPS_MS, TAPS_PX] = [500, 16];
let tapped = { x: NaN, y: NaN };
let movedAt = -Infinity;

/**
 * Of a double tap the second one meets whatever moved up to the finger: the next finding's fix.
 * @param {MouseEvent} event
 */
function isSecondTap(event) {
  const { timeStamp: at, clientX: x, clientY: y } = event;
  if (!(event instanceof PointerEvent) || event.pointerType !== "touch") return false;
  const near = Math.abs(x - tapped.x) <= TAPS_PX && Math.abs(y - tapped.y) <= TAPS_PX;
  tapped = { x, y };
  return near && at - movedAt < TAPS_MS;
}

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  const root = part(element, ".ds-findings-root");
  const folds = new Folds(root);
  const checks = root.closest("#preflight");
  root.addEventListener("click", (event) => {
    const fix = around(event, "[data-fix]")?.dataset;
    const where = around(event, "[data-goto]")?.dataset.goto;
    const place = around(event, "[data-place]")?.dataset.place;
    const copy = around(event, "[data-copy]");
    if (fix && !isSecondTap(event)) trigger("fix", { rule: fix.rule, pointer: fix.pointer, fix: fix.fix });
    if (where !== undefined && !checks) window.dispatchEvent(new CustomEvent("dsgui:goto", { detail: where }));
    if (place) goToPlace(...readPlace(place));
    const press = around(event, "[data-press]:not([aria-disabled])");
    if (press?.dataset.press) document.getElementById(press.dataset.press)?.click();
    if (press?.dataset.meanwhile) wait(press);
    if (copy) copyText(copy, copy.previousElementSibling);
  });
  const isOfConfig = root.closest("#findings") !== null;
  const shorten = isOfConfig ? shortened(root) : () => {};
  const keep = isOfConfig ? keeping(root) : (/** @type {() => void} */ draw) => draw();
  if (isOfConfig) [holdWhatIsTypedIn, watchTexts].forEach((begin) => begin());
  const show = () => {
    const had = root.contains(document.activeElement);
    const [press, offer] = ["data-press", "data-offer"].map((one) => had && document.activeElement?.getAttribute(one));
    // eslint-disable-next-line no-restricted-properties -- the one place where markup is taken: the server's, escaped
    const draw = () => folds.keep(() => (root.innerHTML = String(props.value)));
    if (typeof props.value === "string") keep(draw);
    movedAt = performance.now();
    showWayOut(root);
    if (!checks) placed();
    if (isOfConfig) offerToRepair(root);
    shorten();
    if (isOfConfig) hideWithoutRoom(root);
    if (checks) markFields(root);
    const sought = press ? `[data-press="${press}"]` : offer && "[data-offer]"; // the next one that is offered
    const again = sought && root.querySelector(sought);
    if (again instanceof HTMLElement && again.checkVisibility()) again.focus({ preventScroll: true });
    if (checks && had && !root.contains(document.activeElement)) {
      root.tabIndex = -1; // what was pressed is gone: the next Tab goes on from here
      root.focus({ preventScroll: true });
    }
  };
  if (checks) askOfChecks(root, trigger, isSecondTap);
  onWayOut(() => showWayOut(root));
  watch("value", show);
  show();
}
