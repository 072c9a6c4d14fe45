// The Runs page: the list of runs, and one run with its curves, followed by asking only for what is new.

import { Afterwards } from "./afterwards.js";
import { el } from "./dom.js";

const POLL_MS = 1000;
const LIST_MS = 3000;
const ENDED_POLLS = 5; // a run that has ended is still looked at, every fifth time
const DRAW_LIMIT_MS = 5000;
const STOP_AGAIN_MS = 4000;
const OUTPUT_KEPT = 200000;
const LIVE_STATES = new Set(["pending", "queued", "running", "stopping"]);
// Okabe and Ito's palette: told apart by people with any kind of colour blindness.
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999"];
const GIB = 2 ** 30;

let plotlyLoading = null;
function loadPlotly() {
  plotlyLoading ??= new Promise((resolve, reject) => {
    const script = el("script", { src: "/dsgui/static/plotly.min.js" });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => { plotlyLoading = null; reject(new Error("plotly.min.js did not load")); };
    document.head.append(script);
  });
  return plotlyLoading;
}

const pad = (n) => String(n).padStart(2, "0");
function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const s = Math.round(seconds);
  const rest = `${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
  return s >= 3600 ? `${Math.floor(s / 3600)}:${rest}` : rest;
}
const started = (seconds) => (seconds ? new Date(seconds * 1000).toLocaleString() : "");
const figure = (value) => (typeof value === "number" ? Number(value.toPrecision(4)).toString() : value === undefined || value === null ? "–" : String(value));
const number = (value) => (typeof value === "number" ? value : value === undefined || value === null ? null : NaN);

function theme() {
  const style = getComputedStyle(document.body);
  const read = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
  return { text: read("--body-text-color", "#222"), grid: read("--border-color-primary", "#ddd") };
}

// One chart: named traces that only ever grow, drawn at most once a poll.
class Chart {
  constructor(title, yTitle, xTitle) {
    this.title = title; this.yTitle = yTitle; this.xTitle = xTitle;
    this.traces = new Map();
    this.plot = el("div", { class: "ds-plot" });
    this.caption = el("figcaption", {}, title);
    this.node = el("figure", { class: "ds-chart", "data-chart": title, hidden: true }, this.caption, this.plot);
    this.changed = false;
    this.revision = 0;
    this.drawingSince = 0;
    // A chart that gets a neighbour becomes narrower.
    new ResizeObserver(() => this.draw(true)).observe(this.node);
  }

  add(name, x, y, options = {}) {
    if (x === null || x === undefined || y === null || y === undefined) return;
    let trace = this.traces.get(name);
    if (!trace) {
      const colour = options.colour || COLOURS[this.traces.size % COLOURS.length];
      // SVG, not WebGL: it draws the same everywhere, and the server thins long runs.
      trace = { name, x: [], y: [], type: "scatter", mode: options.mode || "lines",
        line: { color: colour, width: 2, dash: options.dash }, marker: { color: colour, size: 8, symbol: options.symbol },
        yaxis: options.axis || "y", connectgaps: false, hovertemplate: options.hover };
      this.traces.set(name, trace);
    }
    trace.x.push(x);
    trace.y.push(Number.isNaN(y) ? null : y);
    this.changed = true;
  }

  layout() {
    const colours = theme();
    const axis = (title) => ({ title: { text: title, standoff: 6 }, gridcolor: colours.grid, zerolinecolor: colours.grid, automargin: true });
    const right = [...this.traces.values()].some((t) => t.yaxis === "y2");
    return {
      // The arrays grow in place: the revision is what tells plotly that they did. Zoom stays (uirevision).
      datarevision: this.revision, uirevision: "keep", height: 250, margin: { l: 48, r: right ? 48 : 12, t: 8, b: 40 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: colours.text, size: 12 },
      xaxis: axis(this.xTitle), yaxis: { ...axis(this.yTitle), rangemode: this.fromZero ? "tozero" : "normal" },
      ...(right ? { yaxis2: { ...axis("%"), overlaying: "y", side: "right", range: [0, 100], showgrid: false } } : {}),
      showlegend: this.traces.size > 1, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, hovermode: "x unified",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colours.grid, activecolor: colours.text },
    };
  }

  // Never awaited by the poll: a drawing that hangs must not stop the run from being followed.
  draw(force = false) {
    this.changed ||= force;
    const busy = this.drawingSince && performance.now() - this.drawingSince < DRAW_LIMIT_MS;
    if (!this.changed || !this.traces.size || busy) return;
    this.node.hidden = false;
    if (!this.node.isConnected || !this.node.offsetWidth) return;
    this.changed = false;
    this.drawingSince = performance.now();
    this.render()
      .then(() => { this.caption.textContent = this.title; })
      .catch((error) => { this.changed = true; this.caption.textContent = `${this.title}: can't be drawn (${error.message})`; })
      .finally(() => { this.drawingSince = 0; });
  }

  async render() {
    const Plotly = await loadPlotly();
    this.revision += 1;
    const traces = [...this.traces.values()].map((t) => (t.x.length === 1 && t.mode === "lines" ? { ...t, mode: "markers" } : t));
    await Plotly.react(this.plot, traces, { ...this.layout(), width: this.plot.clientWidth }, { displaylogo: false, plotlyServerURL: "",
      modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "sendChartToCloud"] });
  }
}

