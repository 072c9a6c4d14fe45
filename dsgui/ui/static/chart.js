// One chart: lines over steps, time or epochs, drawn anew when something changed and at most once a second.

import { el } from "./dom.js";

const DRAW_LIMIT_MS = 5000;
const HEIGHT = 260;
const MOST_MARKS = 200;
// Okabe and Ito's palette: told apart by people with any kind of colour blindness.
export const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999"];
// On a dark ground the darkest of them gives way to a lighter blue, which no other line then has.
const ON_DARK = { "#0072B2": "#5AA9E6", "#56B4E9": "#A6DAF7" };
export const seen = (colour) => (document.body.classList.contains("dark") && ON_DARK[colour]) || colour;
const DASHES = ["solid", "dash", "dot", "dashdot"];
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
const ENDS = new Set(["error", "stop"]);
const MARK_REACH = 0.1;
export const TITLES = { step: "step", time: "seconds since start", epoch: "epoch" };

let plotlyLoading = null;
export function loadPlotly() {
  plotlyLoading ??= new Promise((resolve, reject) => {
    const script = el("script", { src: "/dsgui/static/plotly.min.js" });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      plotlyLoading = null;
      reject(new Error("plotly.min.js did not load"));
    };
    document.head.append(script);
  });
  return plotlyLoading;
}

function theme() {
  const style = getComputedStyle(document.body);
  const read = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
  return {
    text: read("--body-text-color", "#222"),
    grid: read("--border-color-primary", "#ddd"),
    ground: read("--block-background-fill", "#fff"),
  };
}

// Different colours first; the same again with another dash when there are more lines than colours.
export const look = (place) => ({
  colour: COLOURS[place % COLOURS.length],
  dash: DASHES[Math.floor(place / COLOURS.length) % DASHES.length],
});

// The points of a curve on an axis: `x`, `y` as logged with a gap where a value is none, and smoothed `means`.
function points(curve, view, scale, place) {
  const x = [];
  const y = [];
  const meanX = [];
  const means = [];
  let smooth = 0;
  let weight = 0;
  for (const one of curve.drawn()) {
    const pair = one.low === one.high ? [one.low] : [one.low, one.high];
    const ends = pair
      .map((point) => [place(point), point.y])
      .filter(([at]) => Number.isFinite(at))
      .sort((a, b) => a[0] - b[0]);
    for (const [at, value] of ends) {
      x.push(at);
      y.push(Number.isFinite(value) ? value / scale : null);
    }
    if (view.smoothing && Number.isFinite(one.mean) && ends.length) {
      const keep = view.smoothing ** one.n; // a stretch of many points weighs as many
      smooth = keep * smooth + (1 - keep) * (one.mean / scale);
      weight = keep * weight + (1 - keep);
      meanX.push(ends[ends.length - 1][0]);
      means.push(Number((smooth / weight).toPrecision(7))); // an axis can't be drawn for what differs by rounding alone
    }
  }
  return { x, y, meanX, means };
}

// Where a point of a curve is on the axis that is drawn; by time there is no clock.
const placing = (curve, clock) =>
  !clock
    ? (point) => point.time
    : curve.kind === "sample"
      ? (point) => clock.at(point.time)
      : (point) => clock.of(point);

// A text with its options (--logging_steps) as code, which no line break parts.
const withOptions = (text) => text.split(/(--[a-z_]+)/).map((part, i) => (i % 2 ? el("code", {}, part) : part));

// The least and the largest place that has a point, of all traces; null where there is none.
export function extent(traces) {
  let [low, high] = [Infinity, -Infinity];
  for (const { x } of traces)
    for (const at of x) {
      if (at < low) low = at;
      if (at > high) high = at;
    }
  return low <= high ? [low, high] : null;
}

// Where a mark is drawn: one a little outside of the points at their edge, the end of the run there too; others nowhere.
export function markPlace({ at, kind }, reach) {
  if (!reach || !Number.isFinite(at)) return null;
  const [low, high] = reach;
  const near = (high - low) * MARK_REACH;
  if (at > high) return ENDS.has(kind) || at <= high + near ? high : null;
  return at >= low ? at : at >= low - near ? low : null;
}

const ZOOMS = /^([-+=−_0]|Arrow.*)$/;
const KEYS = "Keys: + and − zoom, arrows move, 0 shows all, F fills the screen, P, S and C save PNG, SVG and CSV";

