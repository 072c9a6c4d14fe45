// One chart: lines over steps, time or epochs, drawn anew when something changed and at most once a second.

import { actionMenu, handle, Tip, toggle } from "./chart_tools.js";
import { button, el, messageOf, part, withOptions } from "../common/dom.js";
import { plotColour, isDark, loadPlotly, turn } from "./plotly_library.js";
import { calmRange, cutAt } from "./outliers.js";
import { canBeLog, hasOutliers, layoutOf, namesOf, sameRuns, shade, timeLabels, tracesOf, zoomed } from "./plotting.js";
import { covered, inBrief, middled, readout } from "./readout.js";
import { listed, words } from "../texts/texts.js";
import { isMoved } from "./ticks.js";

/** @import { Axis, Drawn, Limit, Line, PlotElement, Range, Relayout, Trace } from "../types.d.ts" */
/** @import { Look } from "./plotting.js" */

/**
 * @typedef {object} ChartOptions
 * @property {boolean} [fromZero]
 * @property {string} [unit]
 * @property {boolean} [more] whether it stands among those that are folded away
 * @property {(range: Range | null) => void} [onRange] is told a zoom
 * @property {(chart: Chart, place: number | null) => void} [onHover] is told a place
 * @property {(run: number | null) => void} [onRun] is told the run whose name is pointed at
 * @property {(chart: Chart, mark: "hidden" | "pinned" | "clipped") => void} [onToggle] makes it so, or no longer
 * @property {(chart: Chart) => void} [onLog] draws it on the other scale
 * @property {(chart: Chart, by: number) => void} [onStep] moves it on
 * @property {(chart: Chart, over: Element | null, done: boolean) => void} [onDrag] has it dragged over another
 * @property {() => void} [onTime] has every chart drawn by time
 * @property {((chart: Chart) => void) | null} [csv] saves the chart's points
 */

const DRAW_LIMIT_MS = 5000;

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("charts_page", code, given);

/** A line's colour as it is seen on the page's ground. @param {string} colour */
export const seen = (colour) => shade(colour, isDark());

export class Chart {
  /** @param {string} id @param {string} title @param {string} yTitle @param {ChartOptions} options */
  constructor(id, title, yTitle, { fromZero = false, unit = "", ...does } = {}) {
    this.id = id;
    this.title = title;
    this.content = {
      lines: /** @type {Line[]} */ ([]),
      limits: /** @type {Limit[]} */ ([]),
      yTitle,
      unit,
      fromZero,
      named: false,
      resets: 0,
    };
    this.does = does;
    this.csv = does.csv ?? null;
    this.message = "";
    this.hiding = false; // as the user wants
    /** @type {number | null} how many times apart its runs' values are, where a linear scale would hide some */
    this.unlike = null;
    /** @type {Trace[]} what is drawn, for who points at it */
    this.traces = [];
    this.layout = {};
    /** @type {Axis | ""} the axis of this chart alone: no other's zoom is its own */
    this.own = "";
    /** @type {PlotElement} */
    this.plot = el("div", { class: "ds-plot" });
    this.heading = el("span", { class: "ds-chart-title" }, title);
    this.origin = el("span", { class: "ds-chart-source" });
    this.said = el("p", { class: "ds-chart-empty", role: "status", hidden: true });
    this.peak = el("span", {});
    this.byTime = button(say("see_by_time"), { class: "ds-link" }, () => {
      does.onTime?.();
      this.node.focus({ preventScroll: true });
    });
    this.beyond = el("p", { class: "ds-chart-peak", hidden: true }, this.peak, " ", this.byTime);
    this.runs = el("ul", { class: "ds-group-legend ds-chart-runs", hidden: true });
    this.named = "";
    /** @type {number | null} the run whose curves are seen before the others' */
    this.run = null;
    this.stage = el("div", { class: "ds-stage" });
    this.guide = el("div", { class: "ds-guide", hidden: true });
    this.tip = new Tip();
    this.logged = toggle("log", title, () => does.onLog?.(this));
    this.pinned = toggle("pin", title, () => does.onToggle?.(this, "pinned"));
    this.clipped = toggle("clip", title, () => does.onToggle?.(this, "clipped"));
    this.clipped.hidden = true; // until there are outliers
    this.node = this.figure();
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("pointermove", (event) => this.point(event));
    this.plot.addEventListener("pointerdown", (event) => this.point(event));
    this.plot.addEventListener("pointerleave", () => this.unpoint());
    /** @type {Drawn | null} */
    this.view = null;
    this.revision = 0;
    this.drawingSince = 0;
    this.missed = false;
    this.drawn = "";
    this.listening = false;
    // A chart that gets a neighbour becomes narrower; one that fills the screen becomes higher.
    this.resized = new ResizeObserver(() => this.draw(this.view, true));
    this.resized.observe(this.node);
    this.node.addEventListener("fullscreenchange", () => this.draw(this.view, true));
  }

