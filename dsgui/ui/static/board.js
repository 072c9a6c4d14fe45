// The charts of one run or of several laid over each other, and how they are looked at: axis, scale, smoothing, zoom.

import { AXES, axisOf, choices } from "./axis.js";
import { Chart, COLOURS, look } from "./chart.js";
import { Clock } from "./curves.js";
import { el } from "./dom.js";

const GIB = 2 ** 30;
const KEPT_VIEW = "dsgui.charts";
const EVAL_COSTS = /runtime|per_second|gen_len|_samples$/; // what an evaluation took, and no score
const MIB = 2 ** 20;

// Which chart a logged curve belongs to, by its name; what nobody knows gets a chart of its own.
function placeOf(curve) {
  const { name, kind } = curve;
  if (kind === "final" || (EVAL_COSTS.test(name) && kind === "eval")) return null;
  if (/(^|_)loss$/.test(name)) return { chart: "Loss", y: "loss" };
  if (name === "learning_rate") return { chart: "Learning rate", y: "learning rate" };
  if (name === "grad_norm") return { chart: "Gradient norm", y: "grad norm" };
  if (name === "loss_scale") return { chart: "Loss scale", y: "loss scale" };
  if (name === "skipped_steps") return { chart: "Loss scale", y: "loss scale", axis: "y2", title: "skipped steps" };
  if (name === "samples_per_second") return { chart: "Throughput", y: "samples/s" };
  if (name === "tokens_per_second") return { chart: "Throughput", y: "samples/s", axis: "y2", title: "tokens/s" };
  if (/_ms$/.test(name)) return { chart: "Step times", y: "ms" };
  if (/_gb$/.test(name)) return { chart: "Memory as DeepSpeed logs it", y: "GB" };
  if (kind === "eval") return { chart: "Evaluation", y: "score" };
  return { chart: name.replaceAll("_", " "), y: name.slice(0, 40) };
}

// The same for telemetry: readings of the machine and of each card.
const READINGS = {
  "gpu.used_bytes": { chart: "GPU memory", unit: "GiB", scale: GIB, fromZero: true },
  "gpu.run_bytes": {
    chart: "GPU memory",
    unit: "GiB",
    scale: GIB,
    fromZero: true,
    note: "this run",
    dash: "dot",
    alone: true,
  },
  host_used_bytes: {
    chart: "Memory",
    unit: "GiB",
    scale: GIB,
    fromZero: true,
    note: "host, all processes",
    colour: COLOURS[6],
  },
  run_bytes: { chart: "Memory", unit: "GiB", scale: GIB, fromZero: true, note: "this run", colour: COLOURS[1] },
  swap_used_bytes: {
    chart: "Memory",
    unit: "GiB",
    scale: GIB,
    fromZero: true,
    note: "swap",
    colour: COLOURS[3],
    ifAny: true,
  },
  "gpu.utilisation_percent": { chart: "GPU utilisation", unit: "%", fromZero: true },
  cpu_percent: { chart: "CPU", unit: "%", fromZero: true, note: "all cores", more: true },
  "gpu.power_w": { chart: "GPU power", unit: "W", fromZero: true, more: true },
  "gpu.temperature_c": { chart: "GPU temperature", unit: "°C", more: true },
  "gpu.sm_clock_mhz": { chart: "GPU clocks", unit: "MHz", more: true },
  "gpu.pcie_rx_bytes_s": {
    chart: "PCIe traffic",
    unit: "MiB/s",
    scale: MIB,
    fromZero: true,
    more: true,
    note: "received",
  },
  "gpu.pcie_tx_bytes_s": {
    chart: "PCIe traffic",
    unit: "MiB/s",
    scale: MIB,
    fromZero: true,
    more: true,
    note: "sent",
    dash: "dot",
  },
  disk_free_bytes: {
    chart: "Free disk",
    unit: "GiB",
    scale: GIB,
    fromZero: true,
    more: true,
    note: "where the run writes",
  },
};
const ORDER = [
  "Loss",
  "GPU memory",
  "Memory",
  "Learning rate",
  "Gradient norm",
  "GPU utilisation",
  "Evaluation",
  "Throughput",
  "Loss scale",
  "Step times",
];

