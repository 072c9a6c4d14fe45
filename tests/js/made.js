// Curves as a server's answer makes them.

import { Curves } from "../../dsgui/ui/static/metrics/curves.js";

/** @import { Axis, Coded, CurvesAnswer, Point, SeriesInfo, Told } from "../../dsgui/ui/static/types.d.ts" */

/** @typedef {Partial<SeriesInfo> & { points: (Partial<Omit<Point, "y">> & { y?: Told })[] }} Series */

/** @type {Axis[]} */
const AXES = ["step", "time", "epoch"];
const USUAL = /** @type {const} */ ({ name: "loss", kind: "train", rank: null, source: "output", node: "" });

/** @param {Series["points"]} points @param {Axis} axis @returns {Coded} */
const coded = (points, axis) => ({ v: points.map((point) => point[axis] ?? null) });

/**
 * The answer that tells of one series, whose id it is given.
 * @param {string} id @param {Series} series @returns {CurvesAnswer}
 */
export function answer(id, { points, ...info }) {
  const [step, time, epoch] = AXES.map((axis) => coded(points, axis));
  const values = points.map((point) => point.y ?? 1);
  return { series: { [id]: { ...USUAL, ...info } }, x: [{ step, time, epoch }], y: [{ id, x: 0, v: values }] };
}

/** The curves of a run that logged these. @param {...Series} series */
export function made(...series) {
  const curves = new Curves();
  series.forEach((one, id) => curves.take(answer(String(id), one)));
  return curves;
}

/** Points that go on from step 1, a second each. @param {Told[]} values */
export const steps = (...values) => values.map((y, i) => ({ step: i + 1, time: 10 + i, y }));

/** @param {import("../../dsgui/ui/static/metrics/curves.js").Curves} curves */
export const only = (curves) => [...curves.each][0];
