// Undo and redo for the config as a whole: typed text, form edits, fixes, presets and opened files alike. Kept in the
// browser; the server is only asked to show the text that was chosen.

import { button, part } from "./dom.js";
import { Edits } from "../config/edits.js";
import { words } from "../texts/texts.js";

/** @import { Props, Trigger } from "../types.d.ts" */

const FIELDS = "input, textarea, select, [contenteditable]";

class History {
  /** @param {HTMLElement} element @param {Trigger} trigger */
  constructor(element, trigger) {
    this.trigger = trigger;
    this.edits = new Edits();
    this.undo = this.button("undo", -1);
    this.redo = this.button("redo", 1);
    part(element, ".ds-history").replaceChildren(this.undo, this.redo);
    window.addEventListener("dsgui:text", (event) => {
      this.edits.note(event.detail, performance.now());
      this.show();
    });
    document.addEventListener("keydown", (event) => this.key(event));
    for (const entry of window.dsguiTexts ?? []) this.edits.note(entry, performance.now());
    this.show();
  }

  /** @param {"undo" | "redo"} code @param {number} by */
  button(code, by) {
    const title = words("tools_page", code === "undo" ? "undo_keys" : "redo_keys");
    return button(words("tools_page", code), { class: "ds-step", id: `${code}-edit`, title }, () => this.move(by));
  }

  /** @param {number} by */
  move(by) {
    const entry = this.edits.move(by);
    if (!entry) return;
    this.show();
    window.dsguiMove = entry; // taken from there: of several quick moves the last one counts
    this.trigger("move", {});
  }

  /** A text field has an undo of its own; elsewhere on its page they mean the config. @param {KeyboardEvent} event */
  key(event) {
    const letter = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || !["z", "y"].includes(letter)) return;
    if (event.target instanceof Element && event.target.closest(FIELDS)) return;
    event.preventDefault(); // or the browser would undo in the editor, wherever that is
    // While another page is shown nobody would see what it took back.
    if (this.undo.checkVisibility()) this.move(letter === "y" || event.shiftKey ? 1 : -1);
  }

  show() {
    this.undo.disabled = !this.edits.canUndo;
    this.redo.disabled = !this.edits.canRedo;
  }
}

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} trigger */
export function mount(element, props, trigger) {
  new History(element, trigger);
}