// One run's page: asks for what came after its cursor, adds it, draws.
class RunView {
  constructor(id, onStop, onSave, afterwards) {
    this.id = id;
    this.onStop = onStop;
    this.onSave = onSave;
    this.afterwards = afterwards;
    this.cursor = { points: 0, samples: 0, output: -1 };
    this.order = 0;
    this.output = "";
    this.build();
  }

  build() {
    this.title = el("h2", { class: "ds-run-title" });
    this.badge = el("span", { class: "ds-state" });
    this.reason = el("p", { class: "ds-reason", role: "status" });
    this.bar = el("progress", { class: "ds-progress", max: "1", value: "0", "aria-label": "Training progress" });
    this.facts = el("dl", { class: "ds-facts" });
    this.stop = el("button", { type: "button", class: "ds-stop", id: "stop-run" }, "Stop");
    this.save = el("button", { type: "button", class: "ds-save", id: "save-run", hidden: true }, "Save and stop");
    this.note = el("p", { class: "ds-remark", hidden: true });
    this.charts = {
      loss: new Chart("Loss", "loss", "step"),
      memory: new Chart("Memory", "GiB", "seconds since start"),
      rate: new Chart("Learning rate", "learning rate", "step"),
      norm: new Chart("Gradient norm", "grad norm", "step"),
      score: new Chart("Evaluation", "score", "step"),
      gpu: new Chart("GPU memory and utilisation", "GiB", "seconds since start"),
    };
    this.charts.memory.fromZero = true;
    this.log = el("pre", { class: "ds-log", tabindex: "0", "aria-label": "Output of the run" });
    this.command = el("pre", { class: "ds-command" });
    this.directory = el("code", {});
    this.save.addEventListener("click", () => { this.save.disabled = true; this.onSave(this.id); });
    this.stop.addEventListener("click", () => {
      this.stop.disabled = true;
      this.onStop(this.id);
      // A stop that could not be sent may be tried again; a double click is one stop.
      setTimeout(() => { this.stop.disabled = false; }, STOP_AGAIN_MS);
    });
    this.node = el("div", { class: "ds-run" },
      el("div", { class: "ds-run-head" }, this.title, this.badge, this.save, this.stop),
      this.reason, this.afterwards.diagnosis, this.bar, this.facts, this.afterwards.actions, this.note,
      el("div", { class: "ds-charts" }, ...Object.values(this.charts).map((chart) => chart.node)),
      el("details", { class: "ds-output", open: true }, el("summary", {}, "Output"), this.log),
      el("details", { class: "ds-about" }, el("summary", {}, "Command and files"), this.command,
        this.afterwards.about, el("p", {}, "Everything of this run is in ", this.directory)));
  }

