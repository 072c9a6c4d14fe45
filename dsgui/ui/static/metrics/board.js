// The charts of one run or of several laid over each other, and how they are looked at: axis, smoothing,
// zoom, and how the user wants them to stand.

import { AXES, axisOf, BUTTONS, choices, ownAxis, whyOwn } from "./axis.js";
import { peakBeyond } from "./beyond.js";
import { Chart, seen } from "./chart.js";
import {
  LOSS,
  NORM,
  THROUGHPUT,
  cardLimits,
  cardOf,
  charted,
  isScoreTooMany,
  label,
  nameOf,
  namedOnce,
  offloadLimits,
  placeOf,
  placesOfCards,
  predictedLimits,
  rankOf,
  trafficIn,
  withLimits,
} from "./charts.js";
import { chartsMenu } from "./chart_tools.js";
import { Clock } from "./curves.js";
import { loadPlotly } from "./plotly_library.js";
import { button, el, part } from "../common/dom.js";
import { figure, fixed } from "../common/format.js";
import { groupedLines, titleOf } from "./groups.js";
import { isMarked, markText } from "./marks.js";
import { inOrder as arranged, isPlain, layoutFrom, moved, neighbour, PLAIN, toggled } from "./layout.js";
import { isLog, rescaled } from "./layout.js";
import { listed, words } from "../texts/texts.js";
import { MEMORY } from "./plotting.js";
import { middled, placeText } from "./readout.js";
import { COLOURS, look, markPlace, sharedRange, shortestOf, timesApart, timesText } from "./traces.js";

/** @import { Axis, Group, Layout, Limit, Line, Mark, Place, Range, RunEvent } from "../types.d.ts" */
/** @import { Source, Style, View } from "../types.d.ts" */
/** @import { Curve } from "./curves.js" */

/**
 * @typedef {object} BoardOptions
 * @property {(axis: Axis, low: number, high: number) => void} [refine] asks for finer stretches of a part
 * @property {((chart: Chart) => void) | null} [csv] saves a chart's points
 * @property {string} [kept] where the browser keeps how the charts are looked at
 * @property {(line: Line) => boolean} [isTold] whether the page says elsewhere what a line ended with
 * @property {() => string} [unlike] why the losses of the runs are not comparable; "" where they are
 * @property {() => Group[] | null} [groups] those of the sources that are drawn as one
 */
/** @typedef {{ lines: Line[], limits: Limit[], message?: string }} Content */
/** @typedef {Map<Chart, Content>} Contents what each chart has now */

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("charts_page", code, given);

const KEPT_VIEW = "dsgui.charts";
const MOST_MARKS = 200;
const REFINE_AFTER_MS = 150;
const SMALL = 1e-3; // a smaller value is read as 5e-5
const [USUAL, TRAINED, EVALUATED] = [
  [0, 1, 2, 3],
  [0, 2, 3, 1],
  [1, 3, 2, 0],
]; // of dashes, by the names of a chart