export class Chart {
  // `lines` are { name, curve, colour, dash, scale, axis, mode, symbol }; `onRange` is told a zoom, `onHover` a place.
  constructor(title, yTitle, { fromZero = false, unit = "", onRange = () => {}, onHover = () => {}, csv = null } = {}) {
    Object.assign(this, { title, yTitle, fromZero, unit, onRange, onHover, csv });
    this.lines = [];
    this.limits = [];
    this.events = [];
    this.message = "";
    this.named = title === "Evaluation"; // its title does not say which score: the legend does, of a single one too
    this.own = ""; // the axis of this chart alone: no other's zoom is its own
    this.plot = el("div", { class: "ds-plot" });
    this.caption = el(
      "figcaption",
      {},
      el("span", { class: "ds-chart-title" }, title),
      el("span", { class: "ds-chart-source" }),
    );
    this.said = el("p", { class: "ds-chart-empty", role: "status", hidden: true });
    this.node = el(
      "figure",
      {
        class: "ds-chart",
        "data-chart": title,
        hidden: true,
        tabindex: "0",
        "aria-label": `Chart: ${title}. ${KEYS}`,
        title: KEYS,
      },
      this.caption,
      this.said,
      this.plot,
    );
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.revision = 0;
    this.drawingSince = 0;
    this.drawn = "";
    // A chart that gets a neighbour becomes narrower; one that fills the screen becomes higher.
    this.resized = new ResizeObserver(() => this.draw(this.view, true));
    this.resized.observe(this.node);
    this.node.addEventListener("fullscreenchange", () => this.draw(this.view, true));
  }

  // `message` says why there is nothing to draw, or not all that one looks for.
  set(lines, limits = [], message = "") {
    this.lines = lines.filter((line) => line.curve.count);
    Object.assign(this, { limits, message });
  }

  get source() {
    return [...new Set(this.lines.map((line) => line.curve.source))].filter((name) => name !== "telemetry").join(", ");
  }

  traces() {
    const { view } = this;
    const found = [];
    for (const known of this.lines) {
      const line = { ...known, colour: seen(known.colour) };
      const { x, y, meanX, means } = points(line.curve, view, line.scale || 1, placing(line.curve, line.clock));
      const smoothed = means.length > 1;
      const mode = line.mode || (x.length === 1 ? "markers" : "lines");
      const hover = `%{y:.5~g}${this.unit && line.axis !== "y2" ? ` ${this.unit}` : ""}`;
      found.push({
        x,
        y,
        name: line.name,
        type: "scatter",
        mode,
        yaxis: line.axis || "y",
        connectgaps: false,
        opacity: smoothed ? 0.3 : 1,
        line: { color: line.colour, width: smoothed ? 1 : 2, dash: line.dash },
        marker: { color: line.colour, size: 7, symbol: line.symbol },
        hovertemplate: smoothed
          ? `%{y:.5~g} as logged<extra>${line.plain}</extra>`
          : `${hover}<extra>${line.plain}</extra>`,
        showlegend: !smoothed && line.legend,
      });
      if (smoothed) {
        found.push({
          x: meanX,
          y: means,
          name: line.name,
          type: "scatter",
          mode: "lines",
          yaxis: line.axis || "y",
          showlegend: line.legend,
          line: { color: line.colour, width: 2.5, dash: line.dash },
          hovertemplate: `%{y:.5~g}<extra>${line.plain} (smoothed)</extra>`,
        });
      }
      this.addOdd(found, line, x, y);
    }
    this.reach = extent(found);
    this.flat = new Set(found.flatMap(({ yaxis, y }) => (yaxis === "y" ? y : [])).filter(Number.isFinite)).size === 1;
    this.events = (view.events || [])
      .map((event) => ({ ...event, at: markPlace(event, this.reach) }))
      .filter((event) => event.at !== null)
      .slice(-MOST_MARKS);
    if (view.marked && this.events.length) found.push(this.marks());
    return found;
  }

  // Where a value was NaN or infinite: a cross at the height of the last number before it.
  addOdd(found, line, x, y) {
    const odd = line.curve.odd
      .map((point) => [placing(line.curve, line.clock)(point), point.y])
      .filter(([at]) => Number.isFinite(at))
      .slice(-MOST_MARKS);
    if (!odd.length) return;
    const height = (at) => {
      let last = null;
      for (let i = 0; i < x.length && x[i] <= at; i += 1) if (y[i] !== null) last = y[i];
      return last ?? y.find((value) => value !== null) ?? 1;
    };
    found.push({
      x: odd.map(([at]) => at),
      y: odd.map(([at]) => height(at)),
      text: odd.map(([, value]) => String(value)),
      type: "scatter",
      mode: "markers",
      name: "no number",
      yaxis: line.axis || "y",
      marker: { symbol: "x", size: 10, color: COLOURS[1] },
      hovertemplate: `%{text}<extra>${line.plain}</extra>`,
      showlegend: false,
    });
  }

