// Which chart each curve belongs to, what its line is called there, and in which order the charts stand. Pure.

import { CHARTS } from "../texts/catalogue.js";
import { GIB, gib } from "../common/format.js";
import { listed, setApart, words } from "../texts/texts.js";
import { COLOURS } from "./traces.js";

/** @import { Curve } from "./curves.js" */
/** @import { Estimate, Limit, Line, Place, Predicted, Spot } from "../types.d.ts" */

export const LOSS = "loss";
export const NORM = "grad_norm";
const EVALUATION = "evaluation";
export const THROUGHPUT = "throughput";
const ORDER = Object.keys(CHARTS.charts);

/** The text of a code; a unit is its own. @param {string} code */
const say = (code) => words("charts_page", code);

/** Where a chart stands among others. @param {string | undefined} id */
export function rankOf(id) {
  const found = ORDER.indexOf(id?.split(":")[0] ?? "");
  return found < 0 ? ORDER.length : found;
}

/** A chart of the table, and what a curve is there. @param {string} id @param {Partial<Spot>} spot @returns {Place} */
export function charted(id, { right, note, dash, colour, alone, unless, if_any: ifAny } = {}) {
  const { y: shown, unit, scale, zero: fromZero, more } = CHARTS.charts[id];
  const [heading, y] = [say(id), say(shown)];
  const axis = right ? /** @type {const} */ ({ axis: "y2", title: say(right) }) : {};
  const named = note && say(note);
  return {
    chart: id,
    heading,
    y,
    unit,
    scale,
    fromZero,
    more,
    ...axis,
    note: named,
    dash,
    colour,
    alone,
    unless,
    ifAny,
  };
}

/** What an evaluation took, and no score. @param {string} name */
export const isCost = (name) =>
  name.endsWith(CHARTS.evaluationCounts) || CHARTS.evaluationCosts.some((part) => name.includes(part));

/**
 * Which chart a logged curve belongs to, by its name; what nobody knows gets one of its own.
 * @param {Curve} curve @returns {Place | null}
 */
function loggedPlace({ name, kind }) {
  if (kind === "final" || (kind === "eval" && isCost(name))) return null;
  if (name.split("_").at(-1) === LOSS) return charted(LOSS);
  const end = Object.keys(CHARTS.endings).find((one) => name.endsWith(one));
  const spot = CHARTS.logged[name] ?? (end && CHARTS.endings[end]);
  if (spot) return charted(spot.chart, spot);
  if (kind === "eval") return scored(scoreOf(name));
  const heading = name.replaceAll("_", " ");
  return { chart: `logged:${heading}`, heading, y: name.slice(0, 40) };
}

/** A chart for each: beside a perplexity an accuracy is a flat line. @param {string} name @returns {Place} */
const scored = (name) => {
  return { chart: `${EVALUATION}:${name}`, heading: words("charts_page", EVALUATION, { name }), y: name.slice(0, 40) };
};

/** @param {string} id */
const isScore = (id) => id.startsWith(`${EVALUATION}:`);

/**
 * Whether a chart that is made after others is of a score more than are seen at once.
 * @param {string} id @param {Iterable<string>} others
 */
export const isScoreTooMany = (id, others) => isScore(id) && [...others].filter(isScore).length >= CHARTS.mostScores;

/** @param {string} name */
const scoreOf = (name) => name.replace(/^eval_/, "").replaceAll("_", " ");

/** @param {Curve} curve @returns {Place | null} */
function readingPlace({ name }) {
  const card = name.match(/^gpu(\d+)\.(.*)$/);
  const spot = CHARTS.readings[card ? `gpu.${card[2]}` : name];
  return spot ? { ...charted(spot.chart, spot), gpu: card ? Number(card[1]) : null } : null;
}

/**
 * The chart of a curve; null where none shows it. What is shown `ifAny` has a value above nought.
 * @param {Curve} curve @param {boolean} several whether several runs are laid over each other
 * @param {Curve[]} others the curves of its run
 */
