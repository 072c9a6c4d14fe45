import assert from "node:assert/strict";
import { test } from "node:test";

import { outcome } from "../../../dsgui/ui/static/metrics/outcome.js";

/** @import { ComparedRun } from "../../../dsgui/ui/static/types.d.ts" */

/** @param {Parameters<typeof outcome>} given */
const outcomeText = (...given) => outcome(...given).join(" · ");

const GIB = 2 ** 30;
const NAMES = [{ name: "zero2" }, { name: "zero3-cpu" }];

/** @param {Partial<ComparedRun["figures"]>} figures @param {string} [state] @returns {ComparedRun} */
const run = (figures, state = "succeeded") =>
  /** @type {ComparedRun} */ ({
    state,
    tags: [],
    preset: "",
    model: "",
    figures: {
      steps: 300,
      duration_s: 100,
      steps_per_second: 3,
      final_loss: 2.47,
      run_gpu_peak_bytes: null,
      ...figures,
    },
  });

/** @param {ComparedRun} base @param {ComparedRun} other @param {any[]} [evaluations] */
const told = (base, other, evaluations = []) => outcomeText(NAMES, [base, other], evaluations, 0);

test("of two runs it is said which reached the lower loss, how long it took and what memory it needed", () => {
  const base = run({ run_gpu_peak_bytes: 21 * GIB });
  const other = run({ final_loss: 2.31, duration_s: 140, run_gpu_peak_bytes: 12 * GIB });
  assert.equal(
    told(base, other),
    "Compared to “zero2”, “zero3-cpu” reaches a lower final loss (2.310 against 2.470), takes 1.4× as long and " +
      "needs 9.00 GiB less GPU memory.",
  );
  assert.equal(
    outcomeText(NAMES, [base, other], [], 1),
    "Compared to “zero3-cpu”, “zero2” ends at a higher final loss (2.470 against 2.310), takes 29 % less time and " +
      "needs 9.00 GiB more GPU memory.",
  );
});

test("what is nearly as much is not called more", () => {
  const base = run({ run_gpu_peak_bytes: 20 * GIB });
  const other = run({ final_loss: 2.471, duration_s: 101, run_gpu_peak_bytes: 20.1 * GIB });
  assert.equal(
    told(base, other),
    "Compared to “zero2”, “zero3-cpu” reaches nearly the same final loss (2.471 against 2.470) and takes about as " +
      "long.",
  );
  assert.match(told(run({}), run({})), /reaches the same final loss \(2\.470\)/);
});

test("a spike that one of the two has is told, as the chart shows it first", () => {
  const spiky = run({ loss_spike: { step: 120, value: 4.879, count: 1 } });
  assert.match(told(run({}), spiky), /and takes about as long, but its loss spikes at step 120\.$/);
  assert.match(told(spiky, run({})), /as long, while the loss of “zero2” spikes at step 120\.$/);
  assert.doesNotMatch(told(spiky, spiky), /spike/);
});

test("of more than two runs it is said whose loss spikes and where, unless all do", () => {
  const names = [...NAMES, { name: "lora" }];
  const at = (/** @type {number} */ step) => run({ loss_spike: { step, value: 4.8, count: 1 } });
  const of = (/** @type {ComparedRun[]} */ ...runs) => outcomeText(names, runs, [], 0);
  assert.match(of(run({}), at(120), at(200)), /Loss spikes: “zero3-cpu” at step 120 and “lora” at step 200$/);
  assert.match(of(run({}), at(120), run({}, "failed")), /Loss spikes: “zero3-cpu” at step 120 · “lora”: failed/);
  assert.doesNotMatch(of(at(1), at(2), at(3)), /spike/);
});

test("an evaluation's loss is the one that counts, where both have one", () => {
  const row = (/** @type {(number | null)[]} */ ...values) => [{ name: "Final eval loss", values, better: "less" }];
  assert.match(told(run({}), run({ final_loss: 1 }), row(2, 3)), /higher final eval loss \(3\.000 against 2\.000\)/);
  assert.match(told(run({}), run({ final_loss: 1 }), row(2, null)), /lower final loss \(1\.000 against 2\.470\)/);
});

test("the loss of training is told beside an evaluation's where that says another thing", () => {
  const row = (/** @type {number[]} */ ...values) => [{ name: "Final eval loss", values, better: "less" }];
  const [base, worse] = [run({}), run({ final_loss: 2.89 })];
  assert.match(told(base, worse, row(1, 1)), /the same final eval loss \(1\.000\) with a 17 % higher final train loss/);
  assert.match(told(worse, base, row(1, 2)), /higher final eval loss \(.*\) with a 15 % lower final train loss and/);
  assert.doesNotMatch(told(base, worse, row(1, 2)), /train loss/); // both are higher
  assert.doesNotMatch(told(base, run({}), row(1, 1)), /train loss/);
  const three = [...NAMES, { name: "lora" }];
  assert.equal(
    outcomeText(three, [base, worse, worse], /** @type {any} */ (row(1, 1, 1)), 0),
    "Lowest final train loss: “zero2”, 2.470 · About the same: final eval loss and duration",
  );
});

test("of runs of other lengths the steps are said, and how fast they went: their times are of other work", () => {
  const other = run({ steps: 1200, final_loss: 2.31, duration_s: 400, steps_per_second: 2 });
  assert.equal(
    told(run({}), other),
    "Compared to “zero2”, “zero3-cpu” reaches a lower final loss (2.310 after 1,200 steps against 2.470 after 300 " +
      "steps) and trains 33 % slower.",
  );
  // Where they tell them, samples: a step of another batch is another one.
  const samples = run({ steps: 1200, steps_per_second: 1, samples_per_second: 90 });
  assert.match(told(run({ samples_per_second: 30 }), samples), /trains 3× as fast/);
});

