// What plotly is handed for one chart: traces and layout. Pure: the page's colours and sizes are given.

import { ALONG } from "./axis.js";
import { label } from "./charts.js";
import { smoothed } from "./groups.js";
import { LIMIT_NAME, LIMIT_SIZE, limitNames, reached, roofOf } from "./limits.js";
import { stacked } from "./marks.js";
import { laid, sameOf } from "./overlap.js";
import { CHARTS } from "../texts/catalogue.js";
import { textOf, words } from "../texts/texts.js";
import { aroundOne, coarser, PERCENT, timeTicks } from "./ticks.js";
import { COLOURS, extent, isFlat, oddPoints, placing, points } from "./traces.js";

/** @import { Drawn, Limit, Line, Mark, Range, Spread, Trace } from "../types.d.ts" */
/** @import { Band } from "./groups.js" */

/**
 * @typedef {object} Look how the page looks that a chart is drawn on
 * @property {string} text
 * @property {string} grid
 * @property {string} ground
 * @property {string} font its families: plotly has its own
 * @property {boolean} dark
 * @property {number | null} fullHeight where the chart fills the screen
 * @property {number} [width] of the chart, in px
 * @property {boolean} [coarse] whether a finger points: it scrolls the page
 */
/**
 * @typedef {object} Content what one chart shows
 * @property {Line[]} lines
 * @property {Limit[]} limits
 * @property {Mark[]} events
 * @property {string} yTitle
 * @property {string} unit
 * @property {boolean} fromZero
 * @property {boolean} [named] whether a single line has a legend too
 * @property {number} [resets] how often its zoom was taken back
 */

const HEIGHT = 280;
const UNNAMED = 37; // px above a plot without a legend, which so begins beside one with a row of it
const [ALONE, BARE] = [370, 14]; // px: so narrow a chart has none beside it, and needs only so much above its plot
const [ROW, PLAIN_ROWS] = [19, 2]; // px of a legend's row; so many leave the curves their room
const [SIGN, LETTER, AROUND] = [44, 7, 76]; // px: a legend's line, a letter, what is beside the plot
const NAMES_FROM = 27; // px: of the names of several runs, less what is before a sign
const MOST_SYMBOLS = 40; // of one line: more of them hide it
const LEAST_LINE = 4; // points
const MOST_MARK_LINES = 12; // and what they mark can still be seen between them
const MARK_LANE = 0.06; // of the height, below the curves, for each mark above another
const MARK_NEAR = 0.015; // of what is shown: nearer ones lie over each other
const ROOM = 1.05; // on either side, on a logarithmic scale
const [PLATEAU, LEVEL, AIR] = [0.25, 0.01, 0.12]; // of a curve's points, of the height: so many so high; the room above
const [NAME_HIGH, NAME_LETTER, NARROW] = [0.13, 6.5, 300]; // of the height; px of a limit's name; of a chart
export const MEMORY = "GiB";
const SHARE = "%";
const DEGREES = "°C"; // no card tells parts of one
const FEW_TICKS = 5;
const FEWEST_DEGREES = 4;
const AFTER_CARDS = 1001; // plotly gives every other 1000
const NOUGHT = { "0e+0": "0" }; // as the format for small values writes it
const BAND = "33"; // how much of its colour a band has, of ff
const FEW_STEPS = 6; // of so few, ticks between whole ones would be drawn
const [SMALL, LEAST_PLAIN] = [1e-2, 1e-3]; // 5e-5, not 50µ
const ODD = "#d92d20"; // a value that is no number; no line has this colour
const FEW_ODD = 12; // of more, each is smaller
const NEUTRAL = "#7d8998"; // seen on both grounds
/** @type {Record<string, { symbol: string, colour: string }>} */
const MARKS = {
  checkpoint: { symbol: "square", colour: COLOURS[2] },
  evaluation: { symbol: "diamond", colour: COLOURS[5] },
  overflow: { symbol: "triangle-down", colour: COLOURS[4] },
  warning: { symbol: "triangle-up", colour: COLOURS[4] },
  error: { symbol: "x", colour: COLOURS[1] },
  stop: { symbol: "square-open", colour: COLOURS[1] },
  alert: { symbol: "star", colour: COLOURS[1] },
};
const ENDS = new Set(["error", "stop", "alert"]);