function readingOf(curve) {
  const card = curve.name.match(/^gpu(\d+)\.(.*)$/);
  const reading = READINGS[card ? `gpu.${card[2]}` : curve.name];
  return reading ? { ...reading, gpu: card ? Number(card[1]) : null } : null;
}

export class Board {
  // `sources` is a function that gives [{ name, curves, live?, events?, noLoss?, estimate? }], one for each run; `noLoss`
  // says why it has no curve of its loss. `csv` saves a chart's points.
  constructor(sources, { refine = () => {}, csv = null, kept = KEPT_VIEW } = {}) {
    Object.assign(this, { sources, refine, csv, kept });
    this.view = { axis: null, log: false, smoothing: 0, range: null, ...this.stored() };
    this.view.range = null;
    this.shown = { axis: "time", why: "" }; // `view.axis` is what the user chose, null for nothing
    this.charts = new Map();
    this.main = el("div", { class: "ds-charts" });
    this.extra = el("div", { class: "ds-charts" });
    this.more = el("details", { class: "ds-more", hidden: true }, el("summary", {}, "More of the machine"), this.extra);
    this.more.addEventListener("toggle", () => this.draw(true));
    this.node = el("div", { class: "ds-board" }, this.tools(), this.main, this.more);
  }

  stored() {
    try {
      return JSON.parse(localStorage.getItem(this.kept)) || {};
    } catch {
      return {};
    }
  }
  keep() {
    try {
      localStorage.setItem(
        this.kept,
        JSON.stringify({ ...this.view, range: null, events: undefined, clock: undefined }),
      );
    } catch {
      /* a browser that keeps nothing */
    }
  }

  tools() {
    const axes = AXES.map(([axis, title]) => {
      const button = el(
        "button",
        { type: "button", class: "ds-step", "data-axis": axis, "aria-pressed": "false" },
        title,
      );
      button.addEventListener("click", () => this.change({ axis, range: null }));
      return button;
    });
    this.axes = el("div", { class: "ds-axes", role: "group", "aria-label": "Horizontal axis" }, ...axes);
    this.log = el("input", { type: "checkbox", checked: this.view.log });
    this.log.addEventListener("change", () => this.change({ log: this.log.checked }));
    this.smoothing = el("input", {
      type: "range",
      min: "0",
      max: "0.99",
      step: "0.01",
      value: String(this.view.smoothing),
      "aria-label": "Smoothing",
    });
    this.smoothing.addEventListener("input", () => this.change({ smoothing: Number(this.smoothing.value) }));
    this.amount = el("output", {}, this.view.smoothing.toFixed(2));
    this.reset = el("button", { type: "button", class: "ds-step", hidden: true }, "Show all");
    this.reset.addEventListener("click", () => this.zoom(null));
    this.why = el("p", { class: "ds-remark ds-why", role: "status", hidden: true });
    return el(
      "div",
      { class: "ds-board-tools" },
      this.axes,
      el("label", {}, this.log, " log scale"),
      el("label", {}, "smoothing ", this.smoothing, this.amount),
      this.reset,
      this.why,
    );
  }

  change(changes) {
    if (changes.axis || changes.range === null) for (const one of this.sources()) one.curves.coarsen();
    Object.assign(this.view, changes);
    this.amount.textContent = this.view.smoothing.toFixed(2);
    this.reset.hidden = !this.view.range;
    this.keep();
    this.update();
  }

  // A zoom into one chart is every chart's; where stretches hide points there, finer ones are asked for.
  zoom(range) {
    this.change({ range });
    clearTimeout(this.asking);
    if (range) this.asking = setTimeout(() => this.refine(this.axis(), ...range), 150);
  }

  // What all charts are drawn by, as it was at the last update.
  axis() {
    return this.shown.axis;
  }

