import assert from "node:assert/strict";
import { test } from "node:test";

import { linesOf } from "../../../dsgui/ui/static/memory/short_legend.js";

test("what stands beside another is on its line, and what is hidden on none", () => {
  const at = (/** @type {number} */ offsetTop, hidden = false) => ({ offsetTop, hidden });
  assert.equal(linesOf([at(0), at(0), at(19), at(38, true)]), 2);
});
