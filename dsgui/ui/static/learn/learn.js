// The drawer of tutorials beside the pages: a track's steps, each with a button that sets up the real page, and what
// the server found of it in the reader's own runs and answers. Loaded when it is opened; asks only while it is open.

import { button, el, withSheet } from "../common/dom.js";
import { comparesAll, countByRuns, countDone, filled, isRead, pieces, whereToGoOn } from "./learn_steps.js";
import { Picture } from "./learn_picture.js";
import { listed, words } from "../texts/texts.js";
import { addressOf, namesIn, visits } from "../site/visits.js";

/** @import { LearnNumbers, LearnState, LearnStep, LearnStepState, LearnTold, LearnTrack } from "../types.d.ts" */
/** @import { Trigger } from "../types.d.ts" */

const ASK_MS = 5000;
const SOON_MS = 700; // until the page that was asked for is there
const OPEN = "dsgui.learn";
const RUNS_TAB = 2;
const SHEET = "/dsgui/static/learn/learn.css";
const WIDE = "(min-width: 1000px)";

/** @template T @param {string} address @returns {Promise<T>} */
async function asked(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

/** @param {string} text */
const written = (text) => pieces(text).map((one) => (one.code ? el("code", {}, one.text) : one.text));
/** How far a tutorial is, drawn; a text beside it says it. @param {{ done: number, all: number }} about */
const bar = ({ done, all }) => el("progress", { value: String(done), max: String(all), "aria-hidden": "true" });

export class Drawer {
  /** @param {Trigger} trigger */
  constructor(trigger) {
    this.trigger = trigger;
    this.turn = 0;
    /** Whether the reader said how high it is to be; until then a step does. */
    this.heightChosen = false;
    /** @type {LearnTold | null} */
    this.tracks = null;
    /** @type {LearnTrack | null} */
    this.track = null;
    /** @type {LearnStep | null} */
    this.step = null;
    /** @type {LearnState | null} */
    this.state = null;
    /** Whether an answer is to be checked. @type {(() => void) | null} */
    this.markCheck = null;
    /** What of the state was drawn last. */
    this.shown = "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.next = undefined;
    this.heading = el("h2", { id: "learn-title", tabindex: "-1" });
    this.way = el("span", { class: "ds-learn-way" }); // back to all tutorials, from one
    this.head = el("div", { class: "ds-learn-head" }, this.heading, this.way);
    this.said = el("div", { class: "ds-learn-said", role: "status" });
    this.body = el("div", { class: "ds-learn-body", id: "learn-body" });
    this.handle = this.makeHandle();
    this.height = button("", { class: "ds-learn-plain ds-learn-height" }, () => {
      this.heightChosen = true;
      this.stretch(!this.isTall());
    });
    this.node = el("aside", { class: "ds-learn", id: "ds-learn", "aria-labelledby": "learn-title", hidden: true });
    this.head.prepend(this.handle);
    const measure = () => this.node.style.setProperty("--ds-learn-head", `${this.head.offsetHeight}px`);
    new ResizeObserver(measure).observe(this.head); // what stays in sight below it
    this.node.append(this.head, this.said, this.body);
    this.node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
    });
    document.addEventListener("visibilitychange", () => !document.hidden && this.askSoon(0));
  }

  /** @param {string} code @param {Record<string, string | number>} [given] */
  say(code, given = {}) {
    return filled(this.tracks?.labels[code] ?? code, given);
  }

  // --- open and shut --------------------------------------------------------------------------------------------

  async open() {
    this.tracks ??= await this.load();
    /** @type {{ track?: string, step?: string, folded?: boolean, tall?: boolean, chosen?: boolean }} */
    const kept = JSON.parse(sessionStorage.getItem(OPEN) ?? "{}");
    const isNew = this.node.hidden;
    this.fold(isNew && Boolean(kept.folded)); // whoever asks for it again wants to read
    if (isNew) {
      this.heightChosen = Boolean(kept.chosen);
      this.stretch(Boolean(kept.tall));
      this.node.hidden = false;
      document.documentElement.classList.add("ds-learning");
      const track = this.tracks.tracks.find(({ id }) => id === kept.track);
      if (track) await this.showTrack(track, kept.step);
      else await this.showTracks();
    }
    this.keep();
    this.heading.focus({ preventScroll: true });
  }

  /** @returns {Promise<LearnTold>} */
  async load() {
    /** @type {[LearnTold, unknown]} */
    const [told] = await Promise.all([asked("/dsgui/learn"), withSheet(SHEET)]);
    this.tracks = told;
    this.heading.textContent = this.say("title");
    this.head.append(this.height);
    this.head.append(button(this.say("close"), { class: "ds-learn-plain", id: "learn-close" }, () => this.close()));
    (document.querySelector(".gradio-container") ?? document.body).prepend(this.node);
    return told;
  }

  close() {
    clearTimeout(this.next);
    this.node.hidden = true;
    document.documentElement.classList.remove("ds-learning", "ds-learn-bar");
    sessionStorage.removeItem(OPEN);
    const opener = document.querySelector("#learn-open");
    if (opener instanceof HTMLElement) opener.focus();
  }

  keep() {
    const folded = this.node.classList.contains("ds-learn-folded");
    const [track, step, tall, chosen] = [this.track?.id, this.step?.id, this.isTall(), this.heightChosen];
    sessionStorage.setItem(OPEN, JSON.stringify({ track, step, folded, tall, chosen }));
    this.nameHandle();
  }

  /** Below the pages it leaves more of them in sight: folded it is a bar that tells the step. */
  makeHandle() {
    const about = { class: "ds-learn-handle", id: "learn-fold", "aria-controls": "learn-body" };
    return button("", about, () => this.fold(!this.node.classList.contains("ds-learn-folded")));
  }

  /** @param {boolean} folded */
  fold(folded) {
    this.node.classList.toggle("ds-learn-folded", folded);
    document.documentElement.classList.toggle("ds-learn-bar", folded);
    this.handle.setAttribute("aria-expanded", String(!folded));
    if (this.track) this.keep();
  }

  isTall() {
    return this.node.classList.contains("ds-learn-tall");
  }

  /** Below the pages it takes about half of them, or nearly all: sliders are then seen with the bars that they move.
   * @param {boolean} tall */
  stretch(tall) {
    this.node.classList.toggle("ds-learn-tall", tall);
    this.height.textContent = this.say(tall ? "shorter" : "taller");
    if (this.track) this.keep();
  }

  /** What a step opens is to be seen, not what the drawer has. */
  makeRoom() {
    if (window.matchMedia(WIDE).matches) return;
    this.node.scrollTop = 0;
    this.heightChosen = false; // for what was read
    this.stretch(false);
  }

  /** What is read is what the handle is called by. */
  nameHandle() {
    const { track, step } = this;
    const place = track && step ? { place: track.steps.indexOf(step) + 1, all: track.steps.length } : null;
    const told = place && step ? `${this.say("of_step", place)} · ${step.title}` : this.say("title");
    this.handle.replaceChildren(el("span", {}, told));
  }

  // --- the tracks -----------------------------------------------------------------------------------------------

  async showTracks() {
    this.track = this.step = this.state = null;
    clearTimeout(this.next);
    const tracks = this.tracks?.tracks ?? [];
    const states = await Promise.all(tracks.map((one) => this.stateOf(one)));
    const items = tracks.map((track, place) => {
      const about = { done: countDone(track.steps, states[place]), all: track.steps.length };
      const name = button(
        track.name,
        { class: "ds-learn-track", "data-track": track.id },
        () => void this.showTrack(track),
      );
      const runs = countByRuns(track.steps, states[place]);
      const steps = this.say(about.done ? "of_steps" : "steps", about);
      const count = el("p", { class: "ds-remark" }, runs ? this.say("by_runs", { steps, runs }) : steps);
      return el("li", {}, name, el("p", {}, track.about), ...(about.done ? [bar(about)] : []), count);
    });
    this.way.replaceChildren();
    this.body.replaceChildren(el("ol", { class: "ds-learn-tracks" }, ...items));
    this.node.scrollTop = 0;
    this.keep();
  }

  /** @param {LearnTrack} track @returns {Promise<LearnState | null>} */
  async stateOf(track) {
    try {
      /** @type {LearnState} */
      const state = await asked(`/dsgui/learn/state?track=${encodeURIComponent(track.id)}`);
      this.trouble("");
      return state;
    } catch {
      this.trouble(this.say("no_server"));
      return null;
    }
  }

  /** @param {string} text */
  trouble(text) {
    if (text && !this.said.querySelector(".ds-learn-trouble")) {
      this.said.replaceChildren(el("p", { class: "ds-learn-trouble" }, text));
    }
    if (!text) this.said.querySelector(".ds-learn-trouble")?.remove();
  }

  /** @param {LearnTrack} track @param {string} [at] */
  async showTrack(track, at) {
    this.track = track;
    this.state = await this.stateOf(track);
    const named = track.steps.findIndex(({ id }) => id === at);
    this.steps = el("ol", { class: "ds-learn-steps" });
    this.count = el("p", { class: "ds-remark", id: "learn-count" });
    this.content = el("section", { class: "ds-learn-step", "aria-labelledby": "learn-step-title" });
    const all = button(this.say("again"), { class: "ds-learn-plain", id: "learn-all" }, () => void this.showTracks());
    const over = button(this.say("forget"), { class: "ds-learn-plain", id: "learn-forget" }, () =>
      this.note({ kind: "forget", track: track.id }),
    );
    this.way.replaceChildren(all);
    this.body.replaceChildren(
      el("h3", {}, track.name),
      el("div", { class: "ds-learn-far" }, this.steps, this.count),
      this.content,
      el("p", { class: "ds-remark" }, track.source),
      over,
    );
    this.showStep(track.steps[named < 0 ? whereToGoOn(track.steps, this.state) : named]);
    this.node.scrollTop = 0; // not where the list of tracks was
    this.askSoon(ASK_MS);
  }

  // --- a step ---------------------------------------------------------------------------------------------------

  /** @param {LearnStep} step @param {boolean} [focus] */
  showStep(step, focus = false) {
    const { track, content } = this;
    if (!track || !content) return;
    this.step = step;
    if (!this.heightChosen) this.stretch(isRead(step));
    this.drawSteps();
    const place = track.steps.indexOf(step);
    const title = el("h4", { id: "learn-step-title", tabindex: "-1" }, step.title);
    this.status = el("div", { class: "ds-learn-status", role: "status" });
    this.numbers = el("div", { class: "ds-learn-numbers" });
    this.actions = el("div", { class: "ds-learn-actions" });
    this.markCheck = null;
    this.picture = step.sliders.length && this.tracks ? new Picture(this.tracks, step, (at) => this.moved(at)) : null;
    const onward = track.steps[place + 1];
    this.onward = onward
      ? button(this.say("next"), { class: "ds-learn-go", id: "learn-next" }, () => this.showStep(onward, true))
      : el("p", { class: "ds-learn-end" }, this.say("track_done"));
    content.replaceChildren(
      title,
      ...step.text.map((text) => el("p", {}, ...written(text))),
      ...(step.table.length ? [(isWide(step.table) ? described : table)(step.table)] : []),
      ...(this.picture ? [this.picture.node] : []),
      ...step.buttons.map((text, index) => this.opener(step, text, index)),
      this.actions,
      this.numbers,
      ...(step.choices.length ? [this.question(step)] : []),
      this.status,
      this.onward,
    );
    this.shown = "";
    this.draw();
    this.keep();
    if (focus) title.focus();
  }

  /** @param {LearnStep} step @param {string} text @param {number} index */
  opener(step, text, index) {
    return button(text, { class: "ds-learn-open", "data-open": index }, () => {
      this.trigger("go", { step: step.id, button: index, turn: (this.turn += 1) });
      this.makeRoom();
    });
  }

  /** @param {LearnStep} step */
  question(step) {
    const choices = step.choices.map((text, index) => {
      const input = el("input", { type: "radio", name: "learn-choice", value: index, id: `learn-choice-${index}` });
      input.checked = this.state?.steps[step.id]?.choice === index;
      return el("label", { for: input.id }, input, el("span", {}, ...written(text)));
    });
    const legend = el("legend", {}, ...written(step.question));
    const check = button(this.say("your_answer"), { class: "ds-learn-go", id: "learn-check" }, () => {
      const chosen = field.querySelector("input:checked");
      if (chosen instanceof HTMLInputElement) {
        this.note({ kind: "answer", step: step.id, choice: Number(chosen.value) });
      }
    });
    const field = el("fieldset", { class: "ds-learn-question" }, legend, ...choices, check);
    this.markCheck = () => {
      const chosen = field.querySelector("input:checked");
      check.disabled = !chosen;
      const isNew = chosen instanceof HTMLInputElement && Number(chosen.value) !== this.state?.steps[step.id]?.choice;
      check.dataset.first = String(isNew);
    };
    this.markCheck();
    field.addEventListener("change", this.markCheck);
    return field;
  }

  /** The sliders were moved, and what is drawn is their picture. @param {Record<string, string>} at */
  moved(at) {
    const { step } = this;
    if (step?.does === "finds" && !this.state?.steps[step.id]?.done) this.note({ kind: "move", step: step.id, at });
  }

  /** @param {object} told */
  note(told) {
    this.trigger("note", { ...told, turn: (this.turn += 1) });
  }

  // --- what the server says -------------------------------------------------------------------------------------

  /** An event of the drawer's was answered, or was not. @param {string} value */
  told(value) {
    const answer = /** @type {{ replaced?: boolean, back?: boolean }} */ (JSON.parse(value || "{}"));
    if (answer.replaced) this.tellReplaced();
    if (answer.back) this.said.replaceChildren(el("p", {}, this.say("put_back_done")));
    this.askSoon(0);
  }

  tellReplaced() {
    const back = button(this.say("put_back"), { class: "ds-learn-plain", id: "learn-put-back" }, () =>
      this.trigger("back", { turn: (this.turn += 1) }),
    );
    this.said.replaceChildren(el("p", {}, this.say("replaced", { undo: words("tools_page", "undo") })), back);
  }

  /** @param {number} pause */
  askSoon(pause) {
    clearTimeout(this.next);
    if (this.node.hidden || !this.track) return;
    this.next = setTimeout(() => void this.ask(), pause);
  }

  async ask() {
    const { track, step } = this;
    if (!track || document.hidden || this.node.hidden) return;
    const state = await this.stateOf(track);
    if (track !== this.track) return;
    if (state) this.state = state;
    const now = step && this.state?.steps[step.id];
    const { compare } = namesIn(new URL(window.location.href));
    if (step?.does === "compares" && now && !now.done && comparesAll(compare, now.runs)) {
      this.note({ kind: "compare", step: step.id, runs: (compare ?? "").split(",") });
    }
    this.draw();
    this.askSoon(ASK_MS);
  }

  drawSteps() {
    const { track, steps } = this;
    if (!track || !steps) return;
    const { activeElement } = document;
    const held = activeElement instanceof HTMLElement ? activeElement.dataset.step : undefined;
    steps.replaceChildren(
      ...track.steps.map((step, place) => {
        const done = Boolean(this.state?.steps[step.id]?.done);
        const attributes = {
          class: "ds-learn-to",
          "data-step": step.id,
          "data-done": String(done),
          "aria-current": step === this.step ? "step" : undefined,
          "aria-label": `${place + 1} ${step.title}: ${this.say(done ? "step_done" : "step_open")}`,
          title: step.title,
        };
        return el(
          "li",
          {},
          button(String(place + 1), attributes, () => this.showStep(step, true)),
        );
      }),
    );
    if (held) [...steps.querySelectorAll("button")].find((one) => one.dataset.step === held)?.focus();
    if (this.count) {
      const given = { done: countDone(track.steps, this.state), all: track.steps.length };
      this.count.textContent = this.say("of_steps", given);
    }
  }

  draw() {
    const { step, state } = this;
    const now = step && state?.steps[step.id];
    if (!step || !now) return;
    const shown = JSON.stringify([step.id, state]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.drawSteps();
    this.status?.replaceChildren(...this.standing(now));
    this.numbers?.replaceChildren(...(now.numbers ? figures(now.numbers) : []));
    this.drawActions(step, now);
    if (this.onward) this.onward.hidden = this.onward.matches("p") && !now.done;
    this.content?.setAttribute("data-done", String(now.done));
    this.markCheck?.();
  }

  /** @param {LearnStepState} now @returns {HTMLElement[]} */
  standing(now) {
    const told = [];
    if (now.note) told.push(el("p", {}, now.note));
    if (now.is_right !== null) {
      const verdict = el("b", {}, `${this.say(now.is_right ? "right" : "not_yet")} `);
      told.push(
        el("p", { class: "ds-learn-answer", "data-right": String(now.is_right) }, verdict, ...written(now.answer)),
      );
    }
    if (this.step?.does === "finds") told.push(el("p", {}, this.say(now.done ? "goal_reached" : "goal_open")));
    if (now.done) told.push(el("p", { class: "ds-learn-done" }, `✓ ${this.say("step_done")}`));
    return told;
  }

  /** Buttons for the reader's own runs, once there are any. @param {LearnStep} step @param {LearnStepState} now */
  drawActions(step, now) {
    const { actions } = this;
    if (!actions) return;
    const made = [];
    if (now.runs.length > 1) {
      const compare = () => this.toRuns({ run: null, compare: now.runs.join(",") });
      made.push(button(this.say("compare"), { class: "ds-learn-open", id: "learn-compare" }, compare));
    } else if (now.runs.length) {
      const open = () => this.toRuns({ run: now.runs[0], compare: null });
      made.push(button(this.say("open_run"), { class: "ds-learn-open", id: "learn-run" }, open));
    }
    const held = actions.contains(document.activeElement);
    actions.replaceChildren(...made);
    if (held) made[0]?.focus();
  }

  /** 3 · Runs with what is named. @param {import("../site/visits.js").Names} names */
  toRuns(names) {
    window.history.pushState({ tab: RUNS_TAB }, "", addressOf(window.location.href, names));
    visits().show(names);
    const tab = [...document.querySelectorAll("#pages > .tab-wrapper [role=tab]")][RUNS_TAB];
    if (tab instanceof HTMLElement) tab.click();
    this.makeRoom();
    this.askSoon(SOON_MS);
  }
}

