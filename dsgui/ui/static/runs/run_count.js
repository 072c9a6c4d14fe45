// How many runs there are, and how many of them fit what is searched, in words.

import { words as say } from "../texts/texts.js";

/** @import { ListedRuns } from "../types.d.ts" */

/** @param {number} count */
const number = (count) => count.toLocaleString("en-US");
/** @param {number} count @param {string} one @param {string} several the codes of its texts */
export const plural = (count, one, several) => say("runs_page", count === 1 ? one : several, { count: number(count) });

/**
 * `none` says that no run fits, or which word can fit none, where that is so and all were read.
 * @param {Pick<ListedRuns, "total" | "fits" | "held" | "unread" | "archived_fit" | "unfinished" | "misread">} told
 * @param {string} words that were searched
 */
export function countOf({ total, fits: all, held, unread, archived_fit: away, unfinished, misread }, words) {
  const fits = all - held;
  const runs = plural(total, "one_run", "runs");
  const isSearch = Boolean(words) && !(unfinished && fits === total); // or it asks nothing yet
  const isNone = isSearch && !fits && !unread;
  const none = isNone ? (misread ? whyNone(misread) : say("runs_page", "no_match", { words })) : "";
  const some = say("runs_page", "matches_in", { matches: plural(fits, "one_match", "matches"), runs });
  const put = isSearch && away ? plural(away, "one_archived_match", "archived_match") : "";
  const waits = unread ? say("runs_page", "unread", { count: number(unread) }) : "";
  return { none, text: [isSearch ? (fits ? some : none) : runs, put, waits].filter(Boolean).join(" · ") };
}

/** @param {NonNullable<ListedRuns["misread"]>} misread */
const whyNone = ([word, why, told]) =>
  why === "number"
    ? say("runs_page", "misread_number", { word, example: told })
    : say("runs_page", "misread_key", { key: told });
