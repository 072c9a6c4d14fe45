import assert from "node:assert/strict";
import { test } from "node:test";

import { phaseText, span, startPhases } from "../../../dsgui/ui/static/common/durations.js";
import { lossOf } from "../../../dsgui/ui/static/runs/stopping.js";

test("what a stop loses is counted from the last checkpoint", () => {
  const stake = {
    step: 130,
    elapsed_s: 900,
    checkpoint: { name: "checkpoint-100", step: 100, age_s: 200 },
    looked: true,
  };
  const since = "30 steps since the last checkpoint, checkpoint-100 (3 min ago), will be lost.";
  assert.equal(lossOf(stake), since);
  assert.match(lossOf({ ...stake, step: 100 }), /no step is lost/);
  assert.match(lossOf({ ...stake, checkpoint: null }), /No checkpoint of this run was found: all 130 steps \(15 min\)/);
  assert.match(lossOf({ ...stake, checkpoint: null, step: null }), /^No steps completed yet \(started 15 min ago\)\.$/);
  assert.match(lossOf({ ...stake, checkpoint: null, looked: false }), /can’t tell which checkpoints/);
});

test("a phase of a start that takes over 90 s is longer than usual, and why is said where the CPU shows it", () => {
  for (const phase of ["starting", "importing", "compiling", "first_step"]) assert.equal(phaseText(phase, 90), "");
  assert.match(phaseText("compiling", 720), /^Longer than usual: 12 min so far\. .*build lock/);
  assert.equal(phaseText("importing", 91), "Longer than usual: 2 min so far. See the output below.");
  assert.match(phaseText("importing", 91, { all: 100, own: 12 }), /other processes use 88 % of this machine’s CPU/);
  assert.doesNotMatch(phaseText("importing", 91, { all: 100, own: 95 }), /other processes/); // it is busy itself
  assert.equal(phaseText("training", 7200), "");
});

test("a start is in one of its phases, with the time that this one has taken", () => {
  assert.deepEqual(
    startPhases("compiling", 66).map(({ text, is }) => [text, is]),
    [
      ["Starting launcher", "done"],
      ["Importing", "done"],
      ["Compiling operators 1m 06s", "now"],
      ["First step", "next"],
    ],
  );
  assert.deepEqual(startPhases("training", 66), []);
});

test("a duration is said in the largest units that matter", () => {
  assert.deepEqual([0, 37, 89, 89.7, 3599, 7260].map(span), ["0 s", "37 s", "89 s", "2 min", "1 h 0 min", "2 h 1 min"]);
});
