// What its user wrote on a run, under its name on its page: tags and a note. They and the name are changed in place, as
// in the table of runs.

import { button, el, part } from "../common/dom.js";
import { changedRun, editOver } from "./run_editing.js";
import { words } from "../texts/texts.js";

/** @import { LabelChange } from "../types.d.ts" */
/** @import { Editable } from "./run_editing.js" */

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
    this.rename = this.pencil("name", title);
    this.tagsNode = el("span", { class: "ds-run-tags" });
    this.noteNode = el("span", { class: "ds-run-note" });
    this.node = el("div", { class: "ds-run-label" }, this.tagsNode, this.noteNode);
  }

  /** @param {Editable} what @param {HTMLElement} cell */
  pencil(what, cell) {
    const title = say(`edit_${what}`);
    const attributes = { class: "ds-pencil", "data-edit": what, title, "aria-label": title };
    return button("✎", attributes, () => this.edit(what, cell));
  }

  /** @param {Editable} what @param {HTMLElement} cell */
  edit(what, cell) {
    const back = () => (what === "name" ? this.rename : part(this.node, `[data-edit="${what}"]`));
    editOver(cell, what, this.written, (change) => this.change(change), back);
  }

  get written() {
    return { name: this.name, tags: this.tags, note: this.note };
  }

  /** Shown at once. @param {LabelChange} change */
  change(change) {
    this.send(change);
    this.sentAt = performance.now();
    Object.assign(this, changedRun(this.written, change));
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
    this.fill(this.tagsNode, [...chips, this.opener("tags", this.tagsNode)]);
    const noted = this.note ? [el("span", {}, this.note)] : [];
    this.fill(this.noteNode, [...noted, this.opener("note", this.noteNode)]);
  }

  /** @param {HTMLElement} node @param {(Node | string)[]} children */
  fill(node, children) {
    if (!node.querySelector(".ds-edit")) node.replaceChildren(...children);
  }

  /**
   * A pencil beside what there is; in words where there is nothing.
   * @param {"tags" | "note"} what @param {HTMLElement} cell
   */
  opener(what, cell) {
    if (this[what].length) return this.pencil(what, cell);
    return button(say(`add_${what}`), { class: "ds-add-label", "data-edit": what }, () => this.edit(what, cell));
  }
}
