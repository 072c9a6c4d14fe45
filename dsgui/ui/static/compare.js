// Several runs laid over each other: their curves, what they used and how fast they were, and where their configs
// differ.

import { Board } from "./board.js";
import { seen } from "./chart.js";
import { button, el } from "./dom.js";
import { LIVE_STATES, Follower } from "./follower.js";
import { duration, figure, gib } from "./format.js";
import { look } from "./traces.js";
import { textOf } from "./texts.js";

/** @import { CompareAnswer, ComparedRun } from "./types.d.ts" */

/** @typedef {{ follower: Follower, name: string, given: string, live: boolean, gone: boolean, noLoss: string }} Run */

const TABLE_EVERY = 5; // polls

/** @param {ComparedRun} run */
const fullest = ({ figures: { gpus } }) => gpus.toSorted((a, b) => b.peak_bytes - a.peak_bytes).at(0);
/** @type {[string, (run: ComparedRun) => string][]} */
const ROWS = [
  ["State", (run) => textOf("states", run.state)],
  ["Steps", (run) => figure(run.figures.steps)],
  ["Duration", (run) => duration(run.figures.duration_s)],
  ["Speed", ({ figures: { steps_per_second: rate } }) => (rate ? `${figure(rate)} steps/s` : "–")],
  ["Samples/s", (run) => figure(run.figures.samples_per_second)],
  ["Final loss", (run) => figure(run.figures.final_loss)],
  ["Best loss (lowest)", (run) => figure(run.figures.best_loss)],
  ["GPU memory, peak of the fullest GPU", (run) => gib(fullest(run)?.peak_bytes)],
  ["GPU memory, mean of that GPU", (run) => gib(fullest(run)?.mean_bytes)],
  ["Host memory of this run, peak", (run) => gib(run.figures.run_peak_bytes)],
  ["Host memory of this run, mean", (run) => gib(run.figures.run_mean_bytes)],
  ["Host memory, peak", (run) => gib(run.figures.host_peak_bytes)],
];

/** @param {(Node | string)[]} heads @param {HTMLTableRowElement[]} rows */
const table = (heads, rows) =>
  el("table", { class: "ds-table" }, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
/** @param {Node | string} head @param {(Node | string)[]} cells */
const row = (head, cells) => el("tr", {}, el("th", { scope: "row" }, head), ...cells.map((cell) => el("td", {}, cell)));

export class CompareView {
  /** @param {string[]} ids @param {(id: string) => void} open shows one of them */
  constructor(ids, open) {
    this.id = ""; // it is of none alone
    this.ids = ids;
    this.open = open;
    /** @type {Run[]} */
    this.runs = ids.map((id) => {
      return { follower: new Follower(id), name: id, given: "", live: true, gone: false, noLoss: "" };
    });
    this.polls = 0;
    this.told = "";
    this.title = el("h2", { class: "ds-run-title" }, `${ids.length} runs compared`);
    this.said = el("p", { class: "ds-reason", role: "status" });
    this.table = el("div", { class: "ds-scroll" });
    this.answers = el("div", { class: "ds-answers" });
    this.differences = el("div", {});
    this.board = this.makeBoard();
    const href = `/dsgui/report?${new URLSearchParams({ runs: ids.join(",") })}`;
    const report = el("a", { class: "ds-step", download: true, href }, "Save as report (HTML)");
    this.node = el(
      "div",
      { class: "ds-run ds-compare" },
      el("div", { class: "ds-run-head" }, this.title),
      this.said,
      this.table,
      this.answers,
      this.board.node,
      el("h3", {}, "Config differences"),
      this.differences,
      el("p", { class: "ds-actions" }, report),
    );
  }

  makeBoard() {
    const sources = () =>
      this.runs.map(({ name, follower, live, noLoss }) => ({ name, curves: follower.curves, live, noLoss }));
    /** @type {import("./board.js").BoardOptions["refine"]} */
    const refine = async (axis, low, high) => {
      const wanted = () => this.board.looksAt(axis, low, high);
      await Promise.all(this.runs.map(({ follower }) => follower.refine(axis, low, high, wanted)));
      this.board.update();
    };
    return new Board(sources, { kept: "dsgui.compared", refine });
  }

  async poll() {
    for (const run of this.runs) if (run.live || this.polls % TABLE_EVERY === 0) await this.ask(run);
    this.polls += 1;
    this.board.update();
    if (this.polls % TABLE_EVERY === 1) await this.tell();
    return this.runs.some((run) => run.live);
  }

  /** @param {Run} run */
  async ask(run) {
    const { id } = run.follower;
    const delta = await run.follower.poll();
    if (delta === null) {
      this.said.textContent = `Run ${id} no longer exists.`;
      run.live = false;
      run.gone = true;
      return;
    }
    const twice = this.runs.some((other) => other !== run && other.given === delta.name);
    run.name = twice ? `${delta.name} (${id.slice(-4)})` : delta.name || id;
    run.given = delta.name;
    run.live = LIVE_STATES.has(delta.state);
    run.noLoss = delta.no_loss?.text || "";
  }

  async tell() {
    const kept = this.runs.filter((run) => !run.gone);
    if (!kept.length) return;
    const query = new URLSearchParams({ runs: kept.map((run) => run.follower.id).join(",") });
    const answer = await fetch(`/dsgui/compare?${query}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    /** @type {CompareAnswer} */
    const { runs, differences, answers } = await answer.json();
    const key = JSON.stringify([runs, differences, answers]);
    if (key === this.told) return;
    this.told = key;
    this.table.replaceChildren(this.figures(kept, runs));
    this.answers.replaceChildren(...answers.map(({ question, sentences }) => answerNode(question, sentences)));
    this.differences.replaceChildren(differencesNode(kept, differences));
  }

  /** @param {Run[]} kept @param {ComparedRun[]} runs */
  figures(kept, runs) {
    const heads = kept.map((run) => {
      const swatch = el("span", { class: "ds-swatch" });
      swatch.style.background = seen(look(this.runs.indexOf(run)).colour);
      const open = button(run.name, { class: "ds-link" }, () => this.open(run.follower.id));
      return el("th", { scope: "col" }, swatch, open);
    });
    const told = ROWS.map(([title, cell]) => ({ title, cells: runs.map(cell) }));
    const rows = told.filter(({ cells }) => cells.some((cell) => cell !== "–"));
    return table(
      [el("td"), ...heads],
      rows.map(({ title, cells }) => row(title, cells)),
    );
  }

  draw(force = false) {
    this.board.draw(force);
  }

  close() {
    this.board.close();
  }
}

/** @param {string} question @param {string[]} sentences */
function answerNode(question, sentences) {
  return el("section", { class: "ds-answer" }, el("h3", {}, question), ...sentences.map((text) => el("p", {}, text)));
}

/** @param {Run[]} kept @param {CompareAnswer["differences"]} differences */
function differencesNode(kept, differences) {
  if (!differences.length) return el("p", { class: "ds-remark" }, "The configs are identical.");
  const heads = ["Key", ...kept.map((run) => run.name)].map((text) => el("th", { scope: "col" }, text));
  const rows = differences.map(({ key, values }) => {
    const cells = values.map((value) => (value === null ? "not set" : el("code", {}, value)));
    return row(el("code", {}, key), cells);
  });
  return el("div", { class: "ds-scroll" }, table(heads, rows));
}
