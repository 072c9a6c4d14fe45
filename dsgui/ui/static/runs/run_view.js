// One run's page: adds what came after its cursor, draws.

import { AfterTraining } from "../afterwards/after.js";
import { Alerts } from "../notify/alerts.js";
import { Board } from "../metrics/board.js";
import { wholeWords } from "../launch/command_line.js";
import { button, el } from "../common/dom.js";
import { phaseText, startPhases } from "../common/durations.js";
import { Follower, LIVE_STATES } from "./follower.js";
import { heldAgainst } from "../metrics/charts.js";
import { duration, figure, fixed, perSecond } from "../common/format.js";
import { Log } from "../logs/log.js";
import { Patterns } from "../logs/patterns.js";
import { shownDate } from "./run_columns.js";
import { tellState } from "./run_rows.js";
import { RunLabel } from "./run_label.js";
import { Slow } from "../slow/slow.js";
import { Speed, spent } from "../slow/speed.js";
import { StopQuestion } from "./stopping.js";
import { Toast } from "../common/toast.js";
import { textOf, words } from "../texts/texts.js";

/** @import { Delta, LabelChange, Trigger } from "../types.d.ts" */
/** @import { Afterwards } from "../afterwards/afterwards.js" */
/** @import { Chart } from "../metrics/chart.js" */

const STOP_AGAIN_MS = 4000;
/** How long what comes above the charts may keep them waiting. */
export const TOLD_MS = 1500;
const NOT_A_NUMBER = "not-a-number"; // what its diagnosis is called
const UNREAD = new Set(["damaged", "foreign"]);
const ALERTING = new Set(["alert", "calm"]);
const ENDED_EARLY = new Set(["stopped", "lost"]); // of what failed its diagnosis comes first
const KILL_AFTER_MS = 1000; // a double click on what was there before kills nothing
/** @type {Record<string, string>} */
const STOPS = { stopping: "stopping", queued: "leave_queue" };

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("runs_page", code, given);

export class RunView {
  /**
   * @param {string} id @param {(id: string) => void} onStop @param {(id: string) => void} onSave
   * @param {Afterwards} afterwards @param {Trigger} trigger @param {(change: LabelChange) => void} onLabel
   * @param {import("./run_editing.js").Pending} pending
   */
  constructor(id, onStop, onSave, afterwards, trigger, onLabel, pending) {
    this.id = id;
    this.ids = [id];
    this.onStop = onStop;
    this.onSave = onSave;
    this.afterwards = afterwards;
    this.follower = new Follower(id, true);
    this.speed = new Speed();
    this.slow = new Slow(id);
    this.after = new AfterTraining(id, trigger);
    this.lastState = "";
    this.isQuoted = false; // the end of its output, in its card
    this.noLoss = "";
    this.patterns = new Patterns(id, trigger, () => this.follower.curves);
    this.title = el("h2", { class: "ds-run-title" });
    new ResizeObserver(() => this.showTitle()).observe(this.title);
    this.toast = new Toast();
    this.label = new RunLabel(this.title, onLabel, (told) => pending.over(id, told), this.toast);
    afterwards.archive = this.label.archive;
    afterwards.seeOutput = (quoted) => this.seeOutput(quoted);
    afterwards.onPredicted = () => this.showPredicted();
    this.when = el("span", { class: "ds-run-when" });
    this.label.node.prepend(this.when);
    this.whyNot = el("p", { class: "ds-strip ds-why-not", hidden: true });
    this.ran = el("p", { class: "ds-remark ds-ran", hidden: true });
    this.badge = el("span", { class: "ds-state" });
    this.reason = el("p", { class: "ds-reason", role: "status" });
    this.kill = button(say("kill"), { class: "ds-step ds-kill", id: "kill-run", hidden: true }, () => this.sendStop());
    this.line = el("div", { class: "ds-reason-line" }, this.reason, this.kill); // as high while it runs as with all
    this.phases = el("ol", { class: "ds-phases", "aria-label": say("phases"), hidden: true });
    this.growth = el("p", { class: "ds-remark ds-growth", hidden: true });
    this.problem = el("p", { class: "ds-problem", role: "alert", hidden: true });
    this.bar = el("progress", { class: "ds-progress", max: "1", value: "0", "aria-label": say("progress") });
    this.facts = el("dl", { class: "ds-facts" });
    this.spiked = el("p", { class: "ds-strip ds-spiked", hidden: true });
    this.spent = el("p", { class: "ds-remark ds-spent", hidden: true });
    this.stop = button(say("stop"), { class: "ds-stop", id: "stop-run" }, () => this.askStop());
    this.save = button(say("save_and_stop"), { class: "ds-save", id: "save-run", hidden: true }, () => this.sendSave());
    this.question = new StopQuestion(id, { stop: () => this.sendStop(), save: () => this.sendSave() });
    this.note = el("p", { class: "ds-remark", hidden: true });
    this.alerts = new Alerts(() => this.label.name);
    this.log = new Log(id, (end) => this.follower.seek(end));
    this.board = this.makeBoard();
    this.board.tools.append(this.alerts.ask, this.note);
    this.command = el("pre", { class: "ds-command ds-words" });
    this.directory = el("code", {});
    this.memory = el("p", { class: "ds-remark ds-memory-was", hidden: true });
    this.output = el("details", { class: "ds-output", open: true }, el("summary", {}, say("output")), this.log.node);
    this.node = this.makeNode();
    /** @type {ChildNode[]} what the page had before its run was found to be missing */
    this.parts = [];
    this.stopSentAt = -STOP_AGAIN_MS;
  }

