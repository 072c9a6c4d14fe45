import assert from "node:assert/strict";
import { test } from "node:test";

import {
  componentsOf,
  curvesOf,
  lineName,
  peakName,
  peakOf,
  sectorsOf,
  stepsOf,
  timelineOf,
  treemapOf,
} from "../../../dsgui/ui/static/memory/memory_charts.js";

const GIB = 2 ** 30;
const LOOK = {
  text: "#111",
  grid: "#ccc",
  ground: "#fff",
  font: "serif",
  colour: (/** @type {string} */ part) => `of ${part}`,
};
const PHASES = [
  { phase: "init", step: 0, counts: { gpu: [GIB, 2 * GIB] } },
  { phase: "forward", step: 0, counts: { gpu: [3 * GIB] } },
  { phase: "step", step: 0, counts: { gpu: [GIB, GIB] } },
  { phase: "forward", step: 1, counts: { gpu: [4 * GIB] } },
];
const PEAK = {
  device: "gpu",
  moment: "backward",
  fullest: true,
  parts: [
    { part: "buckets", place: "gpu", bytes: GIB, line: "deepspeed/runtime/zero/stage3.py:782" },
    { part: "activations", place: "gpu", bytes: GIB, line: "model.py:7" },
    { part: "activations", place: "gpu", bytes: 2 * GIB },
    { part: "activations", place: "gpu", bytes: 5, smaller: true },
  ],
};

test("each phase is as wide as any other, its points spread in it", () => {
  const [gpu, ...others] = curvesOf(PHASES);
  assert.deepEqual(others, []);
  assert.deepEqual(
    gpu.points.map(({ x }) => x),
    [0.25, 0.75, 1.5, 2.25, 2.75, 3.5],
  );
  assert.deepEqual(
    gpu.points.map(({ y }) => y),
    [1, 2, 3, 1, 1, 4],
  );
  assert.equal(gpu.points[0].name, "initialize");
  assert.equal(gpu.points[3].name, "step 1, optimizer step");
});

test("a device of which nothing is in use has no curve", () => {
  const phases = PHASES.map((one) => ({ ...one, counts: { ...one.counts, host: [0] } }));
  assert.deepEqual(
    curvesOf(phases).map(({ device }) => device),
    ["gpu"],
  );
});

test("a step lasts from its first phase to its last", () => {
  assert.deepEqual(stepsOf(PHASES), [
    { step: 0, from: 1, to: 3 },
    { step: 1, from: 3, to: 4 },
  ]);
});

test("phases are named where there is room", () => {
  assert.equal(timelineOf(PHASES, LOOK, 500).layout.xaxis.ticktext.length, 4);
  assert.equal(timelineOf(PHASES, LOOK, 150).layout.xaxis.ticktext.length, 0);
});

test("the peak of a moment, or the fullest", () => {
  const other = { ...PEAK, moment: "init", fullest: false };
  assert.equal(peakOf([other, PEAK], "gpu", ""), PEAK);
  assert.equal(peakOf([other, PEAK], "gpu", "init"), other);
  assert.equal(peakOf([PEAK], "host", ""), undefined);
  assert.equal(peakName(PEAK), "GPU, backward: 4.00 GiB");
});

test("lines stand below their component, and all of it adds up", () => {
  assert.deepEqual(
    componentsOf(PEAK).map(({ part, lines }) => [part, lines.length]),
    [
      ["activations", 3],
      ["buckets", 1],
    ],
  );
  const sectors = sectorsOf(PEAK, { "model.py:7": "x = f(a < b)" });
  assert.equal(new Set(sectors.map(({ id }) => id)).size, sectors.length);
  for (const { id, bytes } of sectors) {
    const below = sectors.filter(({ parent }) => parent === id);
    const sum = below.reduce((all, one) => all + one.bytes, 0);
    assert.ok(!below.length || sum === bytes, id);
  }
  const hovers = sectors.map(({ hover }) => hover);
  assert.ok(hovers.includes("activations: 1.00 GiB<br>model.py:7<br>x = f(a &lt; b)"));
});

test("a line is named by its file, what has none by what it is", () => {
  assert.equal(lineName(PEAK.parts[0]), "stage3.py:782");
  assert.equal(lineName(PEAK.parts[2]), "autograd");
  assert.equal(lineName(PEAK.parts[3]), "smaller lines");
});

test("a sector has its component's colour", () => {
  const { marker, ids } = treemapOf(PEAK, {}, LOOK, 400).traces[0];
  assert.equal(marker.colors[ids.indexOf("buckets/gpu")], "of buckets");
  assert.equal(marker.colors[ids.indexOf("buckets/gpu/deepspeed/runtime/zero/stage3.py:782")], "of buckets");
});