export function placeOf(curve, several, others = []) {
  const place = curve.kind === "sample" ? readingPlace(curve) : loggedPlace(curve);
  if (!place || (several && (place.alone || isTold(others, curve, place)))) return null;
  return place.ifAny && !curve.stretches.some((stretch) => stretch.high.y > 0) ? null : place;
}

/**
 * Whether the reading was told that another stands for.
 * @param {Curve[]} others @param {Curve} curve @param {Place} place
 */
const isTold = (others, { node }, { unless, gpu }) =>
  others.some((one) => one.told && one.node === node && one.name === `gpu${gpu}.${unless}`);

/**
 * What goes over a bus in the unit that one reads: 30 GiB/s, not 30k MiB/s.
 * @param {Line[]} lines
 */
export function trafficIn(lines) {
  const highs = lines.flatMap(({ curve }) => curve.stretches.map(({ high }) => high.y)).filter(Number.isFinite);
  const most = highs.reduce((found, one) => Math.max(found, one), 0);
  if (most < GIB) return { unit: "MiB/s", lines };
  return { unit: "GiB/s", lines: lines.map((line) => ({ ...line, scale: GIB })) };
}

/** What a line is called in its chart. @param {Curve} curve @param {Place} place */
export function nameOf(curve, place) {
  if (curve.kind === "sample") return `${curve.node ? `${curve.node}: ` : ""}${readingName(curve, place)}`;
  const rank = curve.rank ? ` (rank ${curve.rank})` : "";
  const { [curve.name]: known } = CHARTS.losses;
  if (place.chart === LOSS) return `${known ? say(known) : curve.name}${rank}`;
  return `${scoreOf(curve.name)}${rank}`;
}

/** @param {Curve} curve @param {Place} place */
function readingName(curve, { gpu, note }) {
  if (gpu === null || gpu === undefined) return note || curve.name;
  return note ? listed([`GPU ${gpu}`, note]) : `GPU ${gpu}`;
}

/** plotly reads a few HTML tags in names: what a program printed is none. @param {string} text */
export const label = (text) => text.replaceAll("<", "‹").replaceAll(">", "›");

/**
 * What the cards of one number and node can hold, each size once.
 * @param {Iterable<Curve>} curves @param {Curve} used @param {number} gpu @returns {Limit[]}
 */
export function cardLimits(curves, used, gpu) {
  /** @type {Limit[]} */
  const found = [];
  for (const { name, node, lastValue } of curves) {
    if (name !== `gpu${gpu}.total_bytes` || node !== used.node || !(lastValue > 0)) continue;
    const at = lastValue / GIB;
    found.push({ at, text: words("charts_page", "limit_card", { size: gib(lastValue, 0) }) });
  }
  return found;
}

/** The limits without those that are drawn already. @param {Limit[]} known @param {Limit[]} more */
export const withLimits = (known, more) => [
  ...known,
  ...more.filter((one) => !known.some((other) => Math.abs(one.at - other.at) < 0.01)),
];

/**
 * What the memory model foretold, as a line of a memory chart.
 * @param {Predicted | null | undefined} predicted @param {string} chart @returns {Limit[]}
 */
export function predictedLimits(predicted, chart) {
  const bytes = chart === "gpu_memory" ? predicted?.gpu_bytes : chart === "host_memory" ? predicted?.host_bytes : 0;
  if (!bytes) return [];
  return [
    { at: bytes / GIB, text: words("charts_page", "limit_predicted", { size: gib(bytes, 1) }), colour: COLOURS[4] },
  ];
}

/**
 * The most that a run had of a GPU, and of the host; null where nothing was measured, or it had none.
 * @param {Iterable<Curve>} curves
 */
