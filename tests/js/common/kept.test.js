import assert from "node:assert/strict";
import { test } from "node:test";

import { recallArguments, rememberArguments } from "../../../dsgui/ui/static/common/kept.js";

const NOTHING = { __type__: "update" };

/** @param {string} typed @param {string} model @param {string} quicker */
function recalled(typed, model, quicker = "") {
  /** @type {Map<string, string>} */
  const kept = new Map();
  const localStorage = {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => kept.set(key, value),
  };
  Object.assign(globalThis, { localStorage });
  rememberArguments(typed);
  return recallArguments(model, quicker);
}

test("the arguments come back with a model that is planned for, and with no secret in them", () => {
  for (const typed of ["--bf16 --lr 1e-4", "--tokenizer_name /m/tok --keyed x"]) {
    assert.equal(recalled(typed, "7B"), typed);
  }
  for (const secret of [
    "--hub_token x",
    "--api-key=x",
    "--PASSWORD x",
    "--HubToken x",
    "--passwd=x",
    "hub_token=x",
    "--id hf_abcdefghij",
  ]) {
    assert.deepEqual(recalled(`--bf16 ${secret}`, "7B"), NOTHING);
  }
});

test("nothing changes without a model, where nothing was kept, and where somebody was quicker", () => {
  assert.deepEqual(recalled("--bf16", " "), NOTHING);
  assert.deepEqual(recalled("", "7B"), NOTHING);
  assert.deepEqual(recalled("--bf16", "7B", "--fp16"), NOTHING);
});
