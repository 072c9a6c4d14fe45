import assert from "node:assert/strict";
import { test } from "node:test";

import {
  clockTime,
  duration,
  figure,
  fixed,
  gib,
  inColumn,
  perSecond,
  predicted,
  predictedBeside,
  predictedPart,
  roughly,
  separated,
  size,
} from "../../../dsgui/ui/static/common/format.js";

/** @param {(given: any) => string} format @param {[unknown, string][]} cases */
function tells(format, cases) {
  for (const [given, text] of cases) {
    test(`${format.name} of ${String(given)} is ${text}`, () => assert.equal(format(given), text));
  }
}

tells(clockTime, [
  [0, "00:00"],
  [59.6, "01:00"],
  [3599, "59:59"],
  [3600, "1:00:00"],
  [360_061, "100:01:01"],
  [null, "–"],
  [undefined, "–"],
  [NaN, "–"],
]);

tells(duration, [
  [0, "0s"],
  [59.4, "59s"],
  [59.6, "1m 00s"],
  [217, "3m 37s"],
  [3599, "59m 59s"],
  [3600, "1h 00m"],
  [360_061, "100h 01m"],
  [null, "–"],
  [undefined, "–"],
  [NaN, "–"],
]);

tells(figure, [
  [0, "0"],
  [12.3456, "12.35"],
  [0.0000123456, "1.235e-5"],
  [0.0001, "1e-4"],
  [-0.0005, "-5e-4"],
  [0.001, "0.001"],
  [123_456, "123500"],
  [NaN, "NaN"],
  ["Infinity", "Infinity"],
  [null, "–"],
  [undefined, "–"],
]);

tells(fixed, [
  [0.353, "0.3530"],
  [0.4, "0.4000"],
  [12.3456, "12.35"],
  [0, "0.000"],
  [0.0001, "1.000e-4"],
  [123_456, "123500"],
  ["NaN", "NaN"],
  [null, "–"],
]);

test("a figure of more digits", () => assert.equal(figure(1.234567, 5), "1.2346"));

tells(size, [
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1_000, "1.0 KB"],
  [1_250, "1.3 KB"],
  [1_150, "1.1 KB"],
  [9_960, "10.0 KB"],
  [12_345, "12 KB"],
  [3.2e9, "3.2 GB"],
  [5e15, "5000 TB"],
]);

tells(gib, [
  [2 ** 30, "1.00 GiB"],
  [0, "0.00 GiB"],
  [1023 * 2 ** 30, "1023.00 GiB"],
  [1024 * 2 ** 30, "1.0 TiB"],
  [2 ** 40 - 1, "1.0 TiB"],
  [1827.74 * 2 ** 30, "1.8 TiB"],
  [null, "–"],
]);

tells(roughly, [
  [170.6 * 2 ** 30, "171 GiB"],
  [1.26 * 2 ** 30, "1.3 GiB"],
  [0.01 * 2 ** 30, "0.01 GiB"],
  [2 ** 20, "<0.01 GiB"],
  [9.96 * 2 ** 30, "10 GiB"],
  [0.998 * 2 ** 30, "1.0 GiB"],
  [1023.7 * 2 ** 30, "1.0 TiB"],
  [0, "0.00 GiB"],
]);

tells(predicted, [
  [33.25 * 2 ** 30, "≈ 33 GiB"],
  [1.5 * 2 ** 40, "≈ 1.5 TiB"],
  [2 ** 20, "<0.01 GiB"],
]);

tells(inColumn, [
  [715.65 * 2 ** 30, "716"],
  [1045.3 * 2 ** 30, "1,050"],
  [4.31 * 2 ** 30, "4.3"],
]);

test("beside a limit a prediction has its unit, and near it no rounding says the other of the two to be more", () => {
  const told = (/** @type {number} */ need, /** @type {number} */ has) =>
    predictedBeside(need * 2 ** 30, has * 2 ** 30);
  assert.equal(told(715.65, 78.8), "≈ 716 GiB");
  assert.equal(told(1130, 78.8), "≈ 1,130 GiB");
  assert.equal(told(1130, 2048), "≈ 1.1 TiB");
  assert.equal(told(23.52, 23.64), "≈ 23.5 GiB");
});

test("a part with a margin is told from its least to its most, in one unit", () => {
  const [least, most] = [19.83 * 2 ** 30, 99.17 * 2 ** 30];
  assert.equal(predictedPart(57 * 2 ** 30, least, most), "20–99 GiB");
  assert.equal(predictedPart(1045.3 * 2 ** 30), "≈ 1,050 GiB");
});

tells(perSecond, [
  [0.25, "0.250 steps/s"],
  [4, "4.00 steps/s"],
]);

tells(perSecond, [
  [12.5, "12.5 steps/s"],
  [0, "–"],
  [NaN, "–"],
]);

tells(separated, [
  ["50000000", "50,000,000"],
  ["4096", "4096"],
  ["5e8", "5e8"],
]);