  choose(sources) {
    const before = this.shown.axis;
    this.shown = axisOf(this.view.axis, sources);
    if (this.drawn && before !== this.shown.axis) this.view.range = null; // a zoom was one of the other axis
    this.drawn = true;
    const may = choices(sources);
    for (const button of this.axes.children) {
      button.setAttribute("aria-pressed", String(button.dataset.axis === this.shown.axis));
      button.disabled = !may.includes(button.dataset.axis);
    }
    this.why.hidden = !this.shown.why;
    if (this.why.textContent !== this.shown.why) this.why.textContent = this.label(this.shown.why);
  }

  looksAt(axis, low, high) {
    const { range } = this.view;
    return this.axis() === axis && range?.[0] === low && range[1] === high;
  }

  hover(chart, place) {
    cancelAnimationFrame(this.hovering);
    this.hovering = requestAnimationFrame(() => {
      for (const other of this.charts.values()) if (other !== chart) other.hover(place);
    });
  }

  chart(title, y, options) {
    if (!this.charts.has(title)) {
      const chart = new Chart(title, y, {
        ...options,
        onRange: (range) => this.zoom(range),
        onHover: (one, place) => this.hover(one, place),
        csv: this.csv,
      });
      this.charts.set(title, chart);
      (options.more ? this.extra : this.main).append(chart.node);
      const rank = (node) => {
        const found = ORDER.indexOf(node.dataset.chart);
        return found < 0 ? ORDER.length : found;
      };
      this.main.append(...[...this.main.children].sort((a, b) => rank(a) - rank(b)));
    }
    return this.charts.get(title);
  }

  // Which lines every chart has now.
  update() {
    const sources = this.sources();
    this.choose(sources);
    const axis = this.axis();
    this.reset.hidden = !this.view.range;
    const several = sources.length > 1;
    const clocks = sources.map((one) => (axis === "time" ? null : new Clock(one.curves.clock(axis), axis)));
    // Where no point has a time, the machine has no place on their axis: its charts are by time on their own.
    const apart = clocks.some((clock) => clock?.timeless);
    const lines = new Map(); // chart title → lines
    const limits = new Map();
    for (const [place, one] of sources.entries()) {
      const late = (curve) => (curve.kind === "eval" ? 1 : 0); // training comes first, whatever was logged first
      for (const curve of one.curves.best().sort((a, b) => late(a) - late(b))) {
        const sampled = curve.kind === "sample";
        const at = sampled ? readingOf(curve) : placeOf(curve);
        if (!at || (several && at.alone) || (at.ifAny && !curve.stretches.some((stretch) => stretch.high.y > 0)))
          continue;
        const chart = this.chart(this.label(at.chart), this.label(at.y ?? at.unit), {
          fromZero: at.fromZero,
          unit: at.unit || "",
          more: at.more,
        });
        chart.own = sampled && apart ? "time" : "";
        const clock = chart.own ? null : clocks[place];
        const mine = lines.get(chart) || [];
        lines.set(chart, mine);
        const plain = [several ? one.name : "", this.name(curve, at)].filter(Boolean).join(" · ");
        const card = at.gpu !== undefined && at.gpu !== null ? this.card(curve.node, at.gpu) : null;
        const style = several
          ? {
              colour: look(place).colour,
              dash: look(mine.filter((line) => line.run === place).length * COLOURS.length).dash,
            }
          : look(card ?? mine.length);
        // Of several runs the colour says which (the table above has them); the legend tells the lines of one run apart.
        const name = this.label(this.name(curve, at));
        mine.push({
          run: place,
          name,
          legend: place === 0,
          plain: this.label(plain),
          curve,
          clock,
          scale: at.scale,
          axis: at.axis,
          title: at.title,
          ...style,
          ...(several ? {} : { colour: at.colour || style.colour, dash: at.dash || style.dash }),
          ...(curve.kind === "eval" ? { mode: "lines+markers", symbol: "diamond" } : {}),
        });
        if (at.chart === "GPU memory" && !several) this.limit(limits, chart, one.curves, curve, at.gpu);
        if (at.chart === "Memory" && !several) this.hostLimit(limits, chart, one);
      }
    }
    const message = this.noLoss(sources);
    if (message) this.chart("Loss", "loss", {});
    for (const chart of this.charts.values())
      chart.set(lines.get(chart) || [], limits.get(chart) || [], chart.title === "Loss" ? message : "");
    this.more.hidden = ![...this.charts.values()].some(
      (chart) => chart.node.parentElement === this.extra && chart.lines.length,
    );
    this.draw();
  }

