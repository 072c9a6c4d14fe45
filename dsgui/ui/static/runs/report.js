// Draws the charts of a report from the data in the page; asks nobody for anything.
"use strict";

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
 * @property {{ place: number, text: string }[]} odd where a value is no number
 */
/**
 * @typedef {{ title: string, y: string, unit: string, axis: string, zero: boolean, lines: ReportLine[] }} ReportChart
 */

(() => {
  const COLOURS = 7; // --ds-curve-0 to -6, lighter on a dark ground
  const DASHES = ["solid", "8px,4px", "2px,3px", "8px,3px,2px,3px", "14px,5px"]; // as core/runs/report_page.py has them
  const PRINTED_WIDTH = 660;
  const SMALL = 1e-2; // values below it are written as 5e-5, as on the run's page (metrics/plotting.js)
  /** @type {ReportChart[]} */
  const charts = JSON.parse(document.getElementById("charts")?.textContent ?? "[]");
  /** @type {HTMLSelectElement | null} */
  const axis = document.querySelector("select#axis"); // none where no run has steps
  /** @type {NodeListOf<HTMLElement>} */
  const boxes = document.querySelectorAll("[data-chart]");
  const step = axis?.querySelector("[value=step]")?.textContent ?? ""; // in the report's language
  let printing = false;

  /** @param {string} name */
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  /** A longest time in seconds as what one counts it in. @param {number} seconds @returns {[string, number]} */
  const unitOf = (seconds) => (seconds > 3 * 3600 ? ["h", 3600] : seconds > 300 ? ["min", 60] : ["s", 1]);
  /** @param {Values} values */
  const known = (values) => values.some((value) => value !== null);

  /** @param {ReportChart} chart @param {string} by @param {number} scale */
  function traces(chart, by, scale) {
    /** @type {object[]} */
    const found = [];
    const several = new Set(chart.lines.map((line) => line.run)).size > 1;
    for (const line of chart.lines) {
      const name = [several ? line.run : "", line.what].filter(Boolean).join(" · ") || chart.title;
      const x = by === "step" ? line.step : line.time.map((at) => (at === null ? null : at / scale));
      const turn = Math.floor(line.colour / COLOURS);
      const colour = variable(`--ds-curve-${line.colour % COLOURS}`);
      const lonely = line.value.filter((value) => value !== null).length < 40;
      found.push({
        x,
        y: line.value,
        name,
        type: "scatter",
        mode: lonely ? "lines+markers" : "lines",
        connectgaps: false,
        line: { color: colour, width: 1.6, dash: DASHES[(line.dash + turn) % DASHES.length] },
        marker: { size: 4 },
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
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const format = largest > 0 && largest < SMALL ? { tickformat: "~e", labelalias: { "0e+0": "0" } } : {};
    if (chart.unit === "%" && largest <= 100) return { ...format, range: [0, 105] };
    const [one] = values;
    const same = values.length && values.every((value) => value === one);
    return same ? { ...format, range: [Math.min(0, 1.1 * one), Math.max(0, 1.1 * one) || (one ? 0 : 1)] } : format;
  }

  /** @param {HTMLElement} box */
  function draw(box) {
    const chart = charts[Number(box.dataset.chart)];
    const wanted = chart.axis === "time" || !axis ? "time" : axis.value;
    const by = wanted === "step" && chart.lines.every((line) => known(line.step)) ? "step" : "time";
    const longest = chart.lines
      .flatMap((line) => line.time)
      .reduce((/** @type {number} */ a, b) => Math.max(a, b ?? 0), 0);
    const [unit, scale] = unitOf(longest);
    const [text, line, ground] = ["--ds-text", "--ds-border", "--ds-surface"].map(variable);
    const drawn = traces(chart, by, scale);
    const axes = { color: text, gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true };
    Plotly.react(
      box,
      drawn,
      {
        width: printing ? PRINTED_WIDTH : box.clientWidth,
        height: box.clientHeight,
        margin: { l: 48, r: 12, t: 8, b: 36 },
        paper_bgcolor: ground,
        plot_bgcolor: ground,
        font: { color: text, size: 12, family: getComputedStyle(document.body).fontFamily },
        hovermode: "x unified",
        hoverlabel: { bgcolor: variable("--ds-sunken"), bordercolor: line, font: { color: text } },
        showlegend: false,
        xaxis: { ...axes, title: { text: by === "step" ? step : unit, standoff: 4 } },
        yaxis: {
          ...axes,
          title: { text: chart.y, standoff: 6 },
          rangemode: chart.zero ? "tozero" : "normal",
          exponentformat: "power",
          ...level(chart),
        },
      },
      { displaylogo: false, responsive: false, displayModeBar: false },
    );
  }

  const all = () => boxes.forEach(draw);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(all, 150);
  });
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    printing = true;
    all();
  });
  addEventListener("afterprint", () => {
    printing = false;
    all();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  matchMedia("print").addEventListener("change", (event) => {
    printing = event.matches;
    all();
  });
  axis?.addEventListener("change", all);
  all();
})();
