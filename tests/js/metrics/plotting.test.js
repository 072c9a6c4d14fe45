import assert from "node:assert/strict";
import { test } from "node:test";

import {
  horizontal,
  layoutOf,
  namesOf,
  sameRuns,
  shade,
  timeLabels,
  tracesOf,
  vertical,
  zoomed,
} from "../../../dsgui/ui/static/metrics/plotting.js";
import { groupedLines } from "../../../dsgui/ui/static/metrics/groups.js";
import { namedOnce } from "../../../dsgui/ui/static/metrics/charts.js";
import { made, only, steps } from "../made.js";

/** @import { Drawn, Line, Trace } from "../../../dsgui/ui/static/types.d.ts" */

/** @type {Drawn} */
const VIEW = { axis: "time", log: false, smoothing: 0, range: null, reach: [0, 40], events: [], marked: true };
const PAGE = { text: "black", grid: "grey", ground: "white", font: "serif", dark: false, fullHeight: null };
const CONTENT = { lines: [], limits: [], events: [], yTitle: "loss", unit: "", fromZero: false };

/** @param {(number | string)[]} values @param {Partial<Line>} more @returns {Line} */
function line(values, more = {}) {
  const curve = only(made({ points: steps(...values) }));
  const named = { run: 0, name: "train", plain: "train", legend: true, colour: "#0072B2", dash: "solid", scale: 1 };
  return { ...named, curve, clock: null, ...more };
}

test("before a zoom every chart shows the range of all, after it the zoom", () => {
  const all = { include: [0, 40], clipmin: 0, clipmax: 40 };
  assert.deepEqual(horizontal(VIEW), { autorange: true, autorangeoptions: all });
  assert.deepEqual(horizontal({ ...VIEW, range: [3, 4] }), { range: [3, 4], autorange: false });
  assert.deepEqual(horizontal({ ...VIEW, reach: null }), { autorange: true });
});

test("a smoothed line stands before the one that was logged, and only it is in the legend", () => {
  const lines = [line([4, 3, 2, 1])];
  const traces = tracesOf({ ...CONTENT, lines }, { ...VIEW, smoothing: 0.6 }, PAGE);
  assert.deepEqual(
    traces.map(({ opacity, showlegend }) => [opacity, showlegend]),
    [
      [0.3, false],
      [undefined, true],
    ],
  );
  assert.equal(tracesOf({ ...CONTENT, lines }, VIEW, PAGE).length, 1);
});

test("one point alone is a dot, a value that is no number a cross, an event a mark of the chart that has them", () => {
  assert.equal(tracesOf({ ...CONTENT, lines: [line([3])] }, VIEW, PAGE)[0].mode, "markers");
  const events = [{ kind: "error", at: 12, label: "error: x" }];
  const content = { ...CONTENT, lines: [line([3, "NaN", 1])], events };
  assert.deepEqual(
    tracesOf(content, VIEW, PAGE).map(({ yaxis, x }) => [yaxis, x]),
    [
      ["y", [10, 11, 12]],
      ["y", [11]],
      ["y3", [12]],
    ],
  );
  assert.equal(tracesOf(content, { ...VIEW, marked: false }, PAGE).length, 2);
});

test("one value alone is drawn from nought on, a second axis only where a line asks for it", () => {
  const flat = { ...CONTENT, lines: [line([5e-5, 5e-5])] };
  const layout = layoutOf(flat, VIEW, PAGE, tracesOf(flat, VIEW, PAGE), 1);
  assert.equal(layout.yaxis.rangemode, "tozero");
  assert.equal(layout.yaxis2, undefined);
  assert.equal(layout.font.family, "serif");
  assert.equal(layout.showlegend, false);
  const two = { ...CONTENT, lines: [line([1, 2]), line([3, 4], { axis: "y2", title: "tokens/s" })] };
  const second = layoutOf(two, VIEW, PAGE, tracesOf(two, VIEW, PAGE), 2);
  assert.equal(second.yaxis2?.title.text, "tokens/s");
  assert.equal(second.yaxis2?.tickmode, "auto"); // at round values, not where those of the left axis are
  assert.equal(second.yaxis.rangemode, "nonnegative"); // no room below nought that a symbol would take
  const below = { ...CONTENT, lines: [line([1, -2])] };
  assert.equal(vertical(below, VIEW, tracesOf(below, VIEW, PAGE)).rangemode, "normal");
  assert.equal(second.showlegend, true);
});