/** @param {string[][]} rows the head first */
function table(rows) {
  const [head = [], ...rest] = rows;
  const columns = el("tr", {}, ...head.map((cell) => el("th", { scope: "col" }, ...written(cell))));
  const lines = rest.map(([first = "", ...cells]) =>
    el("tr", {}, el("th", { scope: "row" }, ...written(first)), ...cells.map((cell) => el("td", {}, ...written(cell)))),
  );
  const inner = el("table", {}, el("thead", {}, columns), el("tbody", {}, ...lines));
  return el("div", { class: "ds-learn-table", tabindex: "0", role: "group", "aria-label": listed(head) }, inner);
}

/** Columns of sentences: too many of them for the width of the drawer. @param {string[][]} rows */
const isWide = ([head = []]) => head.length > 3;

/** Each row by itself, its cells below each other. @param {string[][]} rows the head first */
function described([head = [], ...rows]) {
  const heads = head.slice(1);
  const items = rows.map(([first = "", ...cells]) =>
    el(
      "li",
      {},
      el("b", {}, ...written(first)),
      el("dl", {}, ...cells.flatMap((cell, at) => [el("dt", {}, heads[at] ?? ""), el("dd", {}, ...written(cell))])),
    ),
  );
  return el("ul", { class: "ds-learn-described" }, ...items);
}

/** @param {LearnNumbers} told */
const figures = (told) => [el("p", { class: "ds-remark" }, told.source), table([told.head, ...told.rows])];
