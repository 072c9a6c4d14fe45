import assert from "node:assert/strict";
import { test } from "node:test";

import { Clock, Curves } from "../../../dsgui/ui/static/metrics/curves.js";
import { answer, made, only, steps } from "../made.js";

/** @import { AnsweredCurve, CurvesAnswer } from "../../../dsgui/ui/static/types.d.ts" */

const HEAD = /** @type {const} */ ({ name: "loss", kind: "train", rank: null, source: "output", node: "" });

/**
 * An answer whose numbers are coded as the server codes them.
 * @param {Partial<AnsweredCurve>} y @returns {CurvesAnswer}
 */
function coded(y) {
  const step = { d: [1, 1, 2], k: 0 };
  const time = { d: [1050, 25, 25], k: 2 };
  return { series: { 0: HEAD }, x: [{ step, time, epoch: null }], y: [{ id: "0", x: 0, v: [3, 2, 1], ...y }] };
}

test("places are told as differences in units of the last decimal, or not at all", () => {
  const curves = new Curves();
  curves.take(coded({}));
  const points = only(curves).stretches.map((one) => one.low);
  assert.deepEqual(
    points.map(({ step, time, epoch, y }) => [step, time, epoch, y]),
    [
      [1, 10.5, NaN, 3],
      [2, 10.75, NaN, 2],
      [4, 11, NaN, 1],
    ],
  );
});

test("a thinned curve has stretches of the lowest, the highest and their mean; the last has fewer points", () => {
  const curves = new Curves();
  const x = [{ step: { d: [1, 3, 5, 1], k: 0 }, time: null, epoch: null }];
  const y = [{ id: "0", x: 0, v: [2, 9, 4, 1], size: 5, count: 7, mean: [4, 2.5], last: 3 }];
  curves.take({ series: { 0: HEAD }, x, y });
  const [first, second] = only(curves).stretches;
  assert.deepEqual([first.low.y, first.high.y, first.mean, first.n], [2, 9, 4, 5]);
  assert.deepEqual([second.low.step, second.high.step, second.n], [10, 9, 2]); // the lower came after the higher
  assert.equal(only(curves).count, 7);
  assert.equal(only(curves).lastValue, 3); // neither the lowest nor the highest
});

/**
 * A run that is followed from its begin, some points with each poll.
 * @param {number} count @param {(step: number) => number} value
 */
function followed(count, value) {
  const curves = new Curves();
  for (let begin = 1; begin <= count; begin += 1_000) {
    const numbers = Array.from({ length: 1_000 }, (_, i) => begin + i);
    curves.take(answer("0", { points: numbers.map((step) => ({ step, time: step, y: value(step) })) }));
  }
  return only(curves);
}

test("however many points come, a screenful of stretches is kept and no spike of one point is lost", () => {
  const spikes = new Set([1, 4_999, 12_345, 40_000]);
  const curve = followed(40_000, (step) => (spikes.has(step) ? 100 : 1));
  assert.ok(curve.stretches.length <= 3_000, String(curve.stretches.length));
  assert.equal(curve.count, 40_000);
  const high = curve.stretches.filter((one) => one.high.y === 100).map((one) => one.high.step);
  assert.deepEqual(new Set(high), spikes);
  const sum = curve.stretches.reduce((total, one) => total + one.mean * one.n, 0);
  assert.ok(Math.abs(sum - (40_000 + 99 * spikes.size)) < 1e-6, String(sum));
});

test("what a page saw hours ago is drawn as finely as what it saw just now", () => {
  const sizes = followed(100_000, () => 1).stretches.map((one) => one.n);
  assert.ok(Math.max(...sizes) <= 128, String(Math.max(...sizes)));
  assert.ok(sizes.length > 750, String(sizes.length));
});