/** @param {string} colour @param {boolean} dark */
export const shade = (colour, dark) => (dark && CHARTS.onDark[colour]) || colour;

/** Every trace of a chart; `marked`: its events too. @param {Content} content @param {Drawn} view @param {Look} page */
export function tracesOf(content, view, page) {
  const { lines, unit } = content;
  const found = lines.flatMap((line, index) => {
    return lineTraces({ ...line, colour: shade(line.colour, page.dark) }, index, view, unit);
  });
  const first = found.find(isOdd);
  if (first) Object.assign(first, { name: oddName(found), showlegend: true });
  return [...amongRuns(found, lines, Boolean(view.log)), ...markTraces(marksOf(content, view), view)];
}

/** @param {Trace} trace */
const isOdd = ({ meta }) => meta?.part === "odd";

/** What the legend calls them: all that the chart has. @param {Trace[]} traces */
const oddName = (traces) =>
  [...new Set(traces.filter(isOdd).flatMap(({ text }) => text ?? []))]
    .map((one) => String(one).replace("Infinity", "∞"))
    .join(" · ");

/** What is marked below the curves: no evaluation where its curve is. @param {Content} content @param {Drawn} view */
function marksOf({ lines, events }, { marked }) {
  if (!marked) return [];
  return lines.some(({ curve }) => curve.kind === "eval") ? events.filter(({ kind }) => kind !== "evaluation") : events;
}

/** @param {Mark[]} marks @param {Drawn} view */
const levelsOf = (marks, { range, reach }) => {
  const [low, high] = range ?? reach ?? [0, 0];
  return stacked(marks, (high - low) * MARK_NEAR);
};

/** @param {Mark[]} marks */
const kindsOf = (marks) => Object.keys(MARKS).filter((one) => marks.some(({ kind }) => kind === one));

/** @param {string} kind */
const nameOfKind = (kind) => label(textOf("marks", kind));

/** @param {Line} line @param {number} index @param {Drawn} view @param {string} unit @returns {Trace[]} */
function lineTraces(line, index, view, unit) {
  const traces = line.band ? bandTraces(line, line.band, index, view, unit) : curveTraces(line, index, view, unit);
  if (line.sign) return [...traces, { ...signOf({ ...line, name: line.sign }), legendrank: AFTER_CARDS }];
  return line.neutral && line.legend ? [...traces.map(unnamed), signOf(line)] : traces;
}

/**
 * The trace of what was logged, and where a training's curve is smoothed that of its means.
 * @param {Line} line @param {number} index @param {Drawn} view @param {string} unit @returns {Trace[]}
 */
function curveTraces(line, index, view, unit) {
  const place = placing(line.curve, line.clock);
  const smoothing = line.curve.kind === "train" ? view.smoothing : 0;
  const { x, y, meanX, means } = points(line.curve, smoothing, line.scale, place);
  const isSmoothed = means.length >= LEAST_LINE;
  const group = line.group === undefined ? {} : { legendgroup: line.group };
  const base = { name: line.name, type: "scatter", yaxis: line.axis || "y", hoverinfo: "skip", ...group };
  /** @param {"value" | "mean" | "odd"} part */
  const meta = (part) => ({
    part,
    line: index,
    run: line.run,
    name: line.plain,
    colour: line.colour,
    unit: line.axis === "y2" ? "" : unit,
    logged: line.curve.kind !== "sample",
  });
  /** @type {Trace} */
  const logged = {
    ...base,
    x,
    y,
    meta: meta("value"),
    mode: modeOf(line, x.length),
    connectgaps: false,
    opacity: isSmoothed ? 0.3 : 1,
    line: { color: line.colour, width: isSmoothed ? 1 : 2, dash: line.dash },
    marker: { color: line.colour, size: x.length < LEAST_LINE ? 7 : 5, symbol: line.symbol },
    cliponaxis: false, // a symbol at nought is whole
    showlegend: !isSmoothed && line.legend,
  };
  /** @type {Trace} */
  const mean = {
    ...base,
    x: meanX,
    y: means,
    meta: meta("mean"),
    mode: "lines",
    showlegend: line.legend,
    line: { color: line.colour, width: 2.5, dash: line.dash },
  };
  const odd = oddPoints(line.curve, place, x, y);
  return [
    logged,
    ...(isSmoothed ? [mean] : []),
    ...oddTraces(odd, base.yaxis).map((trace) => ({ ...trace, meta: meta("odd") })),
  ];
}