test("what did not succeed is told by where it ended, and what goes on is not told of", () => {
  assert.equal(told(run({}), run({ steps: 40 }, "failed")), "“zero3-cpu”: failed at step 40. “zero2”: succeeded.");
  assert.equal(told(run({}, "failed"), run({}, "failed")), "");
  assert.equal(told(run({}), run({}, "running")), "");
  assert.equal(told(run({}, "failed"), run({}, "running")), "");
});

test("of more than two runs it is said which is best in what, and what is the same in all", () => {
  const names = [...NAMES, { name: "lora" }];
  const [base, slow] = [run({ run_gpu_peak_bytes: 20 * GIB }), run({ final_loss: 2.3, run_gpu_peak_bytes: 12 * GIB })];
  const third = run({ final_loss: 2.31, duration_s: 140, run_gpu_peak_bytes: 30 * GIB });
  assert.equal(
    outcomeText(names, [base, slow, third], [], 0),
    "Lowest final loss: “zero3-cpu” and “lora”, 2.300 · Shortest: “zero2” and “zero3-cpu”, 1m 40s · " +
      "Least GPU memory: “zero3-cpu”, 12.00 GiB",
  );
  const others = [run({}), run({ steps: 600, steps_per_second: 9 }), run({ steps: 40 }, "failed")];
  assert.equal(
    outcomeText(names, others, [], 0),
    "Fastest: “zero3-cpu”, 9.00 steps/s · About the same: final loss · “lora”: failed at step 40",
  );
  assert.equal(outcomeText(names, [run({}), run({}), run({}, "running")], [], 0), "");
  assert.equal(
    outcomeText(names, [run({ steps: 4 }, "failed"), run({}), run({}, "stopped")], [], 0),
    "“zero2”: failed at step 4 · “zero3-cpu”: succeeded · “lora”: stopped at step 300",
  );
  assert.equal(outcomeText(names, [run({}, "failed"), run({}, "failed"), run({}, "failed")], [], 0), "");
  assert.equal(outcomeText(names, [run({}), run({}), run({})], [], 0), "About the same: final loss and duration");
  const spiked = run({ loss_spike: { step: 3, value: 9, count: 1 } });
  const parts = outcome(names, [run({}), spiked, run({}, "stopped")], [], 0);
  assert.deepEqual(
    parts.map((one) => one.split("“")[0]),
    ["About the same: final loss and duration", "Loss spikes: ", ""],
  );
});

test("the lowest loss of runs of other lengths is told with the steps that it took", () => {
  const names = [...NAMES, { name: "lora" }];
  const long = run({ steps: 1200, final_loss: 2.1 });
  assert.equal(
    outcomeText(names, [run({}), long, run({ steps: 200, final_loss: 2.6 })], [], 0),
    "Lowest final loss: “zero3-cpu”, 2.100 after 1,200 steps · About the same: speed",
  );
});

test("losses that are alike after other steps are told with no one's steps", () => {
  const names = [...NAMES, { name: "lora" }];
  const runs = [run({ final_loss: 1 }), run({ final_loss: 1.0001, steps: 200 }), run({ final_loss: 3 })];
  assert.ok(outcomeText(names, runs, [], 0).startsWith("Lowest final loss: “zero2” and “zero3-cpu”, 1.000 ·"));
});

test("of runs that trained something else no loss and no speed is compared, but what each took", () => {
  const names = [...NAMES, { name: "lora" }];
  const base = run({ run_gpu_peak_bytes: 12 * GIB });
  const other = run({ steps: 150, duration_s: 80, final_loss: 0.1, steps_per_second: 9, run_gpu_peak_bytes: 9 * GIB });
  const third = run({ duration_s: 140, run_gpu_peak_bytes: 15 * GIB });
  const took = "Least GPU memory: “zero3-cpu”, 9.00 GiB"; // who takes fewer steps is no faster for that
  assert.equal(outcomeText(names, [base, other, third], [], 0, true), took);
  assert.equal(outcomeText(NAMES, [base, other], [], 0, true), took);
  const whole = [base, { ...other, figures: { ...other.figures, steps: base.figures.steps } }];
  assert.equal(outcomeText(NAMES, whole, [], 0, true), `Shortest: “zero3-cpu”, 1m 20s · ${took}`);
  // An evaluation of the same data may be compared all the same.
  const row = (/** @type {"less" | ""} */ better) => [{ name: "Final eval loss", values: [1, 2, 3], better }];
  assert.equal(outcomeText(names, [base, other, third], row(""), 0, true), took);
  assert.equal(
    outcomeText(names, [base, other, third], row("less"), 0, true),
    `Lowest final eval loss: “zero2”, 1.000 after 300 steps · ${took}`,
  );
});

test("a run that logged no loss is told by its time, one of which nothing is known not at all", () => {
  assert.equal(
    told(run({}), run({ final_loss: "NaN", duration_s: 50 })),
    "“zero3-cpu”: final loss NaN · Compared to “zero2”, “zero3-cpu” takes 50 % less time.",
  );
  const none = { final_loss: null, duration_s: null, steps: null, steps_per_second: null };
  assert.equal(told(run(none), run(none)), "");
});

test("a name that a sweep made leaves room for what is said of it", () => {
  const names = [{ name: "zero2" }, { name: `sweep-${"lr=5e-05_".repeat(12)}seed=1` }];
  assert.ok(outcomeText(names, [run({}), run({ final_loss: 2 })], [], 0).length < 180);
});
