import assert from "node:assert/strict";
import { test } from "node:test";

import { Choice } from "../../../dsgui/ui/static/runs/run_choice.js";

/** @param {string} id @param {number} place @returns {any} */
const run = (id, place, archived = false) => ({ run_id: id, place, archived });

test("runs are compared as they were launched, also one that nobody told of yet", () => {
  const choice = new Choice(() => {});
  choice.set([run("b", 2), run("a", 3)], true);
  assert.deepEqual(choice.inOrder(), ["b", "a"]);
  choice.take(["a", "b", "c"], new Map());
  assert.deepEqual(choice.inOrder(), ["c", "b", "a"]);
});

test("archiving puts away those that are not; where all are, it brings them back", () => {
  const choice = new Choice(() => {});
  choice.set([run("a", 1), run("b", 2, true), run("c", 3)], true);
  assert.deepEqual(choice.archiving(), { ids: ["a", "c"], archived: true });
  choice.set([run("a", 1), run("c", 3)], false);
  assert.deepEqual(choice.archiving(), { ids: ["b"], archived: false });
});

test("what the server tells later counts, of the chosen alone", () => {
  const choice = new Choice(() => {});
  choice.take(["a"], new Map());
  choice.know(run("a", 1, true));
  choice.know(run("b", 2));
  assert.deepEqual([choice.ids, choice.archiving().archived], [["a"], false]);
});

test("every change is told", () => {
  let told = 0;
  const choice = new Choice(() => (told += 1));
  choice.set([run("a", 1)], true);
  choice.drop("a");
  choice.clear();
  assert.deepEqual([told, choice.size], [3, 0]);
});