/**
 * What several runs logged, or several GPUs of one were sampled for, drawn so that all of it is seen.
 * @param {Trace[]} traces @param {Line[]} lines @param {boolean} log @returns {Trace[]}
 */
function amongRuns(traces, lines, log) {
  const drawn = traces.filter(({ meta }) => {
    const { base, band, curve } = lines[meta?.line ?? -1] ?? {};
    const isTold = base !== undefined || curve?.kind === "sample";
    return band ? meta?.drawn : isTold && (meta?.part === "value" || meta?.part === "mean");
  });
  const smooth = new Set(drawn.filter(({ meta }) => meta?.part === "mean").map(({ meta }) => meta?.line));
  const seen = drawn.filter(({ meta }) => meta?.part === "mean" || !smooth.has(meta?.line));
  const alone = lines.every(({ base }) => base === undefined);
  const same = alone ? [] : sameOf(seen);
  if (same.length) return [...traces, ...same.map((trace) => ofAll(trace, seen.length / same.length))];
  const found = laid(seen, new Set(lines.filter(({ base }) => base).map(({ run }) => run)), log, alone);
  return traces.flatMap((trace) => found.get(trace) ?? [trace]);
}

/**
 * The line over those that are one, in no run's colour; it fades for who points at a run.
 * @param {Trace} trace @param {number} same how many runs it is of @returns {Trace}
 */
function ofAll({ meta, ...trace }, same) {
  const { line, marker } = trace;
  return {
    ...trace,
    name: "", // it is no curve of its own
    zorder: same,
    showlegend: false,
    line: { ...Object(line), color: NEUTRAL },
    marker: { ...Object(marker), color: NEUTRAL },
    meta: { part: "band", line: meta?.line, run: meta?.run, rim: true, same },
  };
}

/** How many runs have the same values in all that is drawn, 0 where some have not. @param {Trace[]} traces */
export const sameRuns = (traces) => traces.find(({ meta }) => meta?.same)?.meta?.same ?? 0;

/** @param {Trace} trace @returns {Trace} */
const unnamed = (trace) => ({ ...trace, showlegend: false });

/** Only the legend's: where colours tell runs apart, its signs have none. @param {Line} line @returns {Trace} */
const signOf = ({ name, axis, dash, mode, symbol }) => ({
  name,
  x: [NaN],
  y: [null],
  type: "scatter",
  yaxis: axis || "y",
  hoverinfo: "skip",
  mode: mode ?? "lines",
  line: { color: NEUTRAL, width: 2, dash },
  marker: { color: NEUTRAL, size: 5, symbol },
  showlegend: true,
});

/**
 * What names each run in a picture of the chart: the page has that beside it.
 * @param {Line[]} lines @param {boolean} dark @returns {Trace[]}
 */
export function namesOf(lines, dark) {
  const first = new Map(lines.filter(({ of }) => of).map((line) => [line.run, line]));
  return [...first.values()].map((line, place) => ({
    ...signOf({ ...line, name: line.of ?? "", dash: "solid", mode: "lines" }),
    line: { color: shade(line.colour, dark), width: 3 },
    legendrank: place,
  }));
}

/**
 * Of a group the mean, smoothed where curves are, over the area between the least and the most of its runs. Where not
 * all of them have a value it is thin and dotted, and broken where their number changes: what would be drawn there is
 * the step from one mean to another one.
 * @param {Line} line @param {Band} band @param {number} index @param {Drawn} view @param {string} unit
 * @returns {Trace[]}
 */
