// What a picker offers: which options a search leaves, under which headings, and where the arrows go. Pure.

import { hasWords } from "../config/fields.js";
import { wordsOf } from "../texts/terms.js";

/** @import { PickerOption } from "../types.d.ts" */
/** @typedef {{ title: string, options: PickerOption[] }} Group */

/**
 * Those with all typed words, in their groups; a group stands where its first option does. Names that begin with the
 * words come first: “H200” is no GH200.
 * @param {PickerOption[]} options @param {string} typed @returns {Group[]}
 */
export function grouped(options, typed) {
  const asked = wordsOf(typed);
  const start = asked.join(" ");
  const begins = (/** @type {PickerOption} */ { title }) => title.toLowerCase().startsWith(start);
  const ranked = [...options.filter(begins), ...options.filter((one) => !begins(one))];
  /** @type {Map<string, PickerOption[]>} */
  const groups = new Map();
  for (const one of ranked) {
    const { id, title, group, also } = one;
    if (!hasWords(`${title} ${id} ${group} ${also}`, asked)) continue;
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  return [...groups].map(([title, found]) => ({ title, options: found }));
}

/** @type {Record<string, (at: number, count: number) => number>} */
const MOVES = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at <= 0 ? count : at) - 1,
  PageDown: (at, count) => Math.min(at + 8, count - 1),
  PageUp: (at) => Math.max(at - 8, 0),
};

/**
 * Which option a key leads to, from the one at `at` (-1: none); null for another key, and where there is none.
 * @param {string} key @param {number} at @param {number} count
 */
export const movedTo = (key, at, count) => (count && Object.hasOwn(MOVES, key) ? MOVES[key](at, count) : null);
