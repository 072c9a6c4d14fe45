// A run's output as a terminal would show it: colours, bars that rewrite their line, its end followed; searched on the
// server in all that is kept, and opened at any place.

import { el } from "./dom.js";

const KEPT_CHARACTERS = 300000;
const SEARCH_AFTER_MS = 300;
const CLASSES = {
  1: "ds-bold",
  30: "ds-black",
  31: "ds-red",
  32: "ds-green",
  33: "ds-yellow",
  34: "ds-blue",
  35: "ds-magenta",
  36: "ds-cyan",
  37: "ds-white",
};
const ESCAPE = /\x1b\[([0-9;?]*)([A-Za-z])/g;

// What a terminal shows of a line that was rewritten: what came after the last return to its beginning.
const settled = (line) => line.replace(/\r+$/, "").replace(/^.*\r/s, "");

class Paint {
  constructor() {
    this.on = new Set();
  }

  change(codes) {
    for (const code of (codes || "0").split(";").map(Number)) {
      if (code === 0) this.on.clear();
      else if (code === 1) this.on.add(1);
      else if (code === 22) this.on.delete(1);
      else if (code === 39 || (code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
        for (const colour of [...this.on]) if (colour >= 30) this.on.delete(colour);
        if (code !== 39) this.on.add(code >= 90 ? code - 60 : code);
      }
    }
  }

  // The nodes of a text; the state goes on to the next.
  nodes(text) {
    const found = [];
    let begin = 0;
    const add = (part) => {
      if (!part) return;
      const names = [...this.on]
        .map((code) => CLASSES[code])
        .filter(Boolean)
        .join(" ");
      found.push(names ? el("span", { class: names }, part) : part);
    };
    for (const match of text.matchAll(ESCAPE)) {
      add(text.slice(begin, match.index));
      if (match[2] === "m") this.change(match[1]);
      begin = match.index + match[0].length;
    }
    add(text.slice(begin));
    return found;
  }
}

export class Log {
  // `onEnd` is told from where the output goes on when its end was asked for anew.
  constructor(id, onEnd) {
    this.id = id;
    this.onEnd = onEnd;
    this.text = el("pre", { class: "ds-log", tabindex: "0", "aria-label": "Output of the run" });
    this.tail = el("span", {});
    this.search = el("input", {
      type: "search",
      class: "ds-run-search",
      placeholder: "Search the whole output",
      "aria-label": "Search the whole output",
    });
    this.first = el(
      "button",
      { type: "button", class: "ds-step", title: "The first line that tells of an error" },
      "First error",
    );
    this.follow = el(
      "button",
      { type: "button", class: "ds-step", "aria-pressed": "true", title: "Stay at the end" },
      "Follow",
    );
    this.found = el("ol", { class: "ds-matches", hidden: true });
    this.said = el("p", { class: "ds-remark", role: "status", hidden: true });
    this.node = el(
      "div",
      { class: "ds-log-view" },
      el("div", { class: "ds-log-tools" }, this.search, this.first, this.follow),
      this.said,
      this.found,
      this.text,
    );
    this.search.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.find(), SEARCH_AFTER_MS);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        clearTimeout(this.timer);
        this.find();
      }
    });
    this.first.addEventListener("click", () => this.toFirstError());
    this.follow.addEventListener("click", () => this.toEnd());
    this.text.addEventListener("scroll", () => this.press(this.elsewhere ? false : this.atEnd()));
    this.clear();
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
    return this.text.scrollTop + this.text.clientHeight >= this.text.scrollHeight - 24;
  }
  press(on) {
    this.follow.setAttribute("aria-pressed", String(on));
  }

  // News from the end of the output. While another place is shown, they wait on the server.
  add(text) {
    if (this.elsewhere) return;
    const follows = this.atEnd();
    const whole = (this.pending + text).replace(/\r+\n/g, "\n");
    const end = whole.lastIndexOf("\n") + 1;
    this.pending = whole.slice(end);
    const bar = this.pending.lastIndexOf("\r", this.pending.length - 2); // of a bar only the last state is needed
    if (bar > 0) this.pending = this.pending.slice(bar);
    if (end) {
      const lines = whole
        .slice(0, end)
        .split("\n")
        .slice(0, -1)
        .map((line) => `${settled(line)}\n`)
        .join("");
      const block = el("span", {}, ...this.paint.nodes(lines));
      this.tail.before(block);
      this.length += lines.length;
      this.trim();
    }
    const paint = new Paint();
    paint.on = new Set(this.paint.on);
    this.tail.replaceChildren(...paint.nodes(settled(this.pending)));
    if (follows) this.text.scrollTop = this.text.scrollHeight;
  }

  trim() {
    while (this.length > KEPT_CHARACTERS && this.text.firstChild !== this.tail && this.text.childNodes.length > 2) {
      this.length -= this.text.firstChild.textContent.length;
      this.text.firstChild.remove();
    }
  }

  async ask(what, query) {
    const answer = await fetch(
      `/dsgui/runs/${encodeURIComponent(this.id)}/${what}?${new URLSearchParams(query)}`,
    ).catch(() => null);
    if (!answer?.ok) {
      this.say("The server did not answer; try again.");
      return null;
    }
    return answer.json();
  }

  say(sentence) {
    this.said.hidden = !sentence;
    this.said.textContent = sentence;
  }

  async find() {
    const words = this.search.value.trim();
    this.say("");
    if (!words) {
      this.found.hidden = true;
      this.found.replaceChildren();
      return;
    }
    const answer = await this.ask("search", { words });
    if (!answer || this.search.value.trim() !== words) return;
    const { matches, more } = answer;
    this.say(
      matches.length
        ? `${matches.length}${more ? " or more lines, the last of them shown" : matches.length === 1 ? " line" : " lines"}.`
        : "No line of what is kept has these words.",
    );
    this.found.hidden = !matches.length;
    this.found.replaceChildren(
      ...matches.map((match) => {
        const open = el("button", { type: "button", class: "ds-match" }, match.line);
        open.addEventListener("click", () => this.open(match.offset));
        return el("li", {}, open);
      }),
    );
  }

  async toFirstError() {
    const answer = await this.ask("search", { words: "", errors: "true" });
    if (!answer) return;
    if (answer.matches.length) {
      this.say("");
      await this.open(answer.matches[0].offset);
    } else this.say("No line tells of an error.");
  }

  // The output around a place, its line marked.
  async open(offset) {
    const answer = await this.ask("output", { offset });
    if (!answer) return;
    this.clear();
    this.elsewhere = true;
    this.press(false);
    const mark = el("mark", {}, ...new Paint().nodes(settled(answer.line.replace(/\n$/, ""))));
    this.text.replaceChildren(...this.plain(answer.before), mark, "\n", ...this.plain(answer.after), this.tail);
    this.text.scrollTop = Math.max(mark.offsetTop - this.text.offsetTop - 60, 0);
  }

  plain(text) {
    return new Paint().nodes(text.replace(/\r+\n/g, "\n").split("\n").map(settled).join("\n"));
  }

  async toEnd() {
    if (this.elsewhere) {
      const answer = await this.ask("output", { offset: -1 });
      if (!answer) return;
      this.clear();
      this.add(answer.before);
      this.onEnd(answer.end);
    }
    this.press(true);
    this.text.scrollTop = this.text.scrollHeight;
  }
}
