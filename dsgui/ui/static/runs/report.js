// Draws the charts of a report from the data in the page; asks nobody for anything. What it imports stands before it in
// the report (shell/runs/report_assets.py): a file that stands alone loads no module.

import { LIMIT_NAME, LIMIT_SIZE, limitNames, reached, roofOf } from "../metrics/limits.js";
import { aroundOne, clock, coarser, isMoved, isOne, PERCENT, timeTicks } from "../metrics/ticks.js";

/** @import { PlotElement, Range } from "../types.d.ts" */

/** @typedef {(number | null)[]} Values null for none */
/**
 * @typedef {object} ReportLine
 * @property {string} run
 * @property {string} what
 * @property {Values} step
 * @property {Values} time
 * @property {Values} value
 * @property {number} colour
 * @property {number} dash
 * @property {boolean} symbols of an evaluation, as on the run's page
 * @property {{ place: number, text: string }[]} odd where a value is no number
 */
/**
 * @typedef {object} ReportChart
 * @property {string} title
 * @property {string} y
 * @property {string} unit
 * @property {string} axis
 * @property {string} scale why its axis is logarithmic; empty where it is not
 * @property {boolean} zero
 * @property {{ at: number, text: string, colour?: string }[]} limits
 * @property {ReportLine[]} lines
 */

