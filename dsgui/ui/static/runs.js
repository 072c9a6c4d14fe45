// The Runs page: the list of runs, and beside it one run, or several compared.

import { Afterwards } from "./afterwards.js";
import { notifies } from "./alerts.js";
import { CompareView } from "./compare.js";
import { el } from "./dom.js";
import { RunView, duration, figure } from "./run_view.js";

const POLL_MS = 1000;
const LIST_MS = 3000;
const ENDED_POLLS = 5; // a run that has ended is still looked at, every fifth time
const MOST_COMPARED = 6;

const started = (seconds) => (seconds ? new Date(seconds * 1000).toLocaleString() : "");

class Monitor {
  constructor(element, trigger) {
    this.trigger = trigger;
    this.list = el("nav", { class: "ds-run-list", "aria-label": "Runs" });
    this.search = el("input", {
      type: "search",
      class: "ds-run-search",
      id: "search-runs",
      placeholder: "Search the runs",
      "aria-label": "Search the runs",
      title: "By name, preset, model, script, state or id",
    });
    this.search.addEventListener("input", () => this.filter());
    this.unfound = el("p", { class: "ds-remark", hidden: true }, "No run fits this search.");
    this.detail = el("div", { class: "ds-run-detail" });
    this.root = element.querySelector(".ds-runs");
    this.compare = el("button", { type: "button", class: "ds-step", id: "compare-runs", hidden: true });
    this.compare.addEventListener("click", () => this.showCompared(this.chosen()));
    this.root.replaceChildren(
      el("div", { class: "ds-run-side" }, this.search, this.compare, this.unfound, this.list),
      this.detail,
    );
    this.trouble = el("p", { class: "ds-trouble", role: "alert", hidden: true });
    this.root.prepend(this.trouble);
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest(".ds-run-row");
      if (row) this.show(row.parentElement.dataset.run);
    });
    this.list.addEventListener("change", () => this.offerCompare());
    new MutationObserver(() => this.view?.draw(true)).observe(document.body, {
      attributes: true,
      attributeFilter: ["class"],
    });
    this.polls = 0;
    this.empty();
    const compared = new URL(window.location).searchParams.get("compare");
    if (compared) this.showCompared(compared.split(","));
    const seen = () => this.root.offsetWidth && !document.hidden;
    this.loop(() => this.refreshList(), LIST_MS, seen);
    // Who asked for notifications wants them most when looking elsewhere.
    this.loop(
      () => this.refreshRun(),
      POLL_MS,
      () => seen() || (this.view && this.alive && notifies()),
    );
  }

  // Asks again only after the last answer; a page that nobody sees waits.
  async loop(step, pause, wanted) {
    for (;;) {
      if (wanted()) {
        try {
          await step();
          this.well();
        } catch (error) {
          this.unwell(error);
        }
      }
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
    }
  }

  well() {
    this.trouble.hidden = true;
  }
  unwell(error) {
    this.trouble.hidden = false;
    this.trouble.textContent = `The dsgui server does not answer (${error.message}). Runs go on without it; this page tries again.`;
  }

  empty() {
    this.detail.replaceChildren(
      el(
        "p",
        { class: "ds-empty" },
        "No run yet. Open “2 · Launch” and start one: its loss, memory and output appear here, and stay when you close the tab.",
      ),
    );
  }

  show(id) {
    if (!id || this.view?.id === id) return;
    const afterwards = new Afterwards(id, this.trigger, () => this.gone(id));
    const ask = (what) => (run) => this.trigger(what, { run_id: run });
    this.open(new RunView(id, ask("stop"), ask("save"), afterwards, this.trigger), { run: id, compare: null });
  }

  showCompared(ids) {
    if (ids.length)
      this.open(new CompareView(ids.slice(0, MOST_COMPARED), (id) => this.show(id)), {
        run: null,
        compare: ids.join(","),
      });
  }

  open(view, address) {
    this.view?.close();
    this.view = view;
    this.alive = true;
    this.detail.replaceChildren(view.node);
    this.address(address);
    this.mark();
    this.refreshRun().catch((error) => this.unwell(error));
  }

  address(names) {
    const url = new URL(window.location);
    for (const [name, value] of Object.entries(names)) {
      if (value === null) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    window.history.replaceState(null, "", url);
  }

  // In the order in which they were started.
  chosen() {
    return [...this.list.querySelectorAll("input:checked")]
      .map((box) => box.closest("[data-run]").dataset.run)
      .reverse();
  }

  offerCompare() {
    const count = this.chosen().length;
    this.compare.hidden = count === 0;
    this.compare.disabled = count < 2 || count > MOST_COMPARED;
    this.compare.textContent =
      count < 2
        ? "Choose another to compare"
        : count > MOST_COMPARED
          ? `At most ${MOST_COMPARED} can be compared`
          : `Compare ${count} runs`;
  }

  // A run was deleted: the newest of those left is shown.
  async gone(id) {
    if (this.view?.id === id) {
      this.view = null;
      this.empty();
      this.address({ run: null });
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
    if (!this.view || this.view.afterwards?.deleting) return;
    this.polls += 1;
    if (!this.alive && this.polls % ENDED_POLLS) {
      this.view.draw();
      return;
    }
    const { view } = this;
    if (this.polling === view) return; // one question at a time, or a cursor would be used twice
    this.polling = view;
    let alive;
    try {
      alive = await view.poll();
    } finally {
      if (this.polling === view) this.polling = null;
    }
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
    return el(
      "div",
      { class: "ds-run-entry", "data-run": run.run_id },
      el("input", { type: "checkbox", class: "ds-run-choose", title: "Compare this run with others" }),
      el(
        "button",
        { type: "button", class: "ds-run-row" },
        el("span", { class: "ds-run-name" }),
        el("span", { class: "ds-state" }),
        el("span", { class: "ds-run-sub" }),
        el("span", { class: "ds-run-sub ds-run-what" }),
      ),
    );
  }

  write(entry, run) {
    const [box, row] = entry.children;
    const [name, state, sub, what] = row.children;
    box.setAttribute("aria-label", `Compare ${run.name || run.run_id} with others`);
    const step = run.total ? `${run.step ?? 0} / ${run.total}` : figure(run.step);
    const loss = run.loss === null || run.loss === undefined ? "" : ` · loss ${figure(run.loss)}`;
    name.textContent = run.name || run.run_id;
    state.textContent = run.state;
    state.dataset.state = run.state;
    sub.textContent = `${run.doing || `step ${step}${loss}`} · ${duration(run.duration_s)}`;
    const script = (run.script || "").split("/").pop();
    what.textContent = [run.devices, run.model, run.preset].filter(Boolean).join(" · ");
    row.title = [started(run.started_at), script, run.run_id].filter(Boolean).join(" · ");
    entry.dataset.text = [run.name, run.run_id, run.state, run.preset, run.model, run.devices, script]
      .join(" ")
      .toLowerCase();
    return entry;
  }

  mark() {
    for (const entry of this.list.children) {
      const shown = entry.dataset.run === this.view?.id || Boolean(this.view?.ids?.includes(entry.dataset.run));
      entry.lastChild.setAttribute("aria-current", String(shown));
    }
  }
}

export function mount(element, props, trigger, watch) {
  const monitor = new Monitor(element, trigger);
  watch("value", () => monitor.show(props.value));
  monitor.show(props.value);
}
