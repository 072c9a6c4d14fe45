import assert from "node:assert/strict";
import { test } from "node:test";

import { phaseText, span } from "../../../dsgui/ui/static/common/durations.js";
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
  assert.match(lossOf({ ...stake, checkpoint: null, step: null }), /No step is done yet/);
  assert.match(lossOf({ ...stake, checkpoint: null, looked: false }), /can’t tell which checkpoints/);
});

test("about a minute is not said of what takes twelve", () => {
  assert.match(phaseText("compiling", 40), /about a minute/);
  assert.match(phaseText("compiling", 720), /for 12 min/);
  assert.doesNotMatch(phaseText("compiling", 720) + phaseText("starting", 720), /about a minute/);
  assert.equal(phaseText("training", 7200), "");
});

test("a duration is said in the largest units that matter", () => {
  assert.deepEqual([0, 29, 60, 3599, 7260].map(span), ["0 s", "29 s", "1 min", "1 h 0 min", "2 h 1 min"]);
});
