import assert from "node:assert/strict";
import { test } from "node:test";

import { hasPlace } from "../../../dsgui/ui/static/slow/slow.js";

test("until there is something to judge it has a place from the first step on, and none when the run is over", () => {
  assert.deepEqual([hasPlace("too_few", true, false), hasPlace("too_few", true, true)], [false, true]);
  assert.deepEqual([hasPlace("too_few", false, true), hasPlace("nothing", false, true)], [false, true]);
});