test("degrees have whole labels", () => {
  const warm = { ...CONTENT, unit: "°C", lines: [line([34.2, 34.8])] };
  const { autorangeoptions, nticks } = vertical(warm, VIEW, tracesOf(warm, VIEW, PAGE));
  const [low, high] = autorangeoptions?.include ?? [0, 0];
  assert.ok(high - low >= 4 && low < 34.2 && high > 34.8, String([low, high]));
  assert.equal(nticks, 5);
  const hot = { ...CONTENT, unit: "°C", lines: [line([30, 80])] };
  assert.equal(vertical(hot, VIEW, tracesOf(hot, VIEW, PAGE)).autorangeoptions, undefined);
});

test("a small value of a logarithmic scale is 1e-4, as in a table", () => {
  const of = (/** @type {number[]} */ values, log = true) => {
    const content = { ...CONTENT, lines: [line(values)] };
    return vertical(content, { ...VIEW, log }, tracesOf(content, VIEW, PAGE)).exponentformat;
  };
  assert.deepEqual([of([3, 1e-4]), of([3, 0.1]), of([3, 1e-4], false)], ["e", "B", "B"]);
});

test("what stands at a limit can be read", () => {
  const limited = { ...CONTENT, unit: "GiB", lines: [line([1, 2])], limits: [{ at: 140, text: "140 GiB" }] };
  const [name] = layoutOf(limited, VIEW, PAGE, tracesOf(limited, VIEW, PAGE), 1).annotations;
  assert.ok(Number(Object(name.font).size) >= 12); // as an axis is labelled
});

/** @param {Trace[]} traces the rims below those that lie over them, and all others */
const rimsIn = (traces) => [traces.filter(({ meta }) => meta?.rim), traces.filter(({ meta }) => !meta?.rim)];

test("where curves of several runs are one, those below are a rim on both sides of the one on top", () => {
  const lines = [0, 1, 2].map((run) => line([1, 2, 1, 2, 1, 2, 1, run === 2 ? 9 : 2], { run, base: run === 1 }));
  const [rims, curves] = rimsIn(tracesOf({ ...CONTENT, lines }, VIEW, PAGE));
  // Every curve is drawn whole, as it is alone; the baseline's lies below the others.
  assert.deepEqual(
    curves.toSorted((a, b) => Number(a.zorder) - Number(b.zorder)).map(({ meta, line: at }) => [meta?.run, at]),
    [1, 0, 2].map((run) => [run, { color: "#0072B2", width: 2, dash: "solid" }]),
  );
  const widths = rims.map(({ meta, line: at, zorder }) => [meta?.run, Object(at).width, zorder]);
  assert.deepEqual(Object.fromEntries(widths.map(([run, ...told]) => [run, told])), { 1: [4.5, -2], 0: [3.25, -1] });
  // The first two are one to the end, the third leaves them there.
  const seen = Object.fromEntries(rims.map(({ meta, y }) => [meta?.run, y.filter((one) => one !== null).length]));
  assert.equal(seen[1] - seen[0], 1);
  assert.ok(rims.every(({ meta, showlegend }) => meta?.part === "band" && !showlegend)); // no value is read twice
});

test("of one run the curves of its GPUs are seen where they are one; of what it logged each is drawn as it is", () => {
  const sampled = (/** @type {string} */ name) => {
    const curve = only(made({ kind: "sample", name, points: steps(90, 90, 91) }));
    return line([], { curve, name, colour: name });
  };
  const [rims, curves] = rimsIn(tracesOf({ ...CONTENT, lines: [sampled("GPU 0"), sampled("GPU 1")] }, VIEW, PAGE));
  assert.deepEqual(
    rims.map(({ line: at }) => Object(at).color),
    ["GPU 0"],
  );
  assert.equal(curves.length, 2);
  const logged = [line([3, 2, 1]), line([3, 2, 1], { name: "eval" })];
  assert.equal(rimsIn(tracesOf({ ...CONTENT, lines: logged }, VIEW, PAGE))[0].length, 0);
});

