// Which axis the charts of one run or of several have: chosen from what their points have, and the reason in words.
// Pure.

import { Clock } from "./curves.js";

/** @import { Axis, Kind, Source } from "./types.d.ts" */
/** @import { Curves } from "./curves.js" */

/** @typedef {"silent" | "unplaced" | "single" | "brief"} Lack why a run can't be drawn by an axis */
/** @typedef {[Source, Lack]} Lacking */

/** @type {[Axis, string][]} */
export const AXES = [
  ["step", "Step"],
  ["time", "Time"],
  ["epoch", "Epoch"],
];

/** @type {Record<Lack, { one: (axis: Axis) => string, of: (name: string, axis: Axis) => string, until: string }>} */
const LACKS = {
  silent: {
    one: () => "no training values were logged",
    of: (name) => `${name} logged no training values`,
    until: "training values are logged",
  },
  unplaced: {
    one: (axis) => `the script prints no ${axis}s`,
    of: (name, axis) => `${name} prints no ${axis}s`,
    until: "",
  },
  single: {
    one: (axis) => `only one ${axis} was logged`,
    of: (name, axis) => `${name} logged only one ${axis}`,
    until: "more is logged",
  },
  brief: {
    one: (axis) => `the ${axis}s are too close together for the system metrics`,
    of: (name, axis) => `the ${axis}s of ${name} are too close together for the system metrics`,
    until: "",
  },
};

/** @param {Curves} curves @param {Kind[]} kinds */
const logged = (curves, kinds) => [...curves.each].filter((curve) => curve.count && kinds.includes(curve.kind));

/**
 * Whether some reading of the machine has a place between the steps. Where no point has a time there is nothing to hold
 * the readings to: these charts are then drawn by time on their own.
 * @param {Curves} curves @param {Axis} axis
 */
function placesSamples(curves, axis) {
  const clock = new Clock(curves.clock(axis), axis);
  const samples = [...curves.each].filter((curve) => curve.kind === "sample" && curve.count);
  if (!samples.length || clock.timeless) return true;
  const stretches = samples.flatMap((curve) => curve.stretches);
  return stretches.some((one) => clock.covers(one.low.time) || clock.covers(one.high.time));
}

/**
 * Why a run can't be drawn by an axis; "" where it can. `kinds`: whose points count.
 * @param {Curves} curves @param {Axis} axis @param {Kind[]} kinds @returns {Lack | ""}
 */
export function lack(curves, axis, kinds = ["train"]) {
  const points = logged(curves, kinds);
  if (!points.length) return "silent";
  if (points.some((curve) => curve.spans(axis))) return placesSamples(curves, axis) ? "" : "brief";
  const placed = points.some((curve) => curve.stretches.some((one) => Number.isFinite(one.low[axis])));
  return placed ? "single" : "unplaced";
}

/** @param {Source[]} sources */
const told = (sources) => sources.filter(({ curves }) => [...curves.each].some((curve) => curve.count));

/**
 * Which axes may be chosen: those that some run has points on, of its training or of its evaluations.
 * @param {Source[]} sources
 */
export function choices(sources) {
  const known = told(sources);
  /** @param {Axis} axis */
  const drawable = (axis) => known.some(({ curves }) => !lack(curves, axis, ["train", "eval"]));
  return AXES.map(([axis]) => axis).filter((axis) => axis === "time" || drawable(axis));
}

/** @param {Source[]} sources @param {Lacking[]} lacking @param {Axis} axis */
function because(sources, lacking, axis) {
  const [[source, why], ...others] = lacking;
  const text = LACKS[why];
  if (sources.length > 1) {
    return others.length ? `: ${lacking.length} runs have no ${axis}s` : `: ${text.of(source.name, axis)}`;
  }
  return source.live && text.until ? ` until ${text.until}` : `: ${text.one(axis)}`;
}

/** @param {Source[]} sources @param {Axis} axis @param {Kind[]} [kinds] @returns {Lacking[]} */
function missing(sources, axis, kinds) {
  return sources.flatMap((one) => {
    const why = lack(one.curves, axis, kinds);
    return why ? [/** @type {Lacking} */ ([one, why])] : [];
  });
}

/**
 * The axis to draw all charts by, and a sentence where it is not the one that is wanted. `wanted` is what the user
 * chose, null where nothing was chosen: steps, where every run has them.
 * @param {Axis | null} wanted @param {Source[]} sources @returns {{ axis: Axis, why: string }}
 */
export function axisOf(wanted, sources) {
  const shown = told(sources);
  const chosen = wanted !== null && choices(sources).includes(wanted);
  if (wanted === "time" || !shown.length) return { axis: "time", why: "" };
  const asked = wanted || "step";
  const lacking = missing(shown, asked, chosen ? ["train", "eval"] : ["train"]);
  if (!lacking.length) return { axis: asked, why: "" };
  if (chosen) return { axis: asked, why: `Not everything is drawn${because(shown, lacking, asked)}.` };
  const axis = asked !== "step" && !missing(shown, "step").length ? "step" : "time";
  return { axis, why: `Drawn by ${axis}${because(shown, lacking, asked)}.` };
}