  /** A name that is cut off is shown whole to whoever points at it, and where it has the focus. */
  showTitle() {
    const { title } = this;
    title.title = this.label?.name ?? "";
    if (title === document.activeElement) return;
    if (title.scrollWidth > title.clientWidth) title.tabIndex = 0;
    else title.removeAttribute("tabindex");
  }

  makeBoard() {
    const sources = () => [
      {
        name: this.label.name,
        curves: this.follower.curves,
        live: LIVE_STATES.has(this.lastState),
        noLoss: this.noLoss,
        events: this.follower.events,
        estimate: () => this.afterwards.estimate,
        predicted: () => this.afterwards.predicted,
      },
    ];
    /** @type {import("../metrics/board.js").BoardOptions["refine"]} */
    const refine = async (axis, low, high) => {
      await this.follower.refine(axis, low, high, () => this.board.looksAt(axis, low, high));
      this.board.update();
    };
    /** @param {Chart} chart */
    const csv = (chart) => {
      window.location.href = this.saved("points.csv", chart.lines.flatMap((line) => line.curve.ids).join(","));
    };
    const isTold = (/** @type {import("../types.d.ts").Line} */ { curve }) =>
      curve === this.curve("loss", "train") || curve === this.curve("eval_loss", "eval"); // among the facts
    return new Board(sources, { refine, csv, isTold });
  }

  makeNode() {
    const about = el(
      "details",
      { class: "ds-about" },
      el("summary", {}, say("command")),
      this.command,
      this.afterwards.about,
      el("p", {}, say("directory"), " ", this.directory),
      el("p", {}, say("run"), " ", el("code", {}, this.id)),
      this.exports(),
    );
    return el(
      "div",
      { class: "ds-run", "aria-busy": "true" },
      el(
        "div",
        { class: "ds-run-head" },
        el("div", { class: "ds-run-heading" }, this.title, this.label.rename, this.badge, this.label.chip),
        el("div", { class: "ds-actions" }, this.afterwards.actions, this.save, this.stop),
      ),
      this.afterwards.asked,
      this.label.node,
      this.ran,
      this.line,
      this.whyNot,
      this.question.node,
      this.phases,
      this.growth,
      this.problem,
      this.alerts.list,
      this.afterwards.diagnosis,
      this.bar,
      this.spiked,
      this.facts,
      this.spent,
      this.memory,
      this.slow.node,
      this.board.node,
      this.after.node,
      this.output,
      this.patterns.node,
      about,
      this.toast.node,
    );
  }

  /** @param {string} quoted the line that its diagnosis quotes */
  seeOutput(quoted) {
    this.output.open = true;
    this.output.scrollIntoView({ block: "start" });
    void this.log.toLine(quoted);
  }

  sendSave() {
    this.save.disabled = true;
    this.onSave(this.id);
  }

  /** What trains may lose what it has learned: that is asked once. */
  askStop() {
    const loses = this.lastState === "running" || !LIVE_STATES.has(this.lastState);
    if (loses) void this.question.ask(!this.save.hidden);
    else this.sendStop();
  }

