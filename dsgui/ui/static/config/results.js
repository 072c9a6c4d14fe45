// What a search finds, as a list: a line a field, with what it holds. A press opens one where it stands; the arrows go
// from one to the next, Enter opens it, Escape leads back to the search.

import { around, el } from "../common/dom.js";
import { defaultText, isExactly, labelOf } from "./fields.js";
import { words } from "../texts/texts.js";

/** @import { Field } from "../types.d.ts" */

const FEW = 3; // stand open: nothing is saved by closing them
/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1 };
const BUTTON = ".ds-result";

/** The fields that stand open when a search begins: few, or that which is called just so. @param {Field[]} found
 * @param {string[]} asked */
export function openOf(found, asked) {
  const open = found.length <= FEW ? found : found.filter((field) => isExactly(field, asked));
  return new Set(open.map(({ pointer }) => pointer));
}

/** What a field holds, or what holds without it. @param {Field} field @param {string} text
 * @param {string | undefined} fallback */
export function heldOf(field, text, fallback) {
  if (text !== "") return labelOf(field, text).replace(/\s+/g, " ");
  return defaultText(field, fallback) || words("form_page", "not_set");
}

/** What opens a row and closes it, and what the field holds. @param {Field} field @param {string} id */
export const resultParts = (field, id) => [
  el("button", {
    type: "button",
    class: "ds-result",
    "data-open": field.pointer,
    "aria-expanded": "false",
    "aria-labelledby": `${id}-name ${id}-held`,
  }),
  el("span", { class: "ds-held", id: `${id}-held` }),
];

/** @param {HTMLElement} row @param {{ searched: boolean, open: boolean }} state */
export function showResult(row, { searched, open }) {
  row.classList.toggle("ds-brief", searched && !open);
  row.classList.toggle("ds-opened", searched && open);
  row.querySelector(BUTTON)?.setAttribute("aria-expanded", String(open));
}

/**
 * The arrows, Enter and Escape.
 * @param {HTMLInputElement} search @param {HTMLElement} panels @param {(pointer: string) => void} open
 */
export function listenToKeys(search, panels, open) {
  const buttons = () => /** @type {HTMLElement[]} */ ([...panels.querySelectorAll(BUTTON)]).filter(isSeen);
  search.addEventListener("keydown", (event) => {
    const [first] = search.value && !event.isComposing ? buttons() : [];
    if (!first || !["ArrowDown", "Enter"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "ArrowDown") first.focus();
    else open(first.dataset.open ?? "");
  });
  panels.addEventListener("keydown", (event) => {
    const [row, button] = [around(event, ".ds-brief, .ds-opened"), around(event, BUTTON)];
    if (!row) return;
    const by = button ? STEPS[event.key] : 0;
    const next = by && button ? (buttons()[buttons().indexOf(button) + by] ?? (by < 0 ? search : null)) : null;
    if (event.key === "Escape") (button ? search : /** @type {HTMLElement} */ (row.querySelector(BUTTON))).focus();
    else if (next) next.focus();
    else return;
    event.preventDefault();
  });
}

/** @param {HTMLElement} node */
const isSeen = (node) => node.checkVisibility();
