// What the drawer of tutorials reckons by itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  comparesAll,
  countByRuns,
  countDone,
  filled,
  isRead,
  pieces,
  placeOf,
  valueAt,
  whereToGoOn,
} from "../../../dsgui/ui/static/learn/learn_steps.js";

/** @param {string} id @returns {any} */
const step = (id) => ({ id });
/** @param {Record<string, boolean>} done @returns {any} */
const state = (done) => ({
  track: "t",
  steps: Object.fromEntries(Object.entries(done).map(([id, is]) => [id, { done: is }])),
});
const steps = ["a", "b", "c"].map(step);

test("code stands between backticks", () => {
  assert.deepEqual(pieces("set `stage` to `2`"), [
    { text: "set ", code: false },
    { text: "stage", code: true },
    { text: " to ", code: false },
    { text: "2", code: true },
  ]);
  assert.deepEqual(pieces(""), []);
});

test("places are filled, and strange ones stay", () => {
  assert.equal(filled("{done} of {all}", { done: 1, all: 6 }), "1 of 6");
  assert.equal(filled("{constructor}", {}), "{constructor}");
});

test("a reader goes on at the first step that is not done, and at the last when all are", () => {
  assert.equal(whereToGoOn(steps, null), 0);
  assert.equal(whereToGoOn(steps, state({ a: true, b: false, c: true })), 1);
  assert.equal(whereToGoOn(steps, state({ a: true, b: true, c: true })), 2);
  assert.equal(countDone(steps, state({ a: true, c: true })), 2);
  assert.equal(countDone(steps, null), 0);
});

test("a step is read where it needs neither the pages nor a run", () => {
  /** @param {string} does @param {string[]} buttons @returns {any} */
  const made = (does, ...buttons) => ({ does, buttons });
  assert.equal(isRead(made("answers")), true);
  assert.equal(isRead(made("finds")), true);
  assert.equal(isRead(made("answers", "Set up Configure")), false);
  assert.equal(isRead(made("compares")), false);
});

test("which steps were done by runs is counted apart, for those may be older than the tutorial", () => {
  const mixed = [
    { id: "a", does: "answers" },
    { id: "b", does: "launches" },
    { id: "c", does: "halves" },
  ];
  const all = /** @type {any} */ (mixed);
  assert.equal(countByRuns(all, state({ a: true, b: true, c: false })), 1);
  assert.equal(countByRuns(all, state({ a: true })), 0);
  assert.equal(countByRuns(all, null), 0);
});

test("a slider has a value at each place, and stands where it begins", () => {
  const offer = {
    label: "GPUs",
    first: "4",
    values: ["1", "4", "8"].map((value) => ({ value, title: value })),
  };
  assert.equal(placeOf(offer), 1);
  assert.equal(placeOf(offer, "7"), 0);
  assert.equal(valueAt(offer, 2).value, "8");
  assert.equal(valueAt(offer, 99).value, "8");
});

test("a comparison is one of two runs at least, with all that are wanted among them", () => {
  assert.equal(comparesAll("a,b,c", ["a", "c"]), true);
  assert.equal(comparesAll("a,b", ["a", "c"]), false);
  assert.equal(comparesAll("a", ["a"]), false);
  assert.equal(comparesAll(null, ["a", "b"]), false);
});
