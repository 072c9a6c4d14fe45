// What stands above the list of runs: search and filter, the order, the columns, and what is done with those chosen.

import { button, el } from "../common/dom.js";
import { keepInside, shutsItself } from "../common/menus.js";
import { ColumnMenu } from "./column_menu.js";
import { COLUMNS, isSortable, titleOf } from "./run_columns.js";
import { keepPrefs, prefs } from "./run_prefs.js";
import { textOf, words } from "../texts/texts.js";

/** @import { LabelChange } from "../types.d.ts" */

const STATES = ["running", "queued", "succeeded", "failed", "stopped", "lost", "damaged", "elsewhere"];

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("runs_page", code, given);

/**
 * `searched`: other words; `changed`: another order or other columns; `columns`: those that the table shows,
 * `leftOut`: those that it has no room for; `further`: those that the listed runs have besides, and whether they differ
 * there.
 * @typedef {{ searched: () => void, changed: () => void, compare: () => void, label: (change: LabelChange) => void,
 *   archive: () => void, columns: () => { id: string }[], leftOut: () => string[],
 *   further: () => Promise<Record<string, boolean>>, pin: () => void, clear: () => void, all: () => void,
 *   add: () => void }} Acts
 */

export class RunTools {
  /** @param {Acts} acts */
  constructor(acts) {
    this.acts = acts;
    this.isAlone = this.isTable = true;
    this.search = el("input", {
      type: "search",
      class: "ds-run-search",
      id: "search-runs",
      hidden: true,
      "aria-label": say("search"),
      "aria-describedby": "search-runs-help",
      title: say("search_title"),
    });
    /** @type {{ sort: string, down: boolean } | null} the order that an address told */
    this.given = null;
    this.state = el(
      "select",
      { id: "filter-state", class: "ds-step", "aria-label": say("filter_state") },
      el("option", { value: "" }, say("any_state")),
      ...STATES.map((state) => el("option", { value: state }, textOf("states", state))),
    );
    this.state.addEventListener("change", () => acts.searched());
    this.sort = this.sortChoice();
    this.tickColumns = () => {}; // those that the table shows
    this.turn = button("", { class: "ds-step", id: "turn-order" }, () => this.turnOrder());
    this.columns = this.columnsChoice();
    this.archived = el("input", { type: "checkbox", id: "show-archived" });
    this.archived.checked = Boolean(prefs().archived);
    this.archivedCount = el("span", {});
    this.archivedLabel = el("label", { class: "ds-check" }, this.archived, this.archivedCount);
    this.archived.addEventListener("change", () => {
      keepPrefs({ archived: this.archived.checked });
      acts.changed();
    });
    this.all = button(say("all_runs"), { class: "ds-step", id: "all-runs" }, acts.all);
    const title = say("add_folder_title");
    this.add = button(say("add_folder"), { class: "ds-step", id: "add-folder", title }, acts.add);
    this.compare = button("", { class: "ds-step", id: "compare-runs" }, acts.compare);
    this.tag = el("input", {
      class: "ds-add-tag",
      id: "add-tag",
      "aria-label": say("add_tag"),
      placeholder: say("hint_add_tag"),
    });
    this.tag.addEventListener("keydown", (event) => this.addTag(event));
    this.pin = button(say("pin"), { class: "ds-step", id: "pin-run" }, acts.pin);
    this.archive = button(say("archive"), { class: "ds-step", id: "archive-runs" }, acts.archive);
    this.clear = button("", { class: "ds-step", id: "clear-chosen", "aria-label": say("clear") }, acts.clear);
    this.chosen = 0; // how many are
    this.chosenUnseen = el("p", { class: "ds-remark", hidden: true });
    this.choice = el(
      "div",
      { class: "ds-run-choice", hidden: true },
      this.chosenUnseen,
      this.compare,
      this.pin,
      this.tag,
      this.archive,
      this.clear,
    );
    this.count = el("p", { class: "ds-remark ds-run-count", role: "status", hidden: true });
    // Said by the count.
    this.noneText = el("strong", { "aria-hidden": "true" });
    this.noneHelp = el("p", { class: "ds-remark" }, say("search_help"));
    this.again = button("", { class: "ds-step", id: "clear-search" }, () => this.searchFor("", true));
    this.showArchived = button("", { class: "ds-step", id: "show-archived-matches" }, () => this.archived.click());
    const ways = el("div", { class: "ds-actions" }, this.again, this.showArchived);
    this.none = el("div", { class: "ds-run-none", hidden: true }, this.noneText, this.noneHelp, ways);
    this.filters = el(
      "div",
      { class: "ds-run-filters" },
      this.state,
      this.sort,
      this.turn,
      this.columns,
      this.archivedLabel,
    );
    this.line = el("div", { class: "ds-run-tools" }, this.all, this.search, this.filters, this.add);
    this.hint = el("p", { class: "ds-remark ds-run-hint", hidden: true }, say("choose_hint"));
    this.help = el("p", { class: "ds-remark ds-run-hint", id: "search-runs-help", hidden: true }, say("search_help"));
    for (const event of ["focus", "blur"]) this.search.addEventListener(event, () => this.showHint());
    const status = el("div", { class: "ds-run-status" }, this.count, this.hint, this.help, this.choice);
    this.node = el("div", { class: "ds-run-over" }, this.line, status);
    this.several = false;
    this.offer(0, 1, { ids: [], archived: true });
  }

