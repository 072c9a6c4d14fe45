import assert from "node:assert/strict";
import { test } from "node:test";

import { recall, rememberBar } from "../../../dsgui/ui/static/common/kept.js";

/** @param {string} model @param {string} typed what is recalled of the arguments after both were kept */
function recalled(model, typed) {
  /** @type {Map<string, string>} */
  const kept = new Map();
  const localStorage = {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => kept.set(key, value),
  };
  Object.assign(globalThis, { localStorage, document: { querySelector: () => ({ value: model }) } });
  rememberBar("hf", 4, typed);
  return recall("{}", "", "hf", 2, "").slice(3);
}

test("the arguments are kept with a model that is planned for, and with no secret in them", () => {
  assert.deepEqual(recalled("7B", "--bf16 --lr 1e-4"), ["hf", 4, "--bf16 --lr 1e-4"]);
  assert.deepEqual(recalled(" ", "--bf16"), ["hf", 4, ""]);
  for (const secret of ["--hub_token x", "--api-key=x", "--PASSWORD x"]) {
    assert.deepEqual(recalled("7B", `--bf16 ${secret}`), ["hf", 4, ""]);
  }
});
