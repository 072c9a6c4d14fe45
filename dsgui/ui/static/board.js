// The charts of one run or of several laid over each other, and how they are looked at: axis, scale, smoothing, zoom.

import { AXES, axisOf, choices } from "./axis.js";
import { Chart } from "./chart.js";
import {
  cardLimits,
  charted,
  label,
  LOSS,
  nameOf,
  offloadLimits,
  placeOf,
  predictedLimits,
  rankOf,
  withLimits,
} from "./charts.js";
import { Clock } from "./curves.js";
import { el } from "./dom.js";
import { textOf, told } from "./texts.js";
import { COLOURS, look, markPlace, sharedRange } from "./traces.js";

/** @import { Axis, Limit, Line, Mark, Place, Range, RunEvent, Source, Style, View } from "./types.d.ts" */
/** @import { Curve } from "./curves.js" */

/**
 * @typedef {object} BoardOptions
 * @property {(axis: Axis, low: number, high: number) => void} [refine] asks for finer stretches of a part
 * @property {((chart: Chart) => void) | null} [csv] saves a chart's points
 * @property {string} [kept] where the browser keeps how the charts are looked at
 */
/** @typedef {Map<Chart, { lines: Line[], limits: Limit[] }>} Contents what each chart has now */

const KEPT_VIEW = "dsgui.charts";
const MOST_MARKS = 200;
const REFINE_AFTER_MS = 150;

export class Board {
  /**
   * `sources` gives one for each run; `noLoss` of it says why it has no curve of its loss.
   * @param {() => Source[]} sources @param {BoardOptions} options
   */
  constructor(sources, { refine = () => {}, csv = null, kept = KEPT_VIEW } = {}) {
    this.sources = sources;
    this.refine = refine;
    this.csv = csv;
    this.kept = kept;
    /** @type {View} */
    this.view = { axis: null, log: false, smoothing: 0, ...this.stored(), range: null };
    /** @type {{ axis: Axis, why: string }} `view.axis` is what the user chose, null for nothing */
    this.shown = { axis: "time", why: "" };
    this.drawn = false;
    /** @type {{ reach: Range | null, range: Range | null, own: Range | null }} of the points, with room, and by time */
    this.extents = { reach: null, range: null, own: null };
    /** @type {Mark[]} */
    this.marks = [];
    /** @type {Map<string, Chart>} */
    this.charts = new Map();
    /** @type {Map<string, number>} */
    this.cards = new Map();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.asking = undefined;
    this.hovering = 0;
    this.main = el("div", { class: "ds-charts" });
    this.extra = el("div", { class: "ds-charts" });
    this.more = el("details", { class: "ds-more", hidden: true }, el("summary", {}, "System metrics"), this.extra);
    this.more.addEventListener("toggle", () => this.draw(true));
    this.axes = AXES.map(([axis, title]) => this.axisButton(axis, title));
    this.amount = el("output", {}, this.view.smoothing.toFixed(2));
    this.reset = el("button", { type: "button", class: "ds-step", hidden: true }, "Show all");
    this.reset.addEventListener("click", () => this.zoom(null));
    this.why = el("p", { class: "ds-remark ds-why", role: "status", hidden: true });
    this.tools = this.makeTools();
    this.node = el("div", { class: "ds-board" }, this.tools, this.main, this.more);
  }

  /** @returns {Partial<View>} */
  stored() {
    try {
      return JSON.parse(localStorage.getItem(this.kept) ?? "null") || {};
    } catch {
      return {};
    }
  }

  keep() {
    const { axis, log, smoothing } = this.view;
    try {
      localStorage.setItem(this.kept, JSON.stringify({ axis, log, smoothing }));
    } catch {
      /* a browser that keeps nothing */
    }
  }

  /** @param {Axis} axis @param {string} title */
  axisButton(axis, title) {
    const node = el("button", { type: "button", class: "ds-step", "data-axis": axis, "aria-pressed": "false" }, title);
    node.addEventListener("click", () => this.change({ axis, range: null }));
    return { axis, node };
  }

  makeTools() {
    const log = el("input", { type: "checkbox", checked: this.view.log });
    log.addEventListener("change", () => this.change({ log: log.checked }));
    const range = { min: "0", max: "0.99", step: "0.01", value: this.view.smoothing };
    const smoothing = el("input", { type: "range", ...range, "aria-label": "Smoothing" });
    smoothing.addEventListener("input", () => this.change({ smoothing: Number(smoothing.value) }));
    const axes = this.axes.map(({ node }) => node);
    return el(
      "div",
      { class: "ds-board-tools" },
      el("div", { class: "ds-axes", role: "group", "aria-label": "Horizontal axis" }, ...axes),
      el("label", {}, log, " log scale"),
      el("label", {}, "smoothing ", smoothing, this.amount),
      this.reset,
      this.why,
    );
  }

