import assert from "node:assert/strict";
import { test } from "node:test";

import { merged, roleOf } from "../../../dsgui/ui/static/config/goal.js";

test("what a config needs goes to the arguments typed, once", () => {
  assert.equal(merged("", "--bf16"), "--bf16");
  assert.equal(merged("--output_dir out --bf16", "--bf16"), "--output_dir out --bf16");
  assert.equal(
    merged("--fp16 --per_device_train_batch_size 8 --seed 1", "--per_device_train_batch_size 2 --bf16"),
    "--seed 1 --per_device_train_batch_size 2 --bf16",
  );
  assert.equal(
    merged("--gradient_checkpointing=False data.json", "--bf16"),
    "--gradient_checkpointing=False data.json --bf16",
  );
});

test("what needs least is said of the GPU's memory only where there is one", () => {
  const needs = (/** @type {string[]} */ ...devices) => ({ devices: devices.map((device) => ({ device })) });
  const choice = (/** @type {string} */ role, /** @type {string[]} */ ...devices) =>
    roleOf(/** @type {any} */ ({ role, verdict: needs(...devices) }));
  assert.equal(choice("leanest", "gpu", "host"), "leanest");
  assert.equal(choice("leanest", "host"), "leanest_host");
  assert.equal(choice("fastest", "host"), "fastest");
});
