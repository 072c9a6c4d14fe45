import assert from "node:assert/strict";
import { test } from "node:test";

import { lines, pieces } from "../../../dsgui/ui/static/launch/command_line.js";

test("a command is taken apart at its blanks, and nothing of it is lost", () => {
  const text = "deepspeed --num_gpus 2 \\\n  train.py --run-name 'a b'  --lr=1e-4";
  const found = pieces(text);
  assert.equal(found.join(""), text);
  assert.deepEqual(found.slice(0, 4), ["deepspeed", " ", "--num_gpus", " "]);
  assert.ok(found.includes("--run-name"));
  assert.deepEqual(pieces("  train.py --lr\n"), ["  train.py", " ", "--lr", "\n"]);
  assert.deepEqual(lines(text), ["deepspeed --num_gpus 2 \\\n", "  train.py --run-name 'a b'  --lr=1e-4"]);
  assert.deepEqual(lines("a\n\nb\n"), ["a\n", "\n", "b\n"]);
  assert.deepEqual(pieces(""), []);
});
