// What its user wrote on a run, under its name on its page: tags and a note. They and the name are changed in place, as
// in the table of runs.

import { button, el } from "../common/dom.js";
import { editIn } from "./run_rows.js";
import { words } from "../texts/texts.js";

/** @import { LabelChange } from "../types.d.ts" */
/** @import { Editable } from "./run_rows.js" */

const WRITTEN_MS = 3000; // so long what the server tells may be from before a change

/** @param {string} code */
const say = (code) => words("runs_page", code);

export class RunLabel {
  /** @param {HTMLElement} title has the name @param {(change: LabelChange) => void} send */
  constructor(title, send) {
    this.title = title;
    this.send = send;
    this.name = "";
    /** @type {string[]} */
    this.tags = [];
    this.note = "";
    this.sentAt = -WRITTEN_MS;
    this.rename = this.pencil("name", () => [this.title, this.name]);
    this.tagsNode = el("span", { class: "ds-run-tags" });
    this.noteNode = el("span", { class: "ds-run-note" });
    this.node = el("div", { class: "ds-run-label" }, this.tagsNode, this.noteNode);
  }

  /** @param {Editable} what @param {() => [HTMLElement, string]} edited where, and the text as it is */
  pencil(what, edited) {
    const title = say(`edit_${what}`);
    const pressed = () => this.edit(what, ...edited());
    return button("✎", { class: "ds-pencil", "data-edit": what, title, "aria-label": title }, pressed);
  }

  /** @param {Editable} what @param {HTMLElement} cell @param {string} text */
  edit(what, cell, text) {
    editIn(cell, what, text, (found) => this.change(what, found));
    // Done by a key, the focus is where it came from; done by looking elsewhere, it is there.
    cell.querySelector(".ds-edit")?.addEventListener("keydown", (event) => {
      if (event instanceof KeyboardEvent && ["Enter", "Escape"].includes(event.key)) this.focus(what);
    });
  }

  /** @param {Editable} what */
  focus(what) {
    const within = what === "name" ? this.rename.parentElement : this.node;
    const found = within?.querySelector(`[data-edit="${what}"]`);
    if (found instanceof HTMLElement) found.focus();
  }

  /** Shown at once. @param {Editable} what @param {string} text */
  change(what, text) {
    const tags = [...new Set(text.split(",").map((tag) => tag.trim()))].filter(Boolean);
    this.send(what === "tags" ? { tags } : { [what]: text });
    this.sentAt = performance.now();
    if (what === "tags") this.tags = tags;
    else if (what === "note") this.note = text;
    else this.name = text || this.name;
    this.write();
  }

  /** @param {{ name: string, tags: string[], note: string }} told by the server */
  show({ name, tags, note }) {
    if (performance.now() - this.sentAt < WRITTEN_MS) return;
    if (JSON.stringify([name, tags, note]) === JSON.stringify([this.name, this.tags, this.note])) return;
    [this.name, this.tags, this.note] = [name, tags, note];
    this.write();
  }

  /** But for what is being edited. */
  write() {
    const chips = this.tags.map((tag) => el("span", { class: "ds-tag" }, tag));
    this.fill(this.title, [this.name]);
    this.fill(this.tagsNode, [...chips, this.opener("tags", () => [this.tagsNode, this.tags.join(", ")])]);
    const noted = this.note ? [el("span", {}, this.note)] : [];
    this.fill(this.noteNode, [...noted, this.opener("note", () => [this.noteNode, this.note])]);
  }

  /** @param {HTMLElement} node @param {(Node | string)[]} children */
  fill(node, children) {
    if (!node.querySelector(".ds-edit")) node.replaceChildren(...children);
  }

  /**
   * A pencil beside what there is; in words where there is nothing.
   * @param {"tags" | "note"} what @param {() => [HTMLElement, string]} edited
   */
  opener(what, edited) {
    if (this[what].length) return this.pencil(what, edited);
    return button(say(`add_${what}`), { class: "ds-add-label", "data-edit": what }, () => this.edit(what, ...edited()));
  }
}
