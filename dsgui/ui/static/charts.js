// Which chart each curve belongs to, what its line is called there, and in which order the charts stand. Pure.

import { GIB } from "./format.js";
import { COLOURS } from "./traces.js";

/** @import { Curve } from "./curves.js" */
/** @import { Estimate, Limit, Place } from "./types.d.ts" */

const MIB = 2 ** 20;
const EVAL_COSTS = /runtime|per_second|gen_len|_samples$/; // what an evaluation took, and no score

/** @type {Record<string, Place>} */
const NAMED = {
  learning_rate: { chart: "Learning rate", y: "learning rate" },
  grad_norm: { chart: "Gradient norm", y: "grad norm" },
  loss_scale: { chart: "Loss scale", y: "loss scale" },
  skipped_steps: { chart: "Loss scale", y: "loss scale", axis: "y2", title: "skipped steps" },
  samples_per_second: { chart: "Throughput", y: "samples/s" },
  tokens_per_second: { chart: "Throughput", y: "samples/s", axis: "y2", title: "tokens/s" },
};

/** @type {[RegExp, Place][]} */
const LIKE = [
  [/_ms$/, { chart: "Step times", y: "ms" }],
  [/_gb$/, { chart: "Memory logged by DeepSpeed", y: "GB" }],
];

// The same for telemetry: readings of the machine and of each card.
const IN_GIB = { y: "GiB", unit: "GiB", scale: GIB, fromZero: true };
const IN_PERCENT = { y: "%", unit: "%", fromZero: true };
const IN_MIB_S = { y: "MiB/s", unit: "MiB/s", scale: MIB, fromZero: true };
/** @type {Record<string, Place>} */
const READINGS = {
  "gpu.used_bytes": { chart: "GPU memory", ...IN_GIB },
  "gpu.run_bytes": { chart: "GPU memory", ...IN_GIB, note: "this run", dash: "dot", alone: true },
  host_used_bytes: { chart: "Memory", ...IN_GIB, note: "host, all processes", colour: COLOURS[6] },
  run_bytes: { chart: "Memory", ...IN_GIB, note: "this run", colour: COLOURS[1] },
  swap_used_bytes: { chart: "Memory", ...IN_GIB, note: "swap", colour: COLOURS[3], ifAny: true },
  "gpu.utilisation_percent": { chart: "GPU utilization", ...IN_PERCENT },
  cpu_percent: { chart: "CPU", ...IN_PERCENT, note: "all cores", more: true },
  "gpu.power_w": { chart: "GPU power", y: "W", unit: "W", fromZero: true, more: true },
  "gpu.temperature_c": { chart: "GPU temperature", y: "°C", unit: "°C", more: true },
  "gpu.sm_clock_mhz": { chart: "GPU clocks", y: "MHz", unit: "MHz", more: true },
  "gpu.pcie_rx_bytes_s": { chart: "PCIe traffic", ...IN_MIB_S, more: true, note: "received" },
  "gpu.pcie_tx_bytes_s": { chart: "PCIe traffic", ...IN_MIB_S, more: true, note: "sent", dash: "dot" },
  disk_free_bytes: { chart: "Free disk space", ...IN_GIB, more: true, note: "where the run writes" },
};
const ORDER = [
  "Loss",
  "GPU memory",
  "Memory",
  "Learning rate",
  "Gradient norm",
  "GPU utilization",
  "Evaluation",
  "Throughput",
  "Loss scale",
  "Step times",
];
/** @type {Record<string, string>} */
const LOSSES = { loss: "train", eval_loss: "eval" };

/** Where a chart stands among others. @param {string | undefined} title */
export function rankOf(title) {
  const found = ORDER.indexOf(title ?? "");
  return found < 0 ? ORDER.length : found;
}

/**
 * Which chart a logged curve belongs to, by its name; what nobody knows gets one of its own.
 * @param {Curve} curve @returns {Place | null}
 */
function loggedPlace({ name, kind }) {
  if (kind === "final" || (kind === "eval" && EVAL_COSTS.test(name))) return null;
  if (/(^|_)loss$/.test(name)) return { chart: "Loss", y: "loss" };
  const known = NAMED[name] ?? LIKE.find(([form]) => form.test(name))?.[1];
  if (known) return known;
  if (kind === "eval") return { chart: "Evaluation", y: "score" };
  return { chart: name.replaceAll("_", " "), y: name.slice(0, 40) };
}

/** @param {Curve} curve @returns {Place | null} */
function readingPlace({ name }) {
  const card = name.match(/^gpu(\d+)\.(.*)$/);
  const reading = READINGS[card ? `gpu.${card[2]}` : name];
  return reading ? { ...reading, gpu: card ? Number(card[1]) : null } : null;
}

/**
 * The chart of a curve; null where none shows it. What is shown `ifAny` has a value above nought.
 * @param {Curve} curve @param {boolean} several whether several runs are laid over each other
 */
export function placeOf(curve, several) {
  const place = curve.kind === "sample" ? readingPlace(curve) : loggedPlace(curve);
  if (!place || (several && place.alone)) return null;
  return place.ifAny && !curve.stretches.some((stretch) => stretch.high.y > 0) ? null : place;
}

/** What a line is called in its chart. @param {Curve} curve @param {Place} place */
export function nameOf(curve, place) {
  if (curve.kind === "sample") return `${curve.node ? `${curve.node}: ` : ""}${readingName(curve, place)}`;
  const rank = curve.rank ? ` (rank ${curve.rank})` : "";
  if (place.chart === "Loss") return `${LOSSES[curve.name] ?? curve.name}${rank}`;
  return `${curve.name.replace(/^eval_/, "").replaceAll("_", " ")}${rank}`;
}

/** @param {Curve} curve @param {Place} place */
function readingName(curve, { gpu, note }) {
  if (gpu === null || gpu === undefined) return note || curve.name;
  return `GPU ${gpu}${note ? `, ${note}` : ""}`;
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
    found.push({ at, text: `${at.toFixed(0)} GiB on this GPU` });
  }
  return found;
}

/** The limits without those that are drawn already. @param {Limit[]} known @param {Limit[]} more */
export const withLimits = (known, more) => [
  ...known,
  ...more.filter((one) => !known.some((other) => Math.abs(one.at - other.at) < 0.01)),
];

/** What is offloaded, and what DeepSpeed's estimator foretells. @param {Estimate} foretold @returns {Limit[]} */
export function offloadLimits({ states_bytes: states, estimate_bytes: buffers }) {
  const told = [
    { at: states / GIB, what: "what is offloaded", colour: COLOURS[4] },
    { at: buffers / GIB, what: "DeepSpeed’s estimate, with buffers", colour: COLOURS[3] },
  ];
  return told.map(({ at, what, colour }) => ({ at, text: `${at.toFixed(1)} GiB: ${what}`, colour }));
}