  figure() {
    const told = { "data-chart": this.title, "data-chart-id": this.id, "aria-label": this.label() };
    this.stage.append(this.plot, this.guide, this.tip.node);
    const parts = [this.caption(), this.said, this.beyond, this.runs, this.stage];
    return el("figure", { class: "ds-chart", hidden: true, tabindex: "0", ...told }, ...parts);
  }

  label() {
    return say("chart_label", { title: this.title });
  }

  /** Title and tools on a line of their own: over the plot they hid its legend. */
  caption() {
    const grip = handle(
      this.title,
      (by) => this.does.onStep?.(this, by),
      (over, done) => this.does.onDrag?.(this, over, done),
    );
    const tools = el("span", { class: "ds-chart-tools" }, this.clipped, this.logged, this.pinned, this.menu());
    return el("figcaption", {}, grip, this.heading, this.origin, tools);
  }

  menu() {
    /** @type {[string, () => void][]} */
    const csv = this.csv ? [["save_csv", () => this.csv?.(this)]] : [];
    const menu = actionMenu(this.title, [
      ["log_scale", () => this.logged.click()],
      ["clip", () => this.clipped.click()],
      ["pin_to_top", () => this.pinned.click()],
      ["full_screen", () => this.toggleFull()],
      ["reset_zoom", () => this.reset()],
      ["save_png", () => this.save("png")],
      ["save_svg", () => this.save("svg")],
      ...csv,
      ["move_before", () => this.does.onStep?.(this, -1)],
      ["move_after", () => this.does.onStep?.(this, 1)],
      ["hide", () => this.does.onToggle?.(this, "hidden")],
    ]);
    // On a phone these stand here alone, as they are set.
    menu.addEventListener("toggle", () => {
      const clip = part(menu, "[data-act=clip]");
      clip.ariaPressed = this.clipped.ariaPressed;
      clip.hidden = this.clipped.hidden;
      part(menu, "[data-act=log_scale]").ariaPressed = this.logged.ariaPressed;
      part(menu, "[data-act=pin_to_top]").ariaPressed = this.pinned.ariaPressed;
    });
    return menu;
  }

  get lines() {
    return this.content.lines;
  }

  /**
   * `message` says why there is nothing to draw, or not all that one looks for.
   * @param {Line[]} lines @param {Limit[]} limits @param {string} message
   */
  set(lines, limits = [], message = "") {
    // A reading that no sample has draws an axis of no meaning.
    this.content.lines = lines.filter(({ curve }) => (curve.kind === "sample" ? curve.told : curve.count));
    this.content.limits = limits;
    this.message = message;
  }

  /** What the figures say and the curve does not show. @param {string} text @param {boolean} isByTime */
  remarkPeak(text, isByTime) {
    this.byTime.hidden = isByTime;
    this.beyond.hidden = !text || !this.lines.length;
    if (this.peak.textContent !== text) this.peak.textContent = text;
  }

  /** Which runs are drawn, each with its colour: of several, whatever chart one looks at. @param {Trace[]} traces */
  name(traces) {
    const drawn = new Set(traces.flatMap(({ x, meta }) => (x.length ? [meta?.run] : [])));
    const named = new Map(this.lines.map(({ run, of = "", colour }) => [run, { of, colour: seen(colour) }]));
    const told = [...named].filter(([run, { of }]) => of && drawn.has(run));
    const state = JSON.stringify(told);
    if (state === this.named) return;
    this.named = state;
    if (this.runs.matches(":hover")) this.does.onRun?.(null); // what goes away under the pointer is not left
    this.runs.hidden = !told.length;
    this.runs.replaceChildren(...told.map(([run, { of, colour }]) => this.nameOf(run, of, colour)));
  }

