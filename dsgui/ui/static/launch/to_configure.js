// What the checks before a start say of the config leads to its field on 1 · Configure, or to the presets; the foot of
// 2 · Launch leads up to the checks.

import { around } from "../common/dom.js";

/** @import { Trigger } from "../types.d.ts" */

const TO_FOUND = ':is(#launch-verdict, #preflight) :is(a[href="#findings"], [data-goto])';
const TO_ANOTHER = ':is(#launch-verdict, #preflight) a:is([href="#preset"], [href="#memory-model"], [href="#memory"])';
const TO_DEVICE = '#plan-differs a[href="#device"]';
const OF_MEMORY = '#preflight :is([data-check="model_memory"], [data-of="model_memory"])';
const TO_CHECKS = ':is(#to-checks, #launch-verdict) a[href="#preflight"]';
const TO_STOPPING = '#launch-verdict a[href="#stops"]';
const PHONE = "(max-width: 820px)"; // where the findings are far above the form
const LONGEST_MS = 8000;

/** A link leads to the page and the place there. @param {MouseEvent} event */
export function toConfigure(event) {
  const down = around(event, TO_CHECKS);
  if (down) {
    event.preventDefault();
    const why = down.closest("#launch-verdict") && document.querySelector(OF_MEMORY);
    why?.closest("details")?.setAttribute("open", ""); // what is no problem is among all of them
    focusOn("preflight", "start");
    why?.scrollIntoView({ block: "center" });
  }
  if (around(event, TO_STOPPING)) {
    event.preventDefault();
    focusOn("preflight", "start");
  }
  const link = around(event, `${TO_FOUND}, ${TO_ANOTHER}, ${TO_DEVICE}`);
  if (!link) return;
  event.preventDefault();
  const checked = checkedFor();
  /** @type {HTMLElement | null} */ (document.querySelector("#pages [role=tab]"))?.click();
  const another = link.matches(`${TO_ANOTHER}, ${TO_DEVICE}`) && link.getAttribute("href")?.slice(1);
  if (another === "device") requestAnimationFrame(toDevice);
  else if (another) requestAnimationFrame(() => focusOn(another));
  else if (readsAnother(document)) onceAnew(checked, () => showFound(link.dataset.goto));
  else requestAnimationFrame(() => showFound(link.dataset.goto));
}

/**
 * The buttons and links of the checks that ask the server: 1 · Configure is set to the framework that they checked for.
 * `isSecondTap` of two taps: what one offers is another thing by then.
 * @param {HTMLElement} checks @param {Trigger} trigger @param {(event: MouseEvent) => boolean} isSecondTap
 */
export function askOfChecks(checks, trigger, isSecondTap) {
  checks.addEventListener("click", (event) => {
    const offer = around(event, "[data-offer]")?.dataset.offer;
    if (offer && !isSecondTap(event)) trigger("offer", { at: offer });
    if (around(event, "[data-convert]")) trigger("convert", {});
  });
  document.addEventListener("click", (event) => {
    const reads = around(event, TO_FOUND) && readsAnother(checks);
    if (reads) trigger("show", { reads });
  });
}

/** The framework that was checked for, where 1 · Configure is set to another. @param {ParentNode} checks */
const readsAnother = (checks) =>
  /** @type {HTMLElement | null} */ (checks.querySelector(".ds-preflight[data-reads]"))?.dataset.reads;

const checkedFor = () => document.querySelector("#findings .ds-subject")?.textContent ?? "";

/**
 * Once the findings are for something else than `before`, or that takes too long.
 * @param {string} before @param {() => void} then
 */
function onceAnew(before, then) {
  const findings = document.getElementById("findings");
  if (!findings) return;
  const over = () => {
    watching.disconnect();
    clearTimeout(waited);
    then();
  };
  const watching = new MutationObserver(() => checkedFor() !== before && over());
  const waited = setTimeout(over, LONGEST_MS);
  watching.observe(findings, { childList: true, subtree: true, characterData: true });
}

/** This field, else the first that has an error; the findings where none has. @param {string} [pointer] */
function showFound(pointer) {
  const errors = "#findings .ds-error [data-goto]";
  const button = /** @type {HTMLElement | null} */ (
    pointer ? document.querySelector(`#findings [data-goto="${CSS.escape(pointer)}"]`) : document.querySelector(errors)
  );
  const field = pointer ?? button?.dataset.goto;
  if (field === undefined) focusOn("findings");
  else if (button && matchMedia(PHONE).matches) {
    button.scrollIntoView({ block: "center" });
    button.focus({ preventScroll: true });
  } else {
    window.dispatchEvent(new CustomEvent("dsgui:goto", { detail: field }));
    button?.scrollIntoView({ block: "nearest" });
  }
}

/** What is planned for is behind a line on a phone. */
function toDevice() {
  const fold = document.querySelector('#context-fold[aria-expanded="false"]');
  if (fold instanceof HTMLElement && fold.checkVisibility()) fold.click();
  requestAnimationFrame(() => focusOn("device"));
}

/** @param {string} id @param {ScrollLogicalPosition} [block] */
function focusOn(id, block = "center") {
  const place = document.getElementById(id);
  if (!place) return;
  place.tabIndex = -1;
  place.focus({ preventScroll: true });
  place.scrollIntoView({ block });
}
