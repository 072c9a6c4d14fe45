import assert from "node:assert/strict";
import { test } from "node:test";

import { bestOf } from "../../../dsgui/ui/static/memory/ladder.js";

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
