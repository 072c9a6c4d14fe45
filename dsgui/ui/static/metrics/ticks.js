// How an axis is labelled: values that are one but for rounding, no label of more digits than one reads, times as a
// clock shows them. Pure; a report has it inlined.

import { clockTime } from "../common/format.js";

/** @import { Range, Relayout } from "../types.d.ts" */

const ROUNDING = 1e-6; // of the largest: what differs by less is one value
const DIGITS = 4; // of a label
const FEWEST = 4; // labels of as fine an axis as these digits have
/** @type {Range} */
export const PERCENT = [0, 110]; // a line at 100 has air above it
const LABEL = 76; // px that a time takes
const [FEW, MANY] = [2, 8]; // labels
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
  .concat([1, 2, 5, 10, 15, 30].map((one) => one * MINUTE))
  .concat([1, 2, 3, 6, 12].map((one) => one * HOUR));

/** @param {Range} range */
const largest = ([low, high]) => Math.max(Math.abs(low), Math.abs(high));

/** Whether values between these are one. @param {Range} range */
export const isOne = (range) => range[1] - range[0] <= ROUNDING * largest(range);

const HIGH = 1.25; // times a value that stays the same
/**
 * What an axis shows from nought on for one value alone, which is not at its edge; null for nought.
 * @param {number} value @returns {Range | null}
 */
export const aroundOne = (value) => (value ? [Math.min(0, HIGH * value), Math.max(0, HIGH * value)] : null);

/**
 * What an axis of values between these has to reach over at least: of a finer one the labels would have more digits.
 * Null where it does so anyway.
 * @param {Range} range @returns {Range | null}
 */
export function coarser(range) {
  const most = largest(range);
  const least = most && FEWEST * 10 ** (Math.floor(Math.log10(most)) - DIGITS + 1);
  const [middle, half] = [(range[0] + range[1]) / 2, least / 2];
  return range[1] - range[0] < least ? [middle - half, middle + half] : null;
}

/**
 * The labels of a time axis, and how they are to be read.
 * @param {Range} range seconds @param {number} [width] of the axis, in px
 * @returns {{ tickvals: number[], ticktext: string[], form: "mm:ss" | "h:mm" | "h:mm:ss" }}
 */
export function timeTicks([low, high], width = Infinity) {
  const most = Math.min(MANY, Math.max(FEW, Math.floor(width / LABEL)));
  const apart = (high - low) / most || 1;
  const usual = STEPS.find((one) => one >= apart) ?? Math.ceil(apart / DAY) * DAY;
  /** @param {number} step */
  const ends = (step) => [Math.ceil(Math.max(low, 0) / step), Math.floor(high / step)];
  const isFew = (/** @type {number} */ step) => ends(step)[1] - ends(step)[0] + 1 < FEW; // one label is no scale
  const step = isFew(usual) ? (STEPS.findLast((one) => one < usual && !isFew(one)) ?? usual) : usual;
  const [first, last] = ends(step);
  const found = Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) =>
    Number(((first + i) * step).toFixed(2)),
  );
  const tickvals = low === high ? [low] : found;
  const form = high < HOUR ? "mm:ss" : step % MINUTE ? "h:mm:ss" : "h:mm";
  return { tickvals, ticktext: tickvals.map((at) => clockText(at, form, step)), form };
}

/**
 * How times up to this one are written where all are written alike, and what such a one is.
 * @param {number} most seconds @returns {{ form: "mm:ss" | "h:mm:ss", text: (at: number | null) => string }}
 */
export function clock(most) {
  const form = most < HOUR ? "mm:ss" : "h:mm:ss";
  return { form, text: (at) => (at === null ? "" : clockText(Math.round(at), form, 1)) };
}

/** Whether a change of a drawing moved its horizontal axis. @param {Relayout} change */
export const isMoved = (change) => ["xaxis.range", "xaxis.range[0]", "xaxis.autorange"].some((key) => key in change);

/** @param {number} seconds @param {"mm:ss" | "h:mm" | "h:mm:ss"} form @param {number} step */
function clockText(seconds, form, step) {
  const whole = step < 1 ? Math.floor(seconds) : seconds;
  const hours = form === "mm:ss" || seconds >= HOUR ? "" : "0:";
  const told = form === "h:mm" ? clockTime(whole).slice(0, -":00".length) : clockTime(whole);
  return `${hours}${told}${step < 1 ? (seconds - whole).toFixed(2).slice(1) : ""}`;
}