export class Board {
  /**
   * `sources` gives one for each run; `noLoss` of it says why it has no curve of its loss.
   * @param {() => Source[]} sources @param {BoardOptions} options
   */
  constructor(sources, { refine = () => {}, csv = null, kept = KEPT_VIEW, ...rest } = {}) {
    loadPlotly().catch(() => {}); // beside what is to be drawn; the chart that needs it says why it has none
    this.sources = sources;
    this.refine = refine;
    this.csv = csv;
    this.kept = kept;
    this.groups = rest.groups ?? (() => null);
    this.isTold = rest.isTold ?? (() => false);
    this.whyUnlike = rest.unlike ?? (() => "");
    /** @type {View} */
    this.view = { axis: null, smoothing: 0, range: null };
    /** @type {Layout} */
    this.layout = PLAIN;
    this.restore();
    /** @type {{ axis: Axis, why: string }} `view.axis` is what the user chose, null for nothing */
    this.shown = { axis: "time", why: "" };
    this.drawn = false;
    /**
     * Of the points, with room, and of charts with an axis of their own.
     * @type {{ reach: Range | null, range: Range | null, own: Partial<Record<Axis, Range | null>> }}
     */
    this.extents = { reach: null, range: null, own: {} };
    /** @type {Mark[]} */
    this.marks = [];
    /** @type {Map<string, Chart>} */
    this.charts = new Map();
    /** @type {string[]} their ids, from the top */
    this.standing = [];
    /** @type {Map<string, "scores" | "more">} the ids of those that are folded away for everybody, and where */
    this.folded = new Map();
    /** Those that compare nothing: of one run, or a point alone. @type {Map<string, "lone" | "dot">} */
    this.apart = new Map();
    /** The places of the cards' colours. @type {Map<string, number>} */
    this.cards = new Map();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.asking = undefined;
    this.hovering = 0;
    this.several = false; // whether the curves are of several runs
    this.main = el("div", { class: "ds-charts" });
    this.extra = el("div", { class: "ds-charts" });
    this.more = this.fold(say("system_metrics"), this.extra);
    this.scored = el("div", { class: "ds-charts" });
    this.scores = this.fold("", this.scored);
    this.single = el("div", { class: "ds-charts" });
    this.singles = this.fold("", this.single);
    this.once = el("dl", { class: "ds-once" });
    const once = el("p", { class: "ds-remark" }, say("once"));
    this.alone = el("div", { class: "ds-values", hidden: true }, once, this.once);
    this.undrawn = el("p", { class: "ds-remark ds-undrawn", hidden: true });
    this.axes = AXES.map((axis) => this.axisButton(axis));
    /** @type {HTMLElement[]} what only the values of a training are looked at by */
    this.looks = [];
    this.amount = el("output", {}, this.view.smoothing.toFixed(2));
    this.reset = button(say("show_all"), { class: "ds-step", hidden: true }, () => this.zoom(null));
    this.shorter = button("", { class: "ds-step ds-shorter", hidden: true }, () =>
      this.zoom(this.short?.reach ?? null),
    );
    /** @type {ReturnType<typeof shortestOf>} */
    this.short = null;
    this.why = el("p", { class: "ds-remark ds-why", role: "status", hidden: true });
    this.chooser = chartsMenu(say("charts"));
    this.listed = "";
    this.place = el("p", { class: "ds-unseen", role: "status" });
    this.tools = this.makeTools();
    this.legend = el("ul", { class: "ds-group-legend", "aria-label": say("groups"), hidden: true });
    const below = [this.undrawn, this.scores, this.singles, this.more];
    this.node = el("div", { class: "ds-board" }, this.tools, this.legend, this.alone, this.main, ...below, this.place);
  }

  /** @param {string} name @param {HTMLElement} charts */
  fold(name, charts) {
    const made = el("details", { class: "ds-more", hidden: true }, el("summary", {}, name), charts);
    made.addEventListener("toggle", () => this.draw(true));
    return made;
  }

