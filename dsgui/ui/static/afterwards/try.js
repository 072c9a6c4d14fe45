// “Try it” on a run's page: a box that generates from what the run trained, beside the base model's answer.

import { button, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

/** @import { SavedThing, Trigger, TryAbout, TryAnswer, TryGiven } from "../types.d.ts" */

const BUSY_MS = 500;
const WAITING_MS = 3000; // the process ends with a page that asks no more
const ASK_MS = 300;

const DEVICES = { auto: "try_auto", cpu: "try_cpu", gpu: "try_gpu" };
/** @type {Record<string, string>} */
const PHASES = { starting: "try_starting", loading: "try_loading", generating: "try_generating" };
/** @type {Record<string, string>} */
const STOPPED = { tokens: "try_stopped_tokens", time: "try_stopped_time" };

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("after_page", code, given);

export class TryBox {
  /** @param {string} id @param {Trigger} trigger @param {() => void} onClose */
  constructor(id, trigger, onClose) {
    this.id = id;
    this.trigger = trigger;
    this.onClose = onClose;
    this.source = "";
    this.node = el("div", { class: "ds-try" });
    this.prompt = el("textarea", { id: "try-prompt", rows: 4, maxLength: 20000 });
    this.template = el("textarea", { id: "try-template", rows: 1, maxLength: 2000, spellcheck: false });
    this.base = el("input", { type: "text", id: "try-base", size: 40 });
    this.beside = el("input", { type: "checkbox", id: "try-beside" });
    this.tokens = el("input", { type: "number", id: "try-tokens", min: "1", max: "1024", value: "64" });
    this.temperature = el("input", {
      type: "number",
      id: "try-temperature",
      min: "0",
      max: "2",
      step: "0.1",
      value: "0",
    });
    this.seed = el("input", { type: "number", id: "try-seed", min: "0", value: "0" });
    this.device = el(
      "select",
      { id: "try-device" },
      ...Object.entries(DEVICES).map(([value, code]) => el("option", { value }, say(code))),
    );
    this.takes = el("p", { class: "ds-remark" });
    this.doing = el("p", { class: "ds-remark", role: "status" });
    this.answers = el("div", { class: "ds-try-answers", "aria-live": "polite" });
    this.go = button(say("try_go"), { class: "ds-step", id: "try-go" }, () => this.ask());
    this.end = button(say("try_end"), { class: "ds-step", id: "try-end", hidden: true }, () => this.stop());
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.asking = undefined;
    this.open = false;
    for (const input of [this.base, this.beside]) {
      input.addEventListener("input", () => {
        clearTimeout(this.asking);
        this.asking = setTimeout(() => void this.about(false), ASK_MS);
      });
    }
  }

  /** @param {string} what @param {Record<string, string>} [given] */
  address(what, given) {
    const query = given ? `?${new URLSearchParams(given)}` : "";
    return `/dsgui/runs/${encodeURIComponent(this.id)}/after/${what}${query}`;
  }

  /** @param {SavedThing} one */
  show(one) {
    if (this.source !== one.path) {
      this.source = one.path;
      this.base.value = "";
      this.answers.replaceChildren();
      this.doing.textContent = "";
    }
    this.open = true;
    this.node.replaceChildren(
      el("h4", {}, say("try_title", { name: one.name })),
      el("p", { class: "ds-remark" }, say("try_about")),
      el("label", { class: "ds-try-wide" }, say("try_prompt"), this.prompt),
      el("label", { class: "ds-try-wide" }, say("try_template", { prompt: "{prompt}" }), this.template),
      el(
        "div",
        { class: "ds-after-fields" },
        el("label", {}, say("try_tokens"), this.tokens),
        el("label", {}, say("try_temperature"), this.temperature),
        el("label", {}, say("try_seed"), this.seed),
        el("label", {}, say("try_device"), this.device),
        el("label", {}, say("try_base"), this.base),
        el("label", { class: "ds-check" }, this.beside, say("try_beside")),
      ),
      this.takes,
      el(
        "p",
        { class: "ds-actions" },
        this.go,
        this.end,
        button(say("try_close"), { class: "ds-step" }, () => this.close()),
      ),
      this.doing,
      this.answers,
    );
    void this.about(true);
    this.node.scrollIntoView({ block: "nearest" });
    this.prompt.focus();
  }

  /** What it takes, and what the training had around its texts. @param {boolean} first */
  async about(first) {
    const given = { source: this.source, base: this.base.value, beside: String(first || this.beside.checked) };
    const answer = await fetch(this.address("try_about", given)).catch(() => null);
    /** @type {TryAbout & { problem?: string }} */
    const told = await answer?.json().catch(() => null);
    if (!answer?.ok || !told || told.problem) {
      this.takes.textContent = told?.problem || words("after_page", "no_server");
      return;
    }
    if (first) {
      this.base.value = told.base;
      this.template.value = told.template;
      this.beside.checked = told.has_base;
    }
    const { memory, free, refusal } = told;
    this.takes.replaceChildren(memory ? say("try_takes", { memory, free }) : "");
    if (refusal) this.takes.append(" ", el("strong", { class: "ds-misfit" }, refusal));
  }

  /** @returns {TryGiven} */
  given() {
    return {
      source: this.source,
      prompt: this.prompt.value,
      template: this.template.value,
      base: this.base.value,
      beside: this.beside.checked,
      tokens: this.tokens.value,
      temperature: this.temperature.value,
      seed: this.seed.value,
      device: this.device.value,
    };
  }

  ask() {
    this.answers.replaceChildren();
    this.doing.replaceChildren(say("try_starting"));
    this.go.disabled = true;
    this.trigger("attempt", { run_id: this.id, given: this.given() });
    this.later(BUSY_MS);
  }

  stop() {
    this.trigger("unload", { run_id: this.id });
    this.end.hidden = true;
  }

  close() {
    clearTimeout(this.timer);
    if (!this.end.hidden) this.stop();
    this.open = false;
    this.go.disabled = false;
    this.onClose();
  }

  /** @param {number} wait_ms */
  later(wait_ms) {
    clearTimeout(this.timer);
    if (this.open) this.timer = setTimeout(() => void this.look(), wait_ms);
  }

  async look() {
    const answer = await fetch(this.address("try_answer")).catch(() => null);
    /** @type {TryAnswer | null} */
    const told = answer?.ok ? await answer.json().catch(() => null) : null;
    if (!this.node.isConnected) return;
    if (told) this.tell(told);
    else this.doing.textContent = words("after_page", "no_server");
    this.later(told?.phase ? BUSY_MS : WAITING_MS);
  }

  /** @param {TryAnswer} told */
  tell(told) {
    const busy = Boolean(told.phase);
    this.go.disabled = busy;
    this.end.hidden = !(busy || told.loaded);
    const phase = told.of === "base" ? "try_generating_base" : (PHASES[told.phase ?? ""] ?? "");
    const problem = told.problem ? [el("strong", { class: "ds-misfit" }, told.problem)] : [];
    this.doing.replaceChildren(...problem, busy ? say(phase) : told.problem ? "" : (told.facts ?? ""));
    const shown = Object.entries(told.answers ?? {}).map(([of, one]) => this.answer(of, one));
    if (shown.length) this.answers.replaceChildren(...shown);
  }

  /** @param {string} of @param {{ text: string, tokens?: number, seconds?: number, stopped?: string }} one */
  answer(of, one) {
    const counted = one.tokens !== undefined;
    const counts = counted ? [say("try_counts", { tokens: String(one.tokens), seconds: String(one.seconds) })] : [];
    if (one.stopped) counts.push(say(STOPPED[one.stopped] ?? ""));
    return el(
      "section",
      { "data-of": of },
      el("h5", {}, say(of === "base" ? "try_base_answer" : "try_trained")),
      el("pre", { class: "ds-command", tabindex: "0" }, one.text || (counted ? say("try_nothing") : "")),
      el("p", { class: "ds-remark" }, counts.join(" · ")),
    );
  }
}
