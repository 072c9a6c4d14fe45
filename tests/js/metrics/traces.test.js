import assert from "node:assert/strict";
import { test } from "node:test";

import { Clock } from "../../../dsgui/ui/static/metrics/curves.js";
import {
  COLOURS,
  isFlat,
  look,
  markPlace,
  oddPoints,
  placing,
  points,
  sharedRange,
  shortestOf,
  timesApart,
  timesText,
} from "../../../dsgui/ui/static/metrics/traces.js";
import { made, only, steps } from "../made.js";

/** @import { Line } from "../../../dsgui/ui/static/types.d.ts" */
/** @import { Curve } from "../../../dsgui/ui/static/metrics/curves.js" */

const STEP = placing(only(made({ points: [] })) ?? only(made({ points: steps(1) })), null);
/** @param {{ step: number }} point */
const byStep = (point) => point.step;

/** @param {Curve} curve @param {Partial<Line>} more @returns {Line} */
const line = (curve, more = {}) => {
  const named = { run: 0, name: "", plain: "", legend: true, colour: "", dash: "", scale: 1 };
  return { ...named, curve, clock: null, ...more };
};

for (const [mark, place] of /** @type {const} */ ([
  [{ at: 50, kind: "warning" }, 50],
  [{ at: 5, kind: "checkpoint" }, 10],
  [{ at: 105, kind: "checkpoint" }, 100],
  [{ at: 4000, kind: "warning" }, null],
  [{ at: -50, kind: "error" }, null],
  [{ at: 4000, kind: "error" }, 100],
  [{ at: NaN, kind: "stop" }, null],
])) {
  test(`a mark outside of the points is at their edge or left out: ${mark.kind} at ${mark.at}`, () => {
    assert.equal(markPlace(mark, [10, 100]), place);
  });
}

test("a curve that goes back is broken there: lines of another rank, or a training that begins anew", () => {
  const places = [0.1, 0.2, 0.1, 0.2];
  const curve = only(made({ points: places.map((epoch, i) => ({ epoch, time: 10 + i, y: 4 - epoch })) }));
  /** @param {{ time: number }} point */
  const byTime = (point) => point.time;
  assert.deepEqual(points(curve, 0, 1, byTime).y, [3.9, 3.8, null, 3.9, 3.8]);
  const smooth = points(curve, 0.5, 1, byTime);
  assert.deepEqual(smooth.meanX, [10, 11, 12, 12, 13]);
  assert.equal(smooth.means[3], 3.9); // it begins anew too
  const again = only(made({ points: [1, 2, 3, 2, 3].map((step, i) => ({ step, time: i, y: step })) }));
  assert.deepEqual(points(again, 0, 1, byStep).y, [1, 2, 3, null, 2, 3]);
  assert.deepEqual(points(only(made({ points: steps(3, 2, 1) })), 0, 1, byStep).y, [3, 2, 1]);
});

test("by time a point is at its time, by steps a reading of the machine where the training was then", () => {
  const curves = made({ points: steps(3, 2, 1) }, { kind: "sample", name: "cpu", points: [{ time: 10.5 }] });
  const [loss, cpu] = [...curves.each];
  const clock = new Clock(loss, "step");
  assert.equal(STEP(loss.stretches[0].low), 10);
  assert.equal(placing(loss, clock)(loss.stretches[2].low), 3);
  assert.equal(placing(cpu, clock)(cpu.stretches[0].low), 1.5);
});

test("the points of whole epochs are spread over each, and the machine's readings between them", () => {
  const logged = [0, 1, 2].flatMap((epoch) =>
    Array.from({ length: 10 }, (_, part) => ({
      step: 10 * epoch + part + 1,
      epoch: epoch + 1,
      time: 6 + 10 * epoch + part,
    })),
  );
  const readings = Array.from({ length: 40 }, (_, time) => ({ time }));
  const curves = made({ points: logged }, { kind: "sample", name: "cpu", points: readings });
  const [loss, cpu] = [...curves.each];
  const clock = new Clock(curves.clock("epoch"), "epoch");
  const { x } = points(loss, 0, 1, placing(loss, clock));
  assert.deepEqual([x.length, x[0], x[10], x[20]], [30, 0, 1, 2]);
  assert.deepEqual(
    x,
    [...new Set(x)].sort((a, b) => a - b),
  );
  assert.ok(x[29] > 2.8 && x[29] <= 3, String(x[29]));
  assert.ok(points(cpu, 0, 1, placing(cpu, clock)).x.length > 20);
});