  marks() {
    const { events } = this;
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

  layout() {
    const { view } = this;
    const colours = theme();
    const axis = (title) => ({
      title: { text: title, standoff: 6 },
      gridcolor: colours.grid,
      zerolinecolor: colours.grid,
      automargin: true,
    });
    const right = this.lines.find((line) => line.axis === "y2");
    const full = document.fullscreenElement === this.node;
    const lined = this.events.filter((event) => LINED.has(event.kind));
    const vertical = lined.map((event) => ({
      type: "line",
      x0: event.at,
      x1: event.at,
      yref: "paper",
      y0: 0,
      y1: 1,
      opacity: 0.5,
      line: { color: MARKS[event.kind].colour, width: 1, dash: "dot" },
    }));
    const level = this.limits.map(({ at, colour }) => ({
      type: "line",
      xref: "paper",
      x0: 0,
      x1: 1,
      y0: at,
      y1: at,
      line: { color: colour || COLOURS[6], width: 1.5, dash: "dash" },
    }));
    const named = this.limits.map(({ at, text }) => ({
      xref: "paper",
      x: 1,
      y: view.log ? Math.log10(at) : at,
      xanchor: "right",
      yanchor: "bottom",
      text,
      showarrow: false,
      font: { size: 10, color: colours.text },
    }));
    return {
      // The revision tells plotly that the arrays are others; zoom of y stays (uirevision), zoom of x is every chart's.
      datarevision: this.revision,
      uirevision: `${view.axis}${view.log}`,
      height: full ? window.innerHeight - 60 : HEIGHT,
      margin: { l: 52, r: right ? 48 : 12, t: 8, b: 40 },
      paper_bgcolor: full ? colours.ground : "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colours.text, size: 12 },
      xaxis: {
        ...axis(TITLES[view.axis]),
        ...(view.range ? { range: view.range, autorange: false } : { autorange: true, ...this.clip() }),
      },
      yaxis: {
        ...axis(this.yTitle),
        type: view.log ? "log" : "linear",
        rangemode: this.fromZero || this.flat ? "tozero" : "normal",
      }, // plotly draws one value alone between ±1 around it
      yaxis3: { overlaying: "y", range: [0, 1], fixedrange: true, visible: false },
      ...(right
        ? {
            yaxis2: {
              ...axis(right.title || "%"),
              overlaying: "y",
              side: "right",
              showgrid: false,
              rangemode: "tozero",
            },
          }
        : {}),
      shapes: [...vertical, ...level],
      annotations: named,
      showlegend: this.lines.filter((line) => line.legend).length > (this.named ? 0 : 1),
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      hovermode: "x unified",
      hoverlabel: { bgcolor: colours.ground, font: { color: colours.text } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colours.grid, activecolor: colours.text },
    };
  }

  // The axis ends where the points do, with room for those that have a symbol: no mark stretches it.
  clip() {
    const [low, high] = this.reach || [0, 0];
    if (low === high) return {};
    const room = this.lines.some((line) => line.mode) ? (high - low) * 0.03 : 0;
    return { autorangeoptions: { clipmin: low - room, clipmax: high + room } };
  }

  // Never awaited by the poll: a drawing that hangs must not stop the run from being followed.
  draw(asked, force = false) {
    if (!asked) return;
    const view = this.own ? { ...asked, axis: this.own, range: null, events: [] } : asked;
    this.view = view;
    const busy = this.drawingSince && performance.now() - this.drawingSince < DRAW_LIMIT_MS;
    this.node.hidden = !this.lines.length && !this.message;
    this.plot.hidden = !this.lines.length;
    this.said.hidden = !this.message;
    if (this.said.textContent !== this.message) this.said.replaceChildren(...withOptions(this.message));
    if (!this.lines.length || busy) return;
    if (!this.node.isConnected || !this.node.offsetWidth) return;
    const state = JSON.stringify([
      view.axis,
      view.log,
      view.smoothing,
      view.range,
      view.events?.length,
      this.limits,
      this.lines.map((line) => [line.name, line.curve.version, line.axis]),
    ]);
    if (state === this.drawn && !force) return;
    this.drawingSince = performance.now();
    this.render()
      .then(() => {
        this.drawn = state;
        this.caption.firstChild.textContent = this.title;
        this.caption.lastChild.textContent = this.source ? `from ${this.source}` : "";
      })
      .catch((error) => {
        this.caption.firstChild.textContent = `${this.title}: can't be drawn (${error.message})`;
      })
      .finally(() => {
        this.drawingSince = 0;
      });
  }

  async render() {
    const Plotly = await loadPlotly();
    this.revision += 1;
    this.config ??= {
      displaylogo: false,
      plotlyServerURL: "",
      modeBarButtonsToAdd: this.buttons(),
      modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "toImage", "sendChartToCloud"],
    };
    await Plotly.react(this.plot, this.traces(), { ...this.layout(), width: this.plot.clientWidth }, this.config);
    if (this.listening) return;
    this.listening = true;
    this.plot.on("plotly_relayout", (change) => {
      if (!this.own) this.relayout(change);
    });
    this.plot.on("plotly_hover", (event) => !this.own && this.onHover(this, event.xvals?.[0] ?? event.points?.[0]?.x));
    this.plot.on("plotly_unhover", () => this.onHover(this, null));
  }

