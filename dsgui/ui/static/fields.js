// What the form says of a field, and which fields a search finds. Pure.

import { meanings } from "./terms.js";
import { words } from "./texts.js";

/** @import { Field, FormState, Found, Release, Section } from "./types.d.ts" */

/** @param {Field} field */
export function optionsOf(field) {
  const choices = field.kind === "boolean" ? ["true", "false"] : field.choices || [];
  return field.auto ? [...choices, "auto"] : choices;
}

/** Whether a field is chosen from a list. @param {Field} field */
export const isChosen = ({ kind }) => kind === "boolean" || kind === "choice";

/**
 * What a control shows while its key is not in the file; the default is that of the DeepSpeed checked against.
 * @param {Field} field @param {string | undefined} fallback
 */
export function unsetText(field, fallback) {
  if (fallback === undefined || fallback === "") return words("form_page", "not_set");
  return words("form_page", isChosen(field) ? "not_set_default" : "default", { value: fallback });
}

/** The default alone, in the words of the field's options. @param {Field} field @param {string | undefined} fallback */
export const defaultText = (field, fallback) =>
  fallback === undefined || fallback === "" ? "" : words("form_page", "default", { value: labelOf(field, fallback) });

/** What an option is called: a boolean is on or off. @param {Field} field @param {string} value */
export function labelOf({ kind }, value) {
  if (value === "") return words("form_page", "not_set");
  if (kind !== "boolean" || !SWITCHED.has(value)) return value;
  return words("form_page", value === "true" ? "on" : "off");
}

const SWITCHED = new Set(["true", "false"]);
const MOST_SEGMENTS = 4;
const MOST_LETTERS = 26; // of all segments together: they stay on one line

/** Whether all its options stand side by side. @param {Field} field */
export function isSegmented(field) {
  if (field.kind === "boolean") return true;
  const choices = field.choices ?? [];
  return isChosen(field) && choices.length <= MOST_SEGMENTS && choices.join("").length <= MOST_LETTERS;
}

const MOST_STEPPED = 1000; // nobody steps through numbers of elements or bytes

/** Whether going up and down by one makes sense: a count. @param {Field} field */
export const hasSteps = ({ kind, unit = "", default: usual = "0" }) =>
  kind === "integer" && !SIZES.test(unit) && Math.abs(Number(usual)) <= MOST_STEPPED;

const SIZES = /element|byte|参数|字节|元素/i;

/**
 * One step up or down from what is typed, else from the default; null where that is no whole number.
 * @param {string} text @param {string | undefined} usual @param {number} by @param {number} least
 */
export function stepped(text, usual, by, least) {
  const from = text.trim() === "" ? (usual ?? "") : text.trim();
  const now = Number(from === "" ? least - (by > 0 ? 1 : 0) : from);
  return Number.isInteger(now) ? String(Math.max(least, now + by)) : null;
}

/** A long key in parts that a line may break after: a dot or an underscore, not a word. @param {string} key */
export const breakable = (key) => key.split(/(?<=[._])/);

/** @param {string} typed */
export const wordsOf = (typed) => typed.toLowerCase().split(/\s+/).filter(Boolean);

/** @param {Field} field @param {string[]} asked */
export function matches({ key, title, help = "", also = "" }, asked) {
  const text = `${key} ${title} ${help} ${also}`.toLowerCase();
  return asked.every((word) => meanings(word).some((one) => text.includes(one)));
}

/**
 * Why a field is not for this DeepSpeed or this optimizer, by its pointer. The state counts fields, in their order.
 * @param {FormState} state @param {Release} release @param {string[]} pointers @returns {Record<string, string>}
 */
export function foreignOf({ not_taken: notTaken = {} }, release, pointers) {
  const found = { ...release.absent };
  for (const [kind, numbers] of Object.entries(notTaken)) {
    for (const number of numbers) found[pointers[number]] = words("form_page", "not_taken", { kind });
  }
  return found;
}

/**
 * The field that is at a pointer, else the first that is below it, with its section.
 * @param {Section[]} sections @param {string} pointer
 */
export function fieldAt(sections, pointer) {
  const all = sections.flatMap((section) => section.fields.map((field) => ({ section, field })));
  const exact = all.find(({ field }) => field.pointer === pointer);
  return exact ?? all.find(({ field }) => field.pointer.startsWith(`${pointer}/`)) ?? null;
}

/**
 * What was found, by the pointer of the field it is shown at: its own, else the first below; not what is no field's.
 * @param {Section[]} sections @param {Found[]} found @returns {Map<string, Found[]>}
 */
export function byField(sections, found) {
  const places = new Map();
  for (const one of found) {
    const pointer = one.pointer && fieldAt(sections, one.pointer)?.field.pointer;
    if (pointer) places.set(pointer, [...(places.get(pointer) ?? []), one]);
  }
  return places;
}
