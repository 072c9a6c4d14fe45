// What a chart says of the place that is pointed at: a row for each line, at a point that was logged. Pure.

import { clockTime, figure } from "../common/format.js";
import { runsText } from "./groups.js";
import { together } from "./marks.js";
import { words } from "../texts/texts.js";

/** @import { Axis, Readout, Row, Spread, Trace } from "../types.d.ts" */

const DIGITS = 5;
const RANGE_DIGITS = 4;
const [MOST_ROWS, MOST_BRIEF] = [12, 6]; // where it is pointed, and elsewhere
const FEW = 2; // values for four digits of which a line has room
const LONGEST_MARK = 80;
const NEAR = 0.015; // of what is shown: how far a mark, or an end of a line, may be

/** A place as the axis counts. @param {Axis} axis @param {number} at */
function bare(axis, at) {
  if (axis === "time") return clockTime(at);
  return axis === "step" ? String(Math.round(at)) : figure(at, 4);
}

/** A place as it is read. @param {Axis} axis @param {number} at */
export function placeText(axis, at) {
  const place = bare(axis, at);
  return axis === "time" ? place : words("charts_page", axis === "step" ? "place_step" : "place_epoch", { place });
}

/** The index of the nearest place that has a value; -1 where none has. @param {Trace} trace @param {number} at */
export function nearest({ x, y }, at) {
  let [found, least] = [-1, Infinity];
  for (let i = 0; i < x.length; i += 1) {
    const away = Math.abs(x[i] - at);
    if (away < least && y[i] !== null && Number.isFinite(y[i])) [found, least] = [i, away];
  }
  return found;
}

/**
 * The nearest place at which a line of the chart was logged; a whole step between readings of the machine.
 * @param {Trace[]} traces @param {number} at @param {Axis} axis
 */
export function snapped(traces, at, axis) {
  const logged = traces.filter(({ meta }) => meta?.part === "value" && meta.logged);
  const places = logged.flatMap((trace) => {
    const i = nearest(trace, at);
    return i < 0 ? [] : [trace.x[i]];
  });
  if (!places.length) return axis === "step" ? Math.round(at) : at;
  return places.reduce((best, one) => (Math.abs(one - at) < Math.abs(best - at) ? one : best));
}

/**
 * Undefined where the line has no point anywhere near.
 * @param {Trace} trace @param {number} at @param {number} near
 */
function pointOf(trace, at, near) {
  const i = nearest(trace, at);
  if (i < 0) return undefined;
  const within = at >= trace.x[0] - near && at <= trace.x[trace.x.length - 1] + near;
  return within ? { x: trace.x[i], y: /** @type {number} */ (trace.y[i]) } : undefined;
}

/**
 * Where a point is, unless that reads as the place that is asked for.
 * @param {number} x @param {number} at @param {number} near @param {Axis} axis
 */
function elsewhere(x, at, near, axis) {
  const far = Math.abs(x - at) > (axis === "step" ? 0.5 : near);
  const place = bare(axis, x);
  return far && place !== bare(axis, at) ? words("charts_page", "row_at", { place }) : "";
}

/**
 * @param {Trace} trace @param {Trace[]} traces @param {number} at @param {number} near @param {Axis} axis
 * @returns {Row[]}
 */
function rowOf(trace, traces, at, near, axis) {
  const point = pointOf(trace, at, near);
  const { line, name = "", colour = "", unit = "" } = trace.meta ?? {};
  const mine = traces.filter(({ meta }) => meta?.line === line);
  const odd = mine.find(({ meta, x }) => meta?.part === "odd" && x.includes(at));
  if (odd) return [{ name, colour, value: /** @type {string[]} */ (odd.text)[odd.x.indexOf(at)], note: "" }];
  if (!point) return [];
  const mean = mine.find(({ meta }) => meta?.part === "mean");
  const smooth = mean && pointOf(mean, point.x, near);
  const spread = trace.meta?.spread?.[trace.x.indexOf(point.x)];
  const told = spread ? withRange(point.y, spread) : figure(point.y, DIGITS);
  const notes = [
    smooth ? words("charts_page", "smoothed_from", { value: told }) : "",
    elsewhere(point.x, at, near, axis),
    spread ? runsText(spread.count, spread.total) : "",
  ];
  const value = smooth ? figure(smooth.y, spread ? RANGE_DIGITS : DIGITS) : told;
  const [shown, note] = [unit ? `${value} ${unit}` : value, notes.filter(Boolean).join(" · ")];
  return [{ name, colour, value: shown, note, x: point.x, y: (smooth ?? point).y, unit }];
}

/**
 * Of several runs the least and the most beside their mean, where they differ: rounded alike, or the mean would lie
 * outside of them. Of one run it is what lies between two places that are drawn, and no news.
 * @param {number} mean @param {Spread} spread
 */
function withRange(mean, spread) {
  const [told, low, high] = [mean, spread.low, spread.high].map((one) => figure(one, RANGE_DIGITS));
  return spread.count === 1 || low === high ? told : `${told} (${low}–${high})`;
}

/** @param {Trace[]} traces @param {number} at @param {number} near @returns {string[]} */
function marksAt(traces, at, near) {
  const all = traces
    .filter(({ meta }) => meta?.part === "mark")
    .flatMap(({ text, meta, x }) =>
      /** @type {string[]} */ (text).map((one, i) => ({ kind: meta?.kinds?.[i] ?? "", text: one, at: x[i] })),
    )
    .sort((a, b) => a.at - b.at);
  const there = together(all.filter((one) => Math.abs(one.at - at) <= near));
  return there.map((text) => (text.length > LONGEST_MARK ? `${text.slice(0, LONGEST_MARK - 1)}…` : text));
}

