// A panel of HTML that the server made (everything in it is escaped there); its buttons apply a fix, lead to the field
// in the form, or copy the code above them.

import { around, part } from "./dom.js";
import { Folds } from "./folds.js";
import { words } from "./texts.js";

/** @import { Props, Trigger, Watch } from "./types.d.ts" */

const COPIED_MS = 1500;

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  const root = part(element, ".ds-findings-root");
  const folds = new Folds(root);
  root.addEventListener("click", (event) => {
    const fix = around(event, "[data-fix]")?.dataset;
    const where = around(event, "[data-goto]")?.dataset.goto;
    const copy = around(event, "[data-copy]");
    if (fix) trigger("fix", { rule: fix.rule, pointer: fix.pointer, fix: fix.fix });
    if (where !== undefined) window.dispatchEvent(new CustomEvent("dsgui:goto", { detail: where }));
    if (copy) copyAbove(copy);
  });
  const show = () => {
    // eslint-disable-next-line no-restricted-properties -- the one place where markup is taken: the server's, escaped
    if (typeof props.value === "string") folds.keep(() => (root.innerHTML = String(props.value)));
  };
  watch("value", show);
  show();
}

/** @param {HTMLElement} button */
async function copyAbove(button) {
  await navigator.clipboard.writeText(button.previousElementSibling?.textContent ?? "");
  button.textContent = words("tools_page", "copied");
  setTimeout(() => {
    button.textContent = words("tools_page", "copy");
  }, COPIED_MS);
}
