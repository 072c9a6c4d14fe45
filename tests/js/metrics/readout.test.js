import assert from "node:assert/strict";
import { test } from "node:test";

import {
  besideGuide,
  covered,
  inBrief,
  inFew,
  middled,
  placeText,
  readout,
  snapped,
} from "../../../dsgui/ui/static/metrics/readout.js";

/** @import { Trace, TraceMeta } from "../../../dsgui/ui/static/types.d.ts" */

/** @param {number[]} x @param {(number | null)[]} y @param {Partial<TraceMeta>} more @returns {Trace} */
const trace = (x, y, more = {}) => ({
  x,
  y,
  yaxis: "y",
  meta: { part: "value", line: 0, name: "train", colour: "red", unit: "", logged: true, ...more },
});
const TRAIN = trace([10, 20, 30, 40], [3, 2, 1.5, 0.00025]);
const EVAL = trace([20, 40], [2.5, 1], { line: 1, name: "eval" });
const MEMORY = trace([0, 9.7, 10.4, 50], [1, 2, 3, 4], { line: 2, name: "GPU 0", unit: "GiB", logged: false });

/** @param {Trace[]} traces @param {number} at */
const rows = (traces, at) => readout(traces, at, "step", 40).rows.map(({ name, value, note }) => [name, value, note]);

test("a place is a step that was logged, or a whole one between readings of the machine", () => {
  assert.equal(snapped([TRAIN, EVAL], 23.7, "step"), 20);
  assert.equal(snapped([MEMORY], 9.7, "step"), 10);
  assert.equal(snapped([MEMORY], 9.7, "time"), 9.7);
});

test("every line has one row, of its nearest point, which says where that is if it is elsewhere", () => {
  assert.deepEqual(rows([TRAIN, EVAL], 29), [
    ["train", "1.5", ""],
    ["eval", "2.5", "at 20"],
  ]);
  assert.deepEqual(rows([TRAIN, EVAL], 11), [["train", "3", ""]]); // there is no evaluation yet
  assert.deepEqual(rows([TRAIN], 41)[0][1], "2.5e-4");
  assert.deepEqual(rows([MEMORY], 10.2), [["GPU 0", "2 GiB", ""]]);
});

test("a smoothed line says its mean, and what was logged beside it", () => {
  const mean = trace([10, 20, 30, 40], [3, 2.4, 2, 1], { part: "mean" });
  assert.deepEqual(rows([TRAIN, mean], 20), [["train", "2.4", "logged 2"]]);
});

test("a value that is no number is said as it is", () => {
  const odd = { ...trace([20], [3], { part: "odd" }), text: ["NaN"] };
  assert.deepEqual(rows([trace([10, 20, 30], [3, null, 1]), EVAL, odd], 20), [
    ["train", "NaN", ""],
    ["eval", "2.5", ""],
  ]);
});

test("what happened there is said in a short line, however long it was printed", () => {
  const marks = { ...trace([20, 40], [0.5, 0.5], { part: "mark" }), text: ["evaluation: " + "x".repeat(500), "other"] };
  const { marks: told } = readout([TRAIN, marks], 20, "step", 40);
  assert.deepEqual([told.length, told[0].length, told[0].at(-1)], [1, 80, "…"]);
});

test("of many lines the first are said, and how many more there are", () => {
  const many = Array.from({ length: 30 }, (_, line) => trace([10], [line], { line, name: String(line) }));
  const found = readout(many, 10, "step", 40);
  assert.deepEqual([found.rows.length, found.more], [12, 18]);
});

test("of many lines those are said that have a value there, if any does", () => {
  const runs = Array.from({ length: 8 }, (_, line) => trace(line % 2 ? [10] : [10, 20], [1, 2], { line }));
  assert.equal(readout(runs, 10, "step", 800).rows.length, 8);
  assert.equal(readout(runs, 20, "step", 800).rows.length, 4);
  assert.equal(readout(runs.slice(0, 4), 20, "step", 800).rows.length, 4); // a few have room, with where theirs are
});

test("places and values are read as the axis counts", () => {
  assert.equal(placeText("step", 20), "Step 20");
  assert.equal(placeText("time", 3661), "1:01:01");
  assert.equal(placeText("epoch", 1.23456), "Epoch 1.235");
});

test("in a line values have few digits, and their unit once", () => {
  /** @param {number} y */
  const memory = (y, unit = "GiB") => ({ name: "", colour: "", note: "", value: `${y} ${unit}`, y, unit });
  assert.deepEqual(inFew([memory(5.64671), memory(1.20959)]), { values: ["5.647", "1.21"], unit: "GiB" });
  assert.deepEqual(inFew([5.64671, 1.20959, 5.9049].map((y) => memory(y))), {
    values: ["5.65", "1.21", "5.9"],
    unit: "GiB",
  });
  assert.deepEqual(inFew([memory(5), memory(7, "%")]), { values: ["5 GiB", "7 %"], unit: "" });
  const odd = { name: "", colour: "", note: "", value: "NaN" };
  assert.deepEqual(inFew([odd]), { values: ["NaN"], unit: "" });
});