export function measured(curves) {
  /** @param {RegExp} name */
  const most = (name) => {
    const found = [...curves].filter((one) => one.kind === "sample" && name.test(one.name));
    const values = found.flatMap((one) => one.stretches.map(({ high }) => high.y)).filter(Number.isFinite);
    return values.length ? Math.max(...values) : null;
  };
  const gpu = most(/^gpu\d+\.run_bytes$/) ?? most(/^gpu\d+\.used_bytes$/);
  return { gpu: gpu || null, host: most(/^run_bytes$/) || null };
}

/**
 * `GPU memory: predicted 18.2 GiB, used 18.6 GiB`; of what ran out,
 * how much it was then.
 * @param {Predicted | null} predicted @param {Iterable<Curve>} curves @param {string} failed the code of its diagnosis
 * @param {Predicted | null} peak by the run's record, which leaves out what compiled operators
 */
export function heldAgainst(predicted, curves, failed = "", peak = null) {
  const found = measured(curves);
  const was = { gpu: peak?.gpu_bytes ?? found.gpu, host: peak?.host_bytes ?? found.host };
  const host = ["host-memory", "cgroup-memory"].includes(failed) ? "out_host" : "held_host";
  const pairs = /** @type {[string, number, number | null][]} */ ([
    [failed.startsWith("cuda-memory") ? "out_gpu" : "held_gpu", predicted?.gpu_bytes ?? 0, was.gpu],
    [host, predicted?.host_bytes ?? 0, was.host],
  ]);
  const told = pairs.flatMap(([code, foretold, seen]) =>
    foretold && seen !== null ? [words("charts_page", code, { predicted: gib(foretold, 1), was: gib(seen, 1) })] : [],
  );
  const isHalf = told.length > 0 && !predicted?.gpu_bytes && was.gpu;
  return setApart(isHalf ? [...told, words("charts_page", "not_held_gpu")] : told);
}

/** What is offloaded, and what DeepSpeed's estimator foretells. @param {Estimate} foretold @returns {Limit[]} */
export function offloadLimits({ states_bytes: states, estimate_bytes: buffers }) {
  const told = [
    { at: states / GIB, code: "limit_offloaded", colour: COLOURS[4] },
    { at: buffers / GIB, code: "limit_estimate", colour: COLOURS[3] },
  ];
  return told.map(({ at, code, colour }) => ({
    at,
    text: words("charts_page", code, { size: gib(at * GIB, 1) }),
    colour,
  }));
}

/**
 * The place of each card's colour, the same in every chart and in a report: by node and number, whichever was heard of
 * first.
 * @param {Curve[]} curves @returns {Map<string, number>}
 */
export function placesOfCards(curves) {
  /** @type {[string, number][]} */
  const found = curves
    .filter(({ kind, told }) => kind === "sample" && told)
    .flatMap((curve) => {
      const gpu = placeOf(curve, false)?.gpu ?? null;
      return gpu === null ? [] : [[curve.node ?? "", gpu]];
    });
  found.sort(([one, first], [other, second]) => (one === other ? first - second : one < other ? -1 : 1));
  return new Map([...new Set(found.map(cardOf))].map((card, place) => [card, place]));
}

/** @param {[string, number]} card */
export const cardOf = ([node, gpu]) => `${node} ${gpu}`;

/**
 * The lines of one run's chart, with a legend that has each GPU once, and once what each of its lines is:
 * `GPU 0 · GPU 0, this run · GPU 1 · GPU 1, this run` is said as `GPU 0 · GPU 1 · this run`; a press on a card there
 * hides all of its lines.
 * @param {Line[]} lines @returns {Line[]}
 */
export function namedOnce(lines) {
  const cards = new Set(lines.map(({ card }) => card));
  const notes = new Set(lines.map(({ note }) => note ?? ""));
  if (cards.size < 2 || notes.size < 2 || cards.has(undefined)) return lines;
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {Set<string | undefined>} */
  const signed = new Set([undefined]);
  return lines.map((line) => {
    const { card = "", note } = line;
    const legend = !seen.has(card);
    const sign = signed.has(note) ? undefined : note;
    seen.add(card);
    signed.add(note);
    return { ...line, name: card, legend, sign, group: card };
  });
}
