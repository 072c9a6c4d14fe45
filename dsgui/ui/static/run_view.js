// One run's page: adds what came after its cursor, draws.

import { Alerts } from "./alerts.js";
import { Board } from "./board.js";
import { button, el } from "./dom.js";
import { Follower, LIVE_STATES } from "./follower.js";
import { heldAgainst } from "./charts.js";
import { duration, figure, pace } from "./format.js";
import { Log } from "./log.js";
import { Patterns } from "./patterns.js";
import { Slow } from "./slow.js";
import { Speed } from "./speed.js";
import { textOf } from "./texts.js";

/** @import { Delta, Trigger } from "./types.d.ts" */
/** @import { Afterwards } from "./afterwards.js" */
/** @import { Chart } from "./chart.js" */

const STOP_AGAIN_MS = 4000;
/** @type {Record<string, string>} */
const STOPS = { stopping: "Kill now", queued: "Leave the queue" };
export class RunView {
  /**
   * @param {string} id @param {(id: string) => void} onStop @param {(id: string) => void} onSave
   * @param {Afterwards} afterwards @param {Trigger} trigger
   */
  constructor(id, onStop, onSave, afterwards, trigger) {
    this.id = id;
    this.ids = [id];
    this.onStop = onStop;
    this.onSave = onSave;
    this.afterwards = afterwards;
    this.follower = new Follower(id);
    this.speed = new Speed();
    this.slow = new Slow(id);
    this.lastState = "";
    this.noLoss = "";
    this.patterns = new Patterns(id, trigger, () => this.follower.curves);
    this.title = el("h2", { class: "ds-run-title" });
    this.badge = el("span", { class: "ds-state" });
    this.reason = el("p", { class: "ds-reason", role: "status" });
    this.problem = el("p", { class: "ds-problem", role: "alert", hidden: true });
    this.bar = el("progress", { class: "ds-progress", max: "1", value: "0", "aria-label": "Training progress" });
    this.facts = el("dl", { class: "ds-facts" });
    this.stop = button("Stop", { class: "ds-stop", id: "stop-run" }, () => this.sendStop());
    this.save = button("Save and stop", { class: "ds-save", id: "save-run", hidden: true }, () => this.sendSave());
    this.note = el("p", { class: "ds-remark", hidden: true });
    this.alerts = new Alerts(() => this.title.textContent);
    this.log = new Log(id, (end) => this.follower.seek(end));
    this.board = this.makeBoard();
    this.board.tools.append(this.alerts.ask);
    this.command = el("pre", { class: "ds-command" });
    this.directory = el("code", {});
    this.memory = el("p", { class: "ds-remark ds-memory-was", hidden: true });
    this.node = this.makeNode();
  }

  makeBoard() {
    const sources = () => [
      {
        name: this.title.textContent ?? "",
        curves: this.follower.curves,
        live: LIVE_STATES.has(this.lastState),
        noLoss: this.noLoss,
        events: this.follower.events,
        estimate: () => this.afterwards.estimate,
        predicted: () => this.afterwards.predicted,
      },
    ];
    /** @type {import("./board.js").BoardOptions["refine"]} */
    const refine = async (axis, low, high) => {
      await this.follower.refine(axis, low, high, () => this.board.looksAt(axis, low, high));
      this.board.update();
    };
    /** @param {Chart} chart */
    const csv = (chart) => {
      window.location.href = this.saved("points.csv", chart.lines.flatMap((line) => line.curve.ids).join(","));
    };
    return new Board(sources, { refine, csv });
  }

  makeNode() {
    const about = el(
      "details",
      { class: "ds-about" },
      el("summary", {}, "Command and files"),
      this.command,
      this.afterwards.about,
      el("p", {}, "Run directory: ", this.directory),
      this.exports(),
    );
    return el(
      "div",
      { class: "ds-run" },
      el("div", { class: "ds-run-head" }, this.title, this.badge, this.save, this.stop),
      this.reason,
      this.problem,
      this.alerts.list,
      this.afterwards.diagnosis,
      this.bar,
      this.facts,
      this.memory,
      this.slow.node,
      this.afterwards.actions,
      this.note,
      this.board.node,
      el("details", { class: "ds-output", open: true }, el("summary", {}, "Output"), this.log.node),
      this.patterns.node,
      about,
    );
  }

  sendSave() {
    this.save.disabled = true;
    this.onSave(this.id);
  }

  sendStop() {
    this.stop.disabled = true;
    this.onStop(this.id);
    // A stop that could not be sent may be tried again; a double click is one stop.
    setTimeout(() => {
      this.stop.disabled = false;
    }, STOP_AGAIN_MS);
  }

  /** The address of something to save. @param {string} what */
  saved(what, ids = "") {
    return `/dsgui/runs/${encodeURIComponent(this.id)}/${what}${ids ? `?${new URLSearchParams({ ids })}` : ""}`;
  }