test("charts that are not pointed at say their lines' names and values", () => {
  const row = { name: "GPU 0", colour: "", value: "12.04512 GiB", note: "logged 12", y: 12.04512, unit: "GiB" };
  const found = { at: 1, title: "Step 1", rows: [row, { ...row, name: "GPU 1" }], more: 0, marks: ["stop"] };
  const brief = inBrief(found, 1, "step", 100);
  assert.deepEqual(
    brief.rows.map(({ name, value, note }) => [name, value, note]),
    [
      ["GPU 0", "12.05 GiB", ""],
      ["GPU 1", "12.05 GiB", ""],
    ],
  );
  assert.deepEqual([brief.title, brief.marks], ["", []]);
  const many = inBrief({ ...found, rows: Array.from({ length: 9 }, () => row), more: 2 }, 1, "step", 100);
  assert.deepEqual([many.rows.length, many.more], [6, 5]); // a box of more would cover the chart
});

test("they say too where a value is that was read at another step", () => {
  const memory = trace([42, 82], [3.5, 5.6312345], { line: 2, name: "GPU 0", unit: "GiB", logged: false });
  /** @param {Trace[]} traces @param {number} at */
  const brief = (traces, at) => {
    const { rows: told } = inBrief(readout(traces, at, "step", 100), at, "step", 100);
    return told.map(({ value, note }) => [value, note]);
  };
  assert.deepEqual(brief([memory], 80), [["5.631 GiB", "at 82"]]);
  assert.deepEqual(brief([memory], 82), [["5.631 GiB", ""]]);
  assert.deepEqual(brief([TRAIN, EVAL], 30), [
    ["1.5", ""],
    ["2.5", "at 20"],
  ]);
  assert.deepEqual(brief([TRAIN], 32), [["1.5", "at 30"]]); // where its guide is drawn
  const short = trace([7.1, 9.4], [1, 2], { logged: false });
  /** @param {number} at */
  const byTime = (at) => inBrief(readout([short], at, "time", 3), at, "time", 3).rows[0].note;
  assert.deepEqual([byTime(7.3), byTime(8.1)], ["", "at 00:07"]); // not twice the same
});

test("the values stand beside the guide where they hide least of the curves, and within the chart", () => {
  /** A spike between 100 and 120 px, or what lies along the top. @type {[number, number][]} */
  const spike = [
    [99, 200],
    [110, 40],
    [121, 200],
  ];
  /** @param {[number, number][]} line @param {number} x */
  const place = (line, x) => {
    /** @type {import("../../../dsgui/ui/static/metrics/readout.js").Place["hidden"]} */
    const hidden = (...box) => covered(line, ...box);
    return { x, top: 30, bottom: 190, width: 400, hidden };
  };
  /** @param {[number, number][]} line @param {number} x @param {[number, number]} size @param {number} [before] */
  const beside = (line, x, size, before) => {
    const { left, top } = besideGuide(place(line, x), ...size, before);
    return [left, top];
  };
  assert.deepEqual(beside(spike, 180, [100, 50]), [192, 30]);
  assert.deepEqual(beside(spike, 220, [130, 50]), [232, 30]); // on the left it would be over the spike
  assert.deepEqual(beside(spike, 390, [100, 50]), [278, 30]);
  /** @type {[number, number][]} */
  const level = [
    [0, 35],
    [400, 35],
  ];
  assert.deepEqual(beside(level, 180, [100, 50]), [192, 140]); // below it
  assert.deepEqual(beside(level, 180, [100, 400]), [192, 30]); // as high as the chart, nothing is better
  // It does not jump where another place is hardly better.
  assert.deepEqual(beside([...level, [NaN, NaN]], 180, [100, 50], 2), [192, 140]);
  const short = /** @type {[number, number][]} */ (spike.slice(0, 2));
  assert.deepEqual(beside(short, 60, [50, 50], 0), [72, 30]);
});

test("of a line that much of it is in a box which runs through it", () => {
  /** @type {[number, number][]} */
  const line = [
    [0, 0],
    [100, 100],
    [NaN, NaN],
    [200, 10],
    [300, 10],
  ];
  assert.equal(covered(line, 0, 0, 50, 50), 50);
  assert.equal(covered(line, 0, 60, 50, 100), 0);
  assert.equal(covered(line, 100, 0, 200, 100), 2); // their ends; the gap is none
  assert.equal(covered(line, 210, 0, 260, 20), 50);
});

test("a long name is cut in its middle, for runs often differ at its end", () => {
  assert.equal(middled("t5 · train"), "t5 · train");
  const long = (/** @type {string} */ end) => middled(`llama-3-8b-instruct-lora-r64-alpha128 seed ${end} · train`);
  assert.equal(long("one"), "llama-3-8b-i…28 seed one · train");
  assert.notEqual(long("one"), long("two"));
  // What the line is called stays whole.
  assert.equal(middled("bloom-560m stage 2, again · GPU 0, this run"), "bloom-5…again · GPU 0, this run");
  assert.equal(middled("a-script-with-a-name-of-more-letters"), "a-script-with-a-…of-more-letters");
});
