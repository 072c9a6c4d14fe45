// Several runs laid over each other: their curves, what they used and how fast they were, and where their configs differ.

import { Board } from "./board.js";
import { look, seen } from "./chart.js";
import { el } from "./dom.js";
import { LIVE_STATES, Follower, duration, figure } from "./run_view.js";

const GIB = 2 ** 30;
const TABLE_EVERY = 5; // polls
const gib = (bytes) => (typeof bytes === "number" ? `${(bytes / GIB).toFixed(2)} GiB` : "–");
const fullest = (run) =>
  run.figures.gpus.reduce((most, gpu) => (most && most.peak_bytes >= gpu.peak_bytes ? most : gpu), null);
const ROWS = [
  ["State", (run) => run.state],
  ["Steps", (run) => figure(run.figures.steps)],
  ["Duration", (run) => duration(run.figures.duration_s)],
  ["Speed", (run) => (run.figures.steps_per_second ? `${figure(run.figures.steps_per_second)} steps/s` : "–")],
  ["Samples a second", (run) => figure(run.figures.samples_per_second)],
  ["Final loss", (run) => figure(run.figures.final_loss)],
  ["Lowest loss", (run) => figure(run.figures.best_loss)],
  ["GPU memory, peak of the fullest card", (run) => gib(fullest(run)?.peak_bytes)],
  ["GPU memory, mean of that card", (run) => gib(fullest(run)?.mean_bytes)],
  ["This run's main memory, peak", (run) => gib(run.figures.run_peak_bytes)],
  ["This run's main memory, mean", (run) => gib(run.figures.run_mean_bytes)],
  ["Host memory, peak", (run) => gib(run.figures.host_peak_bytes)],
];

export class CompareView {
  constructor(ids, open) {
    this.ids = ids;
    this.runs = ids.map((id) => ({ follower: new Follower(id), name: id, live: true }));
    this.polls = 0;
    this.title = el("h2", { class: "ds-run-title" }, `${ids.length} runs compared`);
    this.said = el("p", { class: "ds-reason", role: "status" });
    this.table = el("div", { class: "ds-scroll" });
    this.answers = el("div", { class: "ds-answers" });
    this.differences = el("div", {});
    this.board = new Board(
      () =>
        this.runs.map((run) => ({ name: run.name, curves: run.follower.curves, live: run.live, noLoss: run.noLoss })),
      {
        kept: "dsgui.compared",
        refine: async (axis, low, high) => {
          const wanted = () => this.board.looksAt(axis, low, high);
          await Promise.all(
            this.runs.map((run) =>
              run.follower.refine(axis, low, high, this.board.hidden(run.follower.curves, axis, low, high), wanted),
            ),
          );
          this.board.update();
        },
      },
    );
    const report = el(
      "a",
      { class: "ds-step", download: true, href: `/dsgui/report?${new URLSearchParams({ runs: ids.join(",") })}` },
      "Save as report (HTML)",
    );
    this.node = el(
      "div",
      { class: "ds-run ds-compare" },
      el("div", { class: "ds-run-head" }, this.title),
      this.said,
      this.table,
      this.answers,
      this.board.node,
      el("h3", {}, "Where their configs differ"),
      this.differences,
      el("p", { class: "ds-actions" }, report),
    );
    this.open = open;
  }

  async poll() {
    for (const run of this.runs) {
      if (!run.live && this.polls % TABLE_EVERY) continue;
      const delta = await run.follower.poll();
      if (delta === null) {
        this.said.textContent = `Run ${run.follower.id} is not kept here any more.`;
        run.live = false;
        run.gone = true;
        continue;
      }
      run.name = this.runs.some((other) => other !== run && other.given === delta.name)
        ? `${delta.name} (${run.follower.id.slice(-4)})`
        : delta.name || run.follower.id;
      run.given = delta.name;
      run.live = LIVE_STATES.has(delta.state);
      run.noLoss = delta.no_loss?.text || "";
    }
    this.polls += 1;
    this.board.update();
    if (this.polls % TABLE_EVERY === 1) await this.tell();
    return this.runs.some((run) => run.live);
  }

  async tell() {
    const kept = this.runs.filter((run) => !run.gone);
    if (!kept.length) return;
    const answer = await fetch(
      `/dsgui/compare?${new URLSearchParams({ runs: kept.map((run) => run.follower.id).join(",") })}`,
    );
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const { runs, differences, answers } = await answer.json();
    const key = JSON.stringify([runs, differences, answers]);
    if (key === this.told) return;
    this.told = key;
    const heads = kept.map((run) => {
      const button = el("button", { type: "button", class: "ds-link" }, run.name);
      button.addEventListener("click", () => this.open(run.follower.id));
      const swatch = el("span", { class: "ds-swatch" });
      swatch.style.background = seen(look(this.runs.indexOf(run)).colour);
      return el("th", { scope: "col" }, swatch, button);
    });
    const body = ROWS.map(([title, tell]) => [title, runs.map(tell)]).filter(([, cells]) =>
      cells.some((cell) => cell !== "–"),
    );
    this.table.replaceChildren(
      el(
        "table",
        { class: "ds-table" },
        el("thead", {}, el("tr", {}, el("th", {}, ""), ...heads)),
        el(
          "tbody",
          {},
          ...body.map(([title, cells]) =>
            el("tr", {}, el("th", { scope: "row" }, title), ...cells.map((cell) => el("td", {}, cell))),
          ),
        ),
      ),
    );
    this.answers.replaceChildren(
      ...answers.map((one) =>
        el(
          "section",
          { class: "ds-answer" },
          el("h3", {}, one.question),
          ...one.sentences.map((text) => el("p", {}, text)),
        ),
      ),
    );
    this.differences.replaceChildren(
      differences.length
        ? el(
            "div",
            { class: "ds-scroll" },
            el(
              "table",
              { class: "ds-table" },
              el(
                "thead",
                {},
                el(
                  "tr",
                  {},
                  el("th", { scope: "col" }, "Key"),
                  ...kept.map((run) => el("th", { scope: "col" }, run.name)),
                ),
              ),
              el(
                "tbody",
                {},
                ...differences.map((one) =>
                  el(
                    "tr",
                    {},
                    el("th", { scope: "row" }, el("code", {}, one.key)),
                    ...one.values.map((value) => el("td", {}, value === null ? "not set" : el("code", {}, value))),
                  ),
                ),
              ),
            ),
          )
        : el("p", { class: "ds-remark" }, "They are the same, key by key."),
    );
  }

  draw(force = false) {
    this.board.draw(force);
  }
  close() {
    this.board.close();
  }
}
