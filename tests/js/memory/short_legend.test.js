import assert from "node:assert/strict";
import { test } from "node:test";

import { smaller } from "../../../dsgui/ui/static/memory/short_legend.js";

test("a legend leaves out what is smaller than the five largest, never the limit, and never one part alone", () => {
  assert.deepEqual(smaller([9, 1, 8, 1.9, 7, 6, 5, Infinity]), new Set([1, 3]));
  assert.deepEqual(smaller([9, 1, 8, 7, 6, 5, Infinity]), new Set());
  assert.deepEqual(smaller([1, Infinity]), new Set());
});

test("a legend leaves out no part that is large", () => {
  assert.deepEqual(smaller([2.1, 2.4, 2.4, 4.1, 8.3, 0.1, 3.7, 1.8, Infinity]), new Set([5, 7]));
});
