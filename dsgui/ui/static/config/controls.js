// One control a field: segments for what is on or off and for short lists, a select for longer ones, a number with
// steps or a text; all read and written alike, as the text that stands for their value ("": not set).

import { el } from "../common/dom.js";
import { defaultText, hasSteps, isChosen, isSegmented, labelOf, optionsOf, unsetText } from "./fields.js";
import { words } from "../texts/texts.js";

/** @import { Field } from "../types.d.ts" */

const UNSET = "";
const AUTO = "auto";
const RADIO = "input[type=radio]";

/** @param {HTMLElement} control @returns {HTMLInputElement[]} */
const radios = (control) => /** @type {HTMLInputElement[]} */ ([...control.querySelectorAll(RADIO)]);

/** @param {HTMLElement} control */
const isGroup = (control) => control.getAttribute("role") === "radiogroup";

/** @param {HTMLElement} control @returns {string} */
export function valueOf(control) {
  if (isGroup(control)) return radios(control).find((radio) => radio.checked)?.value ?? UNSET;
  const text = "value" in control ? String(control.value) : UNSET;
  return text || (control.dataset.isAuto === undefined ? UNSET : AUTO);
}

/** What is typed now stands for itself. @param {HTMLElement} control */
export const typedIn = (control) => delete control.dataset.isAuto;

/**
 * A value that is not on the list (a typing error in the file, say) is shown, never swallowed.
 * @param {HTMLElement} control @param {string} text
 */
export function write(control, text) {
  if (isGroup(control)) writeSegment(control, text);
  else if (control instanceof HTMLSelectElement) writeOption(control, text);
  else if (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement) {
    const isAuto = text === AUTO && control.parentElement?.querySelector(".ds-auto"); // which says so
    control.value = isAuto ? "" : text;
    control.toggleAttribute("data-is-auto", Boolean(isAuto));
  }
}

/**
 * Whether a value is still offered that was on the list only as long as it was set.
 * @param {HTMLElement} control @param {string} text
 */
export function isStale(control, text) {
  const foreign = control.querySelector("[data-foreign] input");
  return foreign instanceof HTMLInputElement && foreign.value !== text;
}

/** @param {HTMLElement} group @param {string} text */
function writeSegment(group, text) {
  group.querySelector("[data-foreign]")?.remove();
  if (!radios(group).some(({ value }) => value === text)) {
    group.append(segment(radios(group)[0].name, text, text, { "data-foreign": true }));
  }
  for (const radio of radios(group)) radio.checked = radio.value === text;
}

/** @param {HTMLSelectElement} select @param {string} text */
function writeOption(select, text) {
  const known = [...select.options].some((option) => option.value === text);
  if (!known) select.append(el("option", { value: text }, text));
  select.value = text;
}

/** What takes the focus for it. @param {HTMLElement} control */
export const focusOf = (control) =>
  isGroup(control) ? (radios(control).find((radio) => radio.checked) ?? radios(control)[0]) : control;

/**
 * Which default holds while nothing is set, in the release checked against. `isNative`: nobody fills what is “auto”.
 * @param {HTMLElement} control @param {Field} field @param {string | undefined} fallback @param {boolean} [isNative]
 */
export function showDefault(control, field, fallback, isNative = false) {
  const filled = isNative ? "auto" : words("form_page", "filled");
  const text = control.dataset.isAuto === undefined ? unsetText(field, fallback) : filled;
  if (isGroup(control)) {
    const caption = control.parentElement?.querySelector(".ds-default");
    const shown = defaultText(field, fallback);
    if (caption && caption.textContent !== shown) caption.textContent = shown;
  } else if (control instanceof HTMLSelectElement) {
    if (control.options[0].textContent !== text) control.options[0].textContent = text;
  } else control.setAttribute("placeholder", text);
}

/** @param {string} name @param {string} value @param {string} label @param {Record<string, boolean>} [more] */
const segment = (name, value, label, more = {}) =>
  el("label", { class: "ds-segment", ...more }, el("input", { type: "radio", name, value }), el("span", {}, label));

/** @param {Field} field @param {string} id */
function segments(field, id) {
  const group = el(
    "div",
    { id, class: "ds-segments", role: "radiogroup", "data-pointer": field.pointer, "aria-labelledby": `${id}-name` },
    ...[UNSET, ...optionsOf(field)].map((value) => segment(id, value, labelOf(field, value))),
  );
  radios(group)[0].checked = true;
  return [el("div", { class: "ds-chosen" }, group, el("span", { class: "ds-default" }))];
}

/** @param {Field} field @param {string} id */
function list(field, id) {
  return [
    el(
      "select",
      { id, "data-pointer": field.pointer },
      el("option", { value: UNSET }, unsetText(field, field.default)),
      ...optionsOf(field).map((choice) => el("option", { value: choice }, choice)),
    ),
  ];
}

/** @param {Field} field @param {string} id */
function typed(field, id) {
  const placeholder = unsetText(field, field.default);
  if (field.kind === "object") {
    return [el("textarea", { id, placeholder, rows: 3, "data-pointer": field.pointer, spellcheck: "false" })];
  }
  const suggestions = hasSteps(field) ? [] : (field.suggestions ?? []);
  const offered = suggestions.length ? `${id}-list` : undefined;
  const numeric = field.kind === "integer" || field.kind === "number";
  const attributes = { placeholder, list: offered, autocomplete: "off", spellcheck: "false" };
  const more = { "data-pointer": field.pointer, class: numeric ? "ds-numeric" : undefined };
  const input = el("input", { id, type: "text", ...attributes, ...more });
  const values = suggestions.map((value) => el("option", { value }));
  const options = offered ? [el("datalist", { id: offered }, ...values)] : [];
  const steps = hasSteps(field) ? [step(field, -1), step(field, 1)] : [];
  return [input, ...options, ...steps, ...(field.auto ? [auto(field)] : [])];
}

/** Beside the arrow keys of the input itself, so no stop of the Tab key. @param {Field} field @param {number} by */
const step = (field, by) =>
  el(
    "button",
    {
      type: "button",
      class: "ds-stepper",
      tabindex: -1,
      "data-step": by,
      "data-steps": field.pointer,
      "aria-label": words("form_page", by > 0 ? "more" : "less", { key: field.key }),
    },
    by > 0 ? "+" : "−",
  );

/** @param {Field} field */
const auto = (field) =>
  el(
    "button",
    {
      type: "button",
      class: "ds-auto",
      "data-auto": field.pointer,
      "aria-pressed": "false",
      "aria-label": `auto: ${field.key}`,
      title: words("form_page", "fill_auto"),
    },
    "auto",
  );

/** The control, and what belongs to it. @param {Field} field @param {string} id @returns {HTMLElement[]} */
export function controlsOf(field, id) {
  if (isSegmented(field)) return segments(field, id);
  return isChosen(field) ? list(field, id) : typed(field, id);
}