function bandTraces(line, band, index, view, unit) {
  const { stretches, parts } = band;
  const x = stretches.map(({ low }) => low.time);
  const y = stretches.map(({ mean }) => mean / line.scale);
  const spread = stretches.map(({ low, high, n }) => {
    return { low: low.y / line.scale, high: high.y / line.scale, count: n, total: band.total };
  });
  /** @type {Pick<Trace, "type" | "yaxis" | "hoverinfo" | "name" | "showlegend">} */
  const base = { type: "scatter", yaxis: line.axis || "y", hoverinfo: "skip", name: line.name, showlegend: false };
  const { run } = line;
  const told = { line: index, run, name: line.plain, colour: line.colour, unit: line.axis === "y2" ? "" : unit };
  const edge = { part: /** @type {const} */ ("band"), line: index, run };
  /** What is pointed at, whole. @param {"value" | "mean"} part @param {number[]} values @returns {Trace} */
  const read = (part, values) => {
    return { ...base, x, y: values, mode: "none", meta: { ...told, part, logged: band.kind !== "sample", spread } };
  };
  /** @param {number[]} values @param {number} width @param {number} opacity @returns {Trace[]} */
  const drawn = (values, width, opacity) =>
    [true, false].flatMap((whole) => {
      const mine = parts.filter((part) => part.whole === whole);
      const count = mine.reduce((sum, { from, to }) => sum + to - from, 0);
      const shown = { color: line.colour, width: whole ? width : 1.25, dash: whole ? line.dash : "dot" };
      const marker = { color: line.colour, size: count === 1 ? 7 : 5, symbol: line.symbol };
      const apart = { x: broken(x, mine, (at) => at), y: broken(values, mine, () => null) };
      const meta = { ...edge, drawn: whole && opacity === 1 };
      return count ? [{ ...base, ...apart, meta, mode: modeOf(line, count, 2), marker, line: shown, opacity }] : [];
    });
  const filled = { fill: "toself", fillcolor: `${line.colour}${BAND}`, line: { width: 0, color: line.colour } };
  const area = { ...base, ...outline(x, spread, parts), ...filled, meta: edge, mode: "lines" };
  const traces = [area, read("value", y)];
  if (!view.smoothing || band.kind !== "train") return [...traces, ...drawn(y, 2, 1)];
  const means = parts.flatMap(({ from, to }) => smoothed(y.slice(from, to), view.smoothing));
  return [...traces, ...drawn(y, 1, 0.3), read("mean", means), ...drawn(means, 2.5, 1)];
}

/**
 * The values of some parts, each with one more at its end.
 * @template T @param {number[]} values @param {Band["parts"]} parts @param {(last: number) => T} end
 * @returns {(number | T)[]}
 */
const broken = (values, parts, end) =>
  parts.flatMap(({ from, to }) => [...values.slice(from, to), end(values[to - 1])]);

/**
 * Around each part, along the least and back along the most.
 * @param {number[]} x @param {Spread[]} spread @param {Band["parts"]} parts
 */
function outline(x, spread, parts) {
  /** @param {number[]} there @param {number[]} back @param {Band["parts"][0]} part */
  const around = (there, back, { from, to }) => [...there.slice(from, to), ...back.slice(from, to).reverse()];
  const [low, high] = [spread.map((one) => one.low), spread.map((one) => one.high)];
  return {
    x: parts.flatMap((part) => [...around(x, x, part), x[part.from]]),
    y: parts.flatMap((part) => [...around(low, high, part), null]),
  };
}

/**
 * Symbols where they are few enough to be told apart; of two or three a line would tell of a course that nobody logged.
 * @param {Line} line @param {number} count @param {number} [least] that a line has; a mean's parts are of one course
 */
function modeOf({ mode }, count, least = LEAST_LINE) {
  if (count < least) return "markers";
  return mode && count <= MOST_SYMBOLS ? mode : "lines";
}

/**
 * Of values in a row the first is a cross, and those after it can be pointed at: a row of signs would be a plateau.
 * @param {{ at: number, height: number, text: string, follows: boolean }[]} odd @param {string} yaxis
 */
function oddTraces(odd, yaxis) {
  const [first, after] = [odd.filter(({ follows }) => !follows), odd.filter(({ follows }) => follows)];
  return [
    ...(first.length ? [oddTrace(first, yaxis, { symbol: "x", size: first.length > FEW_ODD ? 6 : 10 })] : []),
    ...(after.length ? [oddTrace(after, yaxis, { symbol: "circle", size: 3, opacity: 0 })] : []),
  ];
}

/**
 * Where values in a row are no numbers the ground is shaded, from the first on; beside other runs it would be theirs.
 * @param {Trace[]} traces @param {number} foot @param {number} top
 */