test("runs of the same values in all that is drawn are one line of no run’s colour, and the chart says so", () => {
  /** @param {number[][]} values @param {Partial<typeof VIEW>} [view] @param {object} [more] of each line */
  const of = (values, view = {}, more = {}) =>
    tracesOf(
      { ...CONTENT, lines: values.map((one, run) => line(one, { run, base: run === 0, colour: `${run}`, ...more })) },
      { ...VIEW, ...view },
      PAGE,
    );
  const told = (/** @type {Trace[]} */ traces) => [sameRuns(traces), rimsIn(traces)[0].length];
  const same = of([
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
  ]);
  assert.deepEqual(told(same), [3, 1]);
  const [over] = rimsIn(same)[0];
  assert.ok(same.every((one) => one === over || Number(one.zorder ?? 0) < Number(over.zorder)));
  assert.deepEqual(
    rimsIn(same)[1].map(({ line: at }) => Object(at).color),
    ["0", "1", "2"], // as each is seen that is pointed at
  );
  assert.equal(new Set(["0", "1", "2", Object(over.line).color]).size, 4);
  assert.deepEqual(
    told(
      of(
        [
          [1, 2, 3, 4],
          [1, 2, 3, 4],
        ],
        { smoothing: 0.5 },
      ),
    ),
    [2, 1],
  );
  // What is drawn at one place has other values all the same, and keeps its colours.
  assert.deepEqual(
    told(
      of([
        [3, 2.5, 2.011],
        [3, 2.5, 2.014],
      ]),
    ),
    [0, 1],
  );
  assert.equal(
    sameRuns(
      of([
        [1, 2, 3],
        [1, 2, 3],
        [1, 2, 9],
      ]),
    ),
    0,
  );
  assert.equal(
    sameRuns(
      of([
        [1, 2, 3],
        [1, 2],
      ]),
    ),
    0,
  ); // one ended earlier
  assert.equal(
    sameRuns(
      of(
        [
          [-1, 2, 3],
          [-5, 2, 3],
        ],
        { log: true },
      ),
    ),
    0,
  ); // what the scale leaves out
  assert.equal(sameRuns(of([[1, 2, 3]])), 0);
  const evaluated = [
    line([1, 2]),
    line([1, 2], { run: 1 }),
    line([1, 2], { name: "eval" }),
    line([1, 3], { run: 1, name: "eval" }),
  ];
  const base = evaluated.map((one, place) => ({ ...one, base: place % 2 === 0 }));
  assert.equal(sameRuns(tracesOf({ ...CONTENT, lines: base }, VIEW, PAGE)), 0);
});

test("a rim has the dashes of its line, and no line gets other ones", () => {
  const lines = [0, 1].map((run) => line([1, 2, 1, 2 - run], { run, base: run === 0, dash: "dash" }));
  const [[rim], curves] = rimsIn(tracesOf({ ...CONTENT, lines }, VIEW, PAGE));
  assert.equal(Object(rim.line).dash, "9px,9px"); // as long as those of the line, though it is wider
  assert.deepEqual(
    curves.map(({ line: at }) => Object(at).dash),
    ["dash", "dash"],
  );
  const [smooth, mean] = tracesOf({ ...CONTENT, lines: [line([1, 2, 3, 4])] }, { ...VIEW, smoothing: 0.5 }, PAGE);
  assert.ok(Object(mean.line).width > Object(smooth.line).width);
  assert.equal(tracesOf({ ...CONTENT, lines: [line([1, 2])] }, VIEW, PAGE)[0].zorder, undefined); // one run alone
});

test("of six runs that are one none becomes a rope, and the symbols of single points have rims too", () => {
  const runs = [0, 1, 2, 3, 4, 5];
  const lines = runs.map((run) => line([2, 2, run === 5 ? 9 : 2], { run, base: run === 0, mode: "lines+markers" }));
  const [rims, curves] = rimsIn(tracesOf({ ...CONTENT, lines }, VIEW, PAGE));
  const sizes = rims.map(({ marker }) => Object(marker).size).toSorted((a, b) => a - b);
  assert.equal(sizes.length, 5);
  assert.ok(sizes[0] > Object(curves[0].marker).size && new Set(sizes).size === 5);
  assert.ok(rims.every(({ line: at }) => Object(at).width <= 6));
});

test("curves are one as they are drawn: not where a log axis parts them, nor below a spike", () => {
  const two = (/** @type {number[][]} */ ...each) => ({
    ...CONTENT,
    lines: each.map((values, run) => line(values, { run, base: run === 0 })),
  });
  /** @param {any} content @param {any} view where the one that is below is covered */
  const covered = (content, view) =>
    rimsIn(tracesOf(content, view, PAGE))[0].map(({ y }) => y.filter((one) => one !== null).length);
  const falling = (/** @type {number} */ end) => Array.from({ length: 40 }, (_, i) => 10 * Math.exp(-i / 3) + end);
  const content = two([...falling(0.01), 3], [...falling(0.0001), 1]);
  const [linear] = covered(content, VIEW);
  const [log] = covered(content, { ...VIEW, log: true });
  assert.ok(linear > log && log > 0, `${linear} ${log}`);
  const spiked = [1e6, ...Array.from({ length: 99 }, (_, i) => 3 - i / 100)];
  assert.deepEqual(
    covered(
      two(
        spiked,
        spiked.map((y) => y - 1),
      ),
      VIEW,
    ),
    [],
  );
});

