// What the form says of a field, and which fields a search finds. Pure.

import { leadingOf, meanings, wordsOf } from "../texts/terms.js";
import { words } from "../texts/texts.js";

/** @import { Field, FormState, Found, Release, Section } from "../types.d.ts" */

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

/** @param {Field} field @param {string[]} asked */
export const matches = ({ key, title, help = "", also = "" }, asked) =>
  hasWords(`${key} ${title} ${help} ${also}`, asked);

/**
 * Whether a field's key is just these words; of one that few use, only its whole key.
 * @param {Field} field @param {string[]} asked
 */
export function isExactly({ key, common }, asked) {
  const called = asked.join("_");
  return key === called || Boolean(common && key.endsWith(`.${called}`));
}

/** The words of a search; a pointer, as `/zero_optimization/stage`, is the key it leads to. @param {string} typed */
export function askedOf(typed) {
  const trimmed = typed.trim();
  return wordsOf(trimmed.startsWith("/") ? trimmed.slice(1).replaceAll("/", ".") : trimmed);
}

/** @param {Field} field @param {string[]} asked */
const isCalled = ({ key, title }, asked) => hasWords(`${key} ${title}`, asked);

/** The name a key goes by: where a block is offloaded to is what the block is about. @param {Field} field */
function ownName({ key }) {
  const parts = key.split(".");
  return parts.at(-1) === "device" ? (parts.at(-2) ?? "") : (parts.at(-1) ?? "");
}

const [LEADS, EXACT, STARTS, TITLE, KEY, HELP] = [0, 1, 2, 3, 4, 5];
const IDLE = 10; // what is not used now comes after all that is

/**
 * How near a field is to what is searched for: the fewer the nearer.
 * @param {Field} field @param {string[]} asked @param {boolean} [idle]
 */
export function rankOf(field, asked, idle = false) {
  const called = asked.length === 1 ? meanings(asked[0]) : [asked.join(" ")];
  const title = field.title.toLowerCase();
  const rank = () => {
    if (leadingOf(asked).includes(field.pointer)) return LEADS;
    if (isExactly(field, asked) || called.includes(title)) return EXACT;
    // In Chinese a title begins otherwise than its key, and would stand behind those that mention the word.
    if (called.some((name) => title.startsWith(name) || ownName(field).startsWith(name))) return STARTS;
    if (hasWords(title, asked)) return TITLE;
    return isCalled(field, asked) ? KEY : HELP;
  };
  return rank() + (idle ? IDLE : 0);
}

const never = () => false;

/**
 * The sections in the order of a search: by the nearest of their fields, those first of which one is used now, then by
 * how many are called so. One that is all about the word and not used now does not stand behind all that mention it.
 * @param {Section[]} sections @param {string[]} asked @param {(field: Field) => boolean} [isIdle]
 */
export function inOrderOf(sections, asked, isIdle = never) {
  if (!asked.length) return sections;
  const scored = sections.map((section) => {
    const found = section.fields.filter((field) => matches(field, asked));
    const near = Math.min(Infinity, ...found.map((field) => rankOf(field, asked)));
    const idle = found.every((field) => isIdle(field) || rankOf(field, asked) > near);
    return { section, near, idle, called: found.filter((field) => isCalled(field, asked)).length };
  });
  const ordered = scored.toSorted((a, b) =>
    a.near === b.near ? Number(a.idle) - Number(b.idle) || b.called - a.called : a.near - b.near,
  );
  return ordered.map(({ section }) => section);
}

/**
 * A section's fields in the order of a search: the nearest first.
 * @param {Field[]} fields @param {string[]} asked @param {(field: Field) => boolean} [isIdle]
 */