function oddShapes(traces, foot, top) {
  if (new Set(traces.flatMap(({ meta }) => meta?.run ?? [])).size > 1) return [];
  const stretches = traces.filter(isOdd).flatMap((trace, place, all) => {
    if (!isHidden(trace)) return [];
    const starts = all[place - 1]?.x ?? trace.x; // its crosses; of old values they may be gone
    const ends = new Map(trace.x.map((at) => [starts.findLast((one) => one < at) ?? trace.x[0], at]));
    return [...ends];
  });
  const across = { type: "rect", yref: "paper", y0: foot, y1: top, layer: "below", line: { width: 0 } };
  return stretches.map(([x0, x1]) => ({ ...across, x0, x1, fillcolor: ODD, opacity: 0.1 }));
}

/** @param {Trace} trace */
const isHidden = ({ marker }) => /** @type {{ opacity?: number } | undefined} */ (marker)?.opacity === 0;

/**
 * @param {{ at: number, height: number, text: string }[]} odd @param {string} yaxis @param {object} marker
 * @returns {Trace}
 */
function oddTrace(odd, yaxis, marker) {
  return {
    x: odd.map(({ at }) => at),
    y: odd.map(({ height }) => height),
    text: odd.map(({ text }) => text),
    type: "scatter",
    mode: "markers",
    yaxis,
    marker: { ...marker, color: ODD },
    cliponaxis: false, // the last step's is as whole as the others
    hoverinfo: "skip",
    showlegend: false,
  };
}

/** One for each kind, which the legend names. @param {Mark[]} marks @param {Drawn} view @returns {Trace[]} */
function markTraces(marks, view) {
  const levels = levelsOf(marks, view);
  const lines = Math.max(...levels, 0) + 1;
  const placed = marks.map((mark, i) => ({ ...mark, height: (levels[i] + 0.5) / lines }));
  return kindsOf(marks).map((kind) => {
    const mine = placed.filter((one) => one.kind === kind);
    return {
      x: mine.map(({ at }) => at),
      y: mine.map(({ height }) => height),
      meta: { part: "mark", kinds: mine.map(() => kind) },
      text: mine.map((one) => one.label),
      name: nameOfKind(kind),
      type: "scatter",
      mode: "markers",
      yaxis: "y3",
      showlegend: true,
      cliponaxis: false,
      hoverinfo: "skip",
      marker: { size: 8, symbol: MARKS[kind].symbol, color: MARKS[kind].colour },
    };
  });
}

/**
 * Behind the curves and as high as these, and of checkpoints only where they are few.
 * @param {Mark[]} events @param {number} top
 */
function markLines(events, top) {
  const saved = events.filter(({ kind }) => kind === "checkpoint");
  return events
    .filter(({ kind }) => ENDS.has(kind) || (kind === "checkpoint" && saved.length <= MOST_MARK_LINES))
    .map(({ at, kind }) => ({
      type: "line",
      x0: at,
      x1: at,
      yref: "paper",
      y0: 0,
      y1: top,
      opacity: 0.5,
      layer: "below",
      line: { color: MARKS[kind].colour, width: 1, dash: "dot" },
    }));
}

/**
 * The lane's own ground: what stands on it is below the curves' axis, and no value of it.
 * @param {number} lane @param {string} fill
 */
function laneShapes(lane, fill) {
  const across = { type: "rect", xref: "paper", yref: "paper", x0: 0, x1: 1, layer: "below" };
  return lane ? [{ ...across, y0: 0, y1: lane, fillcolor: fill, opacity: 0.4, line: { width: 0 } }] : [];
}

/** @param {Limit[]} limits */
function limitLines(limits) {
  return limits.map(({ at, colour }) => ({
    type: "line",
    xref: "paper",
    x0: 0,
    x1: 1,
    y0: at,
    y1: at,
    line: { color: colour || COLOURS[6], width: 1.5, dash: "dash" },
  }));
}

/**
 * What every chart of a page shows of the horizontal axis: the zoom, else the range of all of them, which plotly's own
 * "reset" comes back to (as an automatic range that has to reach this far and may reach no further).
 * @param {Drawn} view
 */
export function horizontal({ range, reach }) {
  if (range) return { range, autorange: false };
  if (!reach) return { autorange: true };
  return { autorange: true, autorangeoptions: { include: reach, clipmin: reach[0], clipmax: reach[1] } };
}