test("by evaluations' steps a reading of the machine is where the evaluations were then", () => {
  const scores = [1, 2, 3, 4].map((part) => ({ step: 50 * part, time: 10 * part }));
  const readings = Array.from({ length: 50 }, (_, time) => ({ time }));
  const curves = made({ kind: "eval", points: scores }, { kind: "sample", name: "cpu", points: readings });
  const [score, cpu] = [...curves.each];
  const clock = new Clock(curves.clock("step"), "step");
  assert.deepEqual(points(score, 0, 1, placing(score, clock)).x, [50, 100, 150, 200]);
  const { x } = points(cpu, 0, 1, placing(cpu, clock));
  assert.deepEqual([x.length, x[0], x[5], x.at(-1)], [31, 50, 75, 200]); // none after the last
});

test("values are scaled, a value that is none leaves a gap, a point without a place is left out", () => {
  const curve = only(made({ points: [...steps(4, "NaN", 2), { time: 99, y: 8 }] }));
  const { x, y, means } = points(curve, 0, 2, byStep);
  assert.deepEqual(x, [1, 2, 3]);
  assert.deepEqual(y, [2, null, 1]);
  assert.deepEqual(means, []);
});

test("smoothing starts at the first value, follows slowly and takes no notice of a gap", () => {
  const curve = only(made({ points: steps(1, 1, "NaN", 3) }));
  const { meanX, means } = points(curve, 0.5, 1, byStep);
  assert.deepEqual(meanX, [1, 2, 4]);
  assert.deepEqual(means.slice(0, 2), [1, 1]);
  assert.ok(Math.abs(means[2] - (0.25 * 0.5 + 0.25 * 1 * 1 + 1.5) / 0.875) < 0.2, String(means[2]));
  assert.ok(means[2] > 2 && means[2] < 2.5, String(means[2]));
});

test("a stretch of many points weighs as many", () => {
  const curve = only(made({ points: steps(...new Array(3_001).fill(1), 9) }));
  const last = curve.stretches[curve.stretches.length - 1];
  const { means } = points(curve, 0.9, 1, byStep);
  const expected = 1 + (1 - 0.9 ** last.n) * (last.mean - 1);
  assert.ok(last.n > 1);
  assert.ok(Math.abs(means[means.length - 1] - expected) < 1e-3, `${means.at(-1)}, not ${expected}`);
});

test("a value that is no number is drawn at the height of the last number before it", () => {
  const curve = only(made({ points: steps("NaN", 7, 5, "Infinity", 6, "-Infinity") }));
  const { x, y } = points(curve, 0, 1, byStep);
  assert.deepEqual(oddPoints(curve, byStep, x, y), [
    { at: 1, height: 7, text: "NaN", follows: false }, // before the first number: at its height
    { at: 4, height: 5, text: "Infinity", follows: false },
    { at: 6, height: 6, text: "-Infinity", follows: false },
  ]);
});

test("the range that charts share goes from the first point of any line to the last", () => {
  const curves = made(
    { points: steps(3, 2, 1) },
    { kind: "sample", name: "cpu", points: [{ time: 0 }, { time: 11 }, { time: 40 }] },
    { name: "nothing", points: [] },
  );
  const lines = [...curves.each].map((curve) => line(curve));
  assert.deepEqual(sharedRange(lines), { reach: [0, 40], shown: [0, 40] });
  const clock = new Clock(curves.clock("step"), "step");
  const stepped = lines.map((one) => ({ ...one, clock }));
  assert.deepEqual(sharedRange(stepped).reach, [1, 3]); // what has no place counts for nothing
});

test("steps that begin again, and readings that begin before the training, are all in the range", () => {
  const again = [...steps(1, 1, 1), { step: 1, time: 20 }, { step: 2, time: 21 }];
  const cpu = Array.from({ length: 50 }, (_, time) => ({ time }));
  const curves = made({ points: again }, { kind: "sample", name: "cpu", points: cpu });
  const clock = new Clock(curves.clock("step"), "step");
  assert.deepEqual(sharedRange([...curves.each].map((curve) => line(curve, { clock }))).reach, [1, 3]);
  assert.deepEqual(sharedRange([...curves.each].slice(1).map((curve) => line(curve, { clock }))).reach, [1, 2]);
  assert.deepEqual(sharedRange([...curves.each].map((curve) => line(curve))).reach, [0, 49]);
});

test("symbols have room where they are at an end", () => {
  const plain = line(only(made({ points: steps(...new Array(101).fill(1)) }))); // 10 s to 110 s
  /** @param {...number} times */
  const dotted = (...times) => line(only(made({ points: times.map((time) => ({ time })) })), { mode: "lines+markers" });
  assert.deepEqual(sharedRange([plain, dotted(50, 110)]).shown, [10, 113]);
  assert.deepEqual(sharedRange([plain, dotted(50, 60)]).shown, [10, 110]);
  assert.deepEqual(sharedRange([plain, dotted(11)]).shown, [8, 110]);
});

