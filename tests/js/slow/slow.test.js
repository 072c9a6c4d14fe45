import assert from "node:assert/strict";
import { test } from "node:test";

import { hasPlace } from "../../../dsgui/ui/static/slow/slow.js";

test("until there is something to judge it has a place from the first step on, and none when the run is over", () => {
  const early = [false, true].map((trains) => hasPlace("too_few", "running", true, trains));
  assert.deepEqual(early, [false, true]);
  assert.equal(hasPlace("too_few", "succeeded", false, true), false);
  assert.ok(hasPlace("nothing", "succeeded", false, true));
});

test("of a run that failed only what made it slow is told", () => {
  const told = ["nothing", "no_gpu", "too_few", "data"].map((code) => hasPlace(code, "failed", false, true));
  assert.deepEqual(told, [false, false, false, true]);
});