  /** @param {Partial<View>} changes */
  change(changes) {
    if (changes.axis || changes.range === null) for (const one of this.sources()) one.curves.coarsen();
    Object.assign(this.view, changes);
    this.amount.textContent = this.view.smoothing.toFixed(2);
    this.reset.hidden = !this.view.range;
    this.keep();
    this.update();
  }

  /**
   * A zoom into one chart is every chart's; where stretches hide points there, finer ones are asked for.
   * @param {Range | null} range
   */
  zoom(range) {
    this.change({ range });
    clearTimeout(this.asking);
    if (range) this.asking = setTimeout(() => this.refine(this.axis(), ...range), REFINE_AFTER_MS);
  }

  /** What all charts are drawn by, as it was at the last update. */
  axis() {
    return this.shown.axis;
  }

  /** @param {Source[]} sources */
  choose(sources) {
    const before = this.shown.axis;
    this.shown = axisOf(this.view.axis, sources);
    if (this.drawn && before !== this.shown.axis) this.view.range = null; // a zoom was one of the other axis
    this.drawn = true;
    const may = choices(sources);
    for (const { axis, node } of this.axes) {
      node.setAttribute("aria-pressed", String(axis === this.shown.axis));
      node.disabled = !may.includes(axis);
    }
    this.why.hidden = !this.shown.why;
    if (this.why.textContent !== this.shown.why) this.why.textContent = label(this.shown.why);
  }

  /** @param {Axis} axis @param {number} low @param {number} high */
  looksAt(axis, low, high) {
    const { range } = this.view;
    return this.axis() === axis && range?.[0] === low && range[1] === high;
  }

  /** @param {Chart} chart @param {number | null} place */
  hover(chart, place) {
    cancelAnimationFrame(this.hovering);
    this.hovering = requestAnimationFrame(() => {
      for (const other of this.charts.values()) if (other !== chart) other.hover(place);
    });
  }

  /** The chart of an id, made where it is not there yet. @param {Place} place */
  chart({ chart: id, heading, y, fromZero, unit, more }) {
    const there = this.charts.get(id);
    if (there) return there;
    const made = new Chart(id, label(heading), label(y), {
      fromZero,
      unit,
      onRange: (range) => this.zoom(range),
      onHover: (one, place) => this.hover(one, place),
      csv: this.csv,
    });
    this.charts.set(id, made);
    (more ? this.extra : this.main).append(made.node);
    const shown = [...this.charts.values()].filter(({ node }) => node.parentElement === this.main);
    this.main.append(...shown.sort((a, b) => rankOf(a.id) - rankOf(b.id)).map(({ node }) => node));
    return made;
  }

  /** Which lines every chart has now. */
  update() {
    const sources = this.sources();
    this.choose(sources);
    this.reset.hidden = !this.view.range;
    const axis = this.axis();
    const clocks = sources.map((one) => (axis === "time" ? null : new Clock(one.curves.clock(axis), axis)));
    const contents = this.contents(sources, clocks);
    const message = this.noLoss(sources);
    if (message) this.chart(charted(LOSS));
    for (const chart of this.charts.values()) {
      const { lines = [], limits = [] } = contents.get(chart) ?? {};
      chart.set(lines, limits, chart.id === LOSS ? message : "");
    }
    const extra = [...this.charts.values()].filter((chart) => chart.node.parentElement === this.extra);
    this.more.hidden = !extra.some((chart) => chart.lines.length);
    this.measure(sources, clocks);
    this.draw();
  }

  /** @param {Source[]} sources @param {(Clock | null)[]} clocks */
  contents(sources, clocks) {
    /** @type {Contents} */
    const contents = new Map();
    // Where no point has a time, the machine has no place on their axis: its charts are by time on their own.
    const apart = clocks.some((clock) => clock?.timeless);
    const several = sources.length > 1;
    for (const [run, source] of sources.entries()) {
      for (const curve of inOrder(source.curves.best())) {
        const place = placeOf(curve, several);
        if (!place) continue;
        const chart = this.chart(place);
        chart.own = curve.kind === "sample" && apart ? "time" : "";
        const content = contents.get(chart) ?? { lines: [], limits: [] };
        contents.set(chart, content);
        content.lines.push({
          ...this.line(source, run, curve, place, several),
          ...this.style(content.lines, run, curve, place, several),
          clock: chart.own ? null : clocks[run],
        });
        if (!several) content.limits = limitsOf(content.limits, source, curve, place);
      }
    }
    return contents;
  }