  sortChoice() {
    const option = (/** @type {string} */ id) => el("option", { value: id }, say(`column_${id}`));
    const sortable = ["name", ...COLUMNS.filter(({ sorts }) => sorts).map(({ id }) => id)];
    const node = el(
      "select",
      { class: "ds-step", id: "sort-runs", "aria-label": say("sort_by") },
      el("option", { value: "" }, say("newest_first")),
      ...sortable.map(option),
    );
    node.value = prefs().sort ?? "";
    node.addEventListener("change", () => this.sortBy(node.value, node.value !== "name"));
    return node;
  }

  columnsChoice() {
    const opener = el("summary", { class: "ds-step" }, say("columns"));
    const menu = new ColumnMenu(this.acts);
    const fold = el("details", { class: "ds-columns-choice", id: "choose-columns" }, opener, menu.node);
    shutsItself(fold, opener);
    this.tickColumns = () => menu.tick();
    fold.addEventListener("toggle", () => {
      if (!fold.open) return;
      keepInside(menu.node);
      void menu.opened();
    });
    return fold;
  }

  /**
   * The head of a column: a button where it can be sorted by.
   * @param {{ id: string, sorts?: boolean, isFigure?: boolean }} column
   */
  heading({ id, sorts, isFigure }) {
    const kept = this.sorted;
    const isLaunched = !kept.sort || (kept.sort === "date" && kept.down); // the newest first
    const { sort, down } = isLaunched ? { sort: "date", down: true } : { sort: kept.sort, down: kept.down };
    const title = titleOf(id);
    const about = { class: isFigure ? "ds-cell ds-figure" : "ds-cell", role: "columnheader", "data-column": id };
    if (!sorts) return el("span", about, el("span", { class: "ds-sort" }, title));
    const isIt = sort === id;
    const order = isIt ? (down ? "descending" : "ascending") : "none";
    // Once the other way, then as they were launched.
    const turns = isIt && !down && id !== "date";
    const next = () => (turns ? this.sortBy(id, true) : this.sortBy(isIt && !isLaunched ? "" : id, false));
    const whole = id.slice(id.indexOf(":") + 1); // of a key, whose last part is its title
    const column = id.includes(":") ? whole : title;
    const sortIt = button(title, { class: "ds-sort", title: say("sort_by_column", { column }) }, next);
    return el("span", { ...about, "aria-sort": order }, sortIt);
  }

  /** @param {string} sort @param {boolean} down */
  sortBy(sort, down) {
    keepPrefs({ sort, down });
    this.given = null;
    this.sort.value = sort;
    this.showOrder();
    this.acts.changed();
  }

  /** Of cards, which have no head: which way it goes. */
  showOrder() {
    const { sort, down } = this.sorted;
    const title = say(down || !sort ? "order_down" : "order_up");
    Object.assign(this.turn, { textContent: down || !sort ? "↓" : "↑", title, ariaLabel: title });
  }

  turnOrder() {
    const { sort, down } = this.sorted;
    this.sortBy(sort || "date", Boolean(sort) && !down);
  }

  /** By which column, as the address has it or this user. */
  get sorted() {
    const { sort = "", down = false } = this.given ?? prefs();
    return isSortable(sort) ? { sort, down } : { sort: "", down: false };
  }

  /** As the server is asked for it. */
  order() {
    const { archived = false } = prefs();
    const { sort, down } = this.sorted;
    return { sort: this.isAlone ? sort : "", down: String(Boolean(down)), archived: String(Boolean(archived)) };
  }

  /** What the bar at a phone's lower edge takes from the list. */
  get barHeight() {
    return this.isAlone && !this.isTable ? this.choice.offsetHeight : 0;
  }

  get words() {
    const state = this.isAlone && this.state.value ? `state:${this.state.value}` : "";
    return [this.search.value.trim(), state].filter(Boolean).join(" ");
  }

  /** What is looked for, as it is said. */
  get looked() {
    const state = this.isAlone && this.state.value ? textOf("states", this.state.value) : "";
    return [this.search.value.trim(), state].filter(Boolean).join(" · ");
  }

  /** As the address tells it. @returns {import("../site/visits.js").Look} */
  get look() {
    const { sort, down } = this.sorted;
    return { q: this.search.value.trim(), state: this.state.value, sort: sort && down ? `-${sort}` : sort };
  }

