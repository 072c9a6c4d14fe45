// What of a curve is drawn, and where: points on an axis, their smoothed means, marks, the range that all charts share.
// Pure.

import { CHARTS } from "../texts/catalogue.js";
import { words } from "../texts/texts.js";
import { isOne } from "./ticks.js";

/** @import { Line, Mark, Point, Range, Stretch, Style, Trace } from "../types.d.ts" */
/** @import { Clock, Curve } from "./curves.js" */

/** @typedef {(point: Point) => number} Placing where a point is on the axis that is drawn; NaN for nowhere */

// Okabe and Ito's palette: told apart by people with any kind of colour blindness.
export const COLOURS = CHARTS.colours;
const DASHES = CHARTS.dashes;
const ENDS = new Set(["error", "stop"]);
const MARK_REACH = 0.1;
const SYMBOL_ROOM = 0.03;
const SHORT = 0.125; // of what is shown: what is less is a dot, or nearly so
const MOST_ODD = 200;
const MOST_TIMES = 1000;
const UNLIKE = 10; // times as high: on a linear scale the lower one is a flat line

/**
 * Different colours first; the same again with another dash when there are more lines than colours.
 * @param {number} place @returns {Style}
 */
export const look = (place) => ({
  colour: COLOURS[place % COLOURS.length],
  dash: DASHES[Math.floor(place / COLOURS.length) % DASHES.length],
});

/**
 * By time there is no clock. What the machine did before the first step and after the last has no place by step.
 * @param {Curve} curve @param {Clock | null} clock @returns {Placing}
 */
export function placing(curve, clock) {
  if (!clock) return (point) => point.time;
  return curve.kind === "sample" ? (point) => clock.within(point.time) : (point) => clock.of(point);
}

/** The ends of a stretch that have a place, in the order of these. @param {Point[]} pair @param {Placing} place */
function ends(pair, place) {
  const placed = pair.map((point) => ({ at: place(point), value: point.y }));
  return placed.filter(({ at }) => Number.isFinite(at)).sort((a, b) => a.at - b.at);
}

/**
 * Where a stretch is in the training by what its lines say: their steps, else their epochs; NaN where they say none.
 * @param {Curve} curve @param {Point} low @param {Point} high @returns {Range}
 */
function reachOfTraining(curve, low, high) {
  if (curve.kind === "sample") return [NaN, NaN];
  const axis = Number.isFinite(low.step) && !curve.numbered && !curve.counted.size ? "step" : "epoch";
  return low[axis] <= high[axis] ? [low[axis], high[axis]] : [high[axis], low[axis]];
}

/**
 * The points of a curve on an axis: `x`, `y` as logged with a gap where a value is none, and smoothed `means`.
 * @param {Curve} curve @param {number} smoothing 0 for none @param {number} scale @param {Placing} place
 */
export function points(curve, smoothing, scale, place) {
  /** @type {{ x: number[], y: (number | null)[], meanX: number[], means: number[] }} */
  const found = { x: [], y: [], meanX: [], means: [] };
  let smooth = 0;
  let weight = 0;
  let before = -Infinity;
  for (const { low, high, mean, n } of curve.drawn()) {
    const placed = ends(low === high ? [low] : [low, high], place);
    const [first, last] = reachOfTraining(curve, low, high);
    // What begins anew, or is another rank's, goes not on from there.
    if (first < before && found.x.length && placed.length) {
      found.x.push(placed[0].at);
      found.y.push(null);
      if (found.means.length) found.meanX.push(placed[0].at);
      if (found.means.length) found.means.push(NaN);
      [smooth, weight] = [0, 0];
    }
    if (Number.isFinite(last)) before = last;
    for (const { at, value } of placed) {
      found.x.push(at);
      found.y.push(Number.isFinite(value) ? value / scale : null);
    }
    if (!smoothing || !Number.isFinite(mean) || !placed.length) continue;
    const keep = smoothing ** n; // a stretch of many points weighs as many
    smooth = keep * smooth + (1 - keep) * (mean / scale);
    weight = keep * weight + (1 - keep);
    found.meanX.push(placed[placed.length - 1].at);
    // An axis can't be drawn for what differs by rounding alone.
    found.means.push(Number((smooth / weight).toPrecision(7)));
  }
  return found;
}

/**
 * Where a value was NaN or infinite: at the height of the last number before it. `follows`: the value before it in the
 * log was none either.
 * @param {Curve} curve @param {Placing} place @param {number[]} x @param {(number | null)[]} y
 */
export function oddPoints(curve, place, x, y) {
  const odd = ends(curve.odd, place).slice(-MOST_ODD);
  const first = y.find((value) => value !== null) ?? 1;
  let [next, height] = [0, first];
  return odd.map(({ at, value }, index) => {
    let follows = index > 0;
    for (; next < x.length && x[next] <= at; next += 1) {
      if (y[next] !== null) follows = false;
      height = y[next] ?? height;
    }
    return { at, height, text: String(value), follows };
  });
}

/**
 * The least and the largest place of some; null where there is none.
 * @param {Iterable<number>} places @returns {Range | null}
 */
export function extent(places) {
  let [low, high] = [Infinity, -Infinity];
  for (const at of places) {
    if (at < low) low = at;
    if (at > high) high = at;
  }
  return low <= high ? [low, high] : null;
}

