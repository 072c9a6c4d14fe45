import assert from "node:assert/strict";
import { test } from "node:test";

import { peakBeyond } from "../../../dsgui/ui/static/metrics/beyond.js";
import { Clock } from "../../../dsgui/ui/static/metrics/curves.js";
import { made, steps } from "../made.js";

/** @import { Axis, Line } from "../../../dsgui/ui/static/types.d.ts" */

/**
 * A run whose steps 1 to 3 are at 10 to 12 s, and its memory each second.
 * @param {number[]} values @param {Axis} axis @returns {Line}
 */
function memory(values, axis = "step") {
  const readings = values.map((y, time) => ({ time, y }));
  const points = steps(3, 2, 1).map((one) => ({ ...one, epoch: one.step / 3 }));
  const curves = made({ points }, { kind: "sample", name: "run_bytes", points: readings });
  const [loss, curve] = [...curves.each];
  const clock = new Clock(loss, axis);
  return { run: 0, name: "this run", plain: "this run", legend: true, colour: "", dash: "", scale: 2, curve, clock };
}

/** @param {number} before @param {number} within @param {number} after */
const readings = (before, within, after) =>
  Array.from({ length: 20 }, (_, time) => (time < 10 ? before : time > 12 ? after : within));

test("a peak before the first step, or after the last, is told beside a curve that has none of it", () => {
  assert.equal(peakBeyond([memory(readings(10, 3, 1))], "step", "GiB"), "Peak 5.00 GiB before step 1");
  assert.equal(peakBeyond([memory(readings(1, 3, 8))], "step", "GiB"), "Peak 4.00 GiB after step 3");
  assert.equal(peakBeyond([memory(readings(1, 3, 8), "epoch")], "epoch", "GiB"), "Peak 4.00 GiB after epoch 1");
});

test("of several lines the one is told that misses most, by its name", () => {
  const lines = [{ ...memory(readings(20, 16, 1)), plain: "host" }, memory(readings(10, 3, 1))];
  assert.equal(peakBeyond(lines, "step", "GiB"), "Peak 5.00 GiB (this run) before step 1");
});

test("the run's own peak by its record stands first where that is less: what compiles is none of the training", () => {
  const lines = [{ ...memory(readings(4, 4, 4)), plain: "host" }, memory(readings(10, 3, 1))];
  const record = (/** @type {number} */ host) => () => ({ host_bytes: host });
  assert.equal(peakBeyond(lines, "step", "GiB", record(3)), "Peak 1.50 GiB (this run); 5.00 GiB before step 1");
  assert.equal(
    peakBeyond([memory(readings(10, 3, 1), "epoch")], "epoch", "GiB", record(4)), // more of it before its first step
    "Peak 2.00 GiB; 5.00 GiB before epoch 0.333",
  );
  assert.equal(peakBeyond(lines, "step", "GiB", record(10)), "Peak 5.00 GiB (this run) before step 1");
  const all = memory(readings(10, 3, 1));
  all.curve.name = "host_used_bytes"; // of everything on the machine no record tells
  assert.equal(peakBeyond([all], "step", "GiB", record(3)), "Peak 5.00 GiB before step 1");
});

test("nothing is told where what is shown is as high, nor by time", () => {
  assert.equal(peakBeyond([memory(readings(3, 3, 3.1))], "step", "GiB"), "");
  assert.equal(peakBeyond([memory(readings(10, NaN, 1))], "step", "GiB"), ""); // nothing is shown
  assert.equal(peakBeyond([memory(readings(10, 3, 1))], "time", "GiB"), "");
  const record = () => ({ host_bytes: 10 });
  assert.equal(peakBeyond([memory(readings(10, 3, 1))], "time", "GiB", record), "");
});

test("by time the peak that the list tells is told where the compilers of operators had more", () => {
  const line = { ...memory(readings(10, 3, 1)), clock: null };
  const record = () => ({ host_bytes: 3 });
  const told = "Peak 1.50 GiB; 5.00 GiB while operators were compiled";
  assert.equal(peakBeyond([line], "time", "GiB", record), told);
  assert.equal(peakBeyond([{ ...memory(readings(10, 3, 1)), clock: null }], "step", "GiB"), "");
});
