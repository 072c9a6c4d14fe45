// Which curves of several runs, or of several GPUs, lie over each other, and how each is drawn so that all are seen.
// Pure.

/** @import { Trace } from "../types.d.ts" */

const LOOKED_AT = 60; // places of a curve
const [NEAR, SAME] = [0.01, 1e-6]; // of the height: drawn at one place, and of the same value
const LEFT_OUT = 0.02; // of the values at either end
const SHARE = 0.3; // of these places: with fewer, curves cross
const [RIM, MOST] = [1, 2.5]; // px on either side of what lies over it, of all that a pile has on both
/** As plotly draws them, in px. @type {Record<string, number[]>} */
const DASHES = { dash: [9, 9], dot: [3, 3], dashdot: [9, 3, 3, 3] };

/** @param {Trace} trace */
const runOf = ({ meta }) => meta?.run ?? -1;

/** @param {Trace} trace */
const lineOf = ({ meta }) => meta?.line ?? -1;

/**
 * The value at a place, in a straight line between two points; NaN where there is none.
 * @param {Trace} trace @param {number} at
 */
function valueAt({ x, y }, at) {
  let [low, high] = [0, x.length - 1];
  if (high < 0 || at < x[0] || at > x[high]) return NaN;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (x[middle] <= at) low = middle;
    else high = middle;
  }
  const [one, other] = [y[low] ?? NaN, y[high] ?? NaN];
  return x[high] > x[low] ? one + ((other - one) * (at - x[low])) / (x[high] - x[low]) : one;
}

/**
 * Whether a curve is where another is, at one of its points.
 * @param {Trace} one @param {number} i @param {Trace} other @param {number} near
 */
const isThere = (one, i, other, near) => Math.abs((one.y[i] ?? NaN) - valueAt(other, one.x[i])) <= near;

/** @param {Trace} one @param {Trace} other @param {number} near */
function areOne(one, other, near) {
  const step = Math.max(1, Math.floor(one.x.length / LOOKED_AT));
  let [count, same] = [0, 0];
  for (let i = 0; i < one.x.length; i += step) {
    if (one.y[i] === null) continue;
    count += 1;
    if (isThere(one, i, other, near)) same += 1;
  }
  return count > 0 && same >= SHARE * count;
}

/**
 * The values of a curve where one of those over it is.
 * @param {Trace} trace @param {Trace[]} over @param {number} near
 */
const below = (trace, over, near) =>
  trace.y.map((value, i) => value !== null && over.some((one) => isThere(trace, i, one, near)));

/** Whether the values of curves are the same from end to end. @param {Trace[]} traces */
function areSame([first, ...others]) {
  const near = SAME * heightOf([first]);
  const lies = (/** @type {Trace} */ one, /** @type {Trace} */ on) =>
    below(one, [on], near).every((isBelow, i) => isBelow || one.y[i] === null);
  return others.every((one) => lies(one, first) && lies(first, one));
}

/** Those of each kind. @param {Trace[]} traces @param {(trace: Trace) => string} kind */
const grouped = (traces, kind) =>
  [...new Set(traces.map(kind))].map((one) => traces.filter((trace) => kind(trace) === one));

/** What of a chart its dashes tell. @param {Trace} trace */
const kindOf = ({ yaxis, name }) => `${yaxis} ${name}`;

/**
 * The curves on top where in all that is drawn those of all runs have the same values, one of each kind; else none.
 * @param {Trace[]} traces one of each line
 */
export function sameOf(traces) {
  const runs = new Set(traces.map(runOf)).size;
  if (runs < 2 || traces.some(({ meta }) => meta?.drawn)) return []; // of a group each run is its own
  const kinds = grouped(traces, kindOf);
  return kinds.every((one) => one.length === runs && areSame(one)) ? kinds.map((one) => one[runs - 1]) : [];
}

