import assert from "node:assert/strict";
import { test } from "node:test";

import { Pending, refusalOf } from "../../../dsgui/ui/static/runs/run_editing.js";

const told = { name: "t5", tags: ["a"], note: "", archived: false };

test("what was written stands over what the server tells for some seconds, each change over the one before", () => {
  let now = 0;
  const pending = new Pending(() => now);
  assert.equal(pending.over("run", told), told);
  pending.add(["run"], { name: "first", add_tags: ["b"] });
  pending.add(["run", "other"], { name: "second", archived: true });
  assert.deepEqual(pending.over("run", told), { name: "second", tags: ["a", "b"], note: "", archived: true });
  assert.equal(pending.over("other", told).name, "second");
  pending.add(["run"], { archived: false });
  assert.equal(pending.over("run", told).archived, false);
  now = 60_000;
  assert.equal(pending.over("run", told), told); // it was refused
});

test("without a name of its own a run has the one that it was launched with", () => {
  const pending = new Pending(() => 0);
  pending.add(["run"], { name: "first" });
  pending.add(["run"], { name: "" });
  assert.equal(pending.over("run", told).name, "t5");
});

test("what is longer than the server keeps is refused, and nothing of it is cut", () => {
  const long = `${"x".repeat(119)}😀😀`;
  assert.equal(refusalOf("name", long), "The name has 121 characters; at most 120 are kept.");
  assert.equal(refusalOf("name", ` ${long.slice(0, -2)} `), "");
  assert.equal(refusalOf("note", "x".repeat(2001)), "The note has 2001 characters; at most 2000 are kept.");
  assert.equal(refusalOf("tags", "LoRA, b, lora"), "“lora” is the same tag as “LoRA”; remove one.");
  assert.equal(refusalOf("tags", "lora, b, lora"), "");
});