  noLoss(sources) {
    const silent = sources.filter((one) => one.noLoss);
    return silent.map((one) => (sources.length > 1 ? `${one.name}: ${one.noLoss}` : one.noLoss)).join("\n");
  }

  // A card has the same colour in every chart.
  card(node, gpu) {
    const key = `${node} ${gpu}`;
    this.cards ??= new Map();
    if (!this.cards.has(key)) this.cards.set(key, this.cards.size);
    return this.cards.get(key);
  }

  // plotly reads a few HTML tags in names: what a program printed is none.
  label(text) {
    return text.replaceAll("<", "‹").replaceAll(">", "›");
  }

  name(curve, at) {
    const rank = curve.rank ? ` (rank ${curve.rank})` : "";
    const node = curve.node ? `${curve.node}: ` : "";
    if (curve.kind === "sample")
      return `${node}${at.gpu === null ? at.note || curve.name : `GPU ${at.gpu}${at.note ? `, ${at.note}` : ""}`}`;
    if (at.chart === "Loss")
      return { loss: "train", eval_loss: "eval" }[curve.name]
        ? `${{ loss: "train", eval_loss: "eval" }[curve.name]}${rank}`
        : `${curve.name}${rank}`;
    return `${curve.name.replace(/^eval_/, "").replaceAll("_", " ")}${rank}`;
  }

  limit(limits, chart, curves, curve, gpu) {
    for (const other of curves.each) {
      if (other.name !== `gpu${gpu}.total_bytes` || other.node !== curve.node || !(other.lastValue > 0)) continue;
      const at = other.lastValue / GIB;
      const known = limits.get(chart) || [];
      if (!known.some((one) => Math.abs(one.at - at) < 0.01))
        limits.set(chart, [...known, { at, text: `${at.toFixed(0)} GiB on the card` }]);
    }
  }

  hostLimit(limits, chart, one) {
    const foretold = one.estimate?.();
    if (!foretold) return;
    const { states_bytes: states, estimate_bytes: buffers } = foretold;
    limits.set(chart, [
      { at: states / GIB, text: `${(states / GIB).toFixed(1)} GiB: what is offloaded`, colour: COLOURS[4] },
      {
        at: buffers / GIB,
        text: `${(buffers / GIB).toFixed(1)} GiB: DeepSpeed’s estimate, with buffers`,
        colour: COLOURS[3],
      },
    ]);
  }

  events(sources) {
    if (sources.length !== 1) return [];
    const [{ curves, events = [] }] = sources;
    const axis = this.axis();
    const clock = axis === "time" ? null : new Clock(curves.clock(axis), axis);
    const at = (event) => {
      if (axis === "time") return event.elapsed_s;
      return axis === "step" && event.step !== null ? event.step : clock.at(event.elapsed_s);
    };
    return events
      .map((event) => ({
        kind: event.kind,
        at: at(event),
        label: this.label(`${event.kind}: ${event.text}`.slice(0, 120)),
      }))
      .filter((event) => Number.isFinite(event.at) && event.kind !== "calm");
  }

  close() {
    for (const chart of this.charts.values()) chart.close();
  }

  draw(force = false) {
    const sources = this.sources();
    this.view.events = this.events(sources);
    for (const chart of this.charts.values())
      chart.draw({ ...this.view, axis: this.axis(), marked: chart.title === "Loss" }, force);
  }

  // The ids of the curves whose stretches hide points between two places.
  hidden(curves, axis, low, high) {
    const inside = (one) => {
      const at = one.low[axis];
      return at >= low && at <= high;
    };
    return [...curves.each]
      .filter((curve) => curve.kind !== "sample" || axis === "time")
      .filter((curve) => curve.stretches.some((one) => one.n > 1 && inside(one)))
      .flatMap((curve) => curve.ids);
  }
}
