// Before a run is stopped: one question, with what has not been saved.

import { button, el } from "../common/dom.js";
import { span } from "../common/durations.js";
import { words } from "../texts/texts.js";

/** @import { Stake } from "../types.d.ts" */

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("runs_page", code, given);

/** What stopping loses, in a sentence. @param {Stake} stake */
export function lossOf({ step, elapsed_s: elapsed, checkpoint, looked }) {
  if (!looked) return say("stop_unknown");
  const time = span(elapsed ?? 0);
  if (checkpoint) {
    const given = { checkpoint: checkpoint.name, time: span(checkpoint.age_s) };
    const steps = (step ?? checkpoint.step) - checkpoint.step;
    return steps > 0 ? say("stop_since", { ...given, steps: String(steps) }) : say("stop_saved", given);
  }
  return step ? say("stop_none", { steps: String(step), time }) : say("stop_no_step", { time });
}

export class StopQuestion {
  /** @param {string} id @param {{ stop: () => void, save: () => void }} acts */
  constructor(id, acts) {
    this.id = id;
    this.loss = el("p", { class: "ds-stake", role: "status" });
    this.save = button(say("save_and_stop"), { class: "ds-step", id: "confirm-save" }, () => this.answer(acts.save));
    const keep = button(say("keep_running"), { class: "ds-step", id: "keep-running", autofocus: true }, () =>
      this.node.close(),
    );
    const stop = button(say("stop_run"), { class: "ds-stop", id: "confirm-stop" }, () => this.answer(acts.stop));
    const title = el("h3", { id: "stop-question" }, say("stop_title"));
    const buttons = el("p", { class: "ds-remedy" }, keep, this.save, stop);
    this.node = el("dialog", { class: "ds-dialog", "aria-labelledby": "stop-question" }, title, this.loss, buttons);
  }

  /** @param {boolean} canSave */
  async ask(canSave) {
    this.save.hidden = !canSave;
    this.loss.textContent = say("stop_looking");
    this.node.showModal();
    const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}/stake`).catch(() => null);
    /** @type {Stake | null} */
    const stake = answer?.ok ? await answer.json() : null;
    this.loss.textContent = stake ? lossOf(stake) : say("stop_unknown");
  }

  /** @param {() => void} act */
  answer(act) {
    this.node.close();
    act();
  }
}
