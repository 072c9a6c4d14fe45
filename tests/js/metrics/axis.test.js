import assert from "node:assert/strict";
import { test } from "node:test";

import { axisOf, choices, lack, ownAxis, whyOwn } from "../../../dsgui/ui/static/metrics/axis.js";
import { Clock } from "../../../dsgui/ui/static/metrics/curves.js";
import { made, steps } from "../made.js";

/** @import { Series } from "../made.js" */

/** @type {Series} */
const SAMPLE = { kind: "sample", name: "cpu_percent", points: [{ time: 0 }, { time: 4 }] };
/** @type {Series} */
const SAMPLES = { kind: "sample", name: "cpu_percent", points: [{ time: 0 }, { time: 10 }, { time: 12 }] };
const STEPPED = made({ points: steps(3, 2, 1) }, SAMPLES);
const STEPLESS = made({ points: [{ time: 1 }, { time: 2 }] }, SAMPLES);
const BY_EPOCHS_END = made({ points: [1, 2, 3].map((epoch) => ({ epoch, time: 5 * epoch })) }, SAMPLES);
const EVALUATED = made({ kind: "eval", name: "eval_loss", points: steps(3, 2, 1) }, SAMPLES);

for (const [points, expected] of /** @type {const} */ ([
  [[], "silent"],
  [[{ time: 1 }, { time: 2 }], "unplaced"],
  [[{ step: 5, time: 1 }, { step: 5, time: 2 }, { time: 3 }], "single"],
  [
    [
      { step: 5, time: 1 },
      { step: 6, time: 1.5 },
    ],
    "brief",
  ],
  [
    [
      { step: 5, time: 1 },
      { step: 6, time: 9 },
    ],
    "",
  ],
  [[{ step: 5 }, { step: 6 }], ""],
  [[{}, {}], ""],
])) {
  test(`what a run lacks to be drawn by steps: ${expected || "nothing"} of ${JSON.stringify(points)}`, () => {
    assert.equal(lack(made({ points: [...points] }, SAMPLE), "step"), expected);
  });
}

test("steps are drawn by where every run has them", () => {
  assert.deepEqual(axisOf(null, [{ name: "a", curves: STEPPED }]), { axis: "step", why: "" });
  const both = [
    { name: "a", curves: STEPPED },
    { name: "b", curves: STEPLESS },
  ];
  assert.deepEqual(axisOf(null, both), { axis: "time", why: "Drawn by time: “b” prints no steps." });
  assert.deepEqual(axisOf("step", both), { axis: "step", why: "Not everything is drawn: “b” prints no steps." });
});

test("what the user chose gives way where no run has it, to steps before time", () => {
  const wanted = axisOf("epoch", [{ name: "a", curves: STEPPED }]);
  assert.deepEqual(wanted, { axis: "step", why: "Drawn by step: the script prints no epochs." });
  assert.deepEqual(axisOf("time", [{ name: "a", curves: STEPPED }]), { axis: "time", why: "" });
});

test("one point an epoch, without steps, is drawn by time, or at its epoch where that is chosen", () => {
  const alone = [{ name: "a", curves: BY_EPOCHS_END }];
  assert.equal(axisOf(null, alone).axis, "time");
  assert.deepEqual(axisOf("epoch", alone), { axis: "epoch", why: "" });
});

test("a run that goes on may still log what it lacks", () => {
  const silent = made(SAMPLES);
  const why = "Drawn by time until training values are logged.";
  assert.equal(axisOf(null, [{ name: "a", curves: silent, live: true }]).why, why);
  assert.equal(axisOf(null, [{ name: "a", curves: silent }]).why, "Drawn by time: no training values were logged.");
});

test("one run that logged nothing moves the others to no other axis, and is named", () => {
  const stepped = ["a", "b"].map((name) => ({ name, curves: STEPPED }));
  const sources = [...stepped, { name: "silent", curves: made(SAMPLES) }];
  assert.deepEqual(axisOf(null, sources), {
    axis: "step",
    why: "Not everything is drawn: “silent” logged no training values.",
  });
});