export function fieldsInOrderOf(fields, asked, isIdle = never) {
  if (!asked.length) return fields;
  const ranks = new Map(fields.map((field) => [field, rankOf(field, asked, isIdle(field))]));
  return fields.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

/**
 * The fields that lead a search, in their order; none is in its section then.
 * @param {Section[]} sections @param {string[]} asked @returns {Field[]}
 */
export function leadingFields(sections, asked) {
  const fields = sections.flatMap((section) => section.fields);
  return leadingOf(asked).flatMap((pointer) => fields.find((field) => field.pointer === pointer) ?? []);
}

/** Whether all words stand in a text, in either language. @param {string} text @param {string[]} asked */
export function hasWords(text, asked) {
  const lower = text.toLowerCase();
  const says = (/** @type {string} */ phrase) => phrase.split(" ").every((word) => placesOf(lower, word).length > 0);
  return asked.every((word) => meanings(word).some(says));
}

const SHORT = /^[a-z]{1,2}$/;
const LETTER = /[a-z]/;

/** Where a word stands in a text of small letters; one or two letters within a word, as lr in already, are no hit.
 * @param {string} lower @param {string} word */
function placesOf(lower, word) {
  const places = [];
  const short = SHORT.test(word);
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    if (!short || !LETTER.test(lower[at - 1] ?? "")) places.push(at);
  }
  return places;
}

/**
 * A text in pieces, every second one of which is what was searched for: as it was typed, in the other language, or of
 * two words that stand apart each.
 * @param {string} text @param {string[]} asked
 */
export function piecesOf(text, asked) {
  const lower = text.toLowerCase();
  const pieces = [];
  let done = 0;
  for (const [start, end] of lower.length === text.length ? joined(hitsIn(lower, asked)) : []) {
    pieces.push(text.slice(done, start), text.slice(start, end));
    done = end;
  }
  return [...pieces, text.slice(done)];
}

/** @param {string} lower @param {string[]} asked @returns {[number, number][]} */
function hitsIn(lower, asked) {
  const hits = (/** @type {string} */ phrase) =>
    placesOf(lower, phrase).map((at) => /** @type {[number, number]} */ ([at, at + phrase.length]));
  return asked.flatMap((word) => {
    const whole = meanings(word).flatMap(hits);
    return whole.length ? whole : word.split(" ").flatMap(hits);
  });
}

/** Those that touch as one. @param {[number, number][]} spans @returns {[number, number][]} */
function joined(spans) {
  /** @type {[number, number][]} */
  const found = [];
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
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
 * The section that a pointer belongs to: that of its field, else of the fields beside it; null for what is beside none.
 * @param {Section[]} sections @param {string} pointer
 */
export function sectionAt(sections, pointer) {
  for (let at = pointer; at; at = at.slice(0, at.lastIndexOf("/"))) {
    const found = fieldAt(sections, at);
    if (found) return found.section;
  }
  return null;
}

/**
 * The gravest problem of each section, by its id.
 * @param {Section[]} sections @param {Record<string, string>} problems by pointer @returns {Map<string, string>}
 */
export function troubles(sections, problems) {
  const worst = new Map();
  for (const grave of GRAVITY) {
    for (const [pointer, severity] of Object.entries(problems)) {
      const id = severity === grave && sectionAt(sections, pointer)?.id;
      if (id && !worst.has(id)) worst.set(id, severity);
    }
  }
  return worst;
}

const GRAVITY = ["error", "warning", "note"];

/**
 * How many errors and warnings there are of each section, by its id.
 * @param {Section[]} sections @param {Found[]} found @returns {Map<string, Record<string, number>>}
 */
export function countsOf(sections, found) {
  const counts = new Map();
  for (const { pointer, severity } of found) {
    const id = sectionAt(sections, pointer)?.id;
    if (!id) continue;
    const known = counts.get(id) ?? {};
    counts.set(id, { ...known, [severity]: (known[severity] ?? 0) + 1 });
  }
  return counts;
}

/**
 * What was found of a section and none of its fields: of a key that DeepSpeed does not know, say.
 * @param {Section[]} sections @param {Found[]} found @param {Section} section
 */
export const beside = (sections, found, section) =>
  found.filter(({ pointer }) => !fieldAt(sections, pointer) && sectionAt(sections, pointer) === section);

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