  exports() {
    /** @param {string} href @param {string} text @param {string} title */
    const link = (href, text, title) => el("a", { class: "ds-step", href, download: true, title }, text);
    return el(
      "p",
      { class: "ds-actions" },
      "Save ",
      link(
        `/dsgui/report?${new URLSearchParams({ runs: this.id })}`,
        "Report (HTML)",
        "One file with curves, config, command and environment, to send to a colleague",
      ),
      link(this.saved("points.csv"), "All points (CSV)", "Every logged value and system metric"),
      link(this.saved("tensorboard.zip"), "TensorBoard files", "Event files that TensorBoard opens"),
    );
  }

  async poll() {
    const delta = await this.follower.poll();
    if (delta === null) {
      this.missing();
      return false;
    }
    this.alerts.take(delta.events);
    this.header(delta);
    if (delta.output) this.log.add(delta.output);
    this.board.update();
    this.patterns.update();
    return LIVE_STATES.has(delta.state);
  }

  missing() {
    this.title.textContent = this.id;
    this.reason.textContent = "Run not found. It may have been deleted or belong to another --runs-dir.";
  }

  /** @param {Delta} delta */
  header(delta) {
    this.title.textContent = delta.name || this.id;
    this.badge.textContent = textOf("states", delta.state);
    this.badge.dataset.state = delta.state;
    this.reason.textContent = this.sentence(delta);
    this.problem.hidden = !delta.problem;
    this.problem.textContent = delta.problem ?? "";
    const live = LIVE_STATES.has(delta.state);
    this.stop.hidden = !delta.can_end;
    this.stop.textContent = STOPS[delta.state] || "Stop";
    if (delta.state !== this.lastState) {
      this.stop.disabled = false;
      if (this.lastState && !live) this.alerts.notify(`The run ${textOf("states", delta.state)}.`);
    }
    this.save.hidden = !delta.can_save;
    this.lastState = delta.state;
    this.noLoss = delta.no_loss?.text || "";
    void this.afterwards.update(delta.state, live).then(() => this.showMemory(live));
    this.alerts.show(live);
    void this.slow.update(delta.state, live);
    this.showProgress(delta, live);
    const facts = this.factsOf(delta, live);
    this.facts.replaceChildren(...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    this.command.textContent = this.follower.about.command || "";
    this.directory.textContent = this.follower.about.directory || "";
    this.note.hidden = !delta.telemetry_note;
    this.note.textContent = delta.telemetry_note || "";
  }

  /** How near the prediction came. @param {boolean} live */
  showMemory(live) {
    const told = live ? "" : heldAgainst(this.afterwards.predicted, this.follower.curves.each);
    this.memory.hidden = !told;
    this.memory.textContent = told && `Memory. ${told}.`;
  }

  /** @param {Delta} delta @param {boolean} live */
  showProgress({ progress }, live) {
    const total = progress?.total;
    if (total) {
      this.bar.max = total;
      this.bar.value = progress.step || 0;
    } else if (live) this.bar.removeAttribute("value");
    this.bar.hidden = !live && !total;
  }

  /** @param {Delta} delta @param {boolean} live @returns {[string, string][]} */
  factsOf({ progress, epoch, elapsed_s: elapsed }, live) {
    const { step = null, total = null, eta_s: eta = null } = progress ?? {};
    const of = epoch?.epochs ? ` / ${epoch.epochs}` : "";
    const rate = this.speed.rate({ progress, elapsed_s: elapsed }, this.follower.curves, live);
    return [
      ...(epoch && !total ? [/** @type {[string, string]} */ (["Epoch", `${figure(epoch.number)}${of}`])] : []),
      ["Step", total ? `${step ?? 0} / ${total}` : figure(step)],
      ["Speed", pace(rate)],
      [live ? "Elapsed" : "Duration", duration(elapsed)],
      ...(live ? [/** @type {[string, string]} */ (["ETA", duration(eta)])] : []),
      [live ? "Loss" : "Final loss", figure(this.loss())],
      ["Run", this.id],
    ];
  }

  loss() {
    const curves = this.follower.curves.best();
    return curves.find(({ name, kind, rank }) => name === "loss" && kind === "train" && !rank)?.lastValue;
  }

  /** What it does now, where that needs a sentence. @param {Delta} delta */
  sentence(delta) {
    if (delta.reason) return delta.reason;
    if (delta.state === "stopping") {
      const left = Math.ceil(delta.kill_in_s ?? 0);
      return left > 0
        ? `Its processes were asked to exit; any left after ${left} s will be killed.`
        : "Killing the remaining processes…";
    }
    if (delta.state === "pending") return "Starting the supervisor…";
    if (delta.state !== "running") return "";
    if (delta.doing) return `${delta.doing[0].toUpperCase()}${delta.doing.slice(1)}. Training has not started.`;
    return textOf("phases", delta.phase);
  }

  draw(force = false) {
    this.board.draw(force);
  }
  close() {
    this.board.close();
  }
}
