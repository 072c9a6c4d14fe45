import assert from "node:assert/strict";
import { test } from "node:test";

import * as bars from "../../../dsgui/ui/static/memory/memory_bars.js";

const { barOf, colourOf, chipOf, fitOf, keyName, legendOf, partsOf, stageOf } = bars;

const GIB = 2 ** 30;

/** @param {string} moment @param {string} fit @param {Record<string, number>} gib */
const at = (moment, fit, gib) => ({
  moment,
  fit,
  bytes: Object.values(gib).reduce((sum, one) => sum + one * GIB, 0),
  parts: Object.entries(gib).map(([part, count]) => ({ part, place: "gpu", bytes: count * GIB })),
});
const GPU = {
  device: "gpu",
  fit: "does_not_fit",
  capacity: 24 * GIB,
  in_use: 0,
  worst: "step",
  moments: [
    at("init", "fits", { weights: 10 }),
    at("step", "does_not_fit", { weights: 10, moments: 20, gradients: 0 }),
  ],
};

test("the bar of the fullest moment, its line where the card ends", () => {
  const bar = barOf(GPU, "");
  assert.equal(bar.bytes / GIB, 30);
  assert.equal(bar.fit, "does_not_fit");
  const widths = bar.segments.reduce((sum, { width }) => sum + width, 0);
  assert.ok(bar.line !== null && bar.line < widths && widths < 100);
  assert.ok(Math.abs(bar.line / widths - 24 / 30) < 1e-9);
});

test("where nothing is more than there is the bar ends at the limit", () => {
  const roomy = barOf({ ...GPU, capacity: 40 * GIB }, "");
  assert.equal(roomy.line, 100);
  assert.equal(
    roomy.segments.reduce((sum, { width }) => sum + width, 0),
    75,
  );
  assert.ok((barOf(GPU, "").line ?? 0) < 80);
});

test("all moments have the same scale, and another's own verdict", () => {
  const [first, fullest] = [barOf(GPU, "init"), barOf(GPU, "step")];
  assert.equal(first.line, fullest.line);
  assert.equal(first.segments[0].width, fullest.segments[0].width);
  assert.equal(first.fit, "fits");
});

test("what others hold is a part of the bar, and what is nought is none", () => {
  const bar = barOf({ ...GPU, in_use: 5 * GIB }, "");
  assert.deepEqual(
    bar.segments.map(({ part }) => part.part),
    ["weights", "moments", "in_use"],
  );
  assert.deepEqual(
    partsOf(GPU, "").map(({ part }) => part.part),
    ["moments", "weights"],
  );
});

test("beside a larger bar of the same device it keeps to its scale", () => {
  const larger = { ...GPU, moments: [at("step", "does_not_fit", { weights: 60 })] };
  const [alone, beside] = [barOf(GPU, ""), barOf(GPU, "", larger)];
  assert.equal(beside.line, barOf(larger, "", GPU).line);
  assert.ok(beside.line !== null && alone.line !== null && beside.line < alone.line);
});

test("without a capacity there is no line; a moment that a device does not have is empty", () => {
  assert.equal(barOf({ ...GPU, capacity: null }, "").line, null);
  assert.deepEqual(barOf(GPU, "backward").segments, []);
});

test("a part of a later dsgui has a colour, a pointer reads as a key", () => {
  assert.notEqual(colourOf("of_tomorrow"), "");
  assert.notEqual(colourOf("weights"), colourOf("activations"));
  assert.equal(keyName("/zero_optimization/stage"), "zero_optimization.stage");
});

test("a change is offered for a full bar, looked for once, and shown for what was asked alone", () => {
  const told = { fit: "does_not_fit", asked: "now", ranks: 4, short: [], notes: [] };
  assert.equal(stageOf(told, null, ""), "offer");
  assert.equal(stageOf({ ...told, fit: "tight" }, null, ""), "offer");
  assert.equal(stageOf({ ...told, fit: "fits" }, { asked: "now" }, ""), "nothing");
  assert.equal(stageOf({ ...told, asked: undefined }, null, ""), "nothing");
  assert.equal(stageOf(told, null, "now"), "looking");
  assert.equal(stageOf(told, null, "before"), "offer");
  assert.equal(stageOf(told, { asked: "now" }, "now"), "found");
  assert.equal(stageOf(told, { asked: "before" }, "now"), "looking");
});

test("the legend has each part once that a bar shows, pinned ones apart", () => {
  const [gpu, host] = [GPU, GPU].map((device, place) => {
    const parts = [
      { part: "weights", place: "gpu", bytes: 10 * GIB },
      { part: "moments", place: place ? "pinned" : "gpu", bytes: 20 * GIB },
      { part: "nccl", place: "gpu", bytes: GIB / 10 },
      { part: "other", place: "gpu", bytes: GIB / 1000 },
    ];
    return { ...device, moments: [{ moment: "step", fit: "fits", bytes: 30 * GIB, parts }] };
  });
  assert.deepEqual(
    legendOf([gpu, { ...host, device: "host" }], "").map(({ part, place }) => [part, place]),
    [
      ["weights", "gpu"],
      ["moments", "gpu"],
      ["nccl", "gpu"],
      ["moments", "pinned"],
    ],
  );
});

test("what fits and asks for a host that few have is no plain fit; what is too much is said first", () => {
  const asks = { host_asked: 305 * GIB };
  assert.deepEqual(fitOf({ fit: "fits", ...asks }), { fit: "tight", text: "needs 305 GiB on the host" });
  assert.deepEqual(fitOf({ fit: "fits", host_asked: 0 }), { fit: "fits", text: "fits" });
  assert.deepEqual(fitOf({ fit: "tight", ...asks }), { fit: "tight", text: "needs 305 GiB on the host" });
  assert.deepEqual(fitOf({ fit: "does_not_fit", ...asks }), { fit: "does_not_fit", text: "doesn’t fit" });
});

test("what is told of a config with its errors fixed says so, but where nothing is known", () => {
  const told = { devices: [], short: [], notes: [], as_if: [], ranks: 1, ranks_per_node: 1 };
  assert.equal(chipOf({ ...told, fit: "fits" }).text, "fits once fixed");
  assert.equal(chipOf({ ...told, fit: "cannot_say" }).text, "can’t say");
  // Without a number there was no estimate; with one it is the fit that nobody knows.
  assert.equal(chipOf({ ...told, fit: "cannot_say", why: { code: "depends", text: "" } }).text, "not estimated");
});