test("groups whose means are one have a rim too, and no line hides one that its dashes tell from it", () => {
  const groups = ["a", "b"].map((name, run) => ({ name, members: [run] }));
  const lines = groupedLines([line([1, 2], { base: true }), line([1, 2], { run: 1, base: false })], groups);
  const [rims, curves] = rimsIn(tracesOf({ ...CONTENT, lines }, VIEW, PAGE));
  assert.deepEqual([rims.length, curves.filter(({ meta }) => meta?.drawn).length], [1, 2]);
  const unlike = [line([1, 2], { base: true }), line([1, 2], { run: 1, base: false, name: "eval", dash: "dash" })];
  const dashes = tracesOf({ ...CONTENT, lines: unlike }, VIEW, PAGE).map(({ line: shown }) => Object(shown).dash);
  assert.deepEqual(dashes, ["solid", "dash"]);
});

test("curves of several runs that are apart, or only cross, are equally wide", () => {
  const lines = [
    line([0, 1, 2, 3, 4, 5, 6, 7], { base: true }),
    line([7, 6, 5, 4, 3, 2, 1, 0], { run: 1, base: false }),
  ];
  const [one, other] = tracesOf({ ...CONTENT, lines }, VIEW, PAGE);
  assert.deepEqual(one.line, { ...Object(other.line), color: "#0072B2" });
  const apart = [lines[0], line([9, 9, 9, 9, 9, 9, 9, 9], { run: 1, base: false })];
  const [first, second] = tracesOf({ ...CONTENT, lines: apart }, VIEW, PAGE);
  assert.deepEqual(first.line, second.line);
});

test("a picture of a chart of several runs names them, each once", () => {
  const lines = [line([1], { of: "a" }), line([2], { of: "a" }), line([3], { run: 1, of: "b", colour: "#D55E00" })];
  assert.deepEqual(
    namesOf(lines, false).map((one) => [one.name, Object(one.line).color, one.showlegend]),
    [
      ["a", "#0072B2", true],
      ["b", "#D55E00", true],
    ],
  );
  assert.deepEqual(namesOf([line([1])], false), []);
});

test("a lone score is drawn from nought on; its chart's title has its name", () => {
  const lone = { ...CONTENT, lines: [line([0.0473], { name: "bleu" })] };
  const traces = tracesOf(lone, VIEW, PAGE);
  assert.deepEqual([traces.length, traces[0].name, traces[0].mode], [1, "bleu", "markers"]);
  const layout = layoutOf(lone, VIEW, PAGE, traces, 1);
  assert.deepEqual([layout.yaxis.range, layout.showlegend], [[0, 1.25 * 0.0473], false]);
});

test("limits are named at their height, on a logarithmic scale too", () => {
  const content = { ...CONTENT, lines: [line([3, 50])], limits: [{ at: 100, text: "on the card" }] };
  const traces = tracesOf(content, VIEW, PAGE);
  assert.equal(layoutOf(content, VIEW, PAGE, traces, 1).annotations[0].y, 100);
  assert.equal(layoutOf(content, { ...VIEW, log: true }, PAGE, traces, 1).annotations[0].y, 2);
  assert.equal(layoutOf(content, { ...VIEW, log: true }, PAGE, [], 1).annotations[0].y, 100); // nothing is logarithmic
});

test("only a training's curve is smoothed", () => {
  const view = { ...VIEW, smoothing: 0.6 };
  for (const kind of /** @type {const} */ (["eval", "sample"])) {
    const curve = only(made({ kind, points: steps(3, 2, 1) }));
    assert.equal(tracesOf({ ...CONTENT, lines: [{ ...line([1]), curve }] }, view, PAGE).length, 1, kind);
  }
});