  /** @param {number} run @param {string} name @param {string} colour */
  nameOf(run, name, colour) {
    const sign = el("i", {});
    sign.style.background = colour;
    const node = el("li", { title: name, "data-of-run": String(run) }, sign, el("span", {}, middled(name)));
    node.addEventListener("pointerenter", () => this.does.onRun?.(run));
    node.addEventListener("pointerleave", () => this.does.onRun?.(null));
    return node;
  }

  /** @param {number | null} run */
  emphasise(run) {
    this.run = run;
    for (const { uid, meta } of this.plot._fullData ?? []) {
      const away = run !== null && meta?.run !== undefined && (meta.run !== run || Boolean(meta.rim));
      for (const { classList } of this.plot.querySelectorAll(`.trace${uid}`)) classList.toggle("ds-faded", away);
    }
    for (const node of this.runs.querySelectorAll("li")) {
      node.classList.toggle("ds-faded", run !== null && node.dataset.ofRun !== String(run));
    }
  }

  get source() {
    const names = new Set(this.lines.map((line) => line.curve.source));
    const told = [...names].filter((name) => name !== "telemetry");
    return listed(told.map((name) => (name === "output" ? say("source_output") : name)));
  }

  get full() {
    return document.fullscreenElement === this.node;
  }

  /** @returns {Look} */
  look() {
    return {
      text: plotColour("--body-text-color", "#222"),
      grid: plotColour("--ds-grid", "#ddd"),
      ground: plotColour("--block-background-fill", "#fff"),
      font: getComputedStyle(this.node).fontFamily,
      dark: isDark(),
      fullHeight: this.full ? window.innerHeight - 60 : null,
      width: this.plot.clientWidth,
      coarse: matchMedia("(pointer: coarse)").matches,
    };
  }

  /** What a drawing is made of: while it stays the same, the one that is there is good. @param {Drawn} view */
  state(view) {
    const lines = this.lines.map((line) => [
      line.name,
      line.curve.version,
      line.axis,
      line.colour,
      !line.band,
      line.base,
    ]);
    return JSON.stringify([{ ...view, events: view.events.length }, this.content.limits, this.content.resets, lines]);
  }

  /**
   * Never awaited by the poll: a drawing that hangs must not stop the run from being followed. What is asked for while
   * one is under way follows it: of a run that ended, nobody would ask again.
   * @param {Drawn | null} view @param {boolean} force
   */
  draw(view, force = false) {
    if (!view) return;
    this.view = view;
    const busy = this.drawingSince && performance.now() - this.drawingSince < DRAW_LIMIT_MS;
    this.node.hidden = this.hiding || (!this.lines.length && !this.message);
    this.logged.setAttribute("aria-pressed", String(view.log));
    this.clipped.setAttribute("aria-pressed", String(Boolean(view.clipped)));
    this.plot.hidden = !this.lines.length;
    this.node.classList.toggle("ds-bare", !this.lines.length);
    this.said.hidden = !this.message;
    if (this.said.textContent !== this.message) this.said.replaceChildren(...withOptions(this.message));
    if (!this.lines.length) return;
    if (busy) {
      this.missed ||= force || this.state(view) !== this.drawn;
      return;
    }
    if (!this.node.offsetWidth || !this.node.checkVisibility()) return; // what is folded away has a width
    if (this.state(view) === this.drawn && !force) return;
    this.drawingSince = performance.now();
    this.render()
      .then(() => {
        this.heading.textContent = this.title;
        this.origin.textContent = this.remark();
        this.origin.toggleAttribute("data-same", sameRuns(this.traces) > 0);
      })
      .catch((error) => {
        this.heading.textContent = say("undrawn", { title: this.title, problem: messageOf(error) });
      })
      .finally(() => {
        this.drawingSince = 0;
        if (this.missed) this.draw(this.view, true);
      });
  }

