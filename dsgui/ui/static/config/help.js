// What a field is for takes one line; where that is not all of it, a button beside it shows the rest, and so does a
// press on the line.

import { around, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

/** @import { Field } from "../types.d.ts" */

const ROW = ".ds-helped";

/** @param {Field} field @param {string} id of its control */
export function helpOf({ key, help = "" }, id) {
  const attributes = { type: "button", class: "ds-help-more", "aria-expanded": "false", "aria-controls": `${id}-help` };
  const press = el("button", { ...attributes, "aria-label": words("form_page", "help_of", { key }) });
  return el("div", { class: "ds-helped" }, el("p", { class: "ds-help", id: `${id}-help` }, help), press);
}

/** Which of them are longer than their line follows from the width. @param {HTMLElement} panels */
export function foldHelp(panels) {
  panels.addEventListener("click", (event) => {
    const row = around(event, ROW);
    if (!row?.matches(".ds-long") || row.closest(".ds-brief")) return;
    // Who selects a part of it has not pressed it.
    if (!around(event, "button") && String(getSelection())) return;
    const open = row.toggleAttribute("data-open");
    row.querySelector("button")?.setAttribute("aria-expanded", String(open));
  });
  const measured = () => measure(panels);
  new ResizeObserver(measured).observe(panels);
  return measured;
}

/** Reads all before it writes any. @param {HTMLElement} panels */
function measure(panels) {
  const closed = [...panels.querySelectorAll(`${ROW}:not([data-open])`)].filter((one) => one.checkVisibility());
  const long = closed.map(({ firstElementChild: text }) => text && text.scrollWidth > text.clientWidth);
  closed.forEach((row, place) => row.classList.toggle("ds-long", Boolean(long[place])));
}