test("a limit far above what was seen is words at the upper edge, and flattens no curve", () => {
  /** @param {number[]} values @param {number[]} at */
  const drawn = (values, at) => {
    const limits = at.map((one) => ({ at: one, text: `${one} GiB` }));
    const content = { ...CONTENT, unit: "GiB", fromZero: true, lines: [line(values)], limits };
    const layout = layoutOf(content, VIEW, PAGE, tracesOf(content, VIEW, PAGE), 1);
    const names = layout.annotations.map(({ text, y, yanchor, x }) => [text, y, yanchor, x]);
    return { range: layout.yaxis.range, lines: layout.shapes.length, names };
  };
  assert.deepEqual(drawn([4, 5], [140]), {
    range: [0, 5.6000000000000005],
    lines: 0,
    names: [["↑ 140 GiB", 0.94, "bottom", 0]],
  });
  const most = drawn([4, 5], [8, 140]);
  assert.deepEqual([most.range?.[1], most.lines], [8.4, 1]);
  // A card that ran full, and a prediction more than twice as high.
  const full = drawn([20, 139.6], [139.8, 356.7]);
  assert.equal(full.lines, 1);
  assert.ok(Number(full.range?.[1]) < 150);
  assert.deepEqual(full.names, [
    ["139.8 GiB", 139.8, "bottom", 1],
    ["↑ 356.7 GiB", 0.94, "bottom", 0],
  ]);
  assert.deepEqual(drawn([4], [500, 140]).names, [["↑ 140 GiB · 500 GiB", 0.94, "bottom", 0]]);
  // Of two near each other the lower one's name is below it.
  assert.deepEqual(
    drawn([75], [80, 78]).names.map(([text, , side]) => [text, side]),
    [
      ["80 GiB", "bottom"],
      ["78 GiB", "top"],
    ],
  );
  assert.deepEqual(drawn([0, 0], [80]).range, [0, 1]); // nobody used it
});

test("memory ends where the most that was seen does, or what the GPU has", () => {
  /** @param {number[]} values @param {number[]} limits @param {boolean} [log] */
  const shown = (values, limits, log = false) => {
    const content = { ...CONTENT, unit: "GiB", fromZero: true, lines: [line(values)] };
    const drawn = { ...content, limits: limits.map((at) => ({ at, text: "" })) };
    return vertical(drawn, { ...VIEW, log }, tracesOf(drawn, VIEW, PAGE));
  };
  assert.deepEqual(shown([10, 20], []).range, [0, 22.400000000000002]); // air above what stays there
  assert.deepEqual(shown([10, 60], [80]).range, [0, 84]);
  assert.deepEqual(shown([0, 0], [], true), {
    type: "linear",
    exponentformat: "B",
    tickformat: "",
    labelalias: { "0e+0": "0" },
    rangemode: "tozero",
    range: [0, 1],
  });
  for (const [values, least] of /** @type {const} */ ([
    [[10, 50, 0], 10],
    [[0, 50, 0, 1], 1], // nearly nothing at its end
  ])) {
    const { type, range } = shown([...values], [80], true);
    assert.deepEqual([type, range?.map((one) => Math.round(10 ** one))], ["log", [least, 84]]);
  }
});

test("no label of an axis needs more than four digits: what is nearly flat has a coarser one", () => {
  /** @param {number[]} values @param {object} [view] */
  const shown = (values, view = {}) => {
    const content = { ...CONTENT, lines: [line(values)] };
    return vertical(content, { ...VIEW, ...view }, tracesOf(content, VIEW, PAGE));
  };
  const { autorangeoptions, nticks } = shown([2.3401, 2.3404]);
  const [low, high] = autorangeoptions?.include ?? [0, 0];
  assert.ok(Math.abs(high - low - 0.004) < 1e-9 && low < 2.3401 && high > 2.3404, String([low, high]));
  assert.equal(nticks, 5); // 0.001 apart
  assert.equal(shown([2.3, 2.4]).autorangeoptions, undefined);
  assert.deepEqual(shown([2.5, 2.5 + 1e-15]).range, [0, 1.25 * (2.5 + 1e-15)]);
  assert.equal(shown([2.3401, 2.3404], { log: true }).autorangeoptions, undefined);
});

test("what stays the same, or at its highest, has air above it", () => {
  /** @param {number[]} values @param {object} [view] */
  const shown = (values, view = {}) => {
    const content = { ...CONTENT, lines: [line(values)] };
    return vertical(content, { ...VIEW, ...view }, tracesOf(content, VIEW, PAGE));
  };
  assert.deepEqual(shown([4, 4, 4]).range, [0, 5]);
  assert.deepEqual(shown([-4, -4]).range, [-5, 0]);
  assert.equal(shown([0, 0]).range, undefined);
  assert.equal(shown([4, 4], { log: true }).range, undefined);
  const warmed = shown([0, 1, 2, 3, 3, 3, 3]);
  assert.deepEqual([warmed.range, warmed.autorangeoptions?.include], [undefined, [0, 3.36]]);
  assert.equal(shown([0, 1, 2, 3]).autorangeoptions, undefined);
});

