// What a mark of a chart says, in a line: an evaluation by its scores, and of many warnings how many they are. Pure.

import { figure } from "../common/format.js";
import { isCost } from "./charts.js";
import { textOf, told, words } from "../texts/texts.js";

/** @import { RunEvent } from "../types.d.ts" */

const MOST_SCORES = 4;
const LONGEST = 120;
const MOST_TOLD = 3;
/** A name and its number, as a dict or `loss=0.5` has them; in `train.py:12` there is none. */
const SCORE = /(?<![\w./-])([a-z][\w/-]*)['"]?\s*[:=]\s*['"]?([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf(?:inity)?))\b/gi;
const DEPRECATED = /\bdeprecat/i;
const PLACES = new Set(["step", "epoch", "iter", "iteration", "rank"]);
/** Of many at one place only their number is said. @type {Record<string, string>} */
const COUNTED = { warning: "warnings_here", overflow: "overflows_here" };

/** What a program printed as `{'eval_loss': '6.2', 'eval_runtime': …`: `loss 6.2`. @param {string} text */
export function scoresIn(text) {
  const found = [...text.matchAll(SCORE)].map(([, name, value]) => ({ name: name.toLowerCase(), value }));
  return found
    .filter(({ name }) => !PLACES.has(name) && !isCost(name))
    .slice(0, MOST_SCORES)
    .map(({ name, value }) => {
      const number = Number(value);
      return `${name.replace(/^eval_/, "").replaceAll("_", " ")} ${Number.isNaN(number) ? value : figure(number)}`;
    })
    .join(" · ");
}

/** Whether a chart marks it: what a library calls deprecated is no news of a training. @param {RunEvent} event */
export const isMarked = ({ kind, text }) =>
  kind !== "calm" && kind !== "notified" && !(kind === "warning" && DEPRECATED.test(text));

/**
 * How high in their lane marks stand, from 0: those of different kinds at one place above each other.
 * @param {{ kind: string, at: number }[]} marks @param {number} near how far apart places are one
 */
export function stacked(marks, near) {
  /** @type {number[]} */
  const levels = [];
  for (const { kind, at } of marks) {
    const beside = levels.map((level, i) => ({ level, ...marks[i] })).filter((one) => Math.abs(one.at - at) <= near);
    const alike = beside.find((one) => one.kind === kind);
    const taken = new Set(beside.map(({ level }) => level));
    let free = 0;
    while (taken.has(free)) free += 1;
    levels.push(alike ? alike.level : free);
  }
  return levels;
}

/** @param {RunEvent} event */
export function markText(event) {
  const text = told(event);
  const scores = event.kind === "evaluation" ? scoresIn(text) : "";
  return `${textOf("marks", event.kind)}: ${scores || text}`.slice(0, LONGEST);
}

/** The marks of one place, in as few lines as say it. @param {{ kind: string, text: string }[]} marks */
export function together(marks) {
  const lines = marks.flatMap(({ kind, text }, place) => {
    const count = marks.filter((one) => one.kind === kind).length;
    if (count < 2 || !COUNTED[kind]) return [text];
    const isFirst = marks.findIndex((one) => one.kind === kind) === place;
    return isFirst ? [words("charts_page", COUNTED[kind], { count: String(count) })] : [];
  });
  return lines.slice(-MOST_TOLD);
}
