import assert from "node:assert/strict";
import { test } from "node:test";

import { joined, movedTo, noteOn } from "../../../dsgui/ui/static/common/browse.js";

const counts = { left_out: 0, more: false, unnamed: 0 };
const all = { folder: "/a", parent: "", folders: ["b"], files: ["c.py"], starts: [], ...counts };

test("a name stands behind its folder, also behind the root", () => {
  assert.equal(joined("/", "a"), "/a");
  assert.equal(joined("/a b", "c.py"), "/a b/c.py");
});

test("the arrows stop at both ends", () => {
  assert.equal(movedTo("ArrowDown", 0, 3), 1);
  assert.equal(movedTo("ArrowDown", 2, 3), 2);
  assert.equal(movedTo("ArrowUp", 0, 3), 0);
  assert.equal(movedTo("End", 0, 3), 2);
  assert.equal(movedTo("Home", 2, 3), 0);
});

test("what is missing in the list is said", () => {
  assert.equal(noteOn(all), "");
  assert.match(noteOn({ ...all, left_out: 5 }), /first 2; 5 more/);
  assert.match(noteOn({ ...all, unnamed: 2 }), /2 names/);
  assert.match(noteOn({ ...all, folders: [], files: [] }), /Nothing/);
});