test("no mark's line and no curve runs through the name of a limit", () => {
  /** @param {number[]} values @param {number[]} above */
  const layout = (values, ...above) => {
    const events = [{ kind: "checkpoint", at: 11, label: "" }];
    const limits = [100, ...above].map((at) => ({ at, text: String(at) }));
    const content = { ...CONTENT, unit: "GiB", fromZero: true, lines: [line(values)], limits, events };
    return layoutOf(content, { ...VIEW, reach: [10, 20] }, PAGE, tracesOf(content, VIEW, PAGE), 1);
  };
  const low = layout([50, 60, 60, 60]);
  const [mark] = low.shapes.filter((one) => "x0" in one && one.x0 === one.x1);
  assert.equal(mark.y1, low.yaxis.domain[1]); // the name of what is far above stands over the curves
  const name = low.annotations[0];
  assert.deepEqual([name.x, "bgcolor" in name && name.bgcolor], [1, "white"]);
  const full = [50, 60, 50, 60, 50, 60, 50, 60, 95, 105, 95];
  assert.equal(layout(full).annotations[0].x, 0); // at its other end
  assert.deepEqual(
    layout(full, 300).annotations.map(({ x }) => x),
    [0, 1], // and what is further above not over it
  );
  /** @param {number} level */
  const side = (level) => {
    const [{ x, yanchor }] = layout(new Array(11).fill(level)).annotations;
    return [x, yanchor];
  };
  assert.deepEqual(
    [side(90), side(102), side(98)],
    [
      [1, "bottom"],
      [1, "top"],
      [1, "bottom"],
    ],
  ); // below it
  const [none] = layout([95, 105, 95, 105, 95, 105, 95, 105, 95, 105, 95]).annotations;
  assert.deepEqual([none.text, none.y], ["╌ 100", 0.94]); // over the curves, with the sign of its line
});

test("what is a share of a hundred has all of it, and more where there is more", () => {
  /** @param {...number} values */
  const range = (...values) => {
    const content = { ...CONTENT, unit: "%", fromZero: true, lines: [line(values)] };
    return vertical(content, VIEW, tracesOf(content, VIEW, PAGE)).range;
  };
  assert.deepEqual(
    [range(3, 7), range(100, 100)],
    [
      [0, 110],
      [0, 110],
    ],
  );
  assert.equal(range(800, 20), undefined); // of a run's cores
});

test("a time axis is labelled as a clock shows times, and says how", () => {
  const content = { ...CONTENT, lines: [line([3, 2, 1])] };
  /** @param {Partial<import("../../../dsgui/ui/static/types.d.ts").Drawn>} view @param {number} [width] */
  const axis = (view, width) =>
    layoutOf(content, { ...VIEW, ...view }, { ...PAGE, width }, tracesOf(content, VIEW, PAGE), 1).xaxis;
  const run = axis({ reach: [0, 1000] }, 420);
  assert.deepEqual(run.ticktext, ["00:00", "05:00", "10:00", "15:00"]);
  assert.equal(run.title.text, "time since start (mm:ss)");
  assert.deepEqual(axis({ reach: [0, 1000], range: [600, 640] }, 420).tickvals, [600, 610, 620, 630, 640]);
  assert.equal(axis({ reach: [0, 20_000] }, 420).title.text, "time since start (h:mm)");
  const near = timeLabels([3590, 3640], 476); // of the plot 400 are left: as many labels as it has room for
  assert.deepEqual([near.title, near.tickvals.length], ["time since start (h:mm:ss)", 6]);
  const byStep = axis({ axis: "step" });
  assert.deepEqual([byStep.title.text, byStep.tickvals], ["step", undefined]);
  /** @param {[number, number]} reach */
  const ticks = (reach) => axis({ axis: "step", reach }).tickvals;
  assert.deepEqual(ticks([1, 3]), [1, 2, 3], "no half step has a tick");
  assert.deepEqual([ticks([1, 8]), ticks([2.25, 2.75])], [undefined, undefined]);
});

