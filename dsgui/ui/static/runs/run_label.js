// What its user wrote on a run, under its name on its page: tags and a note. They and the name are changed in place, as
// in the table of runs.

import { button, el, part } from "../common/dom.js";
import { changedRun, editOver } from "./run_editing.js";
import { words } from "../texts/texts.js";

/** @import { LabelChange } from "../types.d.ts" */
/** @import { Editable } from "./run_editing.js" */

/** @typedef {{ name: string, tags: string[], note: string, archived: boolean }} Written */

/** @param {string} code */
const say = (code) => words("runs_page", code);

export class RunLabel {
  /**
   * @param {HTMLElement} title has the name @param {(change: LabelChange) => void} send
   * @param {(told: Written) => Written} pending what the server tells, with what it hasn't told yet
   * @param {import("../common/toast.js").Toast} toast
   */
  constructor(title, send, pending, toast) {
    this.title = title;
    this.send = send;
    this.pending = pending;
    this.toast = toast;
    this.archived = false;
    this.archive = button(say("archive"), { class: "ds-step", id: "archive-run" }, () => this.putAway(!this.archived));
    this.chip = el("span", { class: "ds-tag", hidden: true }, say("is_archived"));
    this.name = "";
    /** @type {string[]} */
    this.tags = [];
    this.note = "";
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
    return { name: this.name, tags: this.tags, note: this.note, archived: this.archived };
  }

  /** As in the table of runs. @param {boolean} archived */
  putAway(archived) {
    this.change({ archived });
    const told = words("runs_page", archived ? "archived_one" : "unarchived_one", { count: "1" });
    this.toast.show(told, say("undo"), () => this.change({ archived: !archived }));
  }

  /** Shown at once. @param {LabelChange} change */
  change(change) {
    this.send(change);
    Object.assign(this, changedRun(this.written, change));
    this.write();
  }

  /** @param {Written} given by the server */
  show({ name, tags, note, archived }) {
    const told = this.pending({ name, tags, note, archived });
    if (JSON.stringify(told) === JSON.stringify(this.written)) return;
    Object.assign(this, told);
    this.write();
  }

  /** But for what is being edited. */
  write() {
    this.chip.hidden = !this.archived;
    this.archive.textContent = say(this.archived ? "unarchive" : "archive");
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
