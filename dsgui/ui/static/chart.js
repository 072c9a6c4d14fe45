// One chart: lines over steps, time or epochs, drawn anew when something changed and at most once a second.

import { EVALUATION } from "./charts.js";
import { el, messageOf } from "./dom.js";
import { isDark, loadPlotly } from "./plotly_library.js";
import { layoutOf, shade, tracesOf, zoomed } from "./plotting.js";

/** @import { Axis, Drawn, Limit, Line, PlotElement, Range, Relayout } from "./types.d.ts" */
/** @import { Look } from "./plotting.js" */

/**
 * @typedef {object} ChartOptions
 * @property {boolean} [fromZero]
 * @property {string} [unit]
 * @property {boolean} [more] whether it stands among those that are folded away
 * @property {(range: Range | null) => void} [onRange] is told a zoom
 * @property {(chart: Chart, place: number | null) => void} [onHover] is told a place
 * @property {((chart: Chart) => void) | null} [csv] saves the chart's points
 */

const DRAW_LIMIT_MS = 5000;
const KEYS = "Keys: + and − zoom, arrows pan, 0 resets, F toggles full screen; P, S and C save PNG, SVG and CSV";
const ARROW = "M12 3v10.2l3.6-3.6L17 11l-5 5-5-5 1.4-1.4L11 13.2V3zM5 19h14v2H5z";
const TABLE = "M4 4h16v16H4zm2 4v3h5V8zm7 0v3h5V8zm-7 5v5h5v-5zm7 0v5h5v-5z";
const CORNERS = "M4 4h6v2H6v4H4zm10 0h6v6h-2V6h-4zM4 14h2v4h4v2H4zm14 0h2v6h-6v-2h4z";

/** A line's colour as it is seen on the page's ground. @param {string} colour */
export const seen = (colour) => shade(colour, isDark());

/** A text with its options (--logging_steps) as code, which no line break parts. @param {string} text */
const withOptions = (text) => text.split(/(--[a-z_]+)/).map((part, i) => (i % 2 ? el("code", {}, part) : part));

/** @param {string} name @param {string} path @param {() => void} click */
const tool = (name, path, click) => ({ name, icon: { width: 24, height: 24, path }, click });

export class Chart {
  /** @param {string} id @param {string} title @param {string} yTitle @param {ChartOptions} options */
  constructor(
    id,
    title,
    yTitle,
    { fromZero = false, unit = "", onRange = () => {}, onHover = () => {}, csv = null } = {},
  ) {
    this.id = id;
    this.title = title;
    this.content = {
      lines: /** @type {Line[]} */ ([]),
      limits: /** @type {Limit[]} */ ([]),
      yTitle,
      unit,
      fromZero,
      named: id === EVALUATION, // its title does not say which score: the legend does, of a single one too
    };
    this.onRange = onRange;
    this.onHover = onHover;
    this.csv = csv;
    this.message = "";
    /** @type {Axis | ""} the axis of this chart alone: no other's zoom is its own */
    this.own = "";
    /** @type {PlotElement} */
    this.plot = el("div", { class: "ds-plot" });
    this.heading = el("span", { class: "ds-chart-title" }, title);
    this.origin = el("span", { class: "ds-chart-source" });
    this.said = el("p", { class: "ds-chart-empty", role: "status", hidden: true });
    this.node = this.figure();
    this.node.addEventListener("keydown", (event) => this.key(event));
    /** @type {Drawn | null} */
    this.view = null;
    this.revision = 0;
    this.drawingSince = 0;
    this.drawn = "";
    this.listening = false;
    this.config = this.makeConfig();
    // A chart that gets a neighbour becomes narrower; one that fills the screen becomes higher.
    this.resized = new ResizeObserver(() => this.draw(this.view, true));
    this.resized.observe(this.node);
    this.node.addEventListener("fullscreenchange", () => this.draw(this.view, true));
  }

  figure() {
    const told = { "data-chart": this.title, "aria-label": `Chart: ${this.title}. ${KEYS}`, title: KEYS };
    const caption = el("figcaption", {}, this.heading, this.origin);
    return el("figure", { class: "ds-chart", hidden: true, tabindex: "0", ...told }, caption, this.said, this.plot);
  }

  get lines() {
    return this.content.lines;
  }

  /**
   * `message` says why there is nothing to draw, or not all that one looks for.
   * @param {Line[]} lines @param {Limit[]} limits @param {string} message
   */
  set(lines, limits = [], message = "") {
    this.content.lines = lines.filter((line) => line.curve.count);
    this.content.limits = limits;
    this.message = message;
  }

  get source() {
    const names = new Set(this.lines.map((line) => line.curve.source));
    return [...names].filter((name) => name !== "telemetry").join(", ");
  }

  get full() {
    return document.fullscreenElement === this.node;
  }

  /** @returns {Look} */
  look() {
    const style = getComputedStyle(document.body);
    /** @param {string} name @param {string} otherwise */
    const read = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
    return {
      text: read("--body-text-color", "#222"),
      grid: read("--border-color-primary", "#ddd"),
      ground: read("--block-background-fill", "#fff"),
      dark: isDark(),
      fullHeight: this.full ? window.innerHeight - 60 : null,
    };
  }