/**
 * What the horizontal axis is called, and of one of time its labels.
 * @param {Drawn} view @param {Trace[]} traces @param {Look} page
 * @returns {{ title: string, tickvals?: number[], ticktext?: string[] }}
 */
function along(view, traces, { width = Infinity }) {
  const range = view.range ?? view.reach ?? extent(traces.flatMap(({ x }) => x));
  const code = view.counted && view.axis === "step" ? "along_lines" : ALONG[view.axis];
  if (view.axis === "time" && range) return timeLabels(range, width);
  const tickvals = view.axis === "step" && range ? fewSteps(range) : [];
  return { title: words("charts_page", code, { form: "mm:ss" }), ...(tickvals.length ? { tickvals } : {}) };
}

/** The whole steps of a short range; none of a longer one, which has its own ticks. @param {Range} range */
function fewSteps([low, high]) {
  if (high - low > FEW_STEPS) return [];
  const first = Math.ceil(low);
  return Array.from({ length: Math.max(Math.floor(high) - first + 1, 0) }, (_, more) => first + more);
}

/** The labels of a chart's time axis, and its title. @param {Range} range @param {number} width of the chart, in px */
export function timeLabels(range, width) {
  const { tickvals, ticktext, form } = timeTicks(range, width - AROUND);
  return { title: words("charts_page", ALONG.time, { form }), tickvals, ticktext };
}

/** The least and the most of the left axis; null where it has no number. @param {Trace[]} traces */
const heights = (traces) =>
  extent(traces.filter(({ yaxis }) => yaxis === "y").flatMap(({ y }) => y.filter((one) => one !== null)));

/** Those of its values that a logarithmic scale has. @param {Trace[]} traces */
const positive = (traces) =>
  traces
    .filter(({ yaxis }) => yaxis === "y")
    .flatMap(({ y }) => y.filter((one) => one !== null && one > 0))
    .map(Number);

/** Whether a logarithmic scale has something to show. @param {Trace[]} traces */
export const canBeLog = (traces) => (heights(traces)?.[1] ?? 0) > 0;

/**
 * The left axis. Shares of a hundred have all of it; memory begins at nought and ends where the most that was seen
 * does, or a limit that is near it: left alone, plotly shows 10k GiB of a scale that has no value to show.
 * @param {Content} content @param {Drawn} view @param {Trace[]} traces
 * @returns {{ type: string, exponentformat: string, tickformat: string, labelalias: Record<string, string>,
 *   rangemode: string, range?: Range, autorangeoptions?: { include: Range }, nticks?: number }}
 */
export function vertical({ unit, limits, fromZero }, view, traces) {
  const seen = heights(traces);
  const log = view.log && canBeLog(traces);
  const largest = seen ? Math.max(Math.abs(seen[0]), Math.abs(seen[1])) : 0;
  const usually = seen && seen[0] >= 0 ? "nonnegative" : "normal"; // a symbol at nought takes no room below it
  const rangemode = fromZero || isFlat(traces) ? "tozero" : usually;
  // plotly's own powers of ten are one for the whole axis: a tick of it reads 0.2e−4.
  const tickformat = largest > 0 && largest < SMALL ? "~e" : "";
  const isSmall = log && positive(traces).some((one) => one < LEAST_PLAIN); // 1e-4, not 100µ
  const exponentformat = isSmall ? "e" : "B";
  const usual = { type: log ? "log" : "linear", exponentformat, tickformat, labelalias: NOUGHT, rangemode };
  const level = !log && seen && isFlat(traces) ? aroundOne(seen[1]) : null;
  if (unit === SHARE && !log && largest <= 100) return { ...usual, range: PERCENT };
  if (unit === DEGREES && seen) return { ...usual, ...integers(seen) };
  if (unit !== MEMORY && level) return { ...usual, range: level };
  if (unit !== MEMORY || !seen) {
    const found = readable(seen, log || rangemode === "tozero");
    const air = log || !seen || found.autorangeoptions ? {} : airAbove(seen, rangemode === "tozero", traces);
    return { ...usual, ...found, ...air };
  }
  const { most } = reached(limits, seen[1]);
  if (!log) return { ...usual, range: [0, most > 0 ? roofOf(most, seen[1]) : 1] };
  const least = positive(traces).reduce((low, one) => Math.min(low, one), most);
  return { ...usual, range: [Math.log10(least / ROOM), Math.log10(most * ROOM)] };
}

