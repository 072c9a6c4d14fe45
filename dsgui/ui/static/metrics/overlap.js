// Which curves of several runs lie over each other, and how each is drawn so that all are seen. Pure.

/** @import { Trace } from "../types.d.ts" */

const LOOKED_AT = 60; // places of a curve
const NEAR = 0.01; // of the height
const LEFT_OUT = 0.02; // of the values at either end
const SHARE = 0.3; // of these places: with fewer, curves cross
const STRIPE = 6; // px
/** As plotly draws them, in px. @type {Record<string, number[]>} */
const DASHES = { dash: [9, 9], dot: [3, 3], dashdot: [9, 3, 3, 3] };

/** @param {Trace} trace */
const runOf = ({ meta }) => meta?.run ?? -1;

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
 * The values of a curve where it is apart from all that lie below it, with the points beside these.
 * @param {Trace} trace @param {Trace[]} below @param {number} near
 */
function apartFrom(trace, below, near) {
  const alone = trace.y.map((value, i) => value !== null && !below.some((one) => isThere(trace, i, one, near)));
  return alone.some(Boolean)
    ? trace.y.map((value, i) => (alone[i - 1] || alone[i] || alone[i + 1] ? value : null))
    : [];
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
 * The traces that lie over each other, those of one run each; one that lies over none is alone.
 * @param {Trace[]} traces in the order in which they lie @param {number} near
 */
function piles(traces, near) {
  /** @type {Trace[][]} */
  const found = [];
  for (const trace of traces) {
    const isHere = (/** @type {Trace[]} */ pile) =>
      pile.every((one) => runOf(one) !== runOf(trace)) &&
      pile.some((one) => areOne(trace, one, near) || areOne(one, trace, near));
    const pile = found.find(isHere);
    if (pile) pile.push(trace);
    else found.push([trace]);
  }
  return found;
}

/**
 * Of each place of a pile a part: where a line is whole, dashes of which each shows a part of the one below; where its
 * dashes tell something else, every dash of another colour.
 * @param {string} dash of the line @param {number} place from the bottom @param {number} count of the pile
 */
function stripes(dash, place, count) {
  const unit = DASHES[dash];
  if (!unit) return `${(count - place) * STRIPE}px,${place * STRIPE}px`;
  const shown = Array.from({ length: count - place }, () => unit).flat();
  shown[shown.length - 1] += place * unit.reduce((sum, one) => sum + one, 0);
  return shown.map((one) => `${one}px`).join();
}

/**
 * What lies so high in a pile, drawn so that those below it are seen.
 * @param {Trace} trace @param {number} place from the bottom @param {number} count of the pile
 * @returns {Trace}
 */
function striped(trace, place, count) {
  if (!place) return { ...trace, zorder: 0 };
  const { dash = "solid", ...line } = Object(trace.line);
  const meta = { ...Object(trace.meta), striped: dash === "solid" };
  return { ...trace, zorder: place, line: { ...line, dash: stripes(dash, place, count) }, meta };
}

/**
 * What several runs logged, so that all of it is seen: curves that are one have stripes of all their colours, where
 * they are apart each is whole. The baseline's lies below the others.
 * @param {Trace[]} traces @param {Set<number>} bases the runs that are the baseline @param {boolean} [log] the axis
 * @returns {Map<Trace, Trace[]>} what is drawn for each that lies over another
 */
export function laid(traces, bases, log = false) {
  const drawnAs = new Map(traces.map((trace) => [drawnAt(trace, log), trace]));
  const order = [...drawnAs.keys()].toSorted((a, b) => Number(bases.has(runOf(b))) - Number(bases.has(runOf(a))));
  /** @type {Map<Trace, Trace[]>} */
  const drawn = new Map();
  /** @param {Trace} trace what of a chart its dashes tell */
  const kindOf = ({ yaxis, name }) => `${yaxis} ${name}`;
  for (const kind of new Set(order.map(kindOf))) {
    const here = order.filter((trace) => kindOf(trace) === kind);
    const near = NEAR * heightOf(order.filter(({ yaxis }) => yaxis === here[0].yaxis));
    for (const pile of piles(here, near)) {
      if (pile.length < 2) continue;
      for (const [place, one] of pile.entries()) {
        const trace = drawnAs.get(one) ?? one;
        const alone = place ? apartFrom(one, pile.slice(0, place), near) : [];
        const apart = alone.map((value, i) => (value === null ? null : trace.y[i]));
        const { line, run } = trace.meta ?? {};
        const whole = { ...trace, y: apart, zorder: place, showlegend: false, meta: { part: "band", line, run } };
        drawn.set(trace, [striped(trace, place, pile.length), ...(apart.length ? [/** @type {Trace} */ (whole)] : [])]);
      }
    }
  }
  return drawn;
}
