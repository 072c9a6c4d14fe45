import assert from "node:assert/strict";
import { test } from "node:test";

import { bestOf, firstOf, inOrder } from "../../../dsgui/ui/static/memory/ladder.js";

/** @param {string} codes @param {number} gpu @param {string} [fit] */
const step = (codes, gpu, fit = "fits") => ({
  moves: codes
    .split(" ")
    .filter(Boolean)
    .map((code) => ({ code, text: code })),
  changes: [],
  script: [],
  checkpointing: false,
  zero_init: false,
  key: `${codes} ${gpu}`,
  needs: { gpu },
  slower: 1,
  fit,
});

test("of each kind of config the best is shown, with the config itself and the leanest", () => {
  const [itself, stage] = [step("", 80, "does_not_fit"), step("stage_3", 60, "does_not_fit")];
  const [kept, micro] = [step("stage_3 checkpointing", 14), step("stage_3 checkpointing micro_batch", 12)];
  const slower = step("checkpointing stage_3 micro_batch", 11);
  const bucket = step("stage_3 checkpointing micro_batch small_bucket", 10);
  const least = step("stage_3 checkpointing micro_batch small_bucket few_live", 6);
  const steps = [itself, stage, kept, micro, slower, bucket, least, step("stage_3 checkpointing small_bucket", 9)];
  assert.deepEqual(bestOf(steps), [itself, stage, kept, micro, least]);
});

test("one that fits stands for its kind, and few rows are all shown", () => {
  const [first, then] = [step("stage_3", 60, "does_not_fit"), step("stage_3 small_bucket", 30)];
  const others = ["few_live", "small_sub_group", "small_bucket few_live"].map((fine) => step(`stage_3 ${fine}`, 40));
  assert.deepEqual(bestOf([first, then, ...others]), [then]);
  assert.deepEqual(bestOf([first, then, step("checkpointing", 20)]), [first, then, step("checkpointing", 20)]);
});

test("what fits stands before what doesn't, which is not shown at first; each as fast as it comes", () => {
  const [itself, stage] = [step("", 80, "does_not_fit"), step("stage_3", 60, "does_not_fit")];
  const [kept, tight] = [step("stage_3 checkpointing", 14), step("offload_optimizer_cpu", 20, "tight")];
  const steps = [itself, stage, tight, kept, step("stage_2", 70, "does_not_fit")];
  assert.deepEqual(inOrder(steps), [itself, kept, tight, stage, steps[4]]);
  assert.deepEqual(firstOf(steps), [itself, tight, kept]);
});

test("where nothing else fits, all that is nearest is shown", () => {
  const steps = ["", "stage_2", "stage_3"].map((code) => step(code, 80, "does_not_fit"));
  assert.deepEqual(firstOf(steps), steps);
});
