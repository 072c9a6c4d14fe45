// One run's page: asks for what came after its cursor, adds it, draws.

import { Alerts } from "./alerts.js";
import { Board } from "./board.js";
import { Curves } from "./curves.js";
import { el } from "./dom.js";
import { Log } from "./log.js";
import { Patterns } from "./patterns.js";

const STOP_AGAIN_MS = 4000;
const SPEED_OVER_S = 60;
const IDS_AT_ONCE = 200;
export const LIVE_STATES = new Set(["pending", "queued", "running", "stopping"]);

const pad = (n) => String(n).padStart(2, "0");
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const s = Math.round(seconds);
  const rest = `${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
  return s >= 3600 ? `${Math.floor(s / 3600)}:${rest}` : rest;
}
export const figure = (value) =>
  typeof value === "number"
    ? Number.isFinite(value)
      ? Number(value.toPrecision(4)).toString()
      : String(value)
    : value === undefined || value === null
      ? "–"
      : String(value);

// Asks for a run's news again and again.
export class Follower {
  constructor(id) {
    this.id = id;
    this.cursor = {};
    this.curves = new Curves();
    this.events = [];
  }

  // The news, or null where there is no such run.
  async poll() {
    const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}?${new URLSearchParams(this.cursor)}`);
    if (answer.status === 404) return null;
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const delta = await answer.json();
    this.cursor = delta.cursor;
    this.curves.take(delta.curves);
    this.events.push(...delta.events);
    if (Object.keys(delta.about).length) this.about = delta.about;
    return delta;
  }

  // `wanted` says whether the range is still looked at when the answer comes.
  async refine(axis, low, high, ids, wanted) {
    for (let begin = 0; begin < ids.length; begin += IDS_AT_ONCE) {
      const query = new URLSearchParams({ ids: ids.slice(begin, begin + IDS_AT_ONCE).join(","), axis, low, high });
      const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}/window?${query}`).catch(() => null);
      const found = answer?.ok ? await answer.json() : null;
      if (found && wanted()) this.curves.refine(found, axis, low);
    }
  }
}

export class RunView {
  constructor(id, onStop, onSave, afterwards, trigger) {
    Object.assign(this, { id, onStop, onSave, afterwards });
    this.follower = new Follower(id);
    this.progress = []; // [seconds, step] as the polls told them
    this.patterns = new Patterns(id, trigger, () => this.follower.curves);
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
    this.alerts = new Alerts(() => this.title.textContent);
    this.log = new Log(this.id, (end) => {
      this.follower.cursor.output = end;
    });
    this.board = new Board(
      () => [
        {
          name: this.title.textContent,
          curves: this.follower.curves,
          live: LIVE_STATES.has(this.lastState),
          noLoss: this.noLoss,
          events: this.follower.events,
          estimate: () => this.afterwards.estimate,
        },
      ],
      {
        refine: async (axis, low, high) => {
          const ids = this.board.hidden(this.follower.curves, axis, low, high);
          await this.follower.refine(axis, low, high, ids, () => this.board.looksAt(axis, low, high));
          this.board.update();
        },
        csv: (chart) => {
          window.location.href = this.saved("points.csv", chart.lines.flatMap((line) => line.curve.ids).join(","));
        },
      },
    );
    this.command = el("pre", { class: "ds-command" });
    this.directory = el("code", {});
    this.save.addEventListener("click", () => {
      this.save.disabled = true;
      this.onSave(this.id);
    });
    this.stop.addEventListener("click", () => {
      this.stop.disabled = true;
      this.onStop(this.id);
      // A stop that could not be sent may be tried again; a double click is one stop.
      setTimeout(() => {
        this.stop.disabled = false;
      }, STOP_AGAIN_MS);
    });
    this.node = el(
      "div",
      { class: "ds-run" },
      el("div", { class: "ds-run-head" }, this.title, this.badge, this.save, this.stop),
      this.reason,
      this.alerts.list,
      this.afterwards.diagnosis,
      this.bar,
      this.facts,
      this.afterwards.actions,
      this.note,
      this.board.node,
      el("details", { class: "ds-output", open: true }, el("summary", {}, "Output"), this.log.node),
      this.patterns.node,
      el(
        "details",
        { class: "ds-about" },
        el("summary", {}, "Command and files"),
        this.command,
        this.afterwards.about,
        el("p", {}, "Everything of this run is in ", this.directory),
        this.exports(),
      ),
    );
    this.board.node.querySelector(".ds-board-tools").append(this.alerts.ask);
  }

  saved(what, ids = "") {
    return `/dsgui/runs/${encodeURIComponent(this.id)}/${what}${ids ? `?${new URLSearchParams({ ids })}` : ""}`;
  }

  exports() {
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
      link(this.saved("points.csv"), "Every point (CSV)", "Each logged value and each reading of the machine"),
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
    this.reason.textContent =
      "No run of that name is kept here. It may have been deleted, or belong to another --runs-dir.";
  }

  header(delta) {
    this.title.textContent = delta.name || this.id;
    this.badge.textContent = delta.state;
    this.badge.dataset.state = delta.state;
    this.reason.textContent = this.sentence(delta);
    const live = LIVE_STATES.has(delta.state);
    this.stop.hidden = !delta.can_end;
    this.stop.textContent = { stopping: "Kill now", queued: "Leave the queue" }[delta.state] || "Stop";
    if (delta.state !== this.lastState) {
      this.stop.disabled = false;
      if (this.lastState && !live) this.alerts.notify(`The run ${delta.state}.`);
    }
    this.save.hidden = !delta.can_save;
    this.lastState = delta.state;
    this.noLoss = delta.no_loss?.text || "";
    this.afterwards.update(delta.state, live);
    this.alerts.show(live);
    const { step, total, eta_s: eta } = delta.progress || {};
    if (total) {
      this.bar.max = total;
      this.bar.value = step || 0;
    } else if (live) this.bar.removeAttribute("value");
    this.bar.hidden = !live && !total;
    const place =
      delta.epoch && !total
        ? [
            [
              "Epoch",
              delta.epoch.epochs ? `${figure(delta.epoch.number)} / ${delta.epoch.epochs}` : figure(delta.epoch.number),
            ],
          ]
        : [];
    const facts = [
      ...place,
      ["Step", total ? `${step ?? 0} / ${total}` : figure(step)],
      ["Speed", this.speed(delta, live)],
      [live ? "Elapsed" : "Duration", duration(delta.elapsed_s)],
      ...(live ? [["ETA", eta !== null && eta !== undefined ? duration(eta) : "–"]] : []),
      [live ? "Loss" : "Final loss", figure(this.loss())],
      ["Run", this.id],
    ];
    this.facts.replaceChildren(...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    this.command.textContent = this.follower.about?.command || "";
    this.directory.textContent = this.follower.about?.directory || "";
    this.note.hidden = !delta.telemetry_note;
    this.note.textContent = delta.telemetry_note || "";
  }

  loss() {
    return this.follower.curves.best().find((curve) => curve.name === "loss" && curve.kind === "train" && !curve.rank)
      ?.lastValue;
  }

  // Steps a second: over the last minute while it trains, over all of it afterwards.
  speed(delta, live) {
    const step = delta.progress?.step;
    if (live && step !== undefined && step !== null && delta.elapsed_s !== null) {
      this.progress.push([delta.elapsed_s, step]);
      while (this.progress[0][0] < delta.elapsed_s - SPEED_OVER_S) this.progress.shift();
    }
    const first = live ? this.progress[0] : null;
    let rate =
      first && step > first[1] && delta.elapsed_s > first[0] ? (step - first[1]) / (delta.elapsed_s - first[0]) : NaN;
    if (!Number.isFinite(rate)) {
      const clock = this.follower.curves.clock("step");
      const [begin, end] = [clock?.stretches[0]?.low, clock?.last?.high];
      if (begin && end && end.time > begin.time) rate = (end.step - begin.step) / (end.time - begin.time);
    }
    if (!(rate > 0)) return "–";
    return rate >= 1 ? `${figure(rate)} steps/s` : `${figure(1 / rate)} s/step`;
  }

  sentence(delta) {
    if (delta.reason) return delta.reason;
    if (delta.state === "stopping") {
      const left = Math.ceil(delta.kill_in_s ?? 0);
      return left > 0
        ? `Its processes were asked to end; what is left in ${left} s is killed.`
        : "Killing what is left…";
    }
    if (delta.state === "pending") return "Starting the supervisor…";
    if (delta.state !== "running") return "";
    if (delta.doing) return `${delta.doing[0].toUpperCase()}${delta.doing.slice(1)}. The training has not begun.`;
    if (delta.phase.startsWith("waiting in Slurm")) return "Submitted to Slurm; it waits there for its nodes.";
    if (delta.phase === "compiling")
      return "DeepSpeed is compiling its operators. The first run on a machine takes about a minute; later ones start at once.";
    if (delta.phase === "starting")
      return "Starting: loading PyTorch and the model. On a machine's first run DeepSpeed also compiles its operators, about a minute.";
    return "";
  }

  draw(force = false) {
    this.board.draw(force);
  }
  close() {
    this.board.close();
  }
}
