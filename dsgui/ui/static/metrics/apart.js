// Where the results of runs are furthest from each other: in a figure, or in a loss or a score that two of them logged
// at one step. Pure.

import { isCost } from "./charts.js";

/** @import { Curve, Curves } from "./curves.js" */

/**
 * What is furthest: its name, at which step of a curve, and the two values; `place` is the run's that is not the
 * baseline.
 * @typedef {{ name: string, step?: number, place: number, value: number, base: number, size: number }} Apart
 */

const LEAST = 0.0005; // of the larger: with four digits, what differs by less reads the same
const RESULT = /(^|_)(loss|rewards?|acc(uracy)?|f1|bleu|rouge\w*|score)$/;

/**
 * How far two values are apart, of the larger; a number and none are so altogether.
 * @param {number} one @param {number} other
 */
function sizeOf(one, other) {
  if (Number.isFinite(one) && Number.isFinite(other)) {
    const most = Math.max(Math.abs(one), Math.abs(other));
    return most ? Math.abs(one - other) / most : 0;
  }
  return Object.is(one, other) ? 0 : Infinity;
}

/** @param {Curve} curve */
const isResult = ({ kind, name, rank }) =>
  !rank && (kind === "train" ? RESULT.test(name) : kind === "eval" && !isCost(name));

/**
 * The baseline's curve of the same, where both say their steps: the order of values is none.
 * @param {Curve} curve @param {Curve[]} own
 */
const baseOf = ({ kind, name, numbered }, own) =>
  numbered ? undefined : own.find((one) => one.kind === kind && one.name === name && !one.numbered);

/** What a curve says at each of its steps. @param {Curve} curve */
const byStep = ({ stretches }) =>
  new Map(stretches.flatMap(({ low, high }) => [low, high].map(({ step, y }) => [step, y])));

/** @param {Curve} curve @param {Curve} base @param {number} place @returns {Apart[]} */
function furthestOf(curve, base, place) {
  const [there, name] = [byStep(base), curve.name.replaceAll("_", " ")];
  const found = [...byStep(curve)].flatMap(([step, value]) => {
    const other = Number.isFinite(step) ? there.get(step) : undefined;
    if (other === undefined) return [];
    return [{ name, step, place, value, base: other, size: sizeOf(value, other) }];
  });
  return found.length ? [found.reduce((best, one) => (one.size > best.size ? one : best))] : [];
}

/** @param {Apart[]} found @returns {Apart | null} */
export const most = (found) =>
  found
    .filter(({ size }) => size >= LEAST)
    .reduce((best, one) => (best && best.size >= one.size ? best : one), /** @type {Apart | null} */ (null));

/**
 * The curves of each run against the baseline's, where both logged the same at the same steps.
 * @param {Curves[]} runs @param {number} base @returns {Apart[]}
 */
export function curvesApart(runs, base) {
  const own = runs[base].best().filter(isResult);
  return runs.flatMap((curves, place) => {
    if (place === base) return [];
    return curves.best().flatMap((curve) => {
      const other = isResult(curve) ? baseOf(curve, own) : undefined;
      return other ? furthestOf(curve, other, place) : [];
    });
  });
}

/** Whether all of its values are there, and not the least and the greatest of several steps. @param {Curve} curve */
const isWhole = ({ stretches }) => stretches.every(({ low, high }) => low.step === high.step);

/** Whether both have the same steps, with all of their values. @param {Curve} curve @param {Curve | undefined} other */
function areAlike(curve, other) {
  if (!other || !isWhole(curve) || !isWhole(other)) return false;
  const [one, two] = [byStep(curve), byStep(other)];
  return one.size === two.size && [...one.keys()].every((step) => two.has(step));
}

/**
 * Whether there are results, and every curve of one can be held to the baseline's at each step: else nobody may say
 * that they are the same.
 * @param {Curves[]} runs @param {number} base
 */
export function allComparable(runs, base) {
  const own = runs[base].best().filter(isResult);
  const each = runs.map((curves) => curves.best().filter(isResult));
  return (
    own.length > 0 &&
    each.every((curves) => curves.length === own.length && curves.every((curve) => areAlike(curve, baseOf(curve, own))))
  );
}

/**
 * A figure of each run against the baseline's.
 * @param {string} name @param {(import("../types.d.ts").Told | null | undefined)[]} values @param {number} base
 * @returns {Apart[]}
 */
export function figureApart(name, values, base) {
  const own = values[base] ?? null;
  return values.flatMap((told, place) => {
    if (place === base || own === null || told === null || told === undefined) return [];
    const [value, other] = [Number(told), Number(own)];
    return [{ name, place, value, base: other, size: sizeOf(value, other) }];
  });
}
