// Which axis the charts of one run or of several have: chosen from what their points have, and the reason in words.
// Pure.

import { Clock } from "./curves.js";
import { words } from "../texts/texts.js";
import { placing } from "./traces.js";

/** @import { Axis, Kind, Line, Source } from "../types.d.ts" */
/** @import { Curves } from "./curves.js" */

/** @typedef {"silent" | "unplaced" | "single" | "brief" | "untimed"} Lack why a run can't be drawn by an axis */
/** @typedef {[Source, Lack]} Lacking */

/** @type {Axis[]} */
export const AXES = ["step", "time", "epoch"];

/** @type {Kind[]} */
const LOGGED = ["train", "eval"];

// Codes of texts: its button, what a chart is drawn along, by which axis it is drawn.
/** @type {Record<Axis, string>} */
export const BUTTONS = { step: "button_step", time: "button_time", epoch: "button_epoch" };
/** @type {Record<Axis, string>} */
export const ALONG = { step: "along_step", time: "along_time", epoch: "along_epoch" };
/** @type {Record<Axis, string>} */
const BY = { step: "by_step", time: "by_time", epoch: "by_epoch" };
/** @type {Record<"drawn_by" | "not_all", string>} */
const SO_UNTIL = { drawn_by: "drawn_by_until", not_all: "not_all_until" };

// Until when a run that goes on lacks it: a text's code.
/** @type {Partial<Record<Lack, string>>} */
const UNTIL = { silent: "until_logged", single: "until_more" };

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("charts_page", code, given);

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
  if (axis === "time") return curves.timed ? "" : "untimed";
  const all = logged(curves, kinds);
  if (!all.length) return "silent";
  const points = all.filter((curve) => axis !== "step" || !curve.byEpoch);
  if (points.some((curve) => curve.spans(axis))) return placesSamples(curves, axis) ? "" : "brief";
  const placed = points.some((curve) => curve.stretches.some((one) => Number.isFinite(one.low[axis])));
  return placed ? "single" : "unplaced";
}

/** @param {Source[]} sources */
const told = (sources) => sources.filter(({ curves }) => [...curves.each].some((curve) => curve.count));

/**
 * Which axes may be chosen: those that some run has points on, of its training or of its evaluations. Where there is
 * none of these the order of the points is one.
 * @param {Source[]} sources @returns {Axis[]}
 */
export function choices(sources) {
  const known = told(sources);
  if (!known.length) return ["time"];
  const found = AXES.filter((axis) => known.some(({ curves }) => !lack(curves, axis, LOGGED)));
  return found.length ? found : ["step"];
}

/**
 * A sentence of why the charts are not drawn by an axis, or not all.
 * @param {"drawn_by" | "not_all"} so its code
 * @param {Source[]} sources @param {Lacking[]} lacking @param {Axis} axis @param {Axis} by
 */
function because(so, sources, lacking, axis, by) {
  const [[source, why], ...others] = lacking;
  const given = { axis: say(BY[axis]), axes: say(`${axis}s`), name: source.name };
  const drawn = say(BY[by]);
  const until = UNTIL[why];
  if (sources.length === 1 && source.live && until) return say(SO_UNTIL[so], { axis: drawn, until: say(until) });
  const reason = others.length
    ? say("several_lack", { count: String(lacking.length), ...given })
    : say(sources.length > 1 ? `${why}_of` : why, given);
  return say(so, { axis: drawn, why: reason });
}

/** @param {Source[]} sources @param {Axis} axis @param {Kind[]} [kinds] @returns {Lacking[]} */
function missing(sources, axis, kinds) {
  return sources.flatMap((one) => {
    const why = lack(one.curves, axis, kinds);
    return why ? [/** @type {Lacking} */ ([one, why])] : [];
  });
}

/**
 * What is drawn by instead: time, where every run has times; else what most of them have.
 * @param {Source[]} sources @param {Axis} asked @returns {Axis}
 */
function instead(sources, asked) {
  if (asked !== "step" && !missing(sources, "step").length) return "step";
  if (!missing(sources, "time").length) return "time";
  /** @param {Axis} axis */
  const without = (axis) => missing(sources, axis, LOGGED).length;
  const may = choices(sources).filter((axis) => axis !== "time");
  return may.length ? may.reduce((best, axis) => (without(axis) < without(best) ? axis : best)) : "time";
}

/**
 * The axis to draw all charts by, and a sentence where it is not the one that is wanted. `wanted` is what the user
 * chose, null where nothing was chosen: steps, where every run has them. What has no times is never drawn by time.
 * @param {Axis | null} wanted @param {Source[]} sources @returns {{ axis: Axis, why: string }}
 */
export function axisOf(wanted, sources) {
  const shown = told(sources);
  if (!shown.length) return { axis: "time", why: "" };
  const heard = wanted === null ? shown.filter(({ curves }) => lack(curves, "step", LOGGED) !== "silent") : [];
  if (heard.length && heard.length < shown.length) {
    // One that logged nothing moves the others to no other axis.
    const found = axisOf(wanted, heard);
    const { axis } = found;
    return { axis, why: found.why || because("not_all", shown, missing(shown, axis), axis, axis) };
  }
  const chosen = wanted !== null && choices(sources).includes(wanted);
  const asked = wanted === null || (wanted === "time" && !chosen) ? "step" : wanted;
  const lacking = missing(shown, asked, chosen ? LOGGED : ["train"]);
  if (!lacking.length) return { axis: asked, why: "" };
  if (chosen) return { axis: asked, why: because("not_all", shown, lacking, asked, asked) };
  const axis = instead(shown, asked);
  const still = axis === "time" ? lacking : missing(shown, asked, LOGGED);
  return { axis, why: axis === asked || !still.length ? "" : because("drawn_by", shown, still, asked, axis) };
}

/**
 * The axis of one chart by itself: by everyone's it would stand empty, for not one of its values has a place there. ""
 * where one has, or where there is no other axis.
 * @param {Pick<Line, "curve" | "clock">[]} lines @param {Axis} axis @returns {Axis | ""}
 */
export function ownAxis(lines, axis) {
  /** @param {(line: Pick<Line, "curve" | "clock">) => (point: import("../types.d.ts").Point) => number} placeOf */
  const hasPlace = (placeOf) =>
    lines.some((line) => line.curve.stretches.some(({ low }) => Number.isFinite(placeOf(line)(low))));
  if (!lines.length || hasPlace(({ curve, clock }) => placing(curve, clock ?? null))) return "";
  return AXES.find((one) => one !== axis && hasPlace(() => (point) => point[one])) ?? "";
}

/** Why a chart is drawn by an axis of its own. @param {Axis} own @param {Axis} axis everyone's */
export const whyOwn = (own, axis) =>
  say("drawn_by", { axis: say(BY[own]), why: say("none_here", { axes: say(`${axis}s`) }) });