/**
 * What stays at its highest does not run along the edge.
 * @param {Range} seen @param {boolean} zero whether the axis begins at nought @param {Trace[]} traces
 * @returns {{ autorangeoptions?: { include: Range } }}
 */
function airAbove([low, high], zero, traces) {
  const span = high - (zero ? Math.min(0, low) : low);
  const stays = traces.some(({ yaxis, y, meta }) => {
    const up =
      yaxis === "y" && meta?.part === "value" ? y.filter((one) => one !== null && one >= high - LEVEL * span) : [];
    return up.length > 1 && up.length >= PLATEAU * y.length;
  });
  return stays ? { autorangeoptions: { include: [low, high + AIR * span] } } : {};
}

/**
 * Whether no curve runs through a part of a chart.
 * @param {Trace[]} traces @param {Range} across @param {Range} high
 */
const isFree = (traces, [left, right], [low, high]) =>
  !traces.some(({ yaxis, x, y }) => {
    /** @param {number} i */
    const runs = (i) => {
      const [one, other] = [y[i], y[i + 1] ?? y[i]];
      const isThere = x[i] <= right && (x[i + 1] ?? x[i]) >= left;
      return isThere && one !== null && other !== null && Math.min(one, other) <= high && Math.max(one, other) >= low;
    };
    return yaxis === "y" && y.some((_, i) => runs(i));
  });

/**
 * No label has more digits than one reads.
 * @param {Range | null} seen @param {boolean} free whether none would have
 * @returns {{ autorangeoptions?: { include: Range }, nticks?: number }}
 */
function readable(seen, free) {
  const include = seen && !free && coarser(seen);
  return include ? { autorangeoptions: { include }, nticks: FEW_TICKS } : {};
}

/** Labels of whole numbers. @param {Range} seen @returns {{ autorangeoptions?: { include: Range }, nticks: number }} */
function integers([low, high]) {
  const middle = Math.round((low + high) / 2);
  const [least, most] = [middle - FEWEST_DEGREES / 2, middle + FEWEST_DEGREES / 2];
  const isWide = high - low >= FEWEST_DEGREES;
  return isWide ? { nticks: FEW_TICKS } : { autorangeoptions: { include: [least, most] }, nticks: FEW_TICKS };
}

/**
 * How many rows a legend takes, about: its columns are as wide as its longest name.
 * @param {string[]} named @param {number | undefined} width of the chart, in px
 */
function legendRows(named, width = Infinity) {
  const names = named.map(lettersOf);
  const column = SIGN + LETTER * Math.max(0, ...names);
  return Math.ceil(names.length / Math.max(1, Math.floor((width - AROUND) / column)));
}

/** A Chinese one is as wide as two others. @param {string} name */
const lettersOf = (name) => [...name].reduce((sum, one) => sum + (one > "\u2e7f" ? 2 : 1), 0);

/** Whether a scale may leave values out: those of memory and of shares are made for all. @param {Content} content */
export const hasOutliers = ({ unit }) => ![MEMORY, SHARE, DEGREES].includes(unit);

/**
 * @param {Content} content @param {Drawn} view @param {Look} page @param {Trace[]} traces @param {number} revision
 * @param {Range | null} [cut] the range of the left axis where it has not all values
 */
