// The Runs page by keyboard: from run to run, in the list's order; which keys do it, site/keyboard.js says.

import { part } from "../common/dom.js";
import { boxOf } from "./run_rows.js";

/** @import { RunList } from "./run_list.js" */

export class RunKeys {
  /**
   * @param {RunList} list @param {{ open: (id: string) => void, all: () => void, shown: () => string[] }} given `shown`
   * are the runs whose page is shown
   */
  constructor(list, { open, all, shown }) {
    this.list = list;
    this.open = open;
    this.all = all;
    this.shown = shown;
    this.going = Promise.resolve(); // one step after the other, however quickly they are asked for
    window.addEventListener("dsgui:runs", ({ detail }) => this.act(detail));
  }

  /** @param {"next" | "previous" | "choose" | "all"} what */
  act(what) {
    const by = what === "next" ? 1 : -1;
    if (what === "choose") this.choose();
    else if (what === "all") this.leave();
    else if (this.list.alone) this.move(by);
    else this.going = this.going.then(() => this.step(by)).catch((error) => this.list.trouble(error));
  }

  /** The focus goes to the next row; where none has it, to the first in sight. @param {number} by */
  move(by) {
    const { entries } = this.list;
    const at = entries.findIndex((entry) => entry.contains(document.activeElement));
    const top = this.list.list.getBoundingClientRect().top + this.list.head.node.offsetHeight;
    const first = entries.find((entry) => entry.getBoundingClientRect().bottom > top + 1);
    const next = at < 0 ? first : entries[at + by];
    if (next) part(next, ".ds-run-row").focus();
  }

  /** The run after the one that is shown. @param {number} by */
  async step(by) {
    const [id] = this.shown();
    const next = id && this.shown().length === 1 ? await this.list.neighbour(id, by) : "";
    if (next && this.shown()[0] === id) this.open(next);
  }

  choose() {
    const entry = this.list.entries.find((one) => one.contains(document.activeElement));
    if (entry) boxOf(entry).click();
  }

  /** Back to the table, and there to the run that was shown. */
  leave() {
    const [id = ""] = this.shown();
    if (!id) return;
    this.all();
    this.list.focusOn(id);
  }
}
