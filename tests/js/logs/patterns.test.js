import assert from "node:assert/strict";
import { test } from "node:test";

import { isListed, lastOf } from "../../../dsgui/ui/static/logs/patterns.js";

test("the table of curves has no clock and nothing that never changes", () => {
  /** @param {string} name @param {"sample" | "train"} [kind] */
  const listed = (name, kind = "sample") => isListed({ name, kind });
  assert.deepEqual(
    ["time_s", "host_total_bytes", "gpu0.total_bytes"].map((name) => listed(name)),
    [false, false, false],
  );
  assert.ok(listed("run_bytes"));
  assert.ok(listed("time_s", "train")); // a script's own
});

test("memory is told in GiB, a long number in groups of digits", () => {
  /** @param {string} name @param {number} lastValue @param {"sample" | "final"} [kind] */
  const last = (name, lastValue, kind = "sample") => lastOf({ name, kind, lastValue });
  assert.equal(last("run_bytes", 3 * 2 ** 29), "1.50 GiB");
  assert.equal(last("total_flos", 1203651182592, "final"), "1,203,700,000,000");
  assert.equal(last("loss", 0.021853, "final"), "0.021853");
  assert.equal(last("loss", NaN, "final"), "NaN");
});
