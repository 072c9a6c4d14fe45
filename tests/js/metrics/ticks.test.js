import assert from "node:assert/strict";
import { test } from "node:test";

import { clock, coarser, isMoved, isOne, timeTicks } from "../../../dsgui/ui/static/metrics/ticks.js";

test("what differs by rounding alone is one value, however large or small", () => {
  for (const value of [0, 1e-8, 2.5, -3e9]) assert.equal(isOne([value, value + Math.abs(value) * 1e-9]), true);
  assert.equal(isOne([5e-5, 5.001e-5]), false);
  assert.equal(isOne([0, 1e-9]), false);
});

test("an axis reaches over four of its finest labels at least, around what it shows", () => {
  assert.deepEqual(coarser([1000, 1001])?.map(Math.round), [999, 1003]);
  assert.equal(coarser([1, 2]), null);
  assert.equal(coarser([0, 0]), null);
});

for (const [range, width, form, labels] of /** @type {const} */ ([
  [[0, 100], 400, "mm:ss", ["00:00", "00:30", "01:00", "01:30"]],
  [[0, 1010], 300, "mm:ss", ["00:00", "10:00"]],
  [[0, 7500], 500, "h:mm", ["0:00", "0:30", "1:00", "1:30", "2:00"]],
  [[3590, 3640], 400, "h:mm:ss", ["0:59:50", "1:00:00", "1:00:10", "1:00:20", "1:00:30", "1:00:40"]],
  [[0, 5 * 86_400], 500, "h:mm", ["0:00", "24:00", "48:00", "72:00", "96:00", "120:00"]],
  [[4, 5], 300, "mm:ss", ["00:04.00", "00:04.50", "00:05.00"]],
  [[7, 7], 300, "mm:ss", ["00:07"]],
])) {
  test(`a time axis from ${range[0]} to ${range[1]} s reads ${labels[0]} to ${labels.at(-1)} (${form})`, () => {
    const found = timeTicks([...range], width);
    assert.deepEqual([found.form, found.ticktext], [form, labels]);
  });
}

test("a narrow axis of time has two labels at least", () => {
  assert.deepEqual(timeTicks([20, 115], 250).ticktext, ["00:30", "01:00", "01:30"]);
  assert.deepEqual(timeTicks([50, 70], 150).ticktext, ["00:50", "01:00", "01:10"]);
});

test("times that are told together are all written alike: with hours once one has any", () => {
  const [short, long] = [clock(3000), clock(7200)];
  assert.deepEqual([short.form, short.text(330)], ["mm:ss", "05:30"]);
  assert.deepEqual([long.form, long.text(330), long.text(5400.4)], ["h:mm:ss", "0:05:30", "1:30:00"]);
  assert.equal(long.text(null), "");
});

test("a zoom and its end move an axis, other labels do not", () => {
  assert.ok(isMoved({ "xaxis.range[0]": 1, "xaxis.range[1]": 2 }));
  assert.ok(isMoved({ "xaxis.autorange": true }));
  assert.ok(!isMoved(/** @type {object} */ ({ "xaxis.tickvals": [1] })));
});
