import assert from "node:assert/strict";
import { test } from "node:test";

import { besideGuide, inBrief, inFew, placeText, readout, snapped } from "../../../dsgui/ui/static/metrics/readout.js";

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

test("the values stand beside the guide where they hide no curve, and within the chart", () => {
  /** A spike between 100 and 120 px. @param {number} from @param {number} to */
  const spike = (from, to) => (from <= 120 && to >= 100 ? 40 : 200);
  const place = { top: 30, width: 400, highest: spike };
  assert.equal(besideGuide({ ...place, x: 180 }, 100, 50), 192);
  assert.equal(besideGuide({ ...place, x: 220 }, 130, 50), 232); // on the left it would be over the spike
  assert.equal(besideGuide({ ...place, x: 390 }, 100, 50), 278);
  assert.equal(besideGuide({ ...place, x: 50 }, 60, 50), 0); // it hides the spike to the right
  assert.equal(besideGuide({ ...place, x: 60 }, 200, 200), 72);
});