  restore() {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(this.kept) ?? "null");
    } catch {
      /* a browser that keeps nothing, or something else */
    }
    const { axis, smoothing } = kept ?? {};
    if (AXES.includes(axis)) this.view.axis = axis;
    if (smoothing >= 0 && smoothing < 1) this.view.smoothing = Number(smoothing);
    this.layout = layoutFrom(kept);
  }

  keep() {
    const { axis, smoothing } = this.view;
    try {
      localStorage.setItem(this.kept, JSON.stringify({ axis, smoothing, ...this.layout }));
    } catch {
      /* a browser that keeps nothing */
    }
  }

  /** @param {Axis} axis */
  axisButton(axis) {
    const shown = { class: "ds-step", "data-axis": axis, "aria-pressed": "false" };
    const node = button(say(BUTTONS[axis]), shown, () => this.change({ axis, range: null }));
    return { axis, node };
  }

  makeTools() {
    const range = { min: "0", max: "0.99", step: "0.01", value: this.view.smoothing };
    const title = say("smoothing_hint");
    const smoothing = el("input", { type: "range", ...range, "aria-label": say("smoothing"), title });
    smoothing.addEventListener("input", () => this.change({ smoothing: Number(smoothing.value) }));
    const axes = this.axes.map(({ node }) => node);
    this.looks = [
      el("div", { class: "ds-axes", role: "group", "aria-label": say("axis") }, ...axes),
      el("label", { title }, say("smoothing"), smoothing, this.amount),
    ];
    return el("div", { class: "ds-board-tools" }, ...this.looks, this.chooser.node, this.shorter, this.reset, this.why);
  }

  /** How the charts stand from now on. @param {Layout} layout */
  arrange(layout) {
    this.layout = layout;
    this.keep();
    this.stand();
    this.draw();
  }

  /** The ids of all charts that are there, as everybody has them. */
  usual() {
    const charts = [...this.charts.values()];
    return charts.sort((a, b) => rankOf(a.id) - rankOf(b.id)).map(({ id }) => id);
  }

  /** Where a chart stands: it moves among those that stand there too. @param {string} id */
  groupOf(id) {
    if (this.layout.pinned.includes(id)) return "pinned";
    const folded = this.folded.get(id);
    return this.apart.get(id) === "lone" && folded !== "more" ? "lone" : (folded ?? "main");
  }

  /** The charts that one changes places with, as they stand, without those that are not seen. @param {string} id */
  group(id) {
    const standing = arranged(this.usual(), this.layout).filter((one) => !this.charts.get(one)?.node.hidden);
    return standing.filter((one) => this.groupOf(one) === this.groupOf(id));
  }

  /** Puts every chart where it stands: pinned ones first. */
  stand() {
    const ids = arranged(this.usual(), this.layout);
    const rank = { pinned: 0, main: 1, scores: 2, lone: 3, more: 4 };
    this.standing = ids.toSorted((a, b) => rank[this.groupOf(a)] - rank[this.groupOf(b)]);
    /** @type {Map<HTMLElement, HTMLElement[]>} */
    const wanted = new Map([
      [this.main, []],
      [this.scored, []],
      [this.single, []],
      [this.extra, []],
    ]);
    const standsIn = { pinned: this.main, main: this.main, scores: this.scored, lone: this.single, more: this.extra };
    for (const id of this.standing) {
      const chart = this.charts.get(id);
      if (!chart) continue;
      chart.hiding = this.layout.hidden.includes(id) || this.apart.get(id) === "dot";
      if (chart.hiding) chart.node.hidden = true;
      chart.pinned.setAttribute("aria-pressed", String(this.layout.pinned.includes(id)));
      wanted.get(standsIn[this.groupOf(id)])?.push(chart.node);
    }
    for (const [parent, nodes] of wanted) arrangeIn(parent, nodes);
    this.list();
  }

  /** @param {Chart} chart @param {number} by */
  step(chart, by) {
    const group = this.group(chart.id);
    const to = neighbour(group, chart.id, by);
    if (to !== undefined) this.move(chart, to);
  }

  /** @param {Chart} chart @param {string} to the id of the one whose place it takes */
  move(chart, to) {
    this.arrange(moved(this.layout, arranged(this.usual(), this.layout), chart.id, to));
    const group = this.group(chart.id);
    const [at, count] = [group.indexOf(chart.id) + 1, group.length].map(String);
    this.place.textContent = say("moved", { title: chart.title, place: at, count });
  }

  /** @param {Chart} chart @param {Element | null} over @param {boolean} done */
  drag(chart, over, done) {
    const to = [...this.charts.values()].find(({ node }) => node === over && node !== chart.node)?.id;
    const allowed = to !== undefined && this.groupOf(to) === this.groupOf(chart.id) ? to : undefined;
    for (const one of this.charts.values()) {
      one.node.classList.toggle("ds-dragged", one === chart && !done);
      one.node.classList.toggle("ds-drop", one.id === allowed && !done);
    }
    if (done && allowed) this.move(chart, allowed);
  }

  /** The menu of charts: which are shown. */
  list() {
    const ids = arranged(this.usual(), this.layout).filter((id) => {
      const chart = this.charts.get(id);
      return chart && (chart.lines.length || chart.message);
    });
    const shown = JSON.stringify([ids, this.layout]);
    if (shown === this.listed) return;
    this.listed = shown;
    const hidden = ids.filter((id) => this.layout.hidden.includes(id)).length;
    const text = hidden ? say("charts_hidden", { count: String(hidden) }) : say("charts");
    this.chooser.opener.textContent = text;
    this.chooser.opener.setAttribute("aria-label", text);
    const held = document.activeElement;
    const [inside, focused] = [this.chooser.items.contains(held), held?.getAttribute("data-of")];
    const boxes = ids.map((id) => this.box(id));
    const plain = button(say("reset_layout"), { disabled: isPlain(this.layout) }, () => this.arrange(PLAIN));
    this.chooser.items.replaceChildren(...boxes, plain);
    const again = [...this.chooser.items.querySelectorAll("input")].find((node) => node.dataset.of === focused);
    if (inside) (again ?? this.chooser.opener).focus();
  }

  /** @param {string} id */
  box(id) {
    const box = el("input", { type: "checkbox", checked: !this.layout.hidden.includes(id), "data-of": id });
    box.addEventListener("change", () => this.arrange(toggled(this.layout, "hidden", id)));
    return el("label", {}, box, this.charts.get(id)?.title ?? id);
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
    if (this.shown.axis === "step" && sources.some(({ curves }) => curves.counted)) {
      this.shown.why = say("lines_counted");
    }
    if (this.drawn && before !== this.shown.axis) this.view.range = null; // a zoom was one of the other axis
    this.drawn = true;
    const may = choices(sources);
    const trains = sources.some(({ live, curves }) => live || curves.best().some(({ kind }) => kind !== "sample"));
    for (const node of this.looks) node.hidden = !trains;
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
      for (const other of this.charts.values()) if (other !== chart) other.hover(place, this.several);
    });
  }

  /** Has the curves of one run seen before the others', in all charts; null: all alike. @param {number | null} run */
  emphasise(run) {
    for (const chart of this.charts.values()) chart.emphasise(run);
  }

  /** The chart of an id, made where it is not there yet. @param {Place} place */
  chart({ chart: id, heading, y, fromZero, unit, more }) {
    const there = this.charts.get(id);
    if (there) {
      there.content.yTitle = label(y);
      return there;
    }
    const made = new Chart(id, label(heading), label(y), {
      fromZero,
      unit,
      onRange: (range) => this.zoom(range),
      onHover: (one, place) => this.hover(one, place),
      onRun: (run) => this.emphasise(run),
      onToggle: (one, mark) => this.arrange(toggled(this.layout, mark, one.id)),
      onLog: (one) => this.rescale(one),
      onStep: (one, by) => this.step(one, by),
      onDrag: (one, over, done) => this.drag(one, over, done),
      onTime: () => this.change({ axis: "time", range: null }),
      csv: this.csv,
    });
    if (more) this.folded.set(id, "more");
    if (isScoreTooMany(id, this.charts.keys())) this.folded.set(id, "scores");
    this.charts.set(id, made);
    this.stand();
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
    this.offerShort(
      sources,
      [...contents].flatMap(([{ own }, { lines }]) => (own ? [] : lines)),
    );
    this.setAside(sources, contents);
    const groups = this.groups();
    if (groups) for (const one of contents.values()) one.lines = groupedLines(one.lines, groups);
    const message = this.noLoss(sources);
    const timed = choices(sources).includes("time");
    if (message) this.chart(charted(LOSS));
    for (const chart of this.charts.values()) {
      const { lines = [], limits = [], message: why = "" } = contents.get(chart) ?? {};
      chart.unlike = [LOSS, NORM].includes(chart.id) ? timesApart(lines) : null;
      const scale = this.whyLog(chart);
      const ofLoss = chart.id === LOSS ? [message, this.whyUnlike()] : [];
      chart.set(lines, limits, [...ofLoss, why, scale].filter(Boolean).join("\n"));
      const told = timed && chart.content.unit === MEMORY && !chart.own;
      chart.remarkPeak(told ? peakBeyond(lines, axis, MEMORY, (run) => sources[run].curves.peak) : "", axis === "time");
    }
    this.nameFolds(sources);
    this.measure(sources, clocks);
    this.list();
    this.name(groups);
    this.draw();
  }

  /** Why a chart has a logarithmic scale that nobody chose. @param {Chart} chart */
  whyLog({ id, unlike }) {
    if (!unlike || !isLog(this.layout, id, true) || this.layout.log.includes(id)) return "";
    return timesText(unlike);
  }

  /** @param {Chart} chart */
  rescale({ id, unlike }) {
    this.arrange(rescaled(this.layout, id, unlike !== null));
    this.update(); // what is said of its scale
  }

  /** How many charts each fold has. @param {Source[]} sources */
  nameFolds(sources) {
    const standing = this.standing.flatMap((id) => this.charts.get(id) ?? []);
    const shown = (/** @type {HTMLElement} */ folded) =>
      standing.filter(({ node, lines, hiding }) => node.parentElement === folded && lines.length && !hiding);
    this.more.hidden = !shown(this.extra).length;
    const scores = shown(this.scored).length;
    rename(this.scores, scores, say(scores === 1 ? "more_score" : "more_scores", { count: String(scores) }));
    const lone = shown(this.single);
    rename(this.singles, lone.length, say("lone", { names: listed(lone.map(({ title }) => title)) }));
    const dots = standing.filter(({ id }) => this.apart.get(id) === "dot");
    const told = sources.length > 1 && dots.length;
    this.undrawn.hidden = !told;
    this.undrawn.textContent = told ? say("dots", { names: listed(dots.map(({ title }) => title)) }) : "";
    this.tellValues(sources.length > 1 ? [] : dots);
  }

  /** Of one run the charts that would be a point: their values, without what the page has. @param {Chart[]} dots */
  tellValues(dots) {
    const shown = dots.filter(({ id }) => !this.layout.hidden.includes(id));
    const rows = shown.flatMap((chart) => {
      const lines = chart.lines.filter((line) => !this.isTold(line));
      return lines.length ? [[chart.title, lines.map((line) => valueText(chart, line)).join(" · ")]] : [];
    });
    const state = JSON.stringify(rows);
    this.alone.hidden = !rows.length;
    if (this.once.dataset.told === state) return;
    this.once.dataset.told = state;
    this.once.replaceChildren(...rows.map(([title, value]) => el("div", {}, el("dt", {}, title), el("dd", {}, value))));
  }

  /**
   * Of several runs: a chart that only one of them has compares nothing and stands below the others. Where none has a
   * line, a point at most, there is none: of one run its value is told, of several the loss is still drawn. What may
   * still grow is always there.
   * @param {Source[]} sources @param {Contents} contents
   */
  setAside(sources, contents) {
    const before = JSON.stringify([...this.apart]);
    this.apart.clear();
    const several = sources.length > 1;
    for (const [{ id }, { lines }] of contents) {
      if ((several && id === LOSS) || !lines.length || lines.some(({ run }) => sources[run].live)) continue;
      if (!several && lines.some(({ curve }) => curve.kind === "sample")) continue; // nobody logged it as a result
      const having = new Set(lines.map(({ run }) => run)).size;
      const drawn = new Set(lines.filter(({ curve }) => curve.count > 1).map(({ run }) => run)).size;
      if (!drawn) this.apart.set(id, "dot");
      else if (several && having < 2) this.apart.set(id, "lone"); // a single value beside a line compares
    }
    if (JSON.stringify([...this.apart]) !== before) this.stand();
  }

  /** A way to the run that is a dot beside much longer ones. @param {Source[]} sources @param {Line[]} lines */
  offerShort(sources, lines) {
    this.short = sources.length > 1 && !this.view.range ? shortestOf(lines) : null;
    this.shorter.hidden = !this.short;
    if (!this.short) return;
    const name = sources[this.short.run].name;
    const told = placeText(this.axis(), this.short.reach[1]);
    const place = `${told.charAt(0).toLowerCase()}${told.slice(1)}`; // within a sentence
    this.shorter.textContent = say("zoom_short", { name: middled(name), place });
    this.shorter.title = say("zoom_short_title", { name, place });
  }

  /** Which colour each group has, once for all charts. @param {Group[] | null} groups */
  name(groups) {
    const lines = [...this.charts.values()].flatMap((chart) => chart.lines);
    const fewer = lines.some(({ band }) => band?.parts.some(({ whole }) => !whole));
    const named = (groups ?? []).map((group, place) => signed(titleOf(group), look(place).colour));
    this.legend.hidden = !groups;
    this.legend.replaceChildren(...named, ...(fewer ? [signed(say("fewer_runs"))] : []));
  }

  /** @param {Source[]} sources @param {(Clock | null)[]} clocks */
  contents(sources, clocks) {
    const axis = this.axis();
    /** @type {Contents} */
    const contents = new Map();
    // Where no point has a time, the machine has no place on their axis: its charts are by time on their own.
    const counted = axis === "step" && sources.some(({ curves }) => curves.counted); // of lines: the machine has none
    const apart = counted || clocks.some((clock) => clock?.timeless);
    const several = sources.length > 1;
    this.several = several;
    if (!several) this.cards = placesOfCards(sources.flatMap((one) => one.curves.best()));
    /** @param {number} run @param {Curve} curve @param {Place} place */
    const add = (run, curve, place) => {
      const source = sources[run];
      const chart = this.chart(place);
      chart.own = curve.kind === "sample" && apart ? "time" : "";
      const content = contents.get(chart) ?? { lines: [], limits: [] };
      contents.set(chart, content);
      if (several && place.unless === undefined && place.chart === "gpu_memory") chart.content.named = true;
      content.lines.push({
        ...this.line(source, run, curve, place, several),
        ...this.style(content.lines, run, curve, place, several),
        clock: chart.own ? null : clocks[run],
      });
      if (!several) content.limits = limitsOf(content.limits, source, curve, place);
    };
    for (const [run, source] of sources.entries()) {
      const curves = inOrder(source.curves.best());
      for (const curve of curves) {
        const place = placeOf(curve, several, curves);
        if (place) add(run, curve, place);
      }
    }
    // As a report has it: measured, where no training says it itself.
    const told = this.charts.get(THROUGHPUT);
    if (!told || !contents.has(told)) {
      for (const [run, { curves }] of sources.entries()) {
        const speed = curves.speed();
        if (speed) add(run, speed, { ...charted(THROUGHPUT), y: say("steps_a_second") });
      }
    }
    for (const [chart, content] of contents) {
      if (!several) content.lines = namedOnce(content.lines);
      if (chart.id === "pcie") {
        const { unit, lines } = trafficIn(content.lines);
        content.lines = lines;
        chart.content.unit = chart.content.yTitle = unit;
      }
      this.setApart(chart, content, sources);
    }
    return contents;
  }

  /**
   * A chart whose values have no place on everyone's axis is drawn by another, and says so.
   * @param {Chart} chart @param {Content} content @param {Source[]} sources
   */
  setApart(chart, content, sources) {
    const own = chart.own ? "" : ownAxis(content.lines, this.axis());
    if (!own) return;
    chart.own = own;
    content.message = whyOwn(own, this.axis());
    for (const line of content.lines) {
      line.clock = own === "time" ? null : new Clock(sources[line.run].curves.clock(own), own);
    }
  }

  /**
   * Of several runs the colour says which (the table above has them); the legend tells the lines of one apart.
   * @param {Source} source @param {number} run @param {Curve} curve @param {Place} place @param {boolean} several
   */
  line(source, run, curve, place, several) {
    const name = nameOf(curve, place);
    const plain = [several ? source.name : "", name].filter(Boolean).join(" · ");
    return {
      run,
      name: label(name),
      plain: label(plain),
      neutral: several,
      of: several ? label(source.name) : undefined,
      base: several ? source.base : undefined,
      card: typeof place.gpu === "number" ? label(nameOf(curve, { ...place, note: "" })) : undefined,
      note: place.note,
      curve,
      scale: place.scale ?? 1,
      axis: place.axis,
      title: place.title,
      ...(curve.kind === "eval" ? { mode: "lines+markers", symbol: "diamond" } : {}),
    };
  }

  /**
   * Of several runs, what is of one name is drawn alike, and named once.
   * @param {Line[]} before the lines that the chart has already
   * @param {number} run @param {Curve} curve @param {Place} place @param {boolean} several
   * @returns {Style & { legend: boolean }}
   */
  style(before, run, curve, place, several) {
    const { gpu, colour, dash } = place;
    if (several) {
      // An evaluation's loss is drawn alike everywhere, also where the first of the runs logged no other.
      const order = place.chart === LOSS ? (curve.kind === "eval" ? EVALUATED : TRAINED) : USUAL;
      const alike = before.filter((line) => order === USUAL || (line.curve.kind === "eval") === (order === EVALUATED));
      const [names, name] = [new Set(alike.map((line) => line.name)), label(nameOf(curve, place))];
      const legend = !names.has(name);
      const turn = order[[...names.add(name)].indexOf(name) % order.length];
      return { colour: look(run).colour, dash: look(turn * COLOURS.length).dash, legend };
    }
    const card = gpu === null || gpu === undefined ? undefined : this.cards.get(cardOf([curve.node ?? "", gpu]));
    const usual = look(card ?? before.length);
    return { colour: colour || usual.colour, dash: dash || usual.dash, legend: true };
  }

  /**
   * The range that all charts share, from their points alone; those that are by another axis share one by it.
   * @param {Source[]} sources @param {(Clock | null)[]} clocks
   */
  measure(sources, clocks) {
    const charts = [...this.charts.values()];
    const lines = charts.filter((chart) => !chart.own).flatMap((chart) => chart.lines);
    /** @param {Axis} axis */
    const linesBy = (axis) => charts.filter((chart) => chart.own === axis).flatMap((chart) => chart.lines);
    const { reach, shown } = sharedRange(lines);
    const own = Object.fromEntries(AXES.map((axis) => [axis, sharedRange(linesBy(axis)).shown]));
    this.extents = { reach, range: shown, own };
    this.marks = sources.length === 1 ? this.marksOf(sources[0].events ?? [], clocks[0]) : [];
  }

  /** @param {Source[]} sources */
  noLoss(sources) {
    const silent = sources.filter((one) => one.noLoss);
    return silent
      .map((one) => (sources.length > 1 ? say("no_loss_of", { name: one.name, why: one.noLoss ?? "" }) : one.noLoss))
      .join("\n");
  }

  /** @param {RunEvent[]} events @param {Clock | null} clock */
  marksOf(events, clock) {
    /** @param {RunEvent} event */
    const placeOn = (event) => {
      const time = event.elapsed_s ?? NaN;
      if (!clock) return time;
      return this.axis() === "step" && event.step !== null ? event.step : clock.at(time);
    };
    return events.filter(isMarked).flatMap((event) => {
      const at = markPlace({ kind: event.kind, at: placeOn(event) }, this.extents.reach);
      return at === null ? [] : [{ kind: event.kind, at, label: label(markText(event)) }];
    });
  }

  close() {
    for (const chart of this.charts.values()) chart.close();
  }

  draw(force = false) {
    if (force) this.name(this.groups()); // other colours on another ground
    const { range, own } = this.extents;
    const events = this.marks.slice(-MOST_MARKS);
    const counted = this.sources().some(({ curves }) => curves.counted);
    const shared = { ...this.view, axis: this.axis(), reach: range, events, marked: false, counted };
    for (const chart of this.standing.flatMap((id) => this.charts.get(id) ?? [])) {
      const alone = chart.own ? { axis: chart.own, range: null, reach: own[chart.own] ?? null, events: [] } : {};
      const log = isLog(this.layout, chart.id, chart.unlike !== null);
      const clipped = this.layout.clipped.includes(chart.id);
      chart.draw({ ...shared, log, clipped, marked: chart.id === LOSS, ...alone }, force);
    }
  }
}

/**
 * The one value of a line, named where its chart has several.
 * @param {Chart} chart @param {Line} line
 */
function valueText({ lines, content }, { curve, scale, name, axis, title }) {
  const value = curve.lastValue / scale;
  const unit = axis === "y2" ? title : content.unit;
  const shown = Math.abs(value) < SMALL ? figure(value) : fixed(value);
  return [lines.length > 1 ? name : "", shown, unit].filter(Boolean).join(" ");
}

/** @param {HTMLElement} fold @param {number} count of its charts @param {string} name */
function rename(fold, count, name) {
  const summary = part(fold, "summary");
  fold.hidden = !count;
  if (summary.textContent !== name) summary.textContent = name;
}

/** An entry of the legend; without a colour that of a dotted line. @param {string} text @param {string} [colour] */
function signed(text, colour) {
  const sign = el("i", { class: colour ? "" : "ds-dotted" });
  if (colour) sign.style.background = seen(colour);
  return el("li", {}, sign, text);
}

/** In this order; what stands right is left alone. @param {Element} parent @param {Element[]} nodes */
function arrangeIn(parent, nodes) {
  for (const [i, node] of nodes.entries()) {
    if (parent.children[i] !== node) parent.insertBefore(node, parent.children[i]);
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
