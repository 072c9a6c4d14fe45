// Single values far from those around them, as a spike of the loss: where a chart leaves them out of its scale, and
// marks that they are there. Pure: traces in, a range and marks out.

import { extent, isFlat } from "./traces.js";

/** @import { Range, Trace } from "../types.d.ts" */

const LEAST = 12; // values of which one can be told to be far from the others
const AROUND = 4; // values on each side that one is held against
const TIMES = 8; // as far from them as is usual
const OF_SPAN = 0.25; // and of what nearly all values take
const WORTH = 1.3; // times higher is the scale that has them
const AIR = 0.05;

/** @param {number} one @param {number} other */
const byHeight = (one, other) => one - other;

/** @param {ArrayLike<number>} sorted @param {number} share */
const at = (sorted, share) => sorted[Math.round((sorted.length - 1) * share)];

/** @param {number[]} values */
const sortedOf = (values) => Float64Array.from(values).sort();

/** @param {number[]} values */
const median = (values) => at(sortedOf(values), 0.5);

/** @param {Trace} trace of what was logged, on the left axis */
const isRead = ({ meta, yaxis }) => meta?.part === "value" && yaxis === "y";

/** @param {Trace} trace @returns {number[]} */
const numbersOf = ({ y }) => y.flatMap((one) => (typeof one === "number" && Number.isFinite(one) ? [one] : []));

/** Those of a curve that are near their neighbours. @param {number[]} values */
export function near(values) {
  if (values.length < LEAST) return values;
  const sorted = sortedOf(values);
  const span = at(sorted, 0.95) - at(sorted, 0.05);
  if (at(sorted, 1) - at(sorted, 0) < WORTH * span) return values; // most curves, at no cost
  const aways = values.map((one, place) => {
    const around = values.slice(Math.max(place - AROUND, 0), place + AROUND + 1);
    return Math.abs(one - at(around.sort(byHeight), 0.5));
  });
  const most = Math.max(TIMES * median(aways), OF_SPAN * span);
  return values.filter((_, place) => aways[place] <= most);
}

/**
 * The range that the values have without those far from their neighbours; null where that is not much less than all.
 * @param {Trace[]} traces @param {boolean} [fromZero] whether the axis begins at nought @returns {Range | null}
 */
export function calmRange(traces, fromZero = false) {
  const curves = traces.filter(isRead).map(numbersOf);
  const all = extent(curves.flat());
  if (!all || traces.some(({ meta }) => meta?.spread)) return null;
  const found = extent(curves.flatMap(near));
  const isDown = fromZero || isFlat(traces); // to nought
  const height = (/** @type {Range} */ [low, high]) => (isDown ? Math.max(high, 0) - Math.min(low, 0) : high - low);
  if (!found || found[0] === found[1] || height(all) < WORTH * height(found)) return null;
  const air = AIR * (found[1] - found[0]);
  const low = found[0] >= 0 ? Math.max(found[0] - air, 0) : found[0] - air;
  return [fromZero ? Math.min(low, 0) : low, found[1] + air];
}

/**
 * The traces of a chart whose left axis has this range: what is beyond is cut off there, with a mark at the edge.
 * @param {Trace[]} traces @param {Range} range @returns {Trace[]}
 */
export function cutAt(traces, range) {
  const [low, high] = range;
  /** What is no number stands at the height of the last that was: in sight all the same. @param {Trace} trace */
  const within = ({ y }) => y.map((one) => (one === null ? one : Math.min(Math.max(one, low), high)));
  const cut = traces.map((trace) => {
    if (trace.yaxis !== "y") return trace;
    return trace.meta?.part === "odd" ? { ...trace, y: within(trace) } : { ...trace, cliponaxis: true };
  });
  const marked = traces.filter((trace) => isRead(trace) || (trace.yaxis === "y" && trace.meta?.part === "mean"));
  return [...cut, ...marked.flatMap((trace) => edgeMarks(trace, range))];
}

/** @param {Trace} trace @param {Range} range @returns {Trace[]} */
function edgeMarks({ x, y, meta }, [low, high]) {
  const places = y.flatMap((one, place) => (typeof one === "number" && (one > high || one < low) ? [place] : []));
  if (!places.length) return [];
  const isAbove = (/** @type {number} */ place) => Number(y[place]) > high;
  return [
    {
      x: places.map((place) => x[place]),
      y: places.map((place) => (isAbove(place) ? high : low)),
      type: "scatter",
      mode: "markers",
      yaxis: "y",
      hoverinfo: "skip",
      showlegend: false,
      cliponaxis: false,
      meta: { part: "beyond", line: meta?.line, run: meta?.run },
      marker: {
        color: meta?.colour ?? "",
        size: 8,
        symbol: places.map((place) => (isAbove(place) ? "triangle-up" : "triangle-down")),
      },
    },
  ];
}
