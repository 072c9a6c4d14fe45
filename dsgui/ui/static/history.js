// Undo and redo for the config as a whole: typed text, form edits, fixes, presets and opened files alike. Kept in the
// browser; the server is only asked to show the text that was chosen.

import { el } from "./dom.js";

const MOST = 300;
const SAME_EDIT_MS = 1200;

// The line on which two texts first differ, and whether they have equally many lines.
function firstDifference(a, b) {
  const one = a.split("\n"), other = b.split("\n");
  const line = one.findIndex((text, n) => text !== other[n]);
  return { line: line < 0 ? one.length : line, sameLength: one.length === other.length };
}

class History {
  constructor(element, trigger) {
    this.trigger = trigger;
    this.entries = [];
    this.at = -1;
    this.last = { line: -1, time: -Infinity };
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

  // Letters typed one after another on one line are one step; everything else is a step of its own.
  note({ text, reader }) {
    const now = this.entries[this.at];
    if (now && now.text === text) {
      now.reader = reader;
      return;
    }
    const change = now ? firstDifference(now.text, text) : { line: -1, sameLength: false };
    const time = performance.now();
    const goesOn = change.sameLength && change.line === this.last.line && time - this.last.time < SAME_EDIT_MS;
    if (goesOn && this.at > 0) this.at -= 1;
    this.entries = [...this.entries.slice(0, this.at + 1), { text, reader }].slice(-MOST);
    this.at = this.entries.length - 1;
    this.last = { line: change.line, time };
    this.show();
  }

  move(by) {
    const entry = this.entries[this.at + by];
    if (!entry) return;
    this.at += by;
    this.last = { line: -1, time: -Infinity };
    this.show();
    this.trigger("move", entry);
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
