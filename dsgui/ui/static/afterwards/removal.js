// A run is deleted, or a training that dsgui only reads is forgotten: what goes is told before it does.

import { button, el, pause } from "../common/dom.js";
import { size } from "../common/format.js";
import { words } from "../texts/texts.js";

/** @import { ListedRuns, Removal as Told, Trigger } from "../types.d.ts" */

const GONE_TRIES = 40;
const GONE_MS = 250;

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("afterwards_page", code, given);

/** The question, as before a stop; `question` is put on a page before it is asked. */
export class Removal {
  /** @param {string} id @param {Trigger} trigger @param {() => void} onGone */
  constructor(id, trigger, onGone) {
    this.id = id;
    this.trigger = trigger;
    this.onGone = onGone;
    this.adopted = false;
    this.isGone = false;
    this.deleting = false; // then nobody asks for news of the run
    this.question = el("dialog", { class: "ds-dialog ds-question", "aria-labelledby": "delete-question" });
    this.question.addEventListener("close", () => {
      this.question.replaceChildren(); // another may ask next
      this.back()?.focus({ preventScroll: true });
    });
    this.question.addEventListener("cancel", (event) => this.deleting && event.preventDefault());
    /** Where the focus goes afterwards. @type {() => HTMLElement | null} */
    this.back = () => document.getElementById("delete-run");
  }

  close() {
    this.question.close();
  }

  /** @param {boolean} adopted whether dsgui did not start it: nothing of its files goes */
  async ask(adopted) {
    this.adopted = adopted;
    const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}/removal`).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (answer?.ok && told) this.tell(told);
    else this.question.replaceChildren(this.title(), ...this.cannot(told?.detail || say("no_server")));
    if (!this.question.open) this.question.showModal();
  }

  title() {
    return el("h3", { id: "delete-question" }, say(this.adopted ? "forget_title" : "delete_title"));
  }

  /** @param {string} why */
  cannot(why) {
    return [el("p", {}, why), el("p", { class: "ds-remedy" }, this.keep())];
  }

  keep() {
    return button(say("cancel"), { class: "ds-step", id: "keep-run", autofocus: true }, () => this.close());
  }

  /** @param {Told} told */
  tell(told) {
    const counts = { count: String(told.files), size: size(told.size_bytes) };
    const files = say(told.files === 1 ? "file" : "files", counts);
    const goes = say(this.adopted ? "forget" : "delete", { files });
    this.question.replaceChildren(
      this.title(),
      el(
        "p",
        {},
        `${say(this.adopted ? "forgets" : "removes")} `,
        el("code", {}, told.path),
        ` ${say(this.adopted ? "forgets_nothing_else" : "with_files", { files })}`,
      ),
      ...(this.adopted ? [] : [listOf(told)]),
      el(
        "p",
        { class: "ds-remedy" },
        this.keep(),
        button(goes, { class: "ds-stop", id: "confirm-delete" }, () => this.remove()),
      ),
    );
  }

  async remove() {
    this.question.replaceChildren(this.title(), el("p", {}, say("deleting")));
    this.deleting = true;
    this.trigger("delete", { run_id: this.id });
    for (let tries = 0; tries < GONE_TRIES; tries += 1) {
      await pause(GONE_MS);
      const asked = `/dsgui/runs?count=1&find=${encodeURIComponent(this.id)}`;
      const told = await fetch(asked)
        .then((answer) => /** @type {Promise<ListedRuns>} */ (answer.json()))
        .catch(() => null);
      if (told?.place === null) {
        this.isGone = true;
        this.close();
        this.onGone();
        return;
      }
    }
    this.deleting = false;
    this.close(); // why not was said by a message
  }
}

/** @param {Told} told */
function listOf({ files, largest }) {
  const others = files - largest.length;
  const more = others > 0 ? [el("li", {}, say("and_more", { count: String(others) }))] : [];
  const lines = largest.map(([name, bytes]) => el("li", {}, `${name} · ${size(bytes)}`));
  return el("details", {}, el("summary", {}, say("files_listed")), el("ul", {}, ...lines, ...more));
}