test("evaluations' steps may be chosen, and are not what one begins with", () => {
  const sources = [{ name: "a", curves: EVALUATED }];
  assert.deepEqual(choices(sources), ["step", "time"]);
  assert.equal(axisOf(null, sources).axis, "time");
  assert.deepEqual(axisOf("step", sources), { axis: "step", why: "" });
});

test("nothing has been logged: time, and no reason to be given", () => {
  assert.deepEqual(axisOf("step", [{ name: "a", curves: made() }]), { axis: "time", why: "" });
});

const UNTIMED = made({ kind: "eval", name: "accuracy", points: [{ step: 3 }, { step: 6 }, { step: 9 }] });
const BY_EPOCH = made({ kind: "eval", name: "accuracy", points: [{ epoch: 0 }, { epoch: 1 }, { epoch: 2 }] });
const ORDERED = made({ points: [{ epoch: 1 }, { epoch: 1 }, { epoch: 2 }] });

for (const [what, curves, axis, why] of /** @type {const} */ ([
  ["evaluations at steps", UNTIMED, "step", ""],
  ["evaluations at epochs", BY_EPOCH, "epoch", "Drawn by epoch: the script prints no steps."],
  ["an order alone", made({ points: [{}, {}] }), "step", ""],
  ["epochs that repeat", ORDERED, "step", ""],
  ["one evaluation", made({ kind: "eval", points: [{ step: 9 }] }), "step", ""],
])) {
  test(`what has no times is never drawn by time: ${what}`, () => {
    const alone = [{ name: "a", curves }];
    assert.ok(!choices(alone).includes("time"));
    assert.deepEqual(axisOf(null, alone), { axis, why });
    assert.deepEqual(axisOf("time", alone), { axis, why });
  });
}

test("of several, whose times are not known is said where the user chose time", () => {
  const both = [
    { name: "a", curves: STEPLESS },
    { name: "b", curves: UNTIMED },
  ];
  assert.deepEqual(choices(both), ["step", "time"]);
  const why = "Not everything is drawn: the times of “b” are not known.";
  assert.deepEqual(axisOf("time", both), { axis: "time", why });
  assert.equal(axisOf(null, both).axis, "step");
});

test("a chart none of whose values has an epoch is drawn by step, and says so", () => {
  const epochs = [1, 2, 3].map((epoch) => ({ step: epoch * 10, epoch, y: 1 }));
  const timeless = [1, 2, 3].map((step) => ({ step, y: 1 }));
  const timed = { name: "mfu", points: [{ time: 1, y: 2 }] };
  const curves = made({ points: epochs }, { name: "lr", points: timeless }, timed);
  const clock = new Clock(curves.clock("epoch"), "epoch");
  const [loss, rate, clocked] = [...curves.each].map((curve) => ({ curve, clock }));
  assert.equal(ownAxis([loss], "epoch"), "");
  assert.equal(ownAxis([rate], "epoch"), "step");
  assert.equal(ownAxis([rate, loss], "epoch"), "");
  assert.equal(ownAxis([clocked], "epoch"), "time");
  assert.equal(ownAxis([], "epoch"), "");
  assert.equal(ownAxis([{ ...rate, clock: null }], "time"), "step");
  assert.equal(whyOwn("step", "epoch"), "Drawn by step: its values have no epochs.");
});

test("values without epochs whose times are known stand between the epochs", () => {
  const epochs = [1, 2].map((epoch) => ({ step: epoch, epoch, time: epoch * 10, y: 1 }));
  const curves = made({ points: epochs }, { name: "lr", points: [{ step: 1, time: 15, y: 1 }] });
  const clock = new Clock(curves.clock("epoch"), "epoch");
  assert.equal(
    ownAxis(
      [...curves.each].slice(1).map((curve) => ({ curve, clock })),
      "epoch",
    ),
    "",
  );
});