  async poll() {
    const query = new URLSearchParams(this.cursor);
    const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}?${query}`);
    if (answer.status === 404) { this.missing(); return false; }
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const delta = await answer.json();
    this.cursor = delta.cursor;
    this.take(delta);
    this.draw();
    return LIVE_STATES.has(delta.state);
  }

  missing() {
    this.title.textContent = this.id;
    this.reason.textContent = "No run of that name is kept here. It may have been deleted, or belong to another --runs-dir.";
  }

  take(delta) {
    this.header(delta);
    for (const point of delta.points) this.addPoint(point);
    for (const sample of delta.samples) this.addSample(sample, delta.started_at);
    if (delta.output) this.addOutput(delta.output);
  }

  header(delta) {
    this.title.textContent = delta.name || this.id;
    this.badge.textContent = delta.state;
    this.badge.dataset.state = delta.state;
    this.reason.textContent = this.sentence(delta);
    const live = LIVE_STATES.has(delta.state);
    this.stop.hidden = !delta.can_end;
    this.stop.textContent = { stopping: "Kill now", queued: "Leave the queue" }[delta.state] || "Stop";
    if (delta.state !== this.lastState) this.stop.disabled = false;
    this.save.hidden = !delta.can_save;
    this.lastState = delta.state;
    this.afterwards.update(delta.state, live);
    const { step, total, eta_s: eta } = delta.progress || {};
    if (total) { this.bar.max = total; this.bar.value = step || 0; }
    else if (live) this.bar.removeAttribute("value");
    this.bar.hidden = !live && !total;
    const facts = [["Step", total ? `${step ?? 0} / ${total}` : figure(step)], ["Elapsed", duration(delta.elapsed_s)],
      ["ETA", live && eta !== null && eta !== undefined ? duration(eta) : "–"], ["Loss", figure(this.lastLoss)],
      ["Run", this.id]];
    this.facts.replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
    this.command.textContent = delta.command || "";
    this.directory.textContent = delta.directory || "";
    this.note.hidden = !delta.telemetry_note;
    this.note.textContent = delta.telemetry_note || "";
  }

  sentence(delta) {
    if (delta.reason) return delta.reason;
    if (delta.state === "stopping") {
      const left = Math.ceil(delta.kill_in_s ?? 0);
      return left > 0 ? `Its processes were asked to end; what is left in ${left} s is killed.` : "Killing what is left…";
    }
    if (delta.state === "pending") return "Starting the supervisor…";
    if (delta.state !== "running") return "";
    if (delta.phase.startsWith("waiting in Slurm")) return "Submitted to Slurm; it waits there for its nodes.";
    if (delta.phase === "compiling") return "DeepSpeed is compiling its operators. The first run on a machine takes about a minute; later ones start at once.";
    if (delta.phase === "starting") return "Starting: loading PyTorch and the model. On a machine's first run DeepSpeed also compiles its operators, about a minute.";
    return "";
  }

  addPoint(point) {
    const values = point.values || {};
    if (point.kind === "train") this.order += 1;
    const x = point.step ?? this.order;
    if (point.kind === "final") return;
    const suffix = point.rank ? ` (rank ${point.rank})` : "";
    for (const [name, raw] of Object.entries(values)) {
      const value = number(raw);
      if (name === "loss") { this.charts.loss.add(`train${suffix}`, x, value, point.rank ? {} : { colour: COLOURS[0] }); if (!point.rank) this.lastLoss = raw; }
      else if (name === "eval_loss") this.charts.loss.add("eval", x, value, { mode: "lines+markers", symbol: "diamond", colour: COLOURS[1] });
      else if (name === "learning_rate" || name === "lr") this.charts.rate.add("learning rate", x, value, { colour: COLOURS[2] });
      else if (name === "grad_norm") this.charts.norm.add("grad norm", x, value, { colour: COLOURS[3] });
      else if (/^eval_(?!.*(runtime|per_second|gen_len))/.test(name)) this.charts.score.add(name.slice(5), x, value, { mode: "lines+markers" });
    }
  }

  addSample(sample, startedAt) {
    const x = Math.round((sample.elapsed_s ?? sample.time_s - startedAt) * 10) / 10;
    this.charts.memory.add("host, all processes", x, sample.host_used_bytes / GIB, { colour: COLOURS[6] });
    if (typeof sample.run_bytes === "number") this.charts.memory.add("this run", x, sample.run_bytes / GIB, { colour: COLOURS[1] });
    for (const gpu of sample.gpus || []) {
      if (typeof gpu.used_bytes === "number") this.charts.gpu.add(`GPU ${gpu.index} memory`, x, gpu.used_bytes / GIB);
      if (typeof gpu.utilisation_percent === "number") this.charts.gpu.add(`GPU ${gpu.index} %`, x, gpu.utilisation_percent, { axis: "y2", dash: "dot" });
    }
  }

  addOutput(text) {
    const follows = this.log.scrollTop + this.log.clientHeight >= this.log.scrollHeight - 20;
    this.output = (this.output + text).slice(-OUTPUT_KEPT);
    // A progress bar rewrites its line with \r: show what a terminal would.
    this.log.textContent = this.output.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replace(/\r+\n/g, "\n").replace(/[^\n]*\r(?=[^\n])/g, "");
    if (follows) this.log.scrollTop = this.log.scrollHeight;
  }

  draw(force = false) { for (const chart of Object.values(this.charts)) chart.draw(force); }
}

class Monitor {
  constructor(element, trigger) {
    this.trigger = trigger;
    this.list = el("nav", { class: "ds-run-list", "aria-label": "Runs" });
    this.search = el("input", { type: "search", class: "ds-run-search", id: "search-runs", placeholder: "Search the runs", "aria-label": "Search the runs", title: "By name, preset, model, script, state or id" });
    this.search.addEventListener("input", () => this.filter());
    this.unfound = el("p", { class: "ds-remark", hidden: true }, "No run fits this search.");
    this.detail = el("div", { class: "ds-run-detail" });
    this.root = element.querySelector(".ds-runs");
    this.root.replaceChildren(el("div", { class: "ds-run-side" }, this.search, this.unfound, this.list), this.detail);
    this.trouble = el("p", { class: "ds-trouble", role: "alert", hidden: true });
    this.root.prepend(this.trouble);
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest("[data-run]");
      if (row) this.show(row.dataset.run);
    });
    new MutationObserver(() => this.view?.draw(true)).observe(document.body, { attributes: true, attributeFilter: ["class"] });
    this.polls = 0;
    this.empty();
    this.loop(() => this.refreshList(), LIST_MS);
    this.loop(() => this.refreshRun(), POLL_MS);
  }

  // Asks again only after the last answer; a hidden page waits.
  async loop(step, pause) {
    for (;;) {
      if (this.root.offsetWidth && !document.hidden) {
        try { await step(); this.well(); } catch (error) { this.unwell(error); }
      }
      await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  }

  well() { this.trouble.hidden = true; }
  unwell(error) {
    this.trouble.hidden = false;
    this.trouble.textContent = `The dsgui server does not answer (${error.message}). Runs go on without it; this page tries again.`;
  }

  empty() {
    this.detail.replaceChildren(el("p", { class: "ds-empty" },
      "No run yet. Open “2 · Launch” and start one: its loss, memory and output appear here, and stay when you close the tab."));
  }

  show(id) {
    if (!id || this.view?.id === id) return;
    const afterwards = new Afterwards(id, this.trigger, () => this.gone(id));
    const ask = (what) => (run) => this.trigger(what, { run_id: run });
    this.view = new RunView(id, ask("stop"), ask("save"), afterwards);
    this.alive = true;
    this.detail.replaceChildren(this.view.node);
    const url = new URL(window.location);
    url.searchParams.set("run", id);
    window.history.replaceState(null, "", url);
    this.mark();
  }

  // A run was deleted: the newest of those left is shown.
  async gone(id) {
    if (this.view?.id === id) {
      this.view = null;
      this.empty();
      const url = new URL(window.location);
      url.searchParams.delete("run");
      window.history.replaceState(null, "", url);
    }
    await this.refreshList();
  }

  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of this.list.children) {
      row.hidden = !words.every((word) => row.dataset.text.includes(word));
      shown += !row.hidden;
    }
    this.unfound.hidden = shown > 0 || !this.list.children.length;
    this.search.hidden = !this.list.children.length;
  }

  async refreshRun() {
    if (!this.view || this.view.afterwards.deleting) return;
    this.polls += 1;
    if (!this.alive && this.polls % ENDED_POLLS) { this.view.draw(); return; }
    const view = this.view;
    const alive = await view.poll();
    if (view !== this.view) return;
    if (this.alive && !alive) await this.refreshList();
    this.alive = alive;
  }

  async refreshList() {
    const answer = await fetch("/dsgui/runs");
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const runs = await answer.json();
    this.listRows(runs);
    if (!this.view && runs.length) this.show(runs[0].run_id);
    this.mark();
  }

  // Rows stay the same elements while their text changes: a row that has the focus keeps it.
  listRows(runs) {
    const known = new Map([...this.list.children].map((row) => [row.dataset.run, row]));
    const rows = runs.map((run) => this.write(known.get(run.run_id) || this.row(run), run));
    const same = rows.length === this.list.children.length && rows.every((row, i) => row === this.list.children[i]);
    if (!same) this.list.replaceChildren(...rows);
    this.filter();
  }

  row(run) {
    return el("button", { type: "button", class: "ds-run-row", "data-run": run.run_id },
      el("span", { class: "ds-run-name" }), el("span", { class: "ds-state" }), el("span", { class: "ds-run-sub" }),
      el("span", { class: "ds-run-sub ds-run-what" }));
  }

  write(row, run) {
    const [name, state, sub, what] = row.children;
    const step = run.total ? `${run.step ?? 0} / ${run.total}` : figure(run.step);
    const loss = run.loss === null || run.loss === undefined ? "" : ` · loss ${figure(run.loss)}`;
    name.textContent = run.name || run.run_id;
    state.textContent = run.state;
    state.dataset.state = run.state;
    sub.textContent = `step ${step}${loss} · ${duration(run.duration_s)}`;
    const script = (run.script || "").split("/").pop();
    what.textContent = [run.devices, run.model, run.preset].filter(Boolean).join(" · ");
    row.title = [started(run.started_at), script, run.run_id].filter(Boolean).join(" · ");
    row.dataset.text = [run.name, run.run_id, run.state, run.preset, run.model, run.devices, script].join(" ").toLowerCase();
    return row;
  }

  mark() {
    for (const row of this.list.children) row.setAttribute("aria-current", String(row.dataset.run === this.view?.id));
  }
}

export function mount(element, props, trigger, watch) {
  const monitor = new Monitor(element, trigger);
  watch("value", () => monitor.show(props.value));
  monitor.show(props.value);
}