test("the labels of several GPUs are each said once: cards by colour, what their lines are by dashes", () => {
  const lines = [0, 1].flatMap((gpu) =>
    [undefined, "this run"].map((note) => {
      const card = `GPU ${gpu}`;
      const name = note ? `${card}, ${note}` : card;
      return { ...line([3, 1]), name, plain: name, card, note, dash: note ? "dot" : "solid" };
    }),
  );
  const content = { ...CONTENT, lines: namedOnce(lines) };
  const traces = tracesOf(content, VIEW, PAGE);
  const rank = (/** @type {(typeof traces)[0]} */ one) => Number(one.legendrank ?? 1000);
  const named = traces.filter(({ showlegend }) => showlegend).sort((a, b) => rank(a) - rank(b));
  assert.deepEqual(
    named.map(({ name, line: drawn }) => [name, /** @type {{ dash: string }} */ (drawn).dash]),
    [
      ["GPU 0", "solid"],
      ["GPU 1", "solid"],
      ["this run", "dot"],
    ],
  );
  assert.deepEqual(
    traces.flatMap(({ legendgroup }) => (legendgroup ? [legendgroup] : [])),
    ["GPU 0", "GPU 0", "GPU 1", "GPU 1"], // a press on one hides both of its lines
  );
  const read = traces.flatMap(({ meta }) => (meta?.part === "value" ? [meta.name] : []));
  assert.deepEqual(read, ["GPU 0", "GPU 0, this run", "GPU 1", "GPU 1, this run"]);
  assert.deepEqual(namedOnce(lines.slice(0, 2)), lines.slice(0, 2)); // one card's lines say it themselves
});

test("a learning rate's axis counts in powers of ten", () => {
  /** @param {number} value */
  const format = (value) => vertical(CONTENT, VIEW, tracesOf({ ...CONTENT, lines: [line([value])] }, VIEW, PAGE));
  assert.equal(format(1e-4).tickformat, "~e");
  assert.equal(format(65_536).tickformat, "");
});

test("what happened has a lane below the curves, and many checkpoints draw no lines over them", () => {
  /** @param {number} count */
  const layout = (count) => {
    const events = Array.from({ length: count }, (_, i) => ({ kind: "checkpoint", at: 10 + i, label: "" }));
    return layoutOf({ ...CONTENT, lines: [line([3, 1])], events }, VIEW, PAGE, [], 1);
  };
  const { yaxis, yaxis3, shapes } = layout(3);
  assert.ok(yaxis3.domain[1] < yaxis.domain[0]);
  /** @param {{ type: string }[]} all */
  const lines = (all) => all.filter(({ type }) => type === "line").length;
  assert.deepEqual([lines(shapes), lines(layout(40).shapes)], [3, 0]);
  // It is seen to be no part of the curves' axis.
  const [lane] = shapes.filter(({ type }) => type === "rect");
  assert.deepEqual([lane.y0, lane.y1], [0, yaxis3.domain[1]]);
  assert.ok(!layout(0).shapes.length);
  assert.deepEqual(layout(0).yaxis.domain, [0, 1]);
});

test("many evaluations are a line, a few have symbols", () => {
  /** @param {number} count */
  const mode = (count) => {
    const evaluations = line(new Array(count).fill(1), { mode: "lines+markers" });
    return tracesOf({ ...CONTENT, lines: [evaluations] }, VIEW, PAGE)[0].mode;
  };
  assert.deepEqual([1, 3, 4, 20, 400].map(mode), ["markers", "markers", "lines+markers", "lines+markers", "lines"]);
});

test("keys zoom and move, and nought shows all", () => {
  assert.deepEqual(zoomed("+", [0, 100]), [25, 75]);
  assert.deepEqual(zoomed("=", [0, 100]), [25, 75]); // the same key without Shift
  assert.deepEqual(zoomed("−", [0, 100]), [-50, 150]);
  assert.deepEqual(zoomed("ArrowRight", [0, 100]), [20, 120]);
  assert.equal(zoomed("0", [0, 100]), null);
  assert.equal(zoomed("p", [0, 100]), undefined);
});

test("on a dark ground no two colours become one", () => {
  const colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999"];
  const dark = colours.map((colour) => shade(colour, true));
  assert.equal(new Set(dark).size, colours.length);
  assert.notEqual(dark[0], colours[0]);
  assert.deepEqual(
    colours.map((colour) => shade(colour, false)),
    colours,
  );
});

test("a legend of many rows makes its chart higher: the curves keep their room", () => {
  const lines = ["GPU 0", "GPU 0，本次运行", "GPU 1", "GPU 1，本次运行"].map((name) => ({ ...line([3, 1]), name }));
  /** @param {number} width */
  const height = (width) => layoutOf({ ...CONTENT, lines }, VIEW, { ...PAGE, width }, [], 1).height;
  assert.equal(height(900), height(500));
  assert.ok(height(300) > height(500));
  assert.equal(layoutOf({ ...CONTENT, lines: [line([3])] }, VIEW, { ...PAGE, width: 300 }, [], 1).height, height(900));
});

