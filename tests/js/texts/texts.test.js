import assert from "node:assert/strict";
import { test } from "node:test";

import { TEXTS } from "../../../dsgui/ui/static/texts/catalogue.js";
import { lasts, textOf, told } from "../../../dsgui/ui/static/texts/texts.js";

/** @param {Partial<import("../../../dsgui/ui/static/types.d.ts").RunEvent>} more */
const event = (more) => ({ kind: "alert", text: "as it was written", step: null, elapsed_s: 0, ...more });

test("a code is said in words, its places filled", () => {
  assert.equal(textOf("states", "running"), "running");
  assert.equal(told(event({ code: "nan", given: { name: "eval_loss" } })), "eval_loss is NaN.");
  assert.equal(told(event({ code: "nan", given: { name: "loss" }, machine: "b" })), "b: loss is NaN.");
  assert.equal(told(event({ kind: "calm", code: "steps_go_on" })), "Steps are progressing again.");
  assert.equal(told(event({ kind: "stop", code: "stop_asked" })), "Stop was requested.");
});

test("what has no code, or one of a later dsgui, is shown as it was written", () => {
  assert.equal(told(event({})), "as it was written");
  assert.equal(told(event({ code: "of_tomorrow" })), "as it was written");
  assert.equal(textOf("phases", "waiting for something"), "waiting for something");
  assert.equal(textOf("phases", "training"), "");
});

test("a value that is no number outlives its run; a machine's memory does not", () => {
  assert.ok(lasts(event({ code: "infinite_in_file", subject: "loss 0 tensorboard" })));
  assert.ok(lasts(event({ subject: "eval_loss 0" })), "of a run from before there were codes");
  assert.ok(lasts(event({ code: "own_fault", subject: "dsgui" })), "its records stay incomplete");
  assert.ok(!lasts(event({ code: "gpu_memory", subject: "memory gpu0" })));
  assert.ok(!lasts(event({ text: "No step for 51 s; NaN", subject: "stall" })));
});

test("what fills a place of a Chinese text stands apart where it begins or ends with a Latin letter or figure", () => {
  TEXTS.of_a_test = { between: "在{until}之前", plain: "before{until}after" };
  assert.equal(textOf("of_a_test", "between", "", { until: "step 5" }), "在 step 5 之前");
  assert.equal(textOf("of_a_test", "between", "", { until: "优化器更新" }), "在优化器更新之前");
  assert.equal(textOf("of_a_test", "between", "", { until: "“x”" }), "在“x”之前");
  assert.equal(textOf("of_a_test", "plain", "", { until: "5" }), "before5after");
  delete TEXTS.of_a_test;
});
