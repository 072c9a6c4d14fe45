import assert from "node:assert/strict";
import { test } from "node:test";

import { grouped, movedTo } from "../../../dsgui/ui/static/common/options.js";

/** @param {string} id @param {string} title @param {string} group */
const option = (id, title, group, also = "") => ({ id, title, group, also });
const OPTIONS = [
  option("this", "This machine", ""),
  option("t5", "T5-small: ZeRO-2", "Tutorials", "zero_optimization pin_memory"),
  option("zero3-native", "ZeRO-3", "ZeRO ladder, native"),
  option("flan", "FLAN-T5", "Tutorials", "CPU offload"),
];
/** @param {string} typed */
const found = (typed) => grouped(OPTIONS, typed).map(({ title, options }) => [title, options.map(({ id }) => id)]);

test("options stand under their groups, in the order in which each came first", () => {
  assert.deepEqual(found(""), [
    ["", ["this"]],
    ["Tutorials", ["t5", "flan"]],
    ["ZeRO ladder, native", ["zero3-native"]],
  ]);
});

test("names that begin with what was typed come first", () => {
  const cards = [option("gh200", "GH200 96 GB", "Hopper"), option("h200", "H200 141 GB", "Hopper")];
  const ids = (/** @type {string} */ typed) => grouped(cards, typed)[0].options.map(({ id }) => id);
  assert.deepEqual(ids("H200"), ["h200", "gh200"]);
  assert.deepEqual(ids("200"), ["gh200", "h200"]);
  assert.deepEqual(
    grouped([option("a", "GH200", "One"), option("b", "H200", "Two")], "h200").map(({ title }) => title),
    ["Two", "One"],
  );
});

for (const [typed, ids] of /** @type {[string, string[]][]} */ ([
  ["t5", ["t5", "flan"]],
  ["ZERO native", ["zero3-native"]],
  ["pin_memory", ["t5"]],
  ["卸载", ["flan"]],
  ["原生", ["zero3-native"]],
  ["教程 t5", ["t5", "flan"]],
  ["nothing like it", []],
])) {
  test(`“${typed}” is searched for in titles, ids, groups and keys, in either language`, () => {
    const all = grouped(OPTIONS, typed).flatMap(({ options }) => options.map(({ id }) => id));
    assert.deepEqual(all, ids);
  });
}

for (const [key, at, to] of /** @type {[string, number, number | null][]} */ ([
  ["ArrowDown", -1, 0],
  ["ArrowDown", 19, 0],
  ["ArrowUp", -1, 19],
  ["ArrowUp", 0, 19],
  ["PageDown", 15, 19],
  ["PageUp", 3, 0],
  ["Home", 3, null],
])) {
  test(`${key} leads from ${at} to ${to} of 20`, () => assert.equal(movedTo(key, at, 20), to));
}

test("where there is nothing no key leads anywhere", () => assert.equal(movedTo("ArrowDown", -1, 0), null));
