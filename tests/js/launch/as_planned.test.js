import assert from "node:assert/strict";
import { test } from "node:test";

import { begin, follow, recipeFor, scriptFor, scriptOnceTyped } from "../../../dsgui/ui/static/launch/as_planned.js";

const MOST = 4096;
const IDS = ["slurm-nodes", "slurm-per-node"];
const STAYS = [{ __type__: "update" }, { __type__: "update" }];

class Element {
  /** @param {string} id */
  constructor(id) {
    this.id = "";
    this.parentElement = { id, parentElement: null };
  }
}

/** A page that nobody typed in yet; what types in a field of it. */
function page() {
  /** @type {((event: object) => void)[]} */
  const listening = [];
  const listen = (/** @type {string} */ kind, /** @type {any} */ heard) => kind === "input" && listening.push(heard);
  const sheet = { setAttribute: () => {}, append: () => {}, addEventListener: () => {} };
  const document = { addEventListener: listen, createElement: () => sheet, head: sheet };
  Object.assign(globalThis, { Element, document });
  begin();
  return (/** @type {string} */ id) => listening.forEach((heard) => heard({ target: new Element(id) }));
}

test("a place's nodes and GPUs per node are as planned until one of them is typed", () => {
  const type = page();
  type("gpus");
  assert.deepEqual(follow(MOST, IDS, 2, 8), [2, 8]);
  type("slurm-per-node");
  assert.deepEqual(follow(MOST, IDS, 4, 8), STAYS);
  assert.deepEqual(follow(MOST, ["other-nodes", "other-per-node"], 4, 8), [4, 8]);
  page();
  assert.deepEqual(follow(MOST, IDS, 4, 8), [4, 8]);
});

test("a plan that is empty or out of range counts as 1, or as the most", () => {
  page();
  assert.deepEqual(follow(MOST, IDS, null, 0), [1, 1]);
  assert.deepEqual(follow(MOST, IDS, -3, 1e9), [1, MOST]);
  assert.deepEqual(follow(MOST, IDS, 2.7, NaN), [2, 1]);
});

test("a planned model has a script of one's own, unless somebody chose what trains", () => {
  const types = page();
  assert.equal(scriptFor("own", "what-to-run", "7B"), "own");
  assert.deepEqual(scriptFor("own", "what-to-run", " "), STAYS[0]);
  types("what-to-run");
  assert.deepEqual(scriptFor("own", "what-to-run", "7B"), STAYS[0]);
});

test("a recipe is one of the framework that is configured, unless somebody chose it or a model is planned", () => {
  const types = page();
  /** @type {Record<string, [string, string]>} */
  const firsts = { hf: ["translation", ""], native: ["pretraining", "--epochs 2"] };
  const told = (/** @type {string[]} */ ...given) => recipeFor(firsts, "what", given[0], given[1], ...given.slice(2));
  assert.deepEqual(told("native", "translation", "", ""), ["pretraining", "--epochs 2"]);
  assert.deepEqual(told("hf", "pretraining", "", " --epochs 2 "), ["translation", ""]);
  assert.deepEqual(told("native", "translation", "", "--lr 1"), ["pretraining", STAYS[0]]);
  assert.deepEqual(told("hf", "pretraining", "", ""), ["translation", STAYS[0]]); // emptied on purpose
  const kept = [
    ["native", "pretraining"],
    ["native", "own"],
    ["native", "translation", "7B"],
    ["other", "translation"],
  ];
  const clone = ["native", "translation", "", "", "20261129-180411-8759"];
  for (const given of [...kept, ["hf", "hello"], clone]) assert.deepEqual(told(...given), STAYS);
  types("what");
  assert.deepEqual(told("native", "translation", "", ""), STAYS);
});

test("a model that is typed or pasted chooses a script; one that a clone brings chooses nothing", () => {
  const type = page();
  assert.deepEqual(scriptOnceTyped("memory-model", "own", "what", "7B"), STAYS[0]);
  type("memory-model");
  assert.equal(scriptOnceTyped("memory-model", "own", "what", "7B"), "own");
  assert.deepEqual(scriptOnceTyped("memory-model", "own", "what", " "), STAYS[0]);
  type("what");
  assert.deepEqual(scriptOnceTyped("memory-model", "own", "what", "7B"), STAYS[0]);
});