test("the legend of several runs has signs without a colour: that is a run's", () => {
  const runs = [0, 1].map((run) => line([3, 2, 1], { run, neutral: true, legend: run === 0, dash: "dash" }));
  const traces = tracesOf({ ...CONTENT, lines: runs }, VIEW, PAGE);
  const named = traces.filter(({ showlegend }) => showlegend);
  assert.equal(named.length, 1);
  const { dash, color } = /** @type {{ dash: string, color: string }} */ (named[0].line);
  assert.equal(dash, "dash");
  assert.ok(!runs.some(({ colour }) => colour === color));
  assert.ok(named[0].y.every((one) => one === null));
  assert.equal(vertical({ ...CONTENT, unit: "GiB" }, VIEW, traces).range?.[1], 3 * 1.12);
});

test("a mark's kind is named in the legend; an evaluation is not marked where its curve is drawn", () => {
  const events = ["evaluation", "warning", "stop"].map((kind) => ({ kind, at: 12, label: `${kind}: x` }));
  const evals = only(made({ kind: "eval", name: "eval_loss", points: steps(3, 2) }));
  const without = { ...CONTENT, lines: [line([3, 2, 1])], events };
  const content = { ...without, lines: [...without.lines, { ...line([3]), name: "eval", curve: evals }] };
  /** @param {typeof content} one */
  const marks = (one) => tracesOf(one, VIEW, PAGE).filter(({ yaxis }) => yaxis === "y3");
  assert.deepEqual(
    marks(content).map(({ name, showlegend, y }) => [name, showlegend, y]),
    [
      ["warning", true, [0.25]],
      ["stop", true, [0.75]],
    ],
  );
  assert.deepEqual(
    marks(without).map(({ name }) => name),
    ["evaluation", "warning", "stop"],
  );
  const alone = { ...without, events: events.slice(1, 2) };
  const layout = layoutOf(alone, VIEW, PAGE, tracesOf(alone, VIEW, PAGE), 1);
  assert.equal(layout.showlegend, true); // of one line alone it would have none
  const higher = layoutOf(content, VIEW, PAGE, tracesOf(content, VIEW, PAGE), 1);
  assert.equal(higher.yaxis3.domain[1], 2 * layout.yaxis3.domain[1]);
});

test("of values in a row that are no numbers the first is a cross and the others are shaded ground", () => {
  const content = { ...CONTENT, lines: [line([3, "NaN", "NaN", "NaN", 1, "NaN"])] };
  const traces = tracesOf(content, VIEW, PAGE);
  const odd = traces.filter(({ meta }) => meta?.part === "odd");
  const [first, after] = odd.map(({ marker }) => Object(marker));
  assert.deepEqual([first.symbol, after.opacity], ["x", 0]);
  const shaded = layoutOf(content, VIEW, PAGE, traces, 1).shapes.filter(({ type }) => type === "rect");
  assert.deepEqual(
    shaded.map((one) => ("x0" in one ? [one.x0, one.x1] : [])),
    [[11, 13]], // the one of its own needs none
  );
  assert.deepEqual(Object(odd[0].text).length + Object(odd[1].text).length, 4); // each can be pointed at
});

test("a chart alone in its row leaves no room for a legend that it has not", () => {
  const content = { ...CONTENT, lines: [line([3, 2, 1], { legend: false })] };
  const above = [320, 500].map((width) => {
    const page = { ...PAGE, width };
    return layoutOf(content, VIEW, page, tracesOf(content, VIEW, page), 1).margin.t;
  });
  assert.ok(above[0] < above[1]);
});

test("values that are no numbers are crosses of a colour that no line has, named in the legend once", () => {
  const lines = [line([3, "NaN", 1]), line([3, "Infinity", 1], { name: "eval" })];
  const content = { ...CONTENT, lines };
  const traces = tracesOf(content, VIEW, PAGE);
  const odd = traces.filter(({ meta }) => meta?.part === "odd");
  assert.deepEqual(
    odd.map(({ showlegend, name }) => (showlegend ? name : "")),
    ["NaN · ∞", ""],
  );
  assert.deepEqual(
    odd.map(({ marker }) => marker),
    odd.map(() => ({ symbol: "x", size: 10, color: "#d92d20" })),
  );
  const alone = { ...CONTENT, lines: [lines[0]] };
  assert.equal(layoutOf(alone, VIEW, PAGE, tracesOf(alone, VIEW, PAGE), 1).showlegend, true);
});
