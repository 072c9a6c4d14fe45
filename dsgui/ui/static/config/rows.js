// A field's row in the form: its name, its control, what was found of it and what it is for.

import { controlsOf, showDefault } from "./controls.js";
import { button, el, part, parted } from "../common/dom.js";
import { helpOf, inSentences } from "./help.js";
import { isSegmented, piecesOf } from "./fields.js";
import { resultParts } from "./results.js";
import { showFinding } from "./shortened.js";
import { words } from "../texts/texts.js";

/** @import { Field, Found } from "../types.d.ts" */

const SHOWN = { error: "✕", warning: "▲", note: "●" };

/** @param {Field} field @param {string} id of its control */
export function fieldRow(field, id) {
  const controls = controlsOf(field, id);
  const clear = el(
    "button",
    {
      type: "button",
      class: "ds-clear",
      "data-clear": field.pointer,
      title: words("form_page", "unset_hint"),
      "aria-label": words("form_page", "unset", { key: field.key }),
    },
    "×",
  );
  const unit = field.unit ? el("span", { class: "ds-unit" }, field.unit) : "";
  const gone = words("form_page", "removed", { release: field.removed ?? "" });
  const removed = field.removed ? el("span", { class: "ds-removed" }, gone) : "";
  const [opener, held] = resultParts(field, id);
  const row = el(
    "div",
    { class: "ds-field", "data-row": field.pointer, "data-common": Boolean(field.common) },
    opener,
    el(
      isSegmented(field) ? "div" : "label",
      { class: "ds-name", id: `${id}-name`, for: isSegmented(field) ? undefined : id },
      el("span", { class: "ds-title" }, field.title),
      " ",
      unit,
      removed,
      el("code", { class: "ds-key" }, ...parted(field.key)),
    ),
    held,
    el("div", { class: "ds-control" }, ...controls, clear),
    el("ul", { class: "ds-at-field", id: `${id}-found`, hidden: true }),
    helpOf(field, id),
    el("p", { class: "ds-inactive", hidden: true }),
  );
  const control = part(row, "[data-pointer]");
  control.setAttribute("aria-describedby", `${id}-found ${id}-help`);
  showDefault(control, field, field.default);
  return row;
}

/** Marks what was searched for in its name, key and help. @param {HTMLElement} row @param {Field} field
 * @param {string[]} asked */
export function markRow(row, { title, key, help = "" }, asked) {
  const shown = asked.join("\n");
  if ((row.dataset.marked ?? "") === shown) return;
  row.dataset.marked = shown;
  part(row, ".ds-title").replaceChildren(...marked(title, asked));
  part(row, ".ds-key").replaceChildren(...marked(key, asked, parted));
  part(row, ".ds-help").replaceChildren(...inSentences(help, (text) => marked(text, asked)));
}

/** @param {string} text @param {string[]} asked @param {(text: string) => (string | Node)[]} [nodes] */
const marked = (text, asked, nodes = (one) => [one]) =>
  piecesOf(text, asked).flatMap((piece, place) => (place % 2 ? [el("mark", {}, ...nodes(piece))] : nodes(piece)));

/** What was found, beneath the field, in its first sentence; a press shows it in the list, which has what mends it.
 * @param {HTMLElement} row @param {Found[]} found */
export function showFound(row, found) {
  const list = part(row, ".ds-at-field");
  const key = JSON.stringify(found);
  if (list.dataset.shown === key) return; // what has the focus keeps it
  list.dataset.shown = key;
  list.hidden = !found.length;
  list.replaceChildren(...found.map(foundItem));
}

/** An option of a script, which no line breaks after its dashes. */
const OPTION = /(--\w+)/;

/** @param {string} text */
const withOptionsWhole = (text) =>
  text.split(OPTION).map((one, place) => (place % 2 ? el("span", { class: "ds-whole" }, one) : one));

/** @param {Found} found */
function foundItem({ rule = "", pointer, severity, text }) {
  const shown = button("", { title: words("form_page", "show_finding") }, () => showFinding(rule, pointer));
  shown.append(
    el("span", { class: "ds-sign", "aria-hidden": "true" }, SHOWN[severity]),
    el("span", { class: "ds-word" }, words("common_page", `word_${severity}`)),
    " ",
    ...inSentences(text, withOptionsWhole),
  );
  return el("li", { class: `ds-${severity}` }, shown);
}
