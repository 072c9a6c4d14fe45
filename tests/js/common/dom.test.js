import assert from "node:assert/strict";
import { test } from "node:test";

import { breakable, locale } from "../../../dsgui/ui/static/common/dom.js";

test("dates are written in the page's language, as the browser's user writes that", () => {
  assert.equal(locale("en", ["de-DE", "en-GB"]), "en-GB");
  assert.equal(locale("zh-CN", ["en-US"]), "zh-CN");
});

test("a long key breaks after a dot or an underscore", () => {
  assert.deepEqual(breakable("zero.reduce_bucket"), ["zero.", "reduce_", "bucket"]);
});
