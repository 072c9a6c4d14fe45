// What the form says of a field, and which fields a search finds. Pure.

import { meanings } from "./terms.js";

/** @import { Field, FormState, Release, Section } from "./types.d.ts" */

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
  if (fallback === undefined || fallback === "") return "not set";
  return isChosen(field) ? `not set (default ${fallback})` : `default ${fallback}`;
}

/** A long key in parts that a line may break after: a dot or an underscore, not a word. @param {string} key */
export const breakable = (key) => key.split(/(?<=[._])/);

/** @param {string} typed */
export const wordsOf = (typed) => typed.toLowerCase().split(/\s+/).filter(Boolean);

/** @param {Field} field @param {string[]} words */
export function matches({ key, title, help = "", also = "" }, words) {
  const text = `${key} ${title} ${help} ${also}`.toLowerCase();
  return words.every((word) => meanings(word).some((one) => text.includes(one)));
}

/**
 * Why a field is not for this DeepSpeed or this optimizer, by its pointer. The state counts fields, in their order.
 * @param {FormState} state @param {Release} release @param {string[]} pointers @returns {Record<string, string>}
 */
export function foreignOf({ not_taken: notTaken = {} }, release, pointers) {
  const found = { ...release.absent };
  for (const [kind, numbers] of Object.entries(notTaken)) {
    for (const number of numbers) found[pointers[number]] = `${kind} does not take this parameter.`;
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