test("a value that is no number is told apart and has no part in a mean or an extreme", () => {
  const points = Array.from({ length: 6_002 }, (_, i) => ({ step: i + 1, time: i, y: i === 10 ? "NaN" : 5 }));
  const curve = only(made({ points }));
  assert.deepEqual(
    curve.odd.map((point) => point.step),
    [11],
  );
  assert.ok(curve.stretches.every((one) => one.mean === 5 && one.low.y === 5 && one.high.y === 5));
});

test("of many values that are no number the first and the last are kept", () => {
  const points = Array.from({ length: 1_000 }, (_, i) => ({ step: i + 1, time: i, y: "Infinity" }));
  const odd = only(made({ points })).odd.map((point) => point.step);
  assert.equal(odd.length, 400);
  assert.deepEqual([odd[0], odd[199], odd[200], odd[399]], [1, 200, 801, 1_000]);
});

test("what a later pattern found, without a time or a step, is in its order", () => {
  const curve = only(made({ points: [{ y: 3 }, { y: 2 }, { y: 1 }] }));
  assert.deepEqual(
    curve.stretches.map((one) => one.low.step),
    [1, 2, 3],
  );
});

test("where a later line says its step, the order of those before is none", () => {
  const curve = only(made({ points: [{ y: 3 }, { y: 2 }, { y: 1, step: 400 }, { y: 0 }] }));
  assert.deepEqual([curve.numbered, curve.stepped], [false, true]);
  assert.deepEqual(
    curve.stretches.map((one) => one.low.step),
    [NaN, NaN, 400, NaN],
  );
});

test("lines without a step or a time are counted, and said to be", () => {
  const curves = made({ points: [{ y: 3 }, { y: 2 }] });
  curves.countsLines = true;
  curves.countLines();
  assert.equal(curves.counted, true);
});

test("telemetry's curves go on when a card comes or goes and another table begins", () => {
  const curves = new Curves();
  const reading = /** @type {const} */ ({ kind: "sample", name: "cpu_percent" });
  curves.take(answer("1.0", { ...reading, points: [{ time: 1 }, { time: 5 }] }));
  curves.take(answer("2.0", { ...reading, points: [{ time: 3 }] }));
  assert.equal(curves.each.size, 1);
  assert.deepEqual(only(curves).ids, ["1.0", "2.0"]);
  assert.deepEqual(
    only(curves).stretches.map((one) => one.low.time),
    [1, 3, 5],
  );
});

test("a part that is looked at closely is drawn finer, and coarse again afterwards", () => {
  const curves = made({ points: steps(1, 2, 3, 4, 5) });
  const fine = [
    { step: 2, time: 11, y: 2 },
    { step: 2.5, time: 11.5, y: 7 },
    { step: 3, time: 12, y: 3 },
  ];
  curves.refine(answer("0", { points: fine }), "step", 2);
  assert.deepEqual(
    only(curves)
      .drawn()
      .map((one) => one.low.step),
    [1, 2, 2.5, 3, 4, 5],
  );
  curves.coarsen();
  assert.deepEqual(
    only(curves)
      .drawn()
      .map((one) => one.low.step),
    [1, 2, 3, 4, 5],
  );
});

test("finer stretches are asked for where points are hidden, of telemetry only by time", () => {
  const points = Array.from({ length: 4_000 }, (_, i) => ({ step: i + 1, time: i, y: 1 }));
  const samples = { kind: /** @type {const} */ ("sample"), name: "cpu_percent", points };
  const curves = made({ points }, samples, { name: "few", points: steps(1, 2) });
  assert.deepEqual(curves.hidden("step", 1, 200), ["0"]);
  assert.deepEqual(curves.hidden("time", 100, 200), ["0", "1"]);
  assert.deepEqual(curves.hidden("time", 9_000, 9_100), []);
});

