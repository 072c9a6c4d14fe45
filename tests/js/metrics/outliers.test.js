import assert from "node:assert/strict";
import { test } from "node:test";

import { calmRange, cutAt, near } from "../../../dsgui/ui/static/metrics/outliers.js";

/** @import { Trace } from "../../../dsgui/ui/static/types.d.ts" */

/** A loss that falls, with some noise. @param {number} count */
const falling = (count) => Array.from({ length: count }, (_, step) => 2 * Math.exp(-step / 60) + 0.02 * (step % 3));

/** @param {(number | null)[]} y @param {Partial<Trace>} [more] @returns {Trace} */
const traceOf = (y, more) => ({
  x: y.map((_, step) => step),
  y,
  yaxis: "y",
  meta: { part: "value", line: 0, run: 0, colour: "#123456" },
  ...more,
});

/** @param {number[]} values @param {number} step @param {number} value */
const spiked = (values, step, value) => values.map((one, place) => (place === step ? value : one));

test("a spike is far from its neighbours; the high values that a loss begins with are not", () => {
  const loss = falling(200);
  assert.deepEqual(near(loss), loss);
  const left = near(spiked(loss, 120, 9));
  assert.equal(left.length, 199);
  assert.equal(Math.max(...left), Math.max(...loss));
});

test("a spike is seen among few values, and several are among many", () => {
  assert.equal(near(spiked(falling(14), 7, 9)).length, 13);
  const several = [20, 50, 80].reduce((values, step) => spiked(values, step, 9), falling(100));
  assert.equal(near(several).length, 97);
});

test("few values have none that is far, nor has a step that stays", () => {
  assert.deepEqual(near([1, 1, 9, 1]), [1, 1, 9, 1]);
  const steps = [...Array(40).fill(1), ...Array(40).fill(5)];
  assert.deepEqual(near(steps), steps);
});

test("a scale without a spike reaches as far as the others do, and never below nought where none is", () => {
  const loss = falling(200);
  assert.equal(calmRange([traceOf(loss)]), null);
  const [low, high] = calmRange([traceOf(spiked(loss, 120, 9))]) ?? [NaN, NaN];
  assert.ok(low >= 0 && low < Math.min(...loss));
  assert.ok(high > 2 && high < 2.3);
  // One that is little higher than the others is seen as it is; so are memory's second axis, and bands.
  assert.equal(calmRange([traceOf(spiked(loss, 120, 2.4))]), null);
  assert.equal(calmRange([traceOf(spiked(loss, 120, 9), { yaxis: "y2" })]), null);
  assert.equal(calmRange([traceOf(spiked(loss, 120, 9)), traceOf([1], { meta: { part: "value", spread: [] } })]), null);
});

test("what is beyond the scale is marked at its edge, where it is, and what is drawn ends there", () => {
  const trace = traceOf([...spiked(falling(100), 50, 9), null, -3]);
  const [curve, marks, ...none] = cutAt([trace], [0, 2.2]);
  assert.equal(curve.cliponaxis, true);
  assert.deepEqual(
    [marks.x, marks.y],
    [
      [50, 101],
      [2.2, 0],
    ],
  );
  assert.deepEqual(/** @type {any} */ (marks.marker).symbol, ["triangle-up", "triangle-down"]);
  assert.equal(marks.meta?.part, "beyond"); // which nobody reads a value of
  assert.deepEqual(none, []);
  assert.equal(cutAt([traceOf(falling(100))], [0, 3]).length, 1);
});

test("what is no number stays in sight behind a spike, and a scale from nought begins there", () => {
  const odd = traceOf([80], { meta: { part: "odd" }, cliponaxis: false });
  const [cross] = cutAt([odd], [1.9, 2.1]);
  assert.deepEqual([cross.y, cross.cliponaxis], [[2.1], false]);
  const power = traceOf([...Array(60).fill(50), 400, ...Array(60).fill(51)]);
  assert.ok((calmRange([power]) ?? [0])[0] > 40);
  assert.equal((calmRange([power], true) ?? [NaN])[0], 0);
  // A line that is nearly flat: what stands out of it is nothing beside the way down to nought.
  const pace = traceOf(Array.from({ length: 60 }, (_, i) => 2.5 + (i === 20 ? 0.05 : (i % 3) / 1000)));
  assert.notEqual(calmRange([pace]), null);
  assert.equal(calmRange([pace], true), null);
});

test("a smoothed curve that a spike takes beyond the scale is marked where it is", () => {
  const mean = traceOf([1, 1, 9, 5, 1], { meta: { part: "mean", line: 0 } });
  assert.deepEqual(cutAt([mean], [0, 2])[1].x, [2, 3]);
});
