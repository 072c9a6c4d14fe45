import assert from "node:assert/strict";
import { test } from "node:test";

import {
  bandOf,
  canGroup,
  groupedLines,
  GROUPINGS,
  groupsOf,
  placed,
  smoothed,
} from "../../../dsgui/ui/static/metrics/groups.js";
import { tracesOf } from "../../../dsgui/ui/static/metrics/plotting.js";
import { readout } from "../../../dsgui/ui/static/metrics/readout.js";
import { made, only, steps } from "../made.js";

/** @import { ComparedRun, Drawn, Line, Placed } from "../../../dsgui/ui/static/types.d.ts" */

/** @param {Partial<ComparedRun>} more */
const run = (more) => /** @type {ComparedRun} */ ({ state: "succeeded", tags: [], preset: "", model: "", ...more });
const RUNS = [
  run({ tags: ["lora", "good"], preset: "zero2" }),
  run({ preset: "zero3" }),
  run({ tags: ["lora"], preset: "zero2" }),
];
/** @param {string} by */
const groups = (by, sections = /** @type {any[]} */ ([])) =>
  groupsOf(by, RUNS, sections)?.map(({ name, members }) => [name, members]);

test("runs are grouped by each of their tags, by preset, and apart where they have none", () => {
  assert.equal(groupsOf("none", RUNS, []), null);
  assert.deepEqual(groups("tag"), [
    ["lora", [0, 2]],
    ["good", [0]],
    ["No tag", [1]],
  ]);
  assert.deepEqual(groups("preset"), [
    ["zero2", [0, 2]],
    ["zero3", [1]],
  ]);
  assert.deepEqual(groups("model"), [["No model named", [0, 1, 2]]]);
  assert.deepEqual(
    GROUPINGS.filter((by) => canGroup(by, RUNS)),
    ["none", "tag", "preset", "config"],
  );
});

test("a group of one config is named by what differs in it, and two configs are never one", () => {
  const differ = [{ key: "zero_optimization.stage", values: ["2", null, "2"] }];
  const section = { code: "config", unknown: [], uncertain: false, differ, same: [] };
  assert.deepEqual(groups("config", [section]), [
    ["stage 2", [0, 2]],
    ["stage not set", [1]],
  ]);
  assert.deepEqual(groups("config", [{ ...section, unknown: [1] }])?.at(-1), ["Config not known", [1]]);
  assert.deepEqual(groups("config", [{ ...section, differ: [] }]), [["Same config", [0, 1, 2]]]);
  const many = ["a", "b", "c"].map((key) => ({ key, values: ["1", "1", "1"] }));
  const last = { key: "d", values: ["1", "2", "1"] };
  assert.deepEqual(
    groups("config", [{ ...section, differ: [...many, last] }])?.map(([, members]) => members),
    [[0, 2], [1]],
  );
});

/** @param {[number, number][]} points @returns {Placed[]} */
const track = (points) => points.map(([at, y]) => ({ at, low: y, high: y, mean: y }));

test("a band has the mean, the least and the most of the runs that reach a place, in line between their points", () => {
  const band = bandOf([
    track([
      [0, 4],
      [10, 2],
    ]),
    track([
      [0, 2],
      [5, 1],
    ]),
  ]);
  assert.deepEqual(band, [
    { at: 0, low: 2, high: 4, mean: 3, count: 2 },
    { at: 5, low: 1, high: 3, mean: 2, count: 2 },
    { at: 10, low: 2, high: 2, mean: 2, count: 1 },
  ]);
});

test("a long band is thinned, and no spike of a run is lost", () => {
  const long = Array.from({ length: 5000 }, (_, at) => /** @type {[number, number]} */ ([at, at === 1234 ? 99 : 1]));
  const band = bandOf([track(long), track(long.map(([at]) => [at, 1]))]);
  assert.equal(band.length, 600);
  assert.equal(Math.max(...band.map(({ high }) => high)), 99);
  assert.deepEqual([band[0].at, band[599].at], [0, 4999]);
});

test("what has no number or no place is in no band", () => {
  const { stretches } = only(made({ points: [...steps(3, "NaN", 1), { time: 9, y: 8 }] }));
  assert.deepEqual(
    placed(stretches, ({ step }) => step).map(({ at, mean }) => [at, mean]),
    [
      [1, 3],
      [3, 1],
    ],
  );
});

test("the lines of a group are one, which the legend counts and the tooltip gives with its range", () => {
  /** @param {number} number @param {number[]} values @returns {Line} */
  const line = (number, ...values) => {
    const named = { name: "train", plain: `run ${number} · train`, legend: number === 0, colour: "#0072B2" };
    return {
      run: number,
      ...named,
      dash: "solid",
      scale: 1,
      curve: only(made({ points: steps(...values) })),
      clock: null,
    };
  };
  const all = [line(0, 4, 2), line(1, 9, 9), line(2, 2, 1)];
  const lines = groupedLines(all, [
    { name: "lora", members: [0, 2] },
    { name: "full", members: [1] },
  ]);
  assert.deepEqual(
    lines.map(({ name }) => name),
    ["lora (2 runs)", "full (1 run)"],
  );
  const content = { lines, limits: [], events: [], yTitle: "loss", unit: "", fromZero: false, named: false };
  /** @type {Drawn} */
  const view = { axis: "time", log: false, smoothing: 0, range: null, reach: null, events: [], marked: false };
  const page = { text: "black", grid: "grey", ground: "white", font: "serif", dark: false, fullHeight: null };
  const traces = tracesOf(content, view, page);
  assert.deepEqual(
    readout(traces, 10, "time", 1).rows.map(({ name, value }) => [name, value]),
    [
      ["lora (2 runs)", "3 (2–4)"],
      ["full (1 run)", "9"],
    ],
  );
  assert.equal(traces.filter(({ showlegend }) => showlegend).length, 2);
  const [low, high] = traces;
  assert.deepEqual([low.y, high.y, high.fill], [[2, 1], [4, 2], "tonexty"]);
  const eased = tracesOf(content, { ...view, smoothing: 0.5 }, page);
  assert.deepEqual(eased.filter(({ meta }) => meta?.part === "mean").length, 2);
});

test("a group's mean is smoothed as a run's curve is", () => {
  assert.deepEqual(smoothed([1, 1, 1], 0.9), [1, 1, 1]);
  assert.deepEqual(smoothed([0, 3], 0.5), [0, 2]);
});
