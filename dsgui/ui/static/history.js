// Undo and redo for the config as a whole: typed text, form edits, fixes, presets and opened files alike. Kept in the
// browser; the server is only asked to show the text that was chosen.

import { el } from "./dom.js";

const MOST = 300;
const SAME_EDIT_MS = 1200;
const SAME_EDIT_LETTERS = 3;
const NOTHING = { start: 0, end: 0, size: Infinity, time: -Infinity };

// Where text `b` differs from `a`: from `start` on, up to `end` in `b`; `size`: letters gone or new.
function difference(a, b) {
  const most = Math.min(a.length, b.length);
  let start = 0,
    tail = 0;
  while (start < most && a[start] === b[start]) start += 1;
  while (tail < most - start && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  return { start, end: b.length - tail, size: Math.max(a.length, b.length) - start - tail };
}

// The editor may change line ends and drop the last one: that is no edit of anybody's.
function settled(text) {
  return text.replaceAll("\r\n", "\n").trimEnd();
}

class History {
  constructor(element, trigger) {
    this.trigger = trigger;
    this.entries = [];
    this.at = -1;
    this.last = NOTHING;
    this.undo = this.button("Undo", -1, "Ctrl+Z outside a text field");
    this.redo = this.button("Redo", 1, "Ctrl+Shift+Z outside a text field");
    element.querySelector(".ds-history").replaceChildren(this.undo, this.redo);
    window.addEventListener("dsgui:text", (event) => this.note(event.detail));
    document.addEventListener("keydown", (event) => this.key(event));
    if (window.dsguiText) this.note(window.dsguiText);
    this.show();
  }

  button(label, by, title) {
    const button = el("button", { type: "button", class: "ds-step", id: `${label.toLowerCase()}-edit`, title }, label);
    button.addEventListener("click", () => this.move(by));
    return button;
  }

  // Letters typed or deleted one after another in one place are one step; everything else is a step of its own.
  note({ text, reader }) {
    const now = this.entries[this.at];
    if (now && settled(now.text) === settled(text)) {
      this.entries[this.at] = { text, reader };
      return;
    }
    const change = { ...(now ? difference(now.text, text) : NOTHING), time: performance.now() };
    if (this.at > 0 && this.goesOn(change)) this.at -= 1;
    this.entries = [...this.entries.slice(0, this.at + 1), { text, reader }].slice(-MOST);
    this.at = this.entries.length - 1;
    this.last = change;
    this.show();
  }

  goesOn(change) {
    const { last } = this;
    return (
      change.time - last.time < SAME_EDIT_MS &&
      change.size <= SAME_EDIT_LETTERS &&
      change.start >= last.start - 1 &&
      change.start <= last.end + 1
    );
  }

  move(by) {
    const entry = this.entries[this.at + by];
    if (!entry) return;
    this.at += by;
    this.last = NOTHING;
    this.show();
    window.dsguiMove = entry; // taken from there: of several quick moves the last one counts
    this.trigger("move", {});
  }

  // A text field has an undo of its own; everywhere else the keys mean the config.
  key(event) {
    const letter = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || !["z", "y"].includes(letter)) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    this.move(letter === "y" || event.shiftKey ? 1 : -1);
  }

  show() {
    this.undo.disabled = this.at <= 0;
    this.redo.disabled = this.at >= this.entries.length - 1;
  }
}

export function mount(element, props, trigger) {
  new History(element, trigger);
}
