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
    { at: 0, low: 2, high: 4, mean: 3, count: 2, cut: true },
    { at: 5, low: 1, high: 3, mean: 2, count: 2, cut: false },
    { at: 10, low: 2, high: 2, mean: 2, count: 1, cut: true },
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
    lines.map(({ plain, name }) => [plain, name]),
    [
      ["lora", "train"],
      ["full", "train"],
    ],
  );
  const content = { lines, limits: [], events: [], yTitle: "loss", unit: "", fromZero: false };
  /** @type {Drawn} */
  const view = { axis: "time", log: false, smoothing: 0, range: null, reach: null, events: [], marked: false };
  const page = { text: "black", grid: "grey", ground: "white", font: "serif", dark: false, fullHeight: null };
  const traces = tracesOf(content, view, page);
  assert.deepEqual(
    readout(traces, 10, "time", 1).rows.map(({ name, value, note }) => [name, value, note]),
    [
      ["lora", "3 (2–4)", "2 runs"],
      ["full", "9", "1 run"],
    ],
  );
  // The groups' own legend is the board's: a chart's names its lines, once.
  assert.deepEqual(
    traces.filter(({ showlegend }) => showlegend).map(({ name }) => name),
    ["train"],
  );
  const [area] = traces;
  assert.deepEqual([area.y, area.fill], [[2, 1, 2, 4, null], "toself"]);
  const eased = tracesOf(content, { ...view, smoothing: 0.5 }, page);
  assert.deepEqual(eased.filter(({ meta }) => meta?.part === "mean").length, 2);
});

test("where a run of a group has ended its mean is thin and dotted, no line leads to it, and it says so", () => {
  /** @param {number} number @param {number[]} values @returns {Line} */
  const line = (number, ...values) => {
    const named = {
      name: "train",
      plain: "train",
      legend: number === 0,
      neutral: true,
      colour: "#0072B2",
      dash: "solid",
    };
    return { run: number, ...named, scale: 1, curve: only(made({ points: steps(...values) })), clock: null };
  };
  const lines = groupedLines(
    [line(0, 0.1234567, 0.1234567), line(1, 0.1234567, 0.1234567), line(2, 1.23456, 1.23456, 1.07572, 1.07571)],
    [{ name: "sweep", members: [0, 1, 2] }],
  );
  const content = { lines, limits: [], events: [], yTitle: "loss", unit: "", fromZero: false };
  /** @type {Drawn} */
  const view = { axis: "time", log: false, smoothing: 0, range: null, reach: null, events: [], marked: false };
  const page = { text: "black", grid: "grey", ground: "white", font: "serif", dark: false, fullHeight: null };
  for (const smoothing of [0, 0.5]) {
    const traces = /** @type {any[]} */ (tracesOf(content, { ...view, smoothing }, page));
    const shown = traces.filter(
      ({ mode, line: drawn }) => mode === "lines" && drawn?.width && drawn.color === "#0072B2",
    );
    const [whole, part] = shown.slice(-2);
    assert.deepEqual([whole.line?.dash, part.line?.dash], ["solid", "dot"]);
    assert.ok(Number(part.line?.width) < Number(whole.line?.width));
    assert.deepEqual(
      [whole.x, part.x].map((places) => new Set(places).size),
      [2, 2],
    ); // no place is in both
    assert.deepEqual([whole.y.at(-1), part.y.at(-1)], [null, null]);
    const area = traces.find(({ fill }) => fill);
    assert.equal(area.y.filter((/** @type {unknown} */ one) => one === null).length, 2);
  }
  const traces = tracesOf(content, view, page);
  /** @param {number} at */
  const told = (at) => readout(traces, at, "time", 1).rows.map(({ value, note }) => [value, note]);
  const { x } = traces[1];
  assert.deepEqual(told(x[0]), [["0.4938 (0.1235–1.235)", "3 runs"]]);
  assert.deepEqual(told(x[3]), [["1.076", "1 of 3 runs"]]);
  // Smoothed, the range stands beside what was logged: it is the range of that.
  const [eased] = readout(tracesOf(content, { ...view, smoothing: 0.5 }, page), x[0], "time", 1).rows;
  assert.deepEqual([eased.value, eased.note], ["0.4938", "logged 0.4938 (0.1235–1.235) · 3 runs"]);
});

test("in print a group's mean is never outside of its range", () => {
  for (const values of [
    [0.1, 0.1, 0.1],
    [1.0755, 1.0755, 1.0755],
    [1.0757, 1.0762, 1.0838],
  ]) {
    const [{ low, mean, high }] = bandOf(values.map((y) => track([[1, y]])));
    const [least, told, most] = [low, mean, high].map((one) => Number(one.toPrecision(4)));
    assert.ok(least <= told && told <= most && low <= mean && mean <= high);
  }
});

test("a group's mean is smoothed as a run's curve is", () => {
  assert.deepEqual(smoothed([1, 1, 1], 0.9), [1, 1, 1]);
  assert.deepEqual(smoothed([0, 3], 0.5), [0, 2]);
});