  /**
   * Of several runs the colour says which (the table above has them); the legend tells the lines of one run apart.
   * @param {Source} source @param {number} run @param {Curve} curve @param {Place} place @param {boolean} several
   */
  line(source, run, curve, place, several) {
    const name = nameOf(curve, place);
    const plain = [several ? source.name : "", name].filter(Boolean).join(" · ");
    return {
      run,
      name: label(name),
      plain: label(plain),
      legend: run === 0,
      curve,
      scale: place.scale ?? 1,
      axis: place.axis,
      title: place.title,
      ...(curve.kind === "eval" ? { mode: "lines+markers", symbol: "diamond" } : {}),
    };
  }

  /**
   * @param {Line[]} before the lines that the chart has already
   * @param {number} run @param {Curve} curve @param {Place} place @param {boolean} several @returns {Style}
   */
  style(before, run, curve, { gpu, colour, dash }, several) {
    if (several) {
      const mine = before.filter((line) => line.run === run).length;
      return { colour: look(run).colour, dash: look(mine * COLOURS.length).dash };
    }
    const usual = look(gpu === null || gpu === undefined ? before.length : this.card(curve.node, gpu));
    return { colour: colour || usual.colour, dash: dash || usual.dash };
  }

  /**
   * The range that all charts share, from their points alone; those that are by time on their own share another.
   * @param {Source[]} sources @param {(Clock | null)[]} clocks
   */
  measure(sources, clocks) {
    const charts = [...this.charts.values()];
    const lines = charts.filter((chart) => !chart.own).flatMap((chart) => chart.lines);
    const own = charts.filter((chart) => chart.own).flatMap((chart) => chart.lines);
    const { reach, shown } = sharedRange(lines);
    this.extents = { reach, range: shown, own: sharedRange(own).shown };
    this.marks = sources.length === 1 ? this.marksOf(sources[0].events ?? [], clocks[0]) : [];
  }

  /** @param {Source[]} sources */
  noLoss(sources) {
    const silent = sources.filter((one) => one.noLoss);
    return silent.map((one) => (sources.length > 1 ? `${one.name}: ${one.noLoss}` : one.noLoss)).join("\n");
  }

  /** A card has the same colour in every chart. @param {string} node @param {number} gpu */
  card(node, gpu) {
    const key = `${node} ${gpu}`;
    const place = this.cards.get(key) ?? this.cards.size;
    this.cards.set(key, place);
    return place;
  }

  /** @param {RunEvent[]} events @param {Clock | null} clock */
  marksOf(events, clock) {
    /** @param {RunEvent} event */
    const placeOn = (event) => {
      if (!clock) return event.elapsed_s;
      return this.axis() === "step" && event.step !== null ? event.step : clock.at(event.elapsed_s);
    };
    return events.flatMap((event) => {
      const at = event.kind === "calm" ? null : markPlace({ kind: event.kind, at: placeOn(event) }, this.extents.reach);
      return at === null
        ? []
        : [{ kind: event.kind, at, label: label(`${textOf("marks", event.kind)}: ${told(event)}`.slice(0, 120)) }];
    });
  }

  close() {
    for (const chart of this.charts.values()) chart.close();
  }

  draw(force = false) {
    const { range, own } = this.extents;
    const events = this.marks.slice(-MOST_MARKS);
    const shared = { ...this.view, axis: this.axis(), reach: range, events, marked: false };
    for (const chart of this.charts.values()) {
      const alone = chart.own ? { axis: chart.own, range: null, reach: own, events: [] } : {};
      chart.draw({ ...shared, marked: chart.id === LOSS, ...alone }, force);
    }
  }
}

/** Training comes first, whatever was logged first. @param {Curve[]} curves */
function inOrder(curves) {
  /** @param {Curve} curve */
  const late = (curve) => (curve.kind === "eval" ? 1 : 0);
  return curves.sort((a, b) => late(a) - late(b));
}

/** @param {Limit[]} known @param {Source} source @param {Curve} curve @param {Place} place */
function limitsOf(known, source, curve, { chart, gpu }) {
  const predicted = predictedLimits(source.predicted?.(), chart);
  if (chart === "gpu_memory") {
    return withLimits(known, [...cardLimits(source.curves.each, curve, gpu ?? 0), ...predicted]);
  }
  if (predicted.length) return withLimits(known, predicted);
  const foretold = chart === "host_memory" ? source.estimate?.() : null;
  return foretold ? offloadLimits(foretold) : known;
}