  /** As it is to be seen when its turn has come. */
  async render() {
    const Plotly = await loadPlotly();
    await turn();
    this.missed = false; // what was asked for until now is in this drawing
    const { view } = this;
    if (!view || !this.plot.clientWidth) return; // folded away since, or gone: Plotly would draw 10 px
    const state = this.state(view);
    this.revision += 1;
    const page = this.look();
    const content = { ...this.content, events: view.events };
    const all = tracesOf(content, view, page);
    const calm = view.log || !hasOutliers(content) ? null : calmRange(all, content.fromZero);
    // One that is pressed, or has the focus, stays while a run goes on and its outliers are none any more.
    this.clipped.hidden = !calm && !view.clipped && document.activeElement !== this.clipped;
    const cut = view.clipped ? calm : null;
    const traces = cut ? cutAt(all, cut) : all;
    this.name(traces);
    const layout = { ...layoutOf(content, view, page, traces, this.revision, cut), width: this.plot.clientWidth };
    layout.height = this.heightFor(layout.height);
    if (this.content.yTitle.toLowerCase() === this.title.toLowerCase()) layout.yaxis.title.text = ""; // it stands above
    await Plotly.react(this.plot, traces, layout, { displayModeBar: false, plotlyServerURL: "" });
    this.traces = traces;
    this.layout = layout;
    this.drawn = state;
    if (this.run !== null) this.emphasise(this.run);
    if (this.listening) return;
    this.listening = true;
    this.plot.on?.("plotly_relayout", (change) => {
      if (this.own) this.relabel(change);
      else this.relayout(change);
    });
  }

  /** At least what it needs; beside a higher one as much as that. @param {number} needed */
  heightFor(needed) {
    if (this.full) return needed;
    this.stage.style.minHeight = `${needed}px`;
    return Math.max(needed, this.stage.clientHeight);
  }

  /** Where the curves are from; that those of all runs are one; or why the scale is not the one that was asked for. */
  remark() {
    if (this.view?.log && !canBeLog(this.traces)) return say("no_positive");
    const same = sameRuns(this.traces);
    if (same) return say("same_in", { count: String(same) });
    return this.source ? say("source", { source: this.source }) : "";
  }

  get span() {
    const [low, high] = this.plot._fullLayout?.xaxis.range.map(Number) ?? [0, 1];
    return high - low;
  }

  /** @param {PointerEvent} event */
  point(event) {
    const axis = this.plot._fullLayout?.xaxis;
    if (!this.listening || !axis) return;
    const pixel = event.clientX - this.plot.getBoundingClientRect().left - axis._offset;
    if (pixel < 0 || pixel > axis._length) return this.unpoint();
    const found = this.read(axis.p2d(pixel));
    if (!found?.rows.length && !found?.marks.length) return this.unpoint();
    this.tip.show(found, this.placeOf(found.at));
    if (!this.own) this.does.onHover?.(this, found.at);
  }

  /** Of the guide. @param {number} at @returns {import("./readout.js").Place} */
  placeOf(at) {
    const { xaxis, yaxis } = /** @type {NonNullable<PlotElement["_fullLayout"]>} */ (this.plot._fullLayout);
    const lines = this.traces.filter(({ yaxis: on, meta }) => on === "y" && meta?.part !== "odd");
    const drawn = lines.map(({ x, y }) =>
      x.map((one, i) => {
        const value = y[i];
        return /** @type {[number, number]} */ ([
          xaxis._offset + xaxis.d2p(one),
          value === null ? NaN : yaxis._offset + yaxis.d2p(value),
        ]);
      }),
    );
    return {
      x: xaxis._offset + xaxis.d2p(at),
      top: yaxis._offset,
      bottom: yaxis._offset + yaxis._length,
      width: this.plot.clientWidth,
      hidden: (...box) => drawn.reduce((sum, line) => sum + covered(line, ...box), 0),
    };
  }

  unpoint() {
    this.tip.hide();
    this.guide.hidden = true;
    this.does.onHover?.(this, null);
  }

