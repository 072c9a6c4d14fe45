import assert from "node:assert/strict";
import { test } from "node:test";
import { sentences } from "../../../dsgui/ui/static/config/help.js";

test("a text is told in its first sentence, which a number, an abbreviation or a name does not end", () => {
  assert.deepEqual(sentences("Reduce gradients early. At stage 3 it does more."), [
    "Reduce gradients early.",
    " At stage 3 it does more.",
  ]);
  const whole = "Clips at 1.0 (before 0.19.3, e.g. 0.18, it did not): set zero_optimization.stage or config.json.";
  assert.deepEqual(sentences(whole), [whole, ""]);
  assert.deepEqual(sentences("The Trainer stops with “Please correct.” Make them equal."), [
    "The Trainer stops with “Please correct.”",
    " Make them equal.",
  ]);
  assert.deepEqual(sentences("梯度超过 1.0 时缩放。0 关闭。"), ["梯度超过 1.0 时缩放。", "0 关闭。"]);
  assert.deepEqual(sentences(""), ["", ""]);
});
