import assert from "node:assert/strict";
import { test } from "node:test";

import { differenceOf } from "../../../dsgui/ui/static/runs/run_prefs.js";

test("a figure is told by how far it is from the baseline's, and not at all where it is as much", () => {
  const told = [1.17, 0.5, 1.0049, 1.0012, 1, 1.0007].map((value) => differenceOf(value, 1));
  assert.deepEqual(told, ["+17 %", "−50 %", "+0.49 %", "+0.12 %", "", ""]);
});

test("what is many times as much is told in percent as well: a row has one way of telling", () => {
  const told = [2.99, 3, 3.26, 21.3].map((value) => differenceOf(value, 1));
  assert.deepEqual(told, ["+199 %", "+200 %", "+226 %", "+2,030 %"]);
});

test("what is no number, and a baseline of nothing, are not compared", () => {
  const pairs = /** @type {const} */ ([
    ["NaN", 1],
    [Infinity, 1],
    [1, 0],
    [null, 1],
    [1, undefined],
    [1e308, 1e-308],
  ]);
  assert.deepEqual([...new Set(pairs.map(([value, base]) => differenceOf(value, base)))], [""]);
});