/**
 * @param {Trace[]} traces of one chart @param {number} pointed at this place @param {Axis} axis
 * @param {number} span how much of the axis is shown
 * @returns {Readout}
 */
export function readout(traces, pointed, axis, span) {
  const near = NEAR * span;
  const at = snapped(traces, pointed, axis);
  const values = traces.filter(({ meta }) => meta?.part === "value");
  const all = values.flatMap((trace) => rowOf(trace, traces, at, near, axis));
  const here = all.filter(({ x }) => x === undefined || !elsewhere(x, at, near, axis));
  const rows = all.length > MOST_BRIEF && here.length ? here : all; // of many lines those that were logged there
  return {
    at,
    title: placeText(axis, at),
    rows: rows.slice(0, MOST_ROWS),
    more: Math.max(rows.length - MOST_ROWS, 0),
    marks: marksAt(traces, at, near),
  };
}

/**
 * The values of a place in as few digits as tell them, and the unit that they share.
 * @param {Row[]} rows
 */
export function inFew(rows) {
  const [unit, ...others] = new Set(rows.map((row) => row.unit ?? ""));
  const digits = rows.length > FEW ? 3 : 4;
  const values = rows.map((row) => {
    const value = row.y === undefined ? row.value : figure(row.y, digits);
    return others.length && row.unit ? `${value} ${row.unit}` : value;
  });
  return { values, unit: others.length ? "" : unit };
}

/**
 * What the charts that are not pointed at say: the values in few digits, and where they are if that is elsewhere.
 * @param {Readout} found @param {number} pointed at this place of another chart @param {Axis} axis @param {number} span
 */
export function inBrief(found, pointed, axis, span) {
  const { values, unit } = inFew(found.rows);
  const rows = found.rows.map((row, i) => {
    const note = row.x === undefined ? "" : elsewhere(row.x, pointed, NEAR * span, axis);
    return { ...row, value: unit ? `${values[i]} ${unit}` : values[i], note };
  });
  const more = found.more + Math.max(rows.length - MOST_BRIEF, 0);
  return { ...found, title: "", rows: rows.slice(0, MOST_BRIEF), more, marks: [] };
}

/**
 * @typedef {object} Place of a guide, in px
 * @property {number} x
 * @property {number} top below the legend
 * @property {number} bottom of the curves' part
 * @property {number} width of all of the chart
 * @property {(left: number, top: number, right: number, bottom: number) => number} hidden how much of its curves a box
 *   would hide
 */
/** @typedef {{ left: number, top: number }} Corner of a box */

const GAP = 12; // px
const WORTH = 16; // px of a curve: for less a box does not change its place

/**
 * Where a box stands beside its guide: on the side and at the height where it hides least of the curves, within the
 * chart; where it stood before, as long as that is nearly as good.
 * @param {Place} place @param {number} own how wide it is @param {number} height
 * @param {number} [before] which of the places it had
 */
export function besideGuide({ x, top, bottom, width, hidden }, own, height, before = 0) {
  const sides = [x + GAP, x - own - GAP].map((left) => Math.max(0, Math.min(left, width - own)));
  if (x > width / 2) sides.reverse();
  const low = Math.max(top, bottom - height);
  const heights = [top, low, (top + low) / 2];
  const all = heights.flatMap((at) => sides.map((left) => ({ left, top: at })));
  const costs = all.map((one) => hidden(one.left, one.top, one.left + own, one.top + height));
  const least = Math.min(...costs);
  const chosen = costs[before] <= least + WORTH ? before : costs.indexOf(least);
  return { ...all[chosen], chosen };
}

/**
 * How much of a line lies in a box, in px of its width.
 * @param {[number, number][]} line its points, in px, in order; NaN is a gap
 * @param {number} left @param {number} top @param {number} right @param {number} bottom
 */
export function covered(line, left, top, right, bottom) {
  let sum = 0;
  for (let i = 1; i < line.length; i += 1) {
    const [[x0, y0], [x1, y1]] = [line[i - 1], line[i]];
    const [from, to] = [Math.max(x0, left), Math.min(x1, right)];
    if (!(from <= to) || !Number.isFinite(y0 + y1)) continue;
    /** @param {number} x */
    const at = (x) => (x1 > x0 ? y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) : y1);
    const [low, high] = [Math.min(at(from), at(to)), Math.max(at(from), at(to))];
    if (high >= top && low <= bottom) sum += Math.max(to - from, 1);
  }
  return sum;
}

const [LONGEST_NAME, SHORTEST_RUN] = [32, 14];
export const IN_A_LINE = 48; // characters of a name in a sentence, or in a line of names

/**
 * A name that is too long without its middle: what tells runs apart is often at its end. Of `run · line` the run's
 * gives way.
 * @param {string} name @param {number} [longest] in characters
 */
export function middled(name, longest = LONGEST_NAME) {
  if (name.length <= longest) return name;
  const at = name.lastIndexOf(" · ");
  const [whole, rest] = at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at)];
  const most = Math.max(longest - rest.length, SHORTEST_RUN);
  if (whole.length <= most) return name;
  const end = Math.floor((most - 1) / 2);
  const characters = [...whole]; // none is cut in two
  const [head, tail] = [characters.slice(0, most - 1 - end), characters.slice(-end)].map((part) => part.join(""));
  return `${head.trimEnd()}…${tail.trimStart()}${rest}`;
}
