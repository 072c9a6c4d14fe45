import assert from "node:assert/strict";
import { test } from "node:test";

import { countsOf, whole } from "../../../dsgui/ui/static/config/shortened.js";

test("a list ends with a whole one of its items, and shows the first however long it is", () => {
  assert.equal(whole([100, 200, 300, 400], 250), 2);
  assert.equal(whole([100, 200, 300], 300), 3);
  assert.equal(whole([400, 500, 600], 250), 1);
});

test("a single short one is not hidden behind a button that takes its place", () => {
  assert.equal(whole([100, 200, 300], 250), 3);
  assert.equal(whole([100, 200, 500], 250), 2); // it takes more
});

test("what is not shown is counted by how grave it is", () => {
  /** @param {string} severity @param {string} [count] */
  const entry = (severity, count) => ({
    matches: (/** @type {string} */ one) => one === `.ds-${severity}`,
    dataset: { count },
  });
  const entries = /** @type {any} */ ([entry("note"), entry("warning"), entry("note", "3")]);
  assert.equal(countsOf(entries), "1 warning, 4 notes");
  assert.equal(countsOf([]), "");
});