  // What the mouse can do, for who has none.
  key(event) {
    if (event.target !== this.node || event.ctrlKey || event.metaKey || event.altKey || !this.listening) return;
    const [low, high] = this.plot._fullLayout.xaxis.range.map(Number);
    const span = high - low;
    const acts = {
      "+": () => this.onRange([low + span / 4, high - span / 4]),
      "-": () => this.onRange([low - span / 2, high + span / 2]),
      ArrowLeft: () => this.onRange([low - span / 5, high - span / 5]),
      ArrowRight: () => this.onRange([low + span / 5, high + span / 5]),
      0: () => this.onRange(null),
      f: () => this.toggleFull(),
      p: () => this.save("png"),
      s: () => this.save("svg"),
      c: () => this.csv?.(this),
    };
    const act =
      acts[{ "=": "+", "−": "-", _: "-" }[event.key] || (event.key.length === 1 ? event.key.toLowerCase() : event.key)];
    if (act && !(this.own && ZOOMS.test(event.key))) {
      event.preventDefault();
      act();
    }
  }

  save(format) {
    return window.Plotly.downloadImage(this.plot, {
      format,
      filename: this.title.toLowerCase().replaceAll(" ", "-"),
      width: 1200,
      height: 600,
      scale: format === "png" ? 2 : 1,
    });
  }

  relayout(change) {
    if (change["xaxis.autorange"]) this.onRange(null);
    else if (change["xaxis.range[0]"] !== undefined) this.onRange([change["xaxis.range[0]"], change["xaxis.range[1]"]]);
    else if (change["xaxis.range"]) this.onRange([...change["xaxis.range"]]);
  }

  // Nobody looks at it any more: plotly lets go of what it keeps.
  close() {
    this.resized.disconnect();
    if (this.listening) window.Plotly.purge(this.plot);
  }

  hover(place) {
    if (!this.listening || this.own || this.node.hidden || !this.plot._fullLayout) return;
    if (place === null) window.Plotly.Fx.unhover(this.plot);
    else window.Plotly.Fx.hover(this.plot, { xval: place });
  }

  buttons() {
    const icon = (path) => ({ width: 24, height: 24, path });
    const arrow = icon("M12 3v10.2l3.6-3.6L17 11l-5 5-5-5 1.4-1.4L11 13.2V3zM5 19h14v2H5z");
    const found = [
      { name: "Save as PNG", icon: arrow, click: () => this.save("png") },
      { name: "Save as SVG", icon: arrow, click: () => this.save("svg") },
    ];
    if (this.csv)
      found.push({
        name: "Save as CSV, every point",
        icon: icon("M4 4h16v16H4zm2 4v3h5V8zm7 0v3h5V8zm-7 5v5h5v-5zm7 0v5h5v-5z"),
        click: () => this.csv(this),
      });
    found.push({
      name: "Full screen",
      icon: icon("M4 4h6v2H6v4H4zm10 0h6v6h-2V6h-4zM4 14h2v4h4v2H4zm14 0h2v6h-6v-2h4z"),
      click: () => this.toggleFull(),
    });
    return found;
  }

  toggleFull() {
    if (document.fullscreenElement) document.exitFullscreen();
    else
      this.node.requestFullscreen().catch((error) => {
        this.caption.lastChild.textContent = `full screen was refused (${error.message})`;
      });
  }
}
