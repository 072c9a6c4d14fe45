// What a field is for is told in its first sentence, whole; a button at its end shows the rest, and so does a press on
// the line.

import { around, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

/** @import { Field } from "../types.d.ts" */

const ROW = ".ds-helped";
/** What ends a sentence, but for the dot of an abbreviation. */
const END = /(?<!\b(?:e\.g|i\.e|etc|vs|approx))[.!?]["”)]?(?=\s)|[。！？]”?/;

/** The first sentence of a text and what comes after it, "" where that is all. @param {string} text */
export function sentences(text) {
  const end = END.exec(text);
  const at = end ? end.index + end[0].length : text.length;
  return [text.slice(0, at), text.slice(at)];
}

/** @param {Field} field @param {string} id of its control */
export function helpOf({ key, help = "" }, id) {
  const attributes = { type: "button", class: "ds-help-more", "aria-expanded": "false", "aria-controls": `${id}-help` };
  const press = el("button", { ...attributes, "aria-label": words("form_page", "help_of", { key }) });
  const text = el("p", { class: "ds-help", id: `${id}-help` }, ...inSentences(help));
  return sentences(help)[1] ? el("div", { class: "ds-helped ds-long" }, text, press) : text;
}

/** The first sentence, to be seen, and the rest, to be heard. @param {string} text
 * @param {(text: string) => (string | Node)[]} [nodes] what a part of it becomes */
export function inSentences(text, nodes = (part) => [part]) {
  const [first, rest] = sentences(text);
  return rest ? [...nodes(first), el("span", { class: "ds-rest" }, ...nodes(rest))] : nodes(first);
}

/** @param {HTMLElement} panels */
export function foldHelp(panels) {
  panels.addEventListener("click", (event) => {
    const row = around(event, ROW);
    if (!row || row.closest(".ds-brief")) return;
    // Who selects a part of it has not pressed it.
    if (!around(event, "button") && String(getSelection())) return;
    const open = row.toggleAttribute("data-open");
    row.querySelector("button")?.setAttribute("aria-expanded", String(open));
  });
}