test("one place alone is no range, and no point neither", () => {
  assert.deepEqual(sharedRange([line(only(made({ points: steps(1) })))]), { reach: [10, 10], shown: null });
  assert.deepEqual(sharedRange([]), { reach: null, shown: null });
});

test("no two of many lines look the same", () => {
  const looks = Array.from({ length: 4 * COLOURS.length }, (_, place) => JSON.stringify(look(place)));
  assert.equal(new Set(looks).size, looks.length);
});

test("what the machine did before the first step and after the last has no place by step, and has one by time", () => {
  const readings = Array.from({ length: 40 }, (_, time) => ({ time, y: time < 5 || time > 20 ? 9 : 1 }));
  const curves = made({ points: steps(3, 2, 1) }, { kind: "sample", name: "cpu", points: readings });
  const [loss, cpu] = [...curves.each];
  const clock = new Clock(loss, "step");
  const { x, y } = points(cpu, 0, 1, placing(cpu, clock));
  assert.deepEqual(
    [x, y],
    [
      [1, 2, 3],
      [1, 1, 1],
    ],
  );
  assert.equal(points(cpu, 0, 1, placing(cpu, null)).x.length, 40);
  assert.equal(clock.at(30), 3); // a run's end is marked at its last step
  assert.deepEqual(sharedRange([line(cpu, { clock })]).reach, [1, 3]);
});

test("values that differ by rounding alone are flat", () => {
  assert.equal(isFlat([{ yaxis: "y", y: [2.49999999999999822, 2.5, null, 2.50000000000000444] }]), true);
  assert.equal(isFlat([{ yaxis: "y", y: [0, 0] }]), true);
  assert.equal(isFlat([{ yaxis: "y", y: [5e-5, 4.9e-5] }]), false);
});

test("one value alone on the left axis is flat, whatever the right one has", () => {
  assert.equal(isFlat([{ yaxis: "y", y: [5e-5, null, 5e-5] }]), true);
  assert.equal(
    isFlat([
      { yaxis: "y", y: [1] },
      { yaxis: "y2", y: [2] },
    ]),
    true,
  );
  assert.equal(isFlat([{ yaxis: "y", y: [1, 2] }]), false);
  assert.equal(isFlat([{ yaxis: "y", y: [null] }]), false);
});

test("a run that is a dot beside much longer ones is found, from where to where it is", () => {
  /** @param {number} run @param {number} count */
  const trained = (run, count) => line(only(made({ points: steps(...Array(count).fill(1)) })), { run });
  assert.deepEqual(shortestOf([trained(0, 400), trained(1, 12)]), { run: 1, reach: [10, 21] });
  assert.equal(shortestOf([trained(0, 400), trained(1, 100)]), null);
  assert.equal(shortestOf([trained(0, 400), trained(1, 1)]), null); // there is nothing to look at
  assert.equal(shortestOf([]), null);
});

test("runs whose values are ten times apart are told, where a logarithmic scale has a place for all of them", () => {
  /** @param {import("../../../dsgui/ui/static/types.d.ts").Told[]} values @param {number} run */
  const of = (values, run) => line(only(made({ points: steps(...values) })), { run });
  assert.equal(timesApart([of([4, 3, 2], 0), of([90, 60, 30], 1)]), 20);
  assert.equal(timesApart([of([4, 3, 2], 0), of([30, 20, 10], 1)]), null);
  assert.equal(timesApart([of([4, 3, 2], 0), of([90, "NaN", 60, 30], 1)]), 20);
  assert.equal(timesApart([of([4, 3, 0], 0), of([90, 60, 30], 1)]), null);
  assert.equal(timesApart([of([900, 3, 0.01], 0)]), null); // one falls as far as it likes
  assert.equal(timesApart([of([900, 3, 3, 2], 0), of([4, 3, 2], 1)]), null); // and a spike makes no other run
  const spiky = of([1], 0);
  const point = spiky.curve.stretches[0].low;
  const stretch = { low: { ...point, y: 1 }, high: { ...point, y: 900 }, mean: 2, n: 3 };
  spiky.curve.stretches = [stretch, stretch, stretch]; // a spike in each is not its usual value
  assert.equal(timesApart([spiky, of([4, 3, 2], 1)]), null);
});

test("how many times apart runs are is told up to a thousand", () => {
  assert.match(timesText(20.4), /about 20× apart/);
  assert.match(timesText(1000), /about 1,000× apart/);
  for (const times of [1e5, Infinity]) assert.match(timesText(times), /more than 1,000× apart/);
});