export function layoutOf(content, view, page, traces, revision, cut = null) {
  const { lines, limits } = content;
  /** @param {string} title */
  const axis = (title) => ({
    title: { text: title, standoff: 6 },
    gridcolor: page.grid,
    zerolinecolor: page.grid,
    automargin: true,
  });
  const marks = marksOf(content, view);
  const lane = marks.length && MARK_LANE * (Math.max(...levelsOf(marks, view)) + 1);
  const named = lines.flatMap(({ legend, name, sign }) => [...(legend ? [name] : []), ...(sign ? [sign] : [])]);
  const odd = traces.some(isOdd) ? [oddName(traces)] : [];
  const signs = [...named, ...odd, ...kindsOf(marks).map(nameOfKind)];
  const isNamed = signs.length > (content.named || marks.length || odd.length ? 0 : 1);
  const domain = [lane && lane + 0.02, limits.length ? 1 - LIMIT_NAME : 1];
  const right = lines.find((line) => line.axis === "y2");
  const second = right && {
    ...axis(right.title || "%"),
    overlaying: "y",
    tickmode: "auto", // of its own: those of the left one would be 1.83 skipped steps
    nticks: FEW_TICKS,
    side: "right",
    showgrid: false,
    rangemode: "tozero",
  };
  const left = { ...vertical(content, view, traces), ...(cut ? { range: cut, autorangeoptions: undefined } : {}) };
  const placed = reached(limits, heights(traces)?.[1] ?? Infinity); // no curve: nothing is flattened
  const { title, ...labels } = along(view, traces, page);
  const font = { size: LIMIT_SIZE, color: page.text };
  const across = view.range ?? view.reach ?? extent(traces.flatMap(({ x }) => x));
  /** @param {Limit} limit @param {boolean} atEnd @param {boolean} over */
  const free = ({ at, text }, atEnd, over) => {
    if (!across || left.type === "log") return true;
    const [room, wide] = [NAME_HIGH * placed.most, NAME_LETTER * (lettersOf(text) + 1)];
    const reach = ((across[1] - across[0]) * wide) / ((page.width || NARROW + AROUND) - AROUND);
    const ends = /** @type {Range} */ (atEnd ? [across[1] - reach, across[1]] : [across[0], across[0] + reach]);
    return isFree(traces, ends, over ? [at, at + room] : [at - room, at]);
  };
  return {
    // The revision tells plotly that the arrays are others; zoom of y stays (uirevision), zoom of x is every chart's.
    datarevision: revision,
    uirevision: `${view.axis}${view.log}${Boolean(cut)}${content.resets ?? 0}`,
    height: page.fullHeight ?? HEIGHT + ROW * Math.max(0, legendRows(signs, page.width) - PLAIN_ROWS),
    margin: { l: 52, r: right ? 48 : 12, t: isNamed ? 8 : (page.width ?? Infinity) < ALONE ? BARE : UNNAMED, b: 40 },
    paper_bgcolor: page.fullHeight === null ? "rgba(0,0,0,0)" : page.ground,
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: page.font, color: page.text, size: 12 },
    xaxis: {
      ...axis(title),
      ...labels,
      ...horizontal(view),
      ...(lane ? { anchor: "free", position: 0 } : {}),
    },
    yaxis: { ...axis(content.yTitle), ...left, domain },
    // What happened has a lane of its own below the curves: over them its symbols hid them.
    yaxis3: { domain: [0, lane || 1], range: [0, 1], fixedrange: true, visible: false },
    ...(second ? { yaxis2: { ...second } } : {}),
    shapes: [
      ...laneShapes(lane, page.grid),
      ...oddShapes(traces, domain[0], domain[1]),
      ...markLines(content.events, domain[1]),
      ...limitLines(placed.lines),
    ],
    annotations: limitNames(placed, left.type === "log", font, domain[1], page.ground, free),
    showlegend: isNamed,
    // Right below the title, however high the row of charts is: the curves have the room that is left.
    legend: {
      orientation: "h",
      traceorder: "normal",
      yref: "container",
      y: 1,
      yanchor: "top",
      ...besideNames(lines, page),
    },
    hovermode: false,
    dragmode: page.coarse ? false : "zoom",
  };
}

/**
 * Where a legend begins: that of several runs below the names of these.
 * @param {Line[]} lines @param {Look} page
 */
function besideNames(lines, { width }) {
  return width && lines.some(({ of }) => of) ? { xref: "container", x: NAMES_FROM / width, xanchor: "left" } : { x: 0 };
}

/**
 * The range that a key asks for; null for all, undefined of a key that does not zoom.
 * @param {string} key @param {Range} range @returns {Range | null | undefined}
 */
export function zoomed(key, [low, high]) {
  const span = high - low;
  /** @type {Record<string, Range | null>} */
  const ranges = {
    "+": [low + span / 4, high - span / 4],
    "-": [low - span / 2, high + span / 2],
    ArrowLeft: [low - span / 5, high - span / 5],
    ArrowRight: [low + span / 5, high + span / 5],
    0: null,
  };
  return ranges[ALIASES[key] ?? key];
}

/** @type {Record<string, string>} */
const ALIASES = { "=": "+", "−": "-", _: "-" };