/**
 * Where a line begins and ends. Readings of the machine are in the order of time, so the first and the last that have
 * a place tell it: with each poll there are many of them.
 * @param {Line} line
 */
function reachOfLine({ curve, clock }) {
  const place = placing(curve, clock);
  /** @param {Stretch | undefined} one */
  const places = (one) => (one ? [place(one.low), place(one.high)] : []);
  if (curve.kind !== "sample") return extent(curve.stretches.flatMap(places));
  const first = curve.stretches.find((one) => places(one).some(Number.isFinite));
  const last = curve.stretches.findLast((one) => places(one).some(Number.isFinite));
  return extent([...places(first), ...places(last)]);
}

/**
 * What all charts show before a zoom: from the first point of any line to the last, whatever chart it is in, so
 * `reach`; `shown` has room for symbols at its ends. Events count for nothing: no mark stretches an axis. Null where
 * there is no point, or one place alone.
 * @param {Line[]} lines @returns {{ reach: Range | null, shown: Range | null }}
 */
export function sharedRange(lines) {
  const reaches = lines.map((line) => ({ symbols: Boolean(line.mode), reach: reachOfLine(line) ?? [] }));
  const reach = extent(reaches.flatMap((one) => one.reach));
  if (!reach || reach[0] === reach[1]) return { reach, shown: null };
  const room = (reach[1] - reach[0]) * SYMBOL_ROOM;
  const around = reaches
    .filter((one) => one.symbols)
    .flatMap((one) => one.reach.flatMap((at) => [at - room, at + room]));
  return { reach, shown: extent([...reach, ...around]) };
}

/**
 * Of runs drawn over each other the one that is hardly seen beside the others, as its training is so much shorter, and
 * from where to where that is; null where each is seen.
 * @param {Line[]} lines @returns {{ run: number, reach: Range } | null}
 */
export function shortestOf(lines) {
  const logged = lines.filter(({ curve }) => curve.kind !== "sample");
  const runs = [...new Set(logged.map(({ run }) => run))].flatMap((run) => {
    const reach = extent(logged.filter((line) => line.run === run).flatMap((line) => reachOfLine(line) ?? []));
    return reach && reach[1] > reach[0] ? [{ run, reach }] : [];
  });
  const all = extent(runs.flatMap(({ reach }) => reach));
  if (!all) return null;
  const [least] = runs.toSorted((a, b) => a.reach[1] - b.reach[1]);
  const range = /** @type {Range} */ ([all[0], least.reach[1]]);
  return range[1] - all[0] < SHORT * (all[1] - all[0]) ? { run: least.run, reach: range } : null;
}

/**
 * How many times as high as another's the usual value of a run is, where a linear scale would show no shape of that
 * other's curve; null elsewhere, and where a logarithmic scale has no place for some value.
 * @param {Line[]} lines
 */
export function timesApart(lines) {
  const drawn = lines.filter(({ curve, axis }) => curve.kind !== "sample" && axis !== "y2");
  const usual = [...new Set(drawn.map(({ run }) => run))].map((run) => {
    return drawn.filter((line) => line.run === run).flatMap(({ curve, scale }) => meansOf(curve, scale));
  });
  const known = usual.filter(({ length }) => length);
  if (known.length < 2 || known.some((means) => means.some(({ low }) => low <= 0))) return null;
  const middles = known.map(middleOf);
  const times = Math.max(...middles) / Math.min(...middles);
  return times >= UNLIKE ? times : null;
}

/** The mean of the middle one of all points' stretches. @param {{ mean: number, n: number }[]} means */
function middleOf(means) {
  const sorted = means.toSorted((a, b) => a.mean - b.mean);
  let left = sorted.reduce((sum, { n }) => sum + n, 0) / 2;
  return sorted.find(({ n }) => (left -= n) < 0)?.mean ?? NaN;
}

/** @param {Curve} curve @param {number} scale */
const meansOf = ({ stretches }, scale) =>
  stretches
    .map(({ low, mean, n }) => ({ low: low.y / scale, mean: mean / scale, n }))
    .filter(({ mean }) => Number.isFinite(mean));

/** How many times apart, in words; beyond a thousand it tells no more. @param {number} times */
export const timesText = (times) =>
  times > MOST_TIMES
    ? words("charts_page", "unlike_far", { times: MOST_TIMES.toLocaleString("en-US") })
    : words("charts_page", "unlike_scale", {
        times: Number(times.toPrecision(times < 100 ? 2 : 1)).toLocaleString("en-US"),
      });

/**
 * Where a mark is drawn: one a little outside of the points at their edge, the end of the run there too; others
 * nowhere.
 * @param {Pick<Mark, "at" | "kind">} mark @param {Range | null} reach
 */
export function markPlace({ at, kind }, reach) {
  if (!reach || !Number.isFinite(at)) return null;
  const [low, high] = reach;
  const near = (high - low) * MARK_REACH;
  if (at > high) return ENDS.has(kind) || at <= high + near ? high : null;
  if (at >= low) return at;
  return at >= low - near ? low : null;
}

/**
 * Whether the lines of a chart's left axis have one value alone, but for rounding: plotly draws that between 1 above
 * and 1 below.
 * @param {Pick<Trace, "yaxis" | "y">[]} traces
 */
export function isFlat(traces) {
  const values = traces.flatMap(({ yaxis, y }) => (yaxis === "y" ? y : []));
  const found = extent(values.filter((value) => value !== null));
  return found !== null && isOne(found);
}
