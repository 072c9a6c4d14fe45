// A run's output as a terminal would show it, its end followed; searched on the server in all that is kept, and opened
// at any place.

import { hits, Paint, settled, settledLines, wholeLines } from "./ansi.js";
import { button, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

/** @import { OutputAnswer, SearchAnswer } from "../types.d.ts" */

const KEPT_CHARACTERS = 300000;
const SEARCH_AFTER_MS = 300;
const NEAR_END_PX = 24;

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("runs_page", code, given);

/**
 * What a terminal would show of a text, the words in it marked that were looked for.
 * @param {Paint} paint @param {string} text @param {string} [looked]
 */
const nodes = (paint, text, looked = "") =>
  paint.parts(text).flatMap(({ text: shown, names }) => {
    const parts = marked(shown, looked);
    return names ? [el("span", { class: names }, ...parts)] : parts;
  });

/** @param {string} text @param {string} looked @returns {(Node | string)[]} */
const marked = (text, looked) =>
  hits(text, looked).map(({ part, hit }) => (hit ? el("b", { class: "ds-hit" }, part) : part));

/** The nodes of whole output that stands by itself. @param {string} text */
const plain = (text) => nodes(new Paint(), settledLines(text));

/** How many were found, in words. @param {SearchAnswer} answer */
function counted({ matches, total }) {
  if (!matches.length) return say("no_lines");
  const count = total.toLocaleString("en-US");
  if (total > matches.length) return say("many_lines", { count, shown: String(matches.length) });
  return matches.length === 1 ? say("one_line") : say("lines", { count });
}

export class Log {
  /**
   * @param {string} id
   * @param {(end: number) => void} onEnd is told from where the output goes on when its end was asked for anew
   */
  constructor(id, onEnd) {
    this.id = id;
    this.onEnd = onEnd;
    this.paint = new Paint();
    this.pending = "";
    this.length = 0;
    this.elsewhere = false;
    this.live = true;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.text = el("pre", { class: "ds-log", role: "region", tabindex: "0", "aria-label": say("output_label") });
    this.text.dataset.empty = say("no_output");
    this.tail = el("span", {});
    const whole = say("search_output");
    const hints = { placeholder: whole, "aria-label": whole };
    this.search = el("input", { type: "search", class: "ds-run-search", ...hints });
    this.first = button(say("first_error"), { class: "ds-step", title: say("first_error_title") }, () =>
      this.toFirstError(),
    );
    const pressed = { "aria-pressed": "true", title: say("follow_title") };
    this.follow = button(say("follow"), { class: "ds-step", ...pressed }, () => this.toEnd());
    this.found = el("ol", { class: "ds-matches", hidden: true });
    this.said = el("p", { class: "ds-remark", role: "status", hidden: true });
    const tools = el("div", { class: "ds-log-tools" }, this.search, this.first, this.follow);
    this.node = el("div", { class: "ds-log-view" }, tools, this.said, this.found, this.text);
    this.listen();
    this.clear();
  }

  listen() {
    this.search.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.forget();
      this.timer = setTimeout(() => this.find(), SEARCH_AFTER_MS);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      clearTimeout(this.timer);
      this.find();
    });
    this.text.addEventListener("scroll", () => this.press(this.elsewhere ? false : this.atEnd()));
    // Narrower, the same lines are more.
    new ResizeObserver(() => this.isFollowed() && this.scrollToEnd()).observe(this.text);
  }

  clear() {
    this.paint = new Paint();
    this.pending = "";
    this.length = 0;
    this.elsewhere = false;
    this.text.replaceChildren(this.tail);
    this.tail.replaceChildren();
  }

  atEnd() {
    return this.text.scrollTop + this.text.clientHeight >= this.text.scrollHeight - NEAR_END_PX;
  }

  isFollowed() {
    return this.follow.getAttribute("aria-pressed") === "true";
  }

  scrollToEnd() {
    this.text.scrollTop = this.text.scrollHeight;
  }

  /** @param {boolean} on */
  press(on) {
    this.follow.setAttribute("aria-pressed", String(on));
  }

  /** News from the end of the output. While another place is shown, they wait on the server. @param {string} text */
  add(text) {
    if (this.elsewhere) return;
    const follows = this.atEnd();
    const { lines, rest } = wholeLines(this.pending + text);
    this.pending = rest;
    if (lines) {
      this.tail.before(el("span", {}, ...nodes(this.paint, lines)));
      this.length += lines.length;
      this.trim();
    }
    this.tail.replaceChildren(...nodes(new Paint(this.paint.on), settled(rest)));
    if (follows) this.scrollToEnd();
  }

  trim() {
    while (this.length > KEPT_CHARACTERS && this.text.childNodes.length > 2) {
      const oldest = this.text.firstChild;
      if (!oldest || oldest === this.tail) return;
      this.length -= oldest.textContent?.length ?? 0;
      oldest.remove();
    }
  }

  /** @param {string} what @param {Record<string, string>} query */
  async ask(what, query) {
    const address = `/dsgui/runs/${encodeURIComponent(this.id)}/${what}?${new URLSearchParams(query)}`;
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok) return answer.json();
    this.say(say("no_answer"));
    return null;
  }

  /** @param {string} sentence */
  say(sentence) {
    this.said.hidden = !sentence;
    this.said.textContent = sentence;
  }

  /** What was found for other words than those in the box. */
  forget() {
    this.say(this.search.value.trim() ? say("searching") : "");
    this.found.hidden = true;
    this.found.replaceChildren();
  }

  async find() {
    const asked = this.search.value.trim();
    if (!asked) return;
    /** @type {SearchAnswer | null} */
    const answer = await this.ask("search", { words: asked });
    if (!answer || this.search.value.trim() !== asked) return;
    this.say(counted(answer));
    this.found.hidden = !answer.matches.length;
    const widest = Math.max(...answer.matches.map(({ number }) => String(number ?? "").length), 0);
    this.found.style.setProperty("--digits", `${widest}ch`);
    this.found.replaceChildren(...answer.matches.map((match) => el("li", {}, this.match(match, asked))));
  }

  /**
   * A line that was found, with its number where that is known.
   * @param {SearchAnswer["matches"][0]} match @param {string} asked
   */
  match({ line, offset, number }, asked) {
    const found = button("", { class: "ds-match" }, () => this.open(offset, asked));
    const told = number === null ? [] : [el("span", { class: "ds-line-number" }, String(number))];
    found.append(...told, el("span", {}, ...marked(line, asked)));
    return found;
  }

  /** To a line that is quoted elsewhere; where it isn't found, to the first error. @param {string} quoted */
  async toLine(quoted) {
    /** @type {SearchAnswer | null} */
    const answer = quoted ? await this.ask("search", { words: quoted }) : null;
    const last = answer?.matches.at(-1);
    if (!last) return this.toFirstError();
    this.say("");
    return this.open(last.offset);
  }

  async toFirstError() {
    /** @type {SearchAnswer | null} */
    const answer = await this.ask("search", { words: "", errors: "true" });
    if (!answer) return;
    const [first] = answer.matches;
    this.say(first ? "" : say("no_errors"));
    if (first) await this.open(first.offset);
  }

  /** The output around a place, its line marked, and in it what was looked for. @param {number} offset */
  async open(offset, looked = "") {
    /** @type {OutputAnswer | null} */
    const answer = await this.ask("output", { offset: String(offset) });
    if (!answer) return;
    this.clear();
    this.elsewhere = true;
    this.press(false);
    this.offerEnd();
    const mark = el("mark", {}, ...nodes(new Paint(), settled(answer.line.replace(/\n$/, "")), looked));
    this.text.replaceChildren(...plain(answer.before), mark, "\n", ...plain(answer.after), this.tail);
    this.text.scrollTop = Math.max(mark.offsetTop - this.text.offsetTop - 60, 0);
  }

  async toEnd() {
    if (this.elsewhere) {
      /** @type {OutputAnswer | null} */
      const answer = await this.ask("output", { offset: "-1" });
      if (!answer) return;
      this.clear();
      this.add(answer.before);
      this.onEnd(answer.end);
    }
    this.press(true);
    this.scrollToEnd();
    if (!this.live) this.text.focus({ preventScroll: true }); // the button that had it goes
    this.offerEnd();
  }

  /** Of a run that has ended, only what leads somewhere. @param {boolean} live */
  async show(live) {
    if (live === this.live) return;
    this.live = live;
    this.offerEnd();
    this.first.hidden = !live;
    /** @type {SearchAnswer | null} */
    const answer = live ? null : await this.ask("search", { words: "", errors: "true" });
    if (answer && !this.live) this.first.hidden = !answer.matches.length;
  }

  /** Nothing more comes to be followed; the way back to the end is needed only elsewhere. */
  offerEnd() {
    this.follow.textContent = say(this.live ? "follow" : "to_end");
    this.follow.title = this.live ? say("follow_title") : "";
    this.follow.hidden = !this.live && !this.elsewhere;
  }
}