/** Of nearly all values: a single spike is no height that others are near by. @param {Trace[]} traces */
function heightOf(traces) {
  const values = traces
    .flatMap(({ y }) => y)
    .filter((value) => value !== null && Number.isFinite(value))
    .map(Number)
    .sort((a, b) => a - b);
  const most = values.length - 1;
  const [low, high] = [values[Math.round(most * LEFT_OUT)], values[Math.round(most * (1 - LEFT_OUT))]];
  return high > low ? high - low : Math.abs(high) || 1;
}

/** As high as it is drawn. @param {Trace} trace @param {boolean} log */
const drawnAt = (trace, log) =>
  log ? { ...trace, y: trace.y.map((value) => (value === null || value <= 0 ? null : Math.log10(value))) } : trace;

/**
 * The traces that lie over each other, those of one `owner` each; one that lies over none is alone.
 * @param {Trace[]} traces in the order in which they lie @param {number} near @param {typeof runOf} owner
 */
function piles(traces, near, owner) {
  /** @type {Trace[][]} */
  const found = [];
  for (const trace of traces) {
    const isHere = (/** @type {Trace[]} */ pile) =>
      pile.every((one) => owner(one) !== owner(trace)) &&
      pile.some((one) => areOne(trace, one, near) || areOne(one, trace, near));
    const pile = found.find(isHere);
    if (pile) pile.push(trace);
    else found.push([trace]);
  }
  return found;
}

/**
 * The wider line below one that others lie over: its colour is seen on both sides of theirs. Its dashes are as long as
 * those of the line.
 * @param {Trace} trace @param {number} above how many lie over it @param {number} count of the pile
 * @returns {Trace}
 */
function rimOf(trace, above, count) {
  const { dash = "solid", width = 2, ...line } = Object(trace.line);
  const { size = 0, ...marker } = Object(trace.marker);
  const wider = above * Math.min(2 * RIM, MOST / (count - 1));
  const px = DASHES[dash]?.map((one) => `${one}px`).join();
  const { line: index, run } = trace.meta ?? {};
  return {
    ...trace,
    name: "", // it is no curve of its own
    zorder: -above,
    showlegend: false,
    line: { ...line, width: width + wider, dash: px ?? dash },
    marker: { ...marker, size: size + wider },
    meta: { part: "band", line: index, run, rim: true },
  };
}

/**
 * What several runs logged, so that all of it is seen: where curves are one, those below are a rim on either side of
 * the one on top. The baseline's lies below the others.
 * @param {Trace[]} traces @param {Set<number>} bases the runs that are the baseline @param {boolean} [log] the axis
 * @param {boolean} [alone] whether they are the lines of one run: those that are dashed alike
 * @returns {Map<Trace, Trace[]>} what is drawn for each that lies over another, or below one
 */
export function laid(traces, bases, log = false, alone = false) {
  const drawnAs = new Map(traces.map((trace) => [drawnAt(trace, log), trace]));
  const order = [...drawnAs.keys()].toSorted((a, b) => Number(bases.has(runOf(b))) - Number(bases.has(runOf(a))));
  /** @type {Map<Trace, Trace[]>} */
  const drawn = new Map();
  const kind = (/** @type {Trace} */ one) => (alone ? `${one.yaxis} ${Object(one.line).dash}` : kindOf(one));
  for (const here of grouped(order, kind)) {
    const near = NEAR * heightOf(order.filter(({ yaxis }) => yaxis === here[0].yaxis));
    for (const pile of piles(here, near, alone ? lineOf : runOf)) {
      for (const [place, one] of pile.entries()) {
        const trace = drawnAs.get(one) ?? one;
        const over = pile.slice(place + 1);
        const isBelow = below(one, over, near);
        const y = trace.y.map((value, i) => (isBelow[i] ? value : null));
        const rim = isBelow.some(Boolean) ? [rimOf({ ...trace, y }, over.length, pile.length)] : [];
        if (pile.length > 1) drawn.set(trace, [...rim, { ...trace, zorder: place }]);
      }
    }
  }
  return drawn;
}
