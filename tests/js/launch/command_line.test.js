import assert from "node:assert/strict";
import { test } from "node:test";

import { lines, pieces, segments } from "../../../dsgui/ui/static/launch/command_line.js";

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

test("a backslash at the end of a line stands in none of its own", () => {
  assert.deepEqual(pieces("cd /a && \\\n"), ["cd", " ", "/a", " ", "&& \\", "\n"]);
  assert.deepEqual(pieces("  x --port=1 \\\n"), ["  x", " ", "--port=1 \\", "\n"]);
  assert.deepEqual(pieces("  x \\"), ["  x \\"]);
  assert.deepEqual(pieces("a \\ b"), ["a", " ", "\\", " ", "b"]);
});

test("a path may go on after its slashes, an option never", () => {
  assert.deepEqual(segments("/runs/20261124/ds_config.json"), ["/runs/", "20261124/", "ds_config.json"]);
  assert.deepEqual(segments("--run-name"), ["--run-name"]);
  assert.equal(segments("  file:///a//b/").join(""), "  file:///a//b/");
});
