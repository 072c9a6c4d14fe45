// What plotly is handed for one chart: traces and layout. Pure: the page's colours and sizes are given.

import { COLOURS, isFlat, oddPoints, placing, points } from "./traces.js";

/** @import { Axis, Drawn, Limit, Line, Mark, Range, Trace } from "./types.d.ts" */

/**
 * @typedef {object} Look how the page looks that a chart is drawn on
 * @property {string} text
 * @property {string} grid
 * @property {string} ground
 * @property {boolean} dark
 * @property {number | null} fullHeight where the chart fills the screen
 */
/**
 * @typedef {object} Content what one chart shows
 * @property {Line[]} lines
 * @property {Limit[]} limits
 * @property {Mark[]} events
 * @property {string} yTitle
 * @property {string} unit
 * @property {boolean} fromZero
 * @property {boolean} named whether a single line has a legend too
 */

const HEIGHT = 260;
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
const LINED = new Set(["checkpoint", "error", "stop", "alert"]);
/** @type {Record<Axis, string>} */
export const TITLES = { step: "step", time: "seconds since start", epoch: "epoch" };

// On a dark ground the darkest colour gives way to a lighter blue, which no other line then has.
/** @type {Record<string, string>} */
const ON_DARK = { "#0072B2": "#5AA9E6", "#56B4E9": "#A6DAF7" };
/** @param {string} colour @param {boolean} dark */
export const shade = (colour, dark) => (dark && ON_DARK[colour]) || colour;

/** Every trace of a chart; `marked`: its events too. @param {Content} content @param {Drawn} view @param {Look} page */
export function tracesOf({ lines, events, unit }, view, page) {
  const found = lines.flatMap((line) => lineTraces({ ...line, colour: shade(line.colour, page.dark) }, view, unit));
  return view.marked && events.length ? [...found, markTrace(events)] : found;
}

/** @param {Line} line @param {Drawn} view @param {string} unit @returns {Trace[]} */
function lineTraces(line, view, unit) {
  const place = placing(line.curve, line.clock);
  const { x, y, meanX, means } = points(line.curve, view.smoothing, line.scale, place);
  const smoothed = means.length > 1;
  const yaxis = line.axis || "y";
  const base = { name: line.name, type: "scatter", yaxis };
  /** @type {Trace[]} */
  const found = [
    {
      ...base,
      x,
      y,
      mode: line.mode || (x.length === 1 ? "markers" : "lines"),
      connectgaps: false,
      opacity: smoothed ? 0.3 : 1,
      line: { color: line.colour, width: smoothed ? 1 : 2, dash: line.dash },
      marker: { color: line.colour, size: 7, symbol: line.symbol },
      hovertemplate: `${hover(smoothed, yaxis, unit)}<extra>${line.plain}</extra>`,
      showlegend: !smoothed && line.legend,
    },
  ];
  if (smoothed) {
    found.push({
      ...base,
      x: meanX,
      y: means,
      mode: "lines",
      showlegend: line.legend,
      line: { color: line.colour, width: 2.5, dash: line.dash },
      hovertemplate: `%{y:.5~g}<extra>${line.plain} (smoothed)</extra>`,
    });
  }
  const odd = oddPoints(line.curve, place, x, y);
  return odd.length ? [...found, oddTrace(odd, line, yaxis)] : found;
}

/** @param {boolean} smoothed @param {string} yaxis @param {string} unit */
function hover(smoothed, yaxis, unit) {
  if (smoothed) return "%{y:.5~g} as logged";
  return `%{y:.5~g}${unit && yaxis !== "y2" ? ` ${unit}` : ""}`;
}

/**
 * @param {{ at: number, height: number, text: string }[]} odd @param {Line} line @param {string} yaxis
 * @returns {Trace}
 */
function oddTrace(odd, line, yaxis) {
  return {
    x: odd.map(({ at }) => at),
    y: odd.map(({ height }) => height),
    text: odd.map(({ text }) => text),
    type: "scatter",
    mode: "markers",
    name: "no number",
    yaxis,
    marker: { symbol: "x", size: 10, color: COLOURS[1] },
    hovertemplate: `%{text}<extra>${line.plain}</extra>`,
    showlegend: false,
  };
}

/** @param {Mark[]} events @returns {Trace} */
function markTrace(events) {
  return {
    x: events.map((event) => event.at),
    y: events.map(() => 0.03),
    text: events.map((event) => event.label),
    type: "scatter",
    mode: "markers",
    yaxis: "y3",
    showlegend: false,
    cliponaxis: false,
    hovertemplate: "%{text}<extra></extra>",
    marker: {
      size: 9,
      symbol: events.map((event) => MARKS[event.kind]?.symbol || "circle"),
      color: events.map((event) => MARKS[event.kind]?.colour || COLOURS[6]),
    },
  };
}

/** @param {Mark[]} events */
function markLines(events) {
  return events
    .filter((event) => LINED.has(event.kind))
    .map(({ at, kind }) => ({
      type: "line",
      x0: at,
      x1: at,
      yref: "paper",
      y0: 0,
      y1: 1,
      opacity: 0.5,
      line: { color: MARKS[kind].colour, width: 1, dash: "dot" },
    }));
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

/** @param {Limit[]} limits @param {boolean} log @param {string} colour */
function limitNames(limits, log, colour) {
  return limits.map(({ at, text }) => ({
    xref: "paper",
    x: 1,
    y: log ? Math.log10(at) : at,
    xanchor: "right",
    yanchor: "bottom",
    text,
    showarrow: false,
    font: { size: 10, color: colour },
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

/** @param {Content} content @param {Drawn} view @param {Look} page @param {Trace[]} traces @param {number} revision */
export function layoutOf(content, view, page, traces, revision) {
  const { lines, limits } = content;
  /** @param {string} title */
  const axis = (title) => ({
    title: { text: title, standoff: 6 },
    gridcolor: page.grid,
    zerolinecolor: page.grid,
    automargin: true,
  });
  const right = lines.find((line) => line.axis === "y2");
  const second = right && {
    ...axis(right.title || "%"),
    overlaying: "y",
    side: "right",
    showgrid: false,
    rangemode: "tozero",
  };
  return {
    // The revision tells plotly that the arrays are others; zoom of y stays (uirevision), zoom of x is every chart's.
    datarevision: revision,
    uirevision: `${view.axis}${view.log}`,
    height: page.fullHeight ?? HEIGHT,
    margin: { l: 52, r: right ? 48 : 12, t: 8, b: 40 },
    paper_bgcolor: page.fullHeight === null ? "rgba(0,0,0,0)" : page.ground,
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: page.text, size: 12 },
    xaxis: { ...axis(TITLES[view.axis]), ...horizontal(view) },
    yaxis: {
      ...axis(content.yTitle),
      type: view.log ? "log" : "linear",
      rangemode: content.fromZero || isFlat(traces) ? "tozero" : "normal",
    },
    yaxis3: { overlaying: "y", range: [0, 1], fixedrange: true, visible: false },
    ...(second ? { yaxis2: second } : {}),
    shapes: [...markLines(content.events), ...limitLines(limits)],
    annotations: limitNames(limits, view.log, page.text),
    showlegend: lines.filter((line) => line.legend).length > (content.named ? 0 : 1),
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    hovermode: "x unified",
    hoverlabel: { bgcolor: page.ground, font: { color: page.text } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: page.grid, activecolor: page.text },
  };
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