  sendStop() {
    this.stop.disabled = this.kill.disabled = true;
    this.stopSentAt = performance.now();
    this.stop.textContent = say("stopping");
    this.showState("stopping");
    this.onStop(this.id);
    // A stop that could not be sent may be tried again; a double click is one stop.
    setTimeout(() => {
      this.stop.disabled = this.lastState === "stopping";
      this.kill.disabled = false;
    }, STOP_AGAIN_MS);
  }

  /** Whether it was asked to stop and the server has not told yet. @param {string} state */
  isAsked(state) {
    return state === this.lastState && LIVE_STATES.has(state) && performance.now() - this.stopSentAt < STOP_AGAIN_MS;
  }

  /** @param {string} state */
  showState(state) {
    tellState(this.badge, state, this.curve("loss", "train")?.lastValue);
  }

  /**
   * While it ends, the button that was pressed stays what it was; killing is another one, elsewhere.
   * @param {Delta} delta @param {boolean} changed
   */
  showStop(delta, changed) {
    const stopping = delta.state === "stopping";
    this.stop.hidden = !delta.can_end;
    this.stop.textContent = say(this.isAsked(delta.state) ? "stopping" : (STOPS[delta.state] ?? "stop"));
    this.kill.hidden = !(stopping && delta.can_end);
    if (!changed) return;
    this.stop.disabled = stopping;
    this.kill.disabled = stopping;
    if (stopping) setTimeout(() => (this.kill.disabled = false), KILL_AFTER_MS);
    if (!delta.can_end) this.question.node.close();
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
      say("save"),
      " ",
      link(this.saved("points.csv"), say("points"), say("points_title")),
      link(this.saved("tensorboard.zip"), say("tensorboard"), say("tensorboard_title")),
    );
  }

  async poll() {
    const delta = await this.follower.poll();
    if (delta === null) {
      this.node.removeAttribute("aria-busy");
      this.missing();
      return false;
    }
    if (this.parts.length) this.node.replaceChildren(...this.parts.splice(0));
    this.alerts.take(delta.events);
    const told = this.header(delta);
    // Shown at once, with what comes above the charts; whoever waits too long for that sees the charts before it.
    if (this.node.hasAttribute("aria-busy")) {
      const shown = () => this.node.removeAttribute("aria-busy");
      await Promise.race([told, new Promise((end) => setTimeout(end, TOLD_MS))]).finally(shown);
    }
    if (delta.output) this.log.add(delta.output);
    this.board.update();
    this.patterns.update();
    this.showGrowth(delta);
    const goesOn = LIVE_STATES.has(delta.state) || Boolean(delta.growth?.growing);
    void this.log.show(goesOn);
    return goesOn;
  }

  /** Of a training that somebody else runs. @param {Delta} delta */
  showGrowth({ growth }) {
    this.growth.hidden = !growth;
    if (!growth) return;
    const seconds = String(Math.round(growth.read_s));
    const changed = duration(growth.changed_s);
    const told = growth.seen ? say("still_growing", { seconds }) : say("may_grow", { changed, seconds });
    this.growth.textContent = growth.problem || told;
  }

  /** Nothing can be done with what is not there. */
  missing() {
    if (this.parts.length) return;
    this.parts = [...this.node.childNodes];
    this.node.replaceChildren(
      el("h2", { class: "ds-run-title" }, say("not_found")),
      el("p", { class: "ds-reason", role: "status" }, say("not_found_why", { run: this.id })),
      button(say("all_runs"), { class: "ds-step ds-from-missing" }, () => {
        window.dispatchEvent(new CustomEvent("dsgui:runs", { detail: "all" }));
      }),
    );
  }

  /** Resolves when what has to be asked for is there as well. @param {Delta} delta */
  header(delta) {
    const { tags, note, archived } = delta;
    this.label.show({ name: delta.name || this.id, tags, note, archived });
    this.showTitle();
    this.showState(this.isAsked(delta.state) ? "stopping" : delta.state);
    this.when.textContent = this.startOf(delta);
    const ran = (this.follower.about.ran ?? []).join(" · ");
    this.ran.textContent = ran.replaceAll(/(?<=GPU|,) (?=\d)/g, "\u00a0"); // “GPU 0, 1” is a word
    this.ran.hidden = !this.ran.textContent;
    this.reason.textContent = this.sentence(delta);
    this.showPhases(delta);
    this.problem.textContent = delta.problem ?? "";
    const live = LIVE_STATES.has(delta.state);
    const changed = delta.state !== this.lastState;
    this.showStop(delta, changed);
    this.line.toggleAttribute("data-live", live);
    if (changed && this.lastState && !live) {
      this.alerts.notify(say("ended", { state: textOf("states", delta.state) }));
    }
    this.save.hidden = !delta.can_save;
    this.lastState = delta.state;
    this.noLoss = delta.no_loss?.text || "";
    // Fewer processes may be left of what was lost than were at first; what others train may have broken since.
    const alerted = () => String(this.follower.events.filter(({ kind }) => ALERTING.has(kind)).length);
    const reason = delta.state === "lost" ? delta.reason : delta.growth ? alerted() : "";
    const hasPlan = !UNREAD.has(delta.state) || this.follower.about.command; // else nobody knows what it saves
    const told = Promise.all([
      this.afterwards.update(delta.state, live, reason).then(() => this.showMemory(live)),
      this.slow.update(delta.state, live, Boolean(delta.progress?.step)),
      hasPlan ? this.after.update(delta.state, live) : null,
    ]).then(() => this.showAbout());
    this.showAbout();
    this.alerts.show(live);
    this.showProgress(delta, live);
    const facts = this.factsOf(delta, live);
    this.facts.replaceChildren(...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    this.showSpent(live ? null : delta.elapsed_s);
    const command = this.follower.about.command || "";
    if (command !== this.command.textContent) this.command.replaceChildren(...wholeWords(command));
    this.command.hidden = !command; // nobody knows how others started theirs
    this.directory.textContent = this.follower.about.directory || "";
    this.note.hidden = !delta.telemetry_note;
    this.note.textContent = delta.telemetry_note || "";
    return told;
  }

  /** When it began, and with which preset. @param {Delta} delta */
  startOf({ started_at: at }) {
    const date = typeof at === "number" ? shownDate(new Date(at * 1000)) : "";
    return [date, this.follower.about.preset].filter(Boolean).join(" · ");
  }

  /** What its diagnosis says, and what is said after training, are not said twice. */
  showAbout() {
    const { diagnosis, problem: told } = this.afterwards;
    this.reason.hidden = !diagnosis.hidden && !this.afterwards.isNote;
    const problem = this.problem.textContent;
    this.problem.hidden = !problem || (!diagnosis.hidden && told.startsWith(problem));
    if (this.afterwards.failed === NOT_A_NUMBER) this.alerts.show(false, true, this.afterwards.isOfNorm);
    // What ended early is resumed, if it can be: why it can't comes first there.
    const [above, below] = ENDED_EARLY.has(this.lastState)
      ? [this.afterwards.resumeNote, ""]
      : ["", this.afterwards.resumeNote];
    this.whyNot.textContent = above;
    this.whyNot.hidden = !above;
    this.after.showResume(below);
    this.showSpike();
    this.showState(this.badge.dataset.state ?? "");
    if (this.afterwards.quotesOutput && !this.isQuoted) this.output.open = false; // its end is told already
    this.isQuoted = this.afterwards.quotesOutput;
  }

  /** How near the prediction came. @param {boolean} live */
  showMemory(live) {
    const { each, peak } = this.follower.curves;
    const told = live ? "" : heldAgainst(this.afterwards.predicted, each, this.afterwards.failed, peak);
    this.memory.hidden = !told;
    this.memory.textContent = told && say("memory", { told });
  }

  /** A finished run is not polled again. */
  showPredicted() {
    if (!this.node.isConnected) return;
    this.showMemory(LIVE_STATES.has(this.lastState));
    this.board.update();
  }

  /** @param {Delta} delta @param {boolean} live */
  showProgress({ progress }, live) {
    const total = progress?.total;
    if (total) {
      this.bar.max = total;
      this.bar.value = progress.step || 0;
    } else if (live) this.bar.removeAttribute("value");
    this.bar.hidden = !live; // of one that has ended its step says it
  }

  /** @param {Delta} delta @param {boolean} live @returns {[string, string][]} */
  factsOf({ progress, epoch, elapsed_s: elapsed }, live) {
    const { step = null, total = null, eta_s: eta = null } = progress ?? {};
    const last = this.lastState === "succeeded" ? "final_loss" : "last_loss"; // of one that ended before its end
    const of = epoch?.epochs ? ` / ${epoch.epochs}` : "";
    const rate = this.speed.rate({ progress, elapsed_s: elapsed }, this.follower.curves, live);
    /** @type {[string, string][]} */
    const facts = [
      [say("step"), total ? `${step ?? 0} / ${total}` : figure(step ?? this.lastStep())],
      [say("speed"), perSecond(rate)],
      [say(live ? "elapsed" : "duration"), duration(elapsed)],
      [say(live ? "loss" : last), fixed(this.curve("loss", "train")?.lastValue)],
      ...(live ? [] : this.scores()),
    ];
    if (live) facts.splice(3, 0, [say("eta"), duration(eta)]);
    if (epoch && !total) facts.unshift([say("epoch"), `${figure(epoch.number)}${of}`]);
    return facts.filter(([, value]) => value !== figure(null));
  }

  /** Steps by their speed are less than the duration: why. @param {number | null} took */
  showSpent(took) {
    const found = spent(this.follower.curves, took);
    this.spent.textContent = found ? this.spentText(found, took) : "";
    this.spent.hidden = !found;
  }

  /** @param {{ training: number, before: number, after: number }} found @param {number | null} took */
  spentText({ training, before, after }, took) {
    return [
      say("spent_training", { time: duration(training), all: duration(took) }),
      ...(before >= 1 ? [say("spent_before", { time: duration(before) })] : []),
      ...(after >= 1 ? [say("spent_after", { time: duration(after) })] : []),
    ].join(" · ");
  }

  /** Above the figures: none of them tells what the loss did in between. */
  showSpike() {
    const { spike } = this.afterwards;
    const given = spike && { step: String(spike.step), value: fixed(spike.value), count: String(spike.count) };
    this.spiked.textContent = given ? say(spike.count > 1 ? "spikes" : "spike", given) : "";
    this.spiked.hidden = !given;
  }

  /** @returns {[string, string][]} */
  scores() {
    const evaluated = this.curve("eval_loss", "eval")?.lastValue;
    return [
      [say("column_best_loss"), fixed(this.curve("loss", "train")?.least)],
      [say("final_evaluation"), fixed(evaluated)],
    ];
  }

  /** Of a run that tells no progress, where its curves have come to. */
  lastStep() {
    const { curves } = this.follower;
    const steps = curves.counted ? NaN : curves.clock("step")?.last?.high.step;
    return Number.isFinite(steps) ? steps : null;
  }

  /** @param {string} name @param {string} kind */
  curve(name, kind) {
    return this.follower.curves.best().find((one) => one.name === name && one.kind === kind && !one.rank);
  }

  /** What it does now, where that needs a sentence. @param {Delta} delta */
  sentence(delta) {
    if (delta.reason) return delta.reason;
    if (delta.state === "stopping") {
      const left = Math.ceil(delta.kill_in_s ?? 0);
      return left > 0 ? say("asked_to_exit", { seconds: String(left) }) : say("killing");
    }
    if (delta.state === "pending") return say("supervisor_starts");
    if (delta.state !== "running") return "";
    if (delta.doing) return say("doing", { doing: `${delta.doing[0].toUpperCase()}${delta.doing.slice(1)}` });
    /** @param {string} name */
    const last = (name) => [...this.follower.curves.each].find((one) => one.name === name && !one.node)?.lastValue;
    return phaseText(delta.phase, delta.phase_s, { all: last("cpu_percent"), own: last("run_cpu_percent") });
  }

  /** Of a start: which phase it is in, and for how long. @param {Delta} delta */
  showPhases({ state, doing, phase, phase_s: taken }) {
    const phases = state === "running" && !doing ? startPhases(phase, taken) : [];
    this.phases.hidden = !phases.length;
    const items = phases.map(({ text, is }) => {
      return el("li", { "data-phase": is, ...(is === "now" ? { "aria-current": "step" } : {}) }, text);
    });
    this.phases.replaceChildren(...items);
  }

  draw(force = false) {
    this.board.draw(force);
  }
  close() {
    this.board.close();
  }
}
