// The head of the table of runs: its columns' titles, by which it is sorted, the box that chooses all, and the baseline
// that stays in sight below them.

import { button, el, part } from "../common/dom.js";
import { fillRow, tableRow } from "./run_rows.js";
import { words } from "../texts/texts.js";

/** @import { RunSummary } from "../types.d.ts" */
/** @import { Column } from "./run_columns.js" */

/** @param {string} code */
const say = (code) => words("runs_page", code);

export class RunHead {
  /**
   * @param {(column: { id: string, sorts?: boolean, isFigure?: boolean }) => HTMLElement} heading a column's title
   * @param {() => void} unpin
   */
  constructor(heading, unpin) {
    this.heading = heading;
    this.unpin = unpin;
    const about = { id: "choose-every", class: "ds-run-choose", "aria-label": say("every"), title: say("every") };
    this.every = el("input", { type: "checkbox", ...about });
    this.node = el("div", { class: "ds-run-header", role: "rowgroup" });
  }

  /**
   * @param {Column[] | null} columns null: cards have no head @param {RunSummary | null} base the pinned run
   * @param {{ sort: string, down: boolean }} sorted
   */
  write(columns, base, sorted) {
    this.node.hidden = !columns;
    if (!columns) {
      this.node.replaceChildren();
      return;
    }
    const key = JSON.stringify([sorted, base, columns.map(({ id }) => id)]);
    if (this.node.dataset.told === key && this.node.children.length) return;
    this.node.dataset.told = key;
    const every = { role: "columnheader", class: "ds-cell", "data-column": "choose" };
    const titles = [{ id: "name", sorts: true }, ...columns].map((column) => this.heading(column));
    const row = el("div", { class: "ds-table-row ds-heads", role: "row" }, el("span", every, this.every), ...titles);
    this.replace([row, ...(base ? [this.pinned(columns, base)] : [])]);
  }

  /** The column that had the focus has it again. @param {HTMLElement[]} rows */
  replace(rows) {
    const { activeElement } = document;
    const focused = this.node.contains(activeElement) ? activeElement?.closest("[data-column]") : null;
    this.node.replaceChildren(...rows);
    const name = focused?.getAttribute("data-column");
    const again = name && this.node.querySelector(`[data-column="${name}"] :is(button, input)`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }

  /** @param {Column[]} columns @param {RunSummary} base */
  pinned(columns, base) {
    const row = tableRow(base.run_id, columns);
    row.removeAttribute("data-run");
    row.dataset.base = base.run_id;
    row.classList.add("ds-pinned");
    fillRow(row, base, columns, null);
    const unpin = { class: "ds-pin", title: say("unpin"), "aria-label": say("unpin") };
    part(row, '[data-column="choose"]').replaceChildren(button("◆", unpin, this.unpin));
    for (const one of row.querySelectorAll(".ds-pencil, .ds-row-menu")) one.remove();
    return row;
  }

  /**
   * @param {boolean} isAll every run that fits is chosen @param {boolean} isSome one at least
   * @param {boolean} isNone none fits
   */
  showEvery(isAll, isSome, isNone) {
    this.every.disabled = isNone;
    this.every.checked = isAll;
    this.every.indeterminate = isSome && !isAll;
  }
}
