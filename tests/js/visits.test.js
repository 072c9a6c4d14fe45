import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf, namesIn } from "../../dsgui/ui/static/visits.js";

test("an address names a run or several compared, and keeps what else stands in it", () => {
  const home = "http://localhost:7860/?__theme=dark";
  const run = addressOf(home, { run: "20260131-235959-0a1b", compare: null });
  assert.equal(run, "http://localhost:7860/?__theme=dark&run=20260131-235959-0a1b");
  const compared = addressOf(run, { run: null, compare: "a,b" });
  assert.deepEqual(namesIn(new URL(compared)), { run: null, compare: "a,b" });
  assert.equal(addressOf(compared, { run: null, compare: null }), home);
});