  /** The values at a place, where the guide is drawn then. @param {number} place */
  read(place) {
    const { xaxis: axis, yaxis } = this.plot._fullLayout ?? {};
    if (!axis || !yaxis || !this.view) return null;
    const found = readout(this.traces, place, this.own || this.view.axis, this.span);
    if (this.view.counted && !this.own && this.view.axis === "step") {
      found.title = say("place_line", { place: String(Math.round(found.at)) });
    }
    const at = axis.d2p(found.at);
    this.guide.hidden = at < 0 || at > axis._length;
    this.guide.style.left = `${axis._offset + at}px`;
    this.guide.style.top = `${yaxis._offset}px`; // through no legend
    return found;
  }

  /** What the mouse can do, for who has none. @param {KeyboardEvent} event */
  key(event) {
    const drawn = this.plot._fullLayout;
    if (event.target !== this.node || event.ctrlKey || event.metaKey || event.altKey || !this.listening || !drawn) {
      return;
    }
    const [low, high] = drawn.xaxis.range.map(Number);
    const range = zoomed(event.key, [low, high]);
    const act = range === undefined ? this.acts()[event.key.toLowerCase()] : this.own ? null : () => this.zoom(range);
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @returns {Record<string, () => void>} */
  acts() {
    return {
      f: () => this.toggleFull(),
      l: () => this.does.onLog?.(this),
      p: () => this.save("png"),
      s: () => this.save("svg"),
      c: () => this.csv?.(this),
    };
  }

  /** @param {"png" | "svg"} format */
  save(format) {
    const filename = this.title.toLowerCase().replaceAll(" ", "-");
    const scale = format === "png" ? 2 : 1;
    const names = namesOf(this.lines, isDark());
    const named = { data: [...this.traces, ...names], layout: { ...this.layout, showlegend: true } };
    /** @type {Pick<PlotElement, "data" | "layout">} */
    const { data, layout } = names.length ? named : this.plot;
    const yaxis = { ...layout?.yaxis, title: { text: this.content.yTitle } }; // nothing stands above it
    const saved = { format, filename, width: 1200, height: 600, scale };
    window.Plotly.downloadImage({ data, layout: { ...layout, yaxis } }, saved);
  }

  /** @param {Relayout} change */
  relayout(change) {
    const { "xaxis.range[0]": low, "xaxis.range[1]": high, "xaxis.range": range } = change;
    if (change["xaxis.autorange"]) this.zoom(null);
    else if (low !== undefined && high !== undefined) this.zoom([low, high]);
    else if (range) this.zoom([range[0], range[1]]);
  }

  /** Of a chart with an axis of its own, which no other's zoom draws anew. @param {Relayout} change */
  relabel(change) {
    const range = /** @type {Range | undefined} */ (this.plot._fullLayout?.xaxis.range.map(Number));
    if (!isMoved(change) || !range || this.own !== "time") return;
    const { title, tickvals, ticktext } = timeLabels(range, this.plot.clientWidth);
    const labels = { "xaxis.title.text": title, "xaxis.tickvals": tickvals, "xaxis.ticktext": ticktext };
    void window.Plotly.relayout(this.plot, labels);
  }

  /** @param {Range | null} range */
  zoom(range) {
    this.does.onRange?.(range);
  }

  /** Of both axes. */
  reset() {
    this.content.resets += 1;
    this.zoom(null);
  }

  /** Nobody looks at it any more: plotly lets go of what it keeps. */
  close() {
    this.resized.disconnect();
    if (this.listening) window.Plotly.purge(this.plot);
  }

  /**
   * Where another chart is pointed at is said here too, in brief; of several runs it is only shown: their values would
   * hide the curves of all charts.
   * @param {number | null} place @param {boolean} several
   */
  hover(place, several) {
    if (!this.listening || this.own || this.node.hidden) return;
    const found = place === null ? null : this.read(place);
    this.guide.hidden ||= !found;
    if (!several && place !== null && this.view && found?.rows.length && !this.guide.hidden) {
      this.tip.show(inBrief(found, place, this.view.axis, this.span), this.placeOf(found.at));
    } else this.tip.hide();
  }

  toggleFull() {
    if (document.fullscreenElement) document.exitFullscreen();
    else {
      this.node.requestFullscreen().catch((error) => {
        this.origin.textContent = say("screen_refused", { problem: messageOf(error) });
      });
    }
  }
}
