import assert from "node:assert/strict";
import { test } from "node:test";

import { isMarked, markText, scoresIn, stacked, together } from "../../../dsgui/ui/static/metrics/marks.js";

/** @param {string} kind @param {string} text */
const event = (kind, text) => ({ kind, text, step: null, elapsed_s: null });

test("an evaluation is said by its scores, not as the program printed it", () => {
  const dict =
    "{'eval_loss': '6.2', 'eval_exact_match': '0', 'eval_chrf': '1e-05', 'eval_runtime': '3.1', 'epoch': 1.0}";
  assert.equal(markText(event("evaluation", dict)), "evaluation: loss 6.2 · exact match 0 · chrf 1e-5");
  assert.equal(scoresIn("[INFO] 10:23:45 train.py:12 step=40 ppl: 4998.31, loss=nan"), "ppl 4998 · loss nan");
});

test("an evaluation without scores, and any other mark, is said as it was printed", () => {
  assert.equal(markText(event("evaluation", "Evaluation")), "evaluation: Evaluation");
  assert.equal(markText(event("checkpoint", "step: 40")), "checkpoint: step: 40");
});

test("of many warnings at one place their number is said; a single one is said itself", () => {
  const warning = { kind: "warning", text: "warning: a" };
  const saved = { kind: "checkpoint", text: "checkpoint: b" };
  assert.deepEqual(together([warning, saved, warning]), ["2 warnings", "checkpoint: b"]);
  assert.deepEqual(together([warning, saved]), ["warning: a", "checkpoint: b"]);
});

test("what a library calls deprecated is not marked, nor what only ends an alert", () => {
  const texts = ["`torch.a` is deprecated. Use `torch.b`.", "DeprecationWarning: x", "the loss is very high"];
  assert.deepEqual(
    texts.map((text) => isMarked(event("warning", text))),
    [false, false, true],
  );
  assert.ok(isMarked(event("error", "deprecated option: --x")));
  assert.ok(!isMarked(event("calm", "")));
});

test("marks of different kinds at one place stand above each other, those of one kind in one line", () => {
  /** @param {string} kind @param {number} at */
  const mark = (kind, at) => ({ kind, at });
  const marks = [mark("checkpoint", 10), mark("warning", 10.4), mark("warning", 10.5), mark("stop", 50)];
  assert.deepEqual(stacked(marks, 1), [0, 1, 1, 0]);
  assert.deepEqual(stacked([mark("stop", 3), mark("alert", 3), mark("error", 3)], 0), [0, 1, 2]);
});