(() => {
  const COLOURS = 7; // --ds-curve-0 to -6, lighter on a dark ground
  const DASHES = ["solid", "8px,4px", "2px,3px", "8px,3px,2px,3px", "14px,5px"]; // as core/runs/report_page.py has them
  const PRINTED_WIDTH = 660;
  const MARGIN = { l: 64, r: 12, t: 8, b: 40 }; // of every chart: their curves begin at one line
  const BELOW_LIMIT = 1 - LIMIT_NAME; // as metrics/plotting.js has it
  const MOST_SYMBOLS = 40;
  const LEAST_LINE = 4; // points: of fewer a line would tell of a course that nobody logged
  const SMALL = 1e-2; // values below it are written as 5e-5, as on the run's page (metrics/plotting.js)
  /** @type {ReportChart[]} */
  const charts = JSON.parse(document.getElementById("charts")?.textContent ?? "[]");
  /** @type {HTMLSelectElement | null} */
  const axis = document.querySelector("select#axis"); // none where no run has steps
  /** @type {NodeListOf<PlotElement>} */
  const boxes = document.querySelectorAll("[data-chart]");
  // In the report's language.
  const step = axis?.querySelector("[value=step]")?.textContent ?? "";
  const time = document.querySelector("[data-time]")?.getAttribute("data-time") ?? "{form}";
  let printing = false;

  /** @param {string} name */
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  /** @param {Values} values */
  const known = (values) => values.some((value) => value !== null);

  /** @param {ReportChart} chart @param {string} by */
  function traces(chart, by) {
    /** @type {object[]} */
    const found = [];
    const several = new Set(chart.lines.map((line) => line.run)).size > 1;
    const { text } = clock(timesOf(chart)[1]);
    for (const line of chart.lines) {
      const name = [several ? line.run : "", line.what].filter(Boolean).join(" · ") || chart.title;
      const x = by === "step" ? line.step : line.time;
      const turn = Math.floor(line.colour / COLOURS);
      const colour = variable(`--ds-curve-${line.colour % COLOURS}`);
      const count = line.value.filter((value) => value !== null).length;
      found.push({
        x,
        y: line.value,
        // Lines have points at times of their own, and plotly writes these as seconds.
        ...(by === "step" ? {} : { customdata: x.map(text), hovertemplate: "%{y:.5~g} (%{customdata})" }),
        name,
        type: "scatter",
        mode: count < LEAST_LINE ? "markers" : line.symbols && count <= MOST_SYMBOLS ? "lines+markers" : "lines",
        connectgaps: false,
        line: { color: colour, width: 1.6, dash: DASHES[(line.dash + turn) % DASHES.length] },
        marker: { size: count < LEAST_LINE ? 7 : 5, symbol: line.symbols ? "diamond" : "circle" },
        cliponaxis: false,
      });
      if (line.odd.length) found.push(odd(line, x, colour, name));
    }
    return found;
  }

  /**
   * Where a value is no number: at the height of the last that was one.
   * @param {ReportLine} line @param {Values} x @param {string} colour @param {string} name
   */
  function odd(line, x, colour, name) {
    /** @param {number} place */
    const height = (place) => {
      for (let near = place; near >= 0; near--) if (line.value[near] !== null) return line.value[near];
      return line.value.find((value) => value !== null) ?? 0;
    };
    return {
      x: line.odd.map((one) => x[one.place]),
      y: line.odd.map((one) => height(one.place)),
      text: line.odd.map((one) => one.text),
      name,
      type: "scatter",
      mode: "markers",
      marker: { symbol: "x", size: 8, color: colour },
      hovertemplate: "%{text}<extra>%{fullData.name}</extra>",
    };
  }

  /**
   * How high a chart is. Around values that are all the same Plotly shows one more and one less, of learning rates too.
   * @param {ReportChart} chart
   */
  function level(chart) {
    const values = chart.lines.flatMap((line) => line.value).filter((value) => value !== null);
    if (!values.length) return {};
    /** @type {Range} */
    const seen = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
    const largest = Math.max(Math.abs(seen[0]), Math.abs(seen[1]));
    const format = largest > 0 && largest < SMALL ? { tickformat: "~e", labelalias: { "0e+0": "0" } } : {};
    if (chart.unit === "%" && largest <= 100) return { ...format, range: PERCENT };
    if (chart.limits.length) {
      const { most } = reached(chart.limits, seen[1]);
      return { ...format, range: [0, most > 0 ? roofOf(most, seen[1]) : 1], domain: [0, BELOW_LIMIT] };
    }
    const [one] = seen;
    if (isOne(seen)) return { ...format, range: aroundOne(one) ?? [0, 1] };
    const include = chart.zero ? null : coarser(seen);
    return include ? { ...format, autorangeoptions: { include }, nticks: 5 } : format;
  }

  /** @param {ReportChart} chart */
  const mostOf = ({ lines }) => lines.flatMap((line) => line.value).reduce((a, b) => Math.max(a ?? 0, b ?? 0), 0) ?? 0;

  /** The first and the last. @param {ReportChart} chart @returns {Range} */
  function timesOf(chart) {
    const times = chart.lines.flatMap((line) => line.time).filter((at) => at !== null);
    return [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), 0)];
  }

  /**
   * From the first place to the last of all charts that are drawn by steps, or by times: these begin and end alike.
   * @param {string} by @returns {Range | null}
   */
  function reach(by) {
    const alike = charts.filter((chart) => axisOf(chart) === by).flatMap(({ lines }) => lines);
    const places = alike.flatMap((line) => (by === "step" ? line.step : line.time)).filter((at) => at !== null);
    return places.length ? [places.reduce((a, b) => Math.min(a, b)), places.reduce((a, b) => Math.max(a, b))] : null;
  }

  /** What a chart is drawn by. @param {ReportChart} chart */
  function axisOf(chart) {
    const wanted = chart.axis === "time" || !axis ? "time" : axis.value;
    return wanted === "step" && chart.lines.every((line) => known(line.step)) ? "step" : "time";
  }

  /** @param {HTMLElement} box */
  const widthOf = (box) => (printing ? PRINTED_WIDTH : box.clientWidth);

  /** The labels of a time axis, and its title. @param {Range} range @param {number} width */
  function labels(range, width) {
    const { tickvals, ticktext, form } = timeTicks(range, width - MARGIN.l - MARGIN.r);
    return { title: time.replace("{form}", form), tickvals, ticktext };
  }

  /**
   * What the horizontal axis is called, and its times.
   * @param {ReportChart} chart @param {string} by @param {number} width @param {Range | null} all
   */
  function along(chart, by, width, all) {
    if (by === "step") return { title: { text: step, standoff: 4 } };
    const range = all ?? timesOf(chart);
    const { title, tickvals, ticktext } = labels(range, width);
    const hovered = time.replace("{form}", clock(range[1]).form); // as the values' times are written
    return { title: { text: title, standoff: 4 }, tickvals, ticktext, unifiedhovertitle: { text: hovered } };
  }

  /** After a zoom the times of the whole range say nothing. @param {PlotElement} box */
  function relabel(box) {
    const range = /** @type {Range | undefined} */ (box._fullLayout?.xaxis.range.map(Number));
    if (!range || axisOf(charts[Number(box.dataset.chart)]) === "step") return;
    const { title, tickvals, ticktext } = labels(range, widthOf(box));
    void Plotly.relayout(box, { "xaxis.title.text": title, "xaxis.tickvals": tickvals, "xaxis.ticktext": ticktext });
  }

  /** As metrics/plotting.js has it. @param {ReportChart["limits"][0]} limit */
  function limitLine({ at, colour = `--ds-curve-${COLOURS - 1}` }) {
    const line = { color: variable(colour), width: 1.5, dash: "dash" };
    return { type: "line", xref: "paper", x0: 0, x1: 1, y0: at, y1: at, line };
  }

  /** @param {PlotElement} box */
  function draw(box) {
    const chart = charts[Number(box.dataset.chart)];
    const by = axisOf(chart);
    const [text, line, ground] = ["--ds-text", "--ds-border", "--ds-surface"].map(variable);
    const note = box.parentElement?.querySelector(".beyond");
    note?.toggleAttribute("hidden", by !== "step");
    const drawn = traces(chart, by);
    const [width, all] = [widthOf(box), reach(by)];
    const limits = reached(chart.limits, mostOf(chart));
    const axes = { color: text, gridcolor: line, linecolor: line, zerolinecolor: line };
    Plotly.react(
      box,
      drawn,
      {
        width,
        height: box.clientHeight,
        margin: MARGIN,
        paper_bgcolor: ground,
        plot_bgcolor: ground,
        font: { color: text, size: 12, family: getComputedStyle(document.body).fontFamily },
        hovermode: "x unified",
        hoverlabel: { bgcolor: variable("--ds-sunken"), bordercolor: line, font: { color: text } },
        showlegend: false,
        xaxis: { ...axes, ...along(chart, by, width, all), ...(all ? { autorangeoptions: { include: all } } : {}) },
        shapes: limits.lines.map(limitLine),
        annotations: limitNames(limits, false, { size: LIMIT_SIZE, color: text }, BELOW_LIMIT, ground),
        yaxis: {
          ...axes,
          title: { text: chart.y, standoff: 6 },
          rangemode: chart.zero ? "tozero" : "normal",
          exponentformat: "B",
          ...(chart.scale ? { type: "log" } : level(chart)),
        },
      },
      { displaylogo: false, responsive: false, displayModeBar: false },
    );
  }

  const drawAll = () => boxes.forEach(draw);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    printing = true;
    drawAll();
  });
  addEventListener("afterprint", () => {
    printing = false;
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  matchMedia("print").addEventListener("change", (event) => {
    printing = event.matches;
    drawAll();
  });
  axis?.addEventListener("change", drawAll);
  drawAll();
  for (const box of boxes) {
    box.on?.("plotly_relayout", (change) => {
      if (isMoved(change)) relabel(box);
    });
  }
})();