const STEPLESS = [{ time: 1 }, { time: 2 }, { time: 3 }];
const STEPPED = [{ step: 1 }, { step: 2 }, { step: 3 }];
for (const [series, best] of /** @type {const} */ ([
  [[STEPLESS, STEPPED], 1],
  [[STEPPED, STEPLESS], 0],
  [[STEPLESS, STEPPED.slice(1)], 0],
  [[STEPLESS.slice(2), STEPLESS], 1],
  [[STEPPED, STEPPED], 0],
])) {
  test(`of two sources the fuller is drawn, of two as full the one with steps: ${JSON.stringify(series)}`, () => {
    const curves = made(...series.map((points, i) => ({ source: `s${i}`, points })));
    assert.deepEqual(
      curves.best().map((curve) => curve.source),
      [`s${best}`],
    );
  });
}

test("a clock tells between two points where the training was, and nothing before the first", () => {
  const points = [
    { step: 10, time: 100 },
    { step: 20, time: 110 },
    { step: 40, time: 120 },
  ];
  const clock = new Clock(made({ points }).clock("step"), "step");
  assert.deepEqual(
    [99, 100, 105, 115, 120, 500, NaN].map((time) => clock.at(time)),
    [NaN, 10, 15, 30, 40, 40, NaN],
  );
  assert.deepEqual(
    [99, 100, 120, 121].map((time) => clock.covers(time)),
    [false, true, true, false],
  );
});

test("a clock goes through whole epochs from their beginnings", () => {
  const points = [
    { epoch: 0, time: 1 },
    { epoch: 0, time: 2 },
    { epoch: 1, time: 11 },
    { epoch: 1, time: 16 },
  ];
  const clock = new Clock(made({ points }).clock("epoch"), "epoch");
  assert.deepEqual(
    [0, 1, 6, 11, 16, 99].map((time) => clock.at(time)),
    [NaN, 0, 0.5, 1, 1.5, 1.5],
  );
});

test("the speed is measured between points of the loss five seconds apart, of too few there is none", () => {
  const points = Array.from({ length: 41 }, (_, i) => ({ step: i < 20 ? i : 2 * i - 20, time: i, y: 5 - i / 10 }));
  const curves = made({ points });
  const speed = curves.speed();
  assert.deepEqual(
    speed?.stretches.map(({ low }) => [low.time, low.y]),
    [
      [5, 1],
      [10, 1],
      [15, 1],
      [20, 1],
      [25, 2],
      [30, 2],
      [35, 2],
      [40, 2],
    ],
  );
  assert.equal(curves.speed(), speed); // nothing came since
  assert.equal(made({ points: points.slice(0, 8) }).speed(), null);
  assert.equal(made({ name: "accuracy", points }).speed(), null);
});

test("the best of a curve is its lowest number", () => {
  assert.equal(only(made({ points: steps(3, 1, "NaN", 2) })).least, 1);
  assert.equal(only(made({ points: steps("NaN") })).least, undefined);
});

test("where no line says its step the lines with the loss are counted, of a run that is looked at alone", () => {
  const lines = [3, 2, 1].map((y, i) => ({ time: 10, epoch: 0.1 * i, y }));
  /** @param {Curves} curves */
  const stepsOf = (curves) => [...curves.each].map((one) => one.stretches.map(({ low }) => low.step));
  const curves = new Curves();
  curves.countsLines = true;
  curves.take(answer("0", { points: lines }));
  curves.take(answer("1", { name: "learning_rate", points: lines }));
  curves.take(answer("2", { name: "memory", points: lines.slice(1) })); // of other lines: they have times
  assert.deepEqual(stepsOf(curves), [
    [1, 2, 3],
    [1, 2, 3],
    [NaN, NaN],
  ]);
  assert.ok(curves.counted);
  assert.equal(curves.speed(), null); // lines a second are no steps a second
  curves.take(answer("0", { points: [{ time: 12, step: 40, y: 1 }] }));
  assert.deepEqual(stepsOf(curves)[0], [NaN, NaN, NaN, 40]);
  assert.ok(!curves.counted);
  assert.deepEqual(stepsOf(made({ points: lines }))[0], [NaN, NaN, NaN]); // beside another run
});
