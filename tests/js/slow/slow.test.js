import assert from "node:assert/strict";
import { test } from "node:test";

import { isTold } from "../../../dsgui/ui/static/slow/slow.js";

test("that there is too little to judge is told while more may come, not of a run that is over", () => {
  assert.deepEqual([isTold("too_few", true), isTold("too_few", false), isTold("nothing", false)], [true, false, true]);
});
