// The fields that stand in the way of a launch say so themselves: what the checks say of one, below it.

import { el } from "../common/dom.js";

/** @param {HTMLElement} checks the list, whose entries name the field that they are about */
export function markFields(checks) {
  for (const said of document.querySelectorAll(".ds-refused")) unmark(said);
  for (const one of checks.querySelectorAll("[data-field]")) {
    const { field = "", says = "" } = /** @type {HTMLElement} */ (one).dataset;
    const around = document.getElementById(field);
    const input = around?.querySelector("input, textarea");
    if (!around || !input) continue;
    around.append(el("p", { class: "ds-refused", id: `${field}-refused` }, says));
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", `${field}-refused`);
  }
}

/** @param {Element} said */
function unmark(said) {
  const input = said.parentElement?.querySelector("[aria-invalid]");
  input?.removeAttribute("aria-invalid");
  input?.removeAttribute("aria-describedby");
  said.remove();
}