  /** What a drawing is made of: while it stays the same, the one that is there is good. @param {Drawn} view */
  state(view) {
    const lines = this.lines.map((line) => [line.name, line.curve.version, line.axis]);
    return JSON.stringify([{ ...view, events: view.events.length }, this.content.limits, lines]);
  }

  /**
   * Never awaited by the poll: a drawing that hangs must not stop the run from being followed.
   * @param {Drawn | null} view @param {boolean} force
   */
  draw(view, force = false) {
    if (!view) return;
    this.view = view;
    const busy = this.drawingSince && performance.now() - this.drawingSince < DRAW_LIMIT_MS;
    this.node.hidden = !this.lines.length && !this.message;
    this.plot.hidden = !this.lines.length;
    this.said.hidden = !this.message;
    if (this.said.textContent !== this.message) this.said.replaceChildren(...withOptions(this.message));
    if (!this.lines.length || busy) return;
    if (!this.node.isConnected || !this.node.offsetWidth) return;
    const state = this.state(view);
    if (state === this.drawn && !force) return;
    this.drawingSince = performance.now();
    this.render(view)
      .then(() => {
        this.drawn = state;
        this.heading.textContent = this.title;
        this.origin.textContent = this.source ? `from ${this.source}` : "";
      })
      .catch((error) => {
        this.heading.textContent = `${this.title}: can't be drawn (${messageOf(error)})`;
      })
      .finally(() => {
        this.drawingSince = 0;
      });
  }

  /** @param {Drawn} view */
  async render(view) {
    const Plotly = await loadPlotly();
    this.revision += 1;
    const page = this.look();
    const content = { ...this.content, events: view.events };
    const traces = tracesOf(content, view, page);
    const layout = { ...layoutOf(content, view, page, traces, this.revision), width: this.plot.clientWidth };
    await Plotly.react(this.plot, traces, layout, this.config);
    if (this.listening) return;
    this.listening = true;
    this.plot.on?.("plotly_relayout", (change) => {
      if (!this.own) this.relayout(change);
    });
    this.plot.on?.("plotly_hover", (event) => {
      if (!this.own) this.onHover(this, event.xvals?.[0] ?? event.points?.[0]?.x ?? null);
    });
    this.plot.on?.("plotly_unhover", () => this.onHover(this, null));
  }

  /** What the mouse can do, for who has none. @param {KeyboardEvent} event */
  key(event) {
    const drawn = this.plot._fullLayout;
    if (event.target !== this.node || event.ctrlKey || event.metaKey || event.altKey || !this.listening || !drawn) {
      return;
    }
    const [low, high] = drawn.xaxis.range.map(Number);
    const range = zoomed(event.key, [low, high]);
    const act =
      range === undefined ? this.acts()[event.key.toLowerCase()] : this.own ? null : () => this.onRange(range);
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @returns {Record<string, () => void>} */
  acts() {
    return {
      f: () => this.toggleFull(),
      p: () => this.save("png"),
      s: () => this.save("svg"),
      c: () => this.csv?.(this),
    };
  }

  /** @param {"png" | "svg"} format */
  save(format) {
    const filename = this.title.toLowerCase().replaceAll(" ", "-");
    const scale = format === "png" ? 2 : 1;
    window.Plotly.downloadImage(this.plot, { format, filename, width: 1200, height: 600, scale });
  }

  /** @param {Relayout} change */
  relayout(change) {
    const { "xaxis.range[0]": low, "xaxis.range[1]": high, "xaxis.range": range } = change;
    if (change["xaxis.autorange"]) this.onRange(null);
    else if (low !== undefined && high !== undefined) this.onRange([low, high]);
    else if (range) this.onRange([range[0], range[1]]);
  }

  /** Nobody looks at it any more: plotly lets go of what it keeps. */
  close() {
    this.resized.disconnect();
    if (this.listening) window.Plotly.purge(this.plot);
  }

  /** @param {number | null} place */
  hover(place) {
    if (!this.listening || this.own || this.node.hidden || !this.plot._fullLayout) return;
    if (place === null) window.Plotly.Fx.unhover(this.plot);
    else window.Plotly.Fx.hover(this.plot, { xval: place });
  }

  makeConfig() {
    const buttons = [
      tool("Save as PNG", ARROW, () => this.save("png")),
      tool("Save as SVG", ARROW, () => this.save("svg")),
      ...(this.csv ? [tool("Save every point as CSV", TABLE, () => this.csv?.(this))] : []),
      tool("Full screen", CORNERS, () => this.toggleFull()),
    ];
    return {
      displaylogo: false,
      plotlyServerURL: "",
      modeBarButtonsToAdd: buttons,
      modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "toImage", "sendChartToCloud"],
    };
  }

  toggleFull() {
    if (document.fullscreenElement) document.exitFullscreen();
    else {
      this.node.requestFullscreen().catch((error) => {
        this.origin.textContent = `full screen was refused (${messageOf(error)})`;
      });
    }
  }
}