  /**
   * As an address told it, while it is looked at so; this user's own order stays as it was kept, and is that of an
   * address that tells none. Whether that is something else.
   * @param {import("../site/visits.js").Look} look
   */
  lookAs({ q, state, sort }) {
    const before = JSON.stringify(this.look);
    const column = sort.replace(/^-/, "");
    this.search.value = q;
    this.state.value = STATES.includes(state) ? state : "";
    if (isSortable(column)) {
      this.given = { sort: column, down: sort !== column };
      this.sort.value = column;
      this.showOrder();
    }
    return JSON.stringify(this.look) !== before;
  }

  /** @param {string} text @param {boolean} [only] whatever their state */
  searchFor(text, only = false) {
    this.search.value = text;
    if (only) this.state.value = "";
    this.acts.searched();
  }

  /** @param {KeyboardEvent} event */
  addTag(event) {
    if (event.key !== "Enter" || !this.tag.value.trim()) return;
    this.acts.label({
      add_tags: this.tag.value
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
    });
    this.tag.value = "";
  }

  /** @param {boolean} alone @param {boolean} table */
  layOut(alone, table) {
    this.isAlone = alone;
    this.isTable = table;
    this.line.insertBefore(this.add, table ? null : this.filters); // on a phone beside the search
    this.tag.placeholder = say(table ? "hint_add_tag" : "add_tag"); // as there is room for
    this.clear.textContent = say(table ? "clear" : "clear_short");
    this.search.placeholder = say(table ? "search_example" : "search");
    this.all.hidden = alone;
    this.filters.hidden = this.add.hidden = !alone;
    this.showHint();
    this.sort.hidden = this.turn.hidden = table;
    this.showOrder();
    this.columns.hidden = !table;
  }

  /**
   * Where no run fits: what was looked for, or which word can fit none; "" where some do.
   * @param {string} told @param {number} total how many there are
   * @param {number} away how many archived ones would fit
   */
  showNone(told, total, away) {
    if (!told && this.none.contains(document.activeElement)) this.search.focus({ preventScroll: true });
    this.none.hidden = !told;
    this.showUnseen();
    this.noneText.textContent = told;
    this.noneHelp.hidden = !this.search.value.trim(); // a state alone is well written
    this.showHint(); // it is told once
    this.again.textContent =
      total > 1 ? say("show_all_runs", { count: total.toLocaleString("en-US") }) : say("clear_search");
    this.showArchived.hidden = !away;
    this.showArchived.textContent = say(away === 1 ? "show_archived_one" : "show_archived", { count: String(away) });
  }

  /** @param {{ total: number, archived: number, unfinished: [string, string] | null }} told */
  show({ total, archived, unfinished }) {
    const [word = "", example = ""] = unfinished ?? [];
    this.help.textContent = word ? say("search_unfinished", { word, example }) : say("search_help");
    this.search.hidden = !total && !archived;
    this.several = total > 1;
    this.showHint();
    this.filters.hidden = !this.isAlone || this.search.hidden;
    this.archivedLabel.classList.toggle("ds-kept-place", !archived); // so that nothing moves when one is put away
    this.archivedCount.textContent = say("archived", { count: String(archived) });
  }

  /** That what is done with the chosen ones is done with runs that no row shows. */
  showUnseen() {
    this.chosenUnseen.hidden = this.none.hidden || !this.chosen;
    this.chosenUnseen.textContent = say("selected_unseen", { count: String(this.chosen) });
  }

  /** What can be searched for, while somebody does; what ticking is for, until something is ticked. */
  showHint() {
    const isTold = !this.none.hidden && !this.noneHelp.hidden;
    const isAsked = document.activeElement === this.search && !isTold;
    this.help.hidden = !this.isAlone || !this.choice.hidden || !isAsked;
    this.hint.hidden = !this.isAlone || !this.several || !this.none.hidden || !this.choice.hidden || !this.help.hidden;
  }

  /**
   * @param {number} count of those chosen @param {number} most that can be compared
   * @param {{ ids: string[], archived: boolean }} archiving which of them it puts away, or brings back
   * @param {boolean} isShown whether these are compared just now
   */
  offer(count, most, { ids, archived }, isShown = false) {
    this.choice.hidden = count === 0;
    this.chosen = count;
    this.showUnseen();
    this.showHint();
    this.compare.disabled = isShown || count < 2 || count > most;
    const many = count > most ? say("compare_most", { count: String(most) }) : say("compare", { count: String(count) });
    const one = say(this.isTable || !this.isAlone ? "compare_one" : "compare_none");
    this.compare.textContent = count < 2 ? one : many;
    this.pin.hidden = count !== 1 || !this.isTable; // the table tells it
    this.tag.hidden = !this.isAlone;
    this.archive.hidden = !this.isAlone;
    const some = say("archive_some", { count: String(ids.length) });
    this.archive.textContent = ids.length < count ? some : say(archived ? "archive" : "unarchive");
  }
}
