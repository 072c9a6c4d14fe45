// The list of runs: however many there are, the page holds the rows in sight and a few around them. The server keeps
// the order, searches, and tells what changed in the window that is asked for. Beside a run they are cards; alone they
// are a table, on a phone cards again.

import { around, button, el, part } from "../common/dom.js";
import { columnsOf } from "./run_columns.js";
import { baseline, keepPrefs, prefs } from "./run_prefs.js";
import { boxOf, card, changesPopover, editIn, fillCard, fillRow, tableRow } from "./run_rows.js";
import { RunTools } from "./run_tools.js";
import { words as say } from "../texts/texts.js";

/** @import { LabelChange, ListedRuns, RunSummary } from "../types.d.ts" */
/** @import { Editable } from "./run_rows.js" */

const AROUND = 12; // rows kept ready above and below those in sight
const STEP = 6; // a window begins at a multiple of it, so that a small scroll asks nothing
const FIRST_ROWS = 30;
const MOST_COMPARED = 6;
const READING_MS = 300; // how soon a search is asked again for what was not read yet
const TYPING_MS = 120;
const WRITTEN_MS = [200, 900]; // when a changed label is looked for
const NARROW = "(max-width: 760px)";

/** @param {number} count */
const number = (count) => count.toLocaleString("en-US");
/** @param {number} count @param {string} one @param {string} several the codes of its texts */
const plural = (count, one, several) => say("runs_page", count === 1 ? one : several, { count: number(count) });

/**
 * `open` shows a run, `compare` several, `all` none: the table; `add` asks for a folder of others; `isShown` tells
 * whether a run is shown now, `colourOf` in which colour where it is one of several; `label` changes what is written on
 * runs; `trouble` is told what went wrong.
 * @typedef {{ open: (id: string) => void, compare: (ids: string[]) => void, all: () => void, add: () => void,
 *   isShown: (id: string) => boolean,
 *   colourOf: (id: string) => string, label: (ids: string[], change: LabelChange) => void,
 *   trouble: (error: unknown) => void }} Around
 */

export class RunList {
  /** @param {Around} given */
  constructor({ open, compare, all, add, isShown, colourOf, label, trouble }) {
    this.open = open;
    this.compare = compare;
    this.isShown = isShown;
    this.colourOf = colourOf;
    this.sendLabel = label;
    this.trouble = trouble;
    this.tools = new RunTools({
      searched: () => this.searched(),
      changed: () => this.restart(),
      compare: () => this.compare(this.inOrder()),
      label: (change) => this.label([...this.chosen.keys()], change),
      pin: () => this.pin(this.inOrder()[0]),
      clear: () => {
        this.chosen.clear();
        this.offer();
      },
      all,
      add,
    });
    this.search = this.tools.search;
    this.count = this.tools.count;
    this.head = el("div", { class: "ds-run-header", role: "rowgroup" });
    this.rows = el("div", { class: "ds-run-rows" });
    this.table = el("div", { class: "ds-run-table" }, this.head, this.rows);
    const about = { "aria-label": say("runs_page", "runs_label"), "aria-busy": "true" };
    this.list = el("nav", { class: "ds-run-list", ...about }, this.table);
    this.node = el("div", { class: "ds-run-side" }, this.tools.node, this.list);
    /** @type {Map<string, RunSummary>} */
    this.known = new Map(); // what the server told of the runs in the window
    /** @type {Map<string, number>} */
    this.chosen = new Map(); // the runs to compare, with their places: they need not be in sight
    /** @type {string[]} */
    this.ids = [];
    /** @type {{ total: number, fits: number, unread: number, archived: number, baseline: RunSummary | null }} */
    this.told = { total: 0, fits: 0, unread: 0, archived: 0, baseline: null };
    this.searchedFor = ""; // the words that it was told of: the box may have others by now
    this.alone = true;
    this.columns = columnsOf(prefs().columns);
    this.narrow = window.matchMedia(NARROW);
    this.first = 0;
    this.since = "";
    this.window = "";
    this.height = 0;
    /** @type {Promise<void> | null} */
    this.asking = null;
    this.again = false;
    this.find = "";
    /** @type {number | null} the place of the run to scroll to */
    this.goal = null;
    this.typing = this.reading = 0;
    this.listen();
    this.layOut(true);
  }

  listen() {
    this.list.addEventListener("scroll", () => this.scrolled());
    this.list.addEventListener("click", (event) => this.clicked(event));
    this.list.addEventListener("change", (event) => this.choose(event));
    this.rows.addEventListener("dblclick", (event) => this.edit(event));
    this.rows.addEventListener("keydown", (event) => {
      if (event.key === "F2" && around(event, ".ds-run-row")) this.edit(event);
    });
    this.search.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = window.setTimeout(() => this.searched(), TYPING_MS);
    });
    new ResizeObserver(() => this.scrolled()).observe(this.list);
    this.narrow.addEventListener("change", () => this.layOut(this.alone));
  }

  // -- how it looks -------------------------------------------------------------------------------------------------

  get isTable() {
    return this.alone && !this.narrow.matches;
  }

  /** As the whole page, or beside a run. @param {boolean} alone */
  layOut(alone) {
    this.alone = alone;
    this.node.classList.toggle("ds-alone", alone);
    this.node.classList.toggle("ds-as-table", this.isTable);
    this.tools.layOut(alone, this.isTable);
    this.columns = columnsOf(prefs().columns);
    const widths = ["34px", "minmax(248px, 1.5fr)", ...this.columns.map(({ width }) => width)];
    const least = widths.reduce((sum, width) => sum + Number(width.match(/\d+/)?.[0] ?? 0), 0);
    this.table.style.setProperty("--columns", widths.join(" "));
    this.table.style.setProperty("--least", `${least}px`);
    for (const [node, role] of /** @type {const} */ ([
      [this.table, "table"],
      [this.rows, "rowgroup"],
    ])) {
      if (this.isTable) node.setAttribute("role", role);
      else node.removeAttribute("role");
    }
    if (this.isTable) this.table.setAttribute("aria-label", say("runs_page", "runs_label"));
    else this.table.removeAttribute("aria-label");
    this.height = 0;
    this.rows.replaceChildren();
    this.write();
    this.offer(); // beside a run less can be done
  }

  /** Another order, other columns: from the top. */
  restart() {
    this.list.scrollTop = 0;
    this.layOut(this.alone);
    this.refreshOrSay();
  }

  writeHead() {
    this.head.hidden = !this.isTable;
    if (!this.isTable) {
      this.head.replaceChildren();
      return;
    }
    const titles = [
      el(
        "span",
        { role: "columnheader", class: "ds-cell" },
        el("span", { class: "ds-unseen" }, say("runs_page", "chosen")),
      ),
    ];
    const heads = [{ id: "name", sorts: true }, ...this.columns];
    titles.push(...heads.map(({ id, sorts }) => this.tools.heading(id, Boolean(sorts))));
    const base = this.told.baseline;
    const key = JSON.stringify([prefs(), base, this.columns.map(({ id }) => id)]);
    if (this.head.dataset.told === key && this.head.children.length) return;
    this.head.dataset.told = key;
    this.head.replaceChildren(
      el("div", { class: "ds-table-row ds-heads", role: "row" }, ...titles),
      ...this.pinned(base),
    );
  }

  /** @param {RunSummary | null} base */
  pinned(base) {
    if (!base) return [];
    const row = tableRow(base.run_id, this.columns);
    row.removeAttribute("data-run");
    row.dataset.base = base.run_id;
    row.classList.add("ds-pinned");
    fillRow(row, base, this.columns, null);
    const unpin = button(
      "◆",
      { class: "ds-pin", title: say("runs_page", "unpin"), "aria-label": say("runs_page", "unpin") },
      () => this.pin(undefined),
    );
    part(row, '[data-column="choose"]').replaceChildren(unpin);
    for (const pencil of row.querySelectorAll(".ds-pencil")) pencil.remove();
    return [row];
  }

  /** @param {string | undefined} id */
  pin(id) {
    keepPrefs({ baseline: id === baseline() ? "" : (id ?? "") });
    this.since = "";
    this.refreshOrSay();
  }

  // -- asking -------------------------------------------------------------------------------------------------------

  /** The rows that the list should hold: the first, and how many. @returns {[number, number]} */
  wanted() {
    if (!this.height) return [0, FIRST_ROWS];
    const sight = Math.ceil(this.list.clientHeight / this.height) || FIRST_ROWS;
    const first = Math.floor(this.list.scrollTop / this.height) - AROUND;
    return [Math.max(Math.floor(first / STEP) * STEP, 0), sight + 2 * AROUND + STEP];
  }

  /**
   * Asks for the window and for what changed in it. What is asked for meanwhile is asked for afterwards, once.
   * The run to `find` is scrolled to once the list is seen.
   * @returns {Promise<void>}
   */
  async refresh(find = "") {
    if (find) this.find = find;
    if (this.asking) {
      this.again = true;
      return this.asking;
    }
    this.asking = this.ask();
    try {
      await this.asking;
    } finally {
      this.asking = null;
    }
    if (!this.again) return undefined;
    this.again = false;
    return this.refresh();
  }

  /** @returns {Promise<void>} */
  async ask() {
    const [first, count] = this.wanted();
    const words = this.tools.words;
    const looked = { ...this.tools.order(), baseline: (this.alone && baseline()) || "" };
    const asked = `${first} ${count} ${words} ${JSON.stringify(looked)}`;
    if (asked !== this.window) this.since = "";
    const place = { first: String(first), count: String(count) };
    const query = new URLSearchParams({ ...place, ...looked, words, since: this.since, find: this.find });
    const answer = await fetch(`/dsgui/runs?${query}`);
    if (!answer.ok) throw new Error(say("runs_page", "answered", { status: String(answer.status) }));
    /** @type {ListedRuns} */
    const told = await answer.json();
    this.list.removeAttribute("aria-busy");
    for (const run of told.rows) this.known.set(run.run_id, run);
    if (told.ids && !told.ids.every((id) => this.known.has(id))) {
      this.since = ""; // a run came into the window that was told of in another
      await this.ask();
      return;
    }
    Object.assign(this, {
      window: asked,
      first,
      since: told.since,
      told,
      searchedFor: words,
      ids: told.ids ?? this.ids,
    });
    if (told.place !== null) Object.assign(this, { goal: told.place, find: "" });
    this.write();
    if (told.unread) this.soon();
  }

  soon() {
    clearTimeout(this.reading);
    this.reading = window.setTimeout(() => this.refreshOrSay(), READING_MS);
  }

  refreshOrSay() {
    this.refresh().catch((error) => this.trouble(error));
  }

  searched() {
    this.list.scrollTop = 0;
    this.refreshOrSay();
  }

  scrolled() {
    this.tell();
    const [first, count] = this.wanted();
    const end = Math.min(first + count - STEP, this.told.fits);
    const least = Math.min(first + STEP, this.told.fits);
    if (this.first > least || this.first + this.ids.length < end) this.refreshOrSay();
  }

  goTo() {
    if (this.goal === null || !this.height) return;
    const seen = Math.floor(this.list.clientHeight / this.height);
    if (this.goal >= seen) this.list.scrollTop = (this.goal - 1) * this.height;
    this.goal = null;
  }

  // -- showing ------------------------------------------------------------------------------------------------------

  // Rows stay the same elements while their text changes: a row that has the focus keeps it.
  write() {
    this.writeHead();
    const entries = new Map(this.entries.map((entry) => [entry.dataset.run, entry]));
    const runs = this.ids.map((id) => this.known.get(id)).filter((run) => run !== undefined);
    const shown = runs.map((run) => this.fill(entries.get(run.run_id) ?? this.made(run.run_id), run));
    const same = shown.length === this.rows.children.length && shown.every((one, i) => one === this.rows.children[i]);
    this.pad(); // before the rows: a list that is too short for a moment would be scrolled back
    if (!same) this.replace(shown);
    if (this.known.size > runs.length) this.known = new Map(runs.map((run) => [run.run_id, run]));
    this.measure();
    this.goTo();
    this.tools.show(this.told);
    this.tell();
    this.mark();
  }

  /** @returns {HTMLElement[]} */
  get entries() {
    return [...this.rows.querySelectorAll("[data-run]")].filter((one) => one instanceof HTMLElement);
  }

  /** An element that is put in its place again loses the focus. @param {HTMLElement[]} entries */
  replace(entries) {
    if (this.rows.querySelector(".ds-edit")) return; // what is being typed would be sent as it is
    const { activeElement } = document;
    const focused = activeElement instanceof HTMLElement && this.rows.contains(activeElement) ? activeElement : null;
    this.rows.replaceChildren(...entries);
    if (focused?.isConnected) focused.focus({ preventScroll: true });
  }

  // Room for the rows that are not in the page.
  pad() {
    this.rows.style.paddingTop = `${this.first * this.height}px`;
    this.rows.style.paddingBottom = `${Math.max(this.told.fits - this.first - this.ids.length, 0) * this.height}px`;
  }

  measure() {
    const [one, other] = [...this.rows.children].map((entry) => entry.getBoundingClientRect());
    if (!one?.height) return;
    const height = other ? other.top - one.top : one.height;
    if (height === this.height) return;
    this.height = height;
    this.pad();
  }

  // Which of how many runs are in sight.
  tell() {
    const { total, fits, unread } = this.told;
    const words = this.searchedFor;
    const room = this.list.clientHeight - this.head.offsetHeight;
    const sight = this.height ? Math.max(Math.round(room / this.height), 1) : fits;
    const first = this.height ? Math.min(Math.round(this.list.scrollTop / this.height), Math.max(fits - sight, 0)) : 0;
    const shown = `${number(first + 1)}–${number(Math.min(first + sight, fits))}`;
    const runs = plural(total, "one_run", "runs");
    const all = words ? say("runs_page", "matches_in", { matches: plural(fits, "one_match", "matches"), runs }) : runs;
    const found = fits > sight ? say("runs_page", "showing", { shown, all }) : all;
    const none = unread ? "" : say("runs_page", "no_match");
    const waits = unread ? say("runs_page", "unread", { count: number(unread) }) : "";
    this.count.textContent = [words && !fits ? none : found, waits].filter(Boolean).join(" · ");
    this.count.hidden = !total || (!words && fits <= sight && !this.alone);
  }

  /** @param {string} id */
  made(id) {
    return this.isTable ? tableRow(id, this.columns) : card(id);
  }

  /** @param {HTMLElement} entry @param {RunSummary} run */
  fill(entry, run) {
    const box = boxOf(entry);
    box.setAttribute("aria-label", say("runs_page", "compare_with", { name: run.name || run.run_id }));
    box.checked = this.chosen.has(run.run_id);
    if (box.checked) this.chosen.set(run.run_id, run.place);
    if (this.isTable) fillRow(entry, run, this.columns, this.told.baseline);
    else fillCard(entry, run);
    return entry;
  }

  mark() {
    for (const entry of this.entries) {
      // While its name is edited, there is none.
      const row = entry.querySelector(".ds-run-row");
      const id = entry.dataset.run ?? "";
      row?.setAttribute("aria-current", String(this.isShown(id)));
      entry.style.setProperty("--run-colour", this.colourOf(id) || null);
    }
  }

  // -- what is written on runs --------------------------------------------------------------------------------------

  /** @param {Event} event */
  clicked(event) {
    const entry = around(event, "[data-run]");
    const id = entry?.dataset.run ?? around(event, "[data-base]")?.dataset.base;
    const run = id ? (this.known.get(id) ?? this.told.baseline) : null;
    if (!id || !run) return;
    const changes = around(event, ".ds-changes-of");
    const tag = around(event, ".ds-tag")?.dataset.tag;
    if (around(event, ".ds-pencil")) this.edit(event);
    else if (tag) this.tools.searchFor(`tag:${tag.includes(" ") ? tag.split(" ")[0] : tag}`);
    else if (changes) this.explain(changes, run);
    else if (around(event, ".ds-run-row")) this.open(id);
  }

  /** @param {HTMLElement} beside @param {RunSummary} run */
  explain(beside, run) {
    const popover = changesPopover(run, () => this.compare([run.differs_from, run.run_id]));
    this.node.append(popover);
    popover.showPopover();
    const { left, bottom } = beside.getBoundingClientRect();
    const room = window.innerHeight - popover.offsetHeight - 8;
    popover.style.left = `${Math.max(Math.min(left, window.innerWidth - popover.offsetWidth - 8), 8)}px`;
    popover.style.top = `${Math.max(Math.min(bottom + 4, room), 8)}px`;
  }

  /** @param {Event} event */
  edit(event) {
    const cell = around(event, ".ds-cell");
    const run = this.known.get(around(event, "[data-run]")?.dataset.run ?? "");
    const what = cell?.dataset.column;
    if (!cell || !run || cell.querySelector(".ds-edit")) return;
    if (what !== "name" && what !== "tags" && what !== "note") return;
    event.preventDefault();
    editIn(cell, what, textToEdit(what, run), (text) => {
      const change = what === "tags" ? { tags: text.split(",").map((tag) => tag.trim()) } : { [what]: text };
      this.label([run.run_id], change);
    });
  }

  /** Shown at once; what the server made of it soon. @param {string[]} ids @param {LabelChange} change */
  label(ids, change) {
    this.sendLabel(ids, change);
    for (const id of ids) {
      const run = this.known.get(id);
      if (run) this.known.set(id, changedRun(run, change));
    }
    this.write();
    this.since = "";
    for (const wait of WRITTEN_MS) {
      setTimeout(() => {
        this.since = "";
        this.refreshOrSay();
      }, wait);
    }
    if ("archived" in change) {
      this.chosen.clear();
      this.offer();
    }
  }

  // -- choosing -----------------------------------------------------------------------------------------------------

  /** Takes the run of a box in or out. @param {Event} event */
  choose(event) {
    const entry = around(event, "[data-run]");
    const id = entry?.dataset.run;
    if (!entry || !id) return;
    if (boxOf(entry).checked) this.chosen.set(id, this.known.get(id)?.place ?? 0);
    else this.chosen.delete(id);
    this.offer();
  }

  /** The runs that are compared are the chosen ones, however one came to them. @param {string[]} ids */
  take(ids) {
    this.chosen = new Map(ids.map((id) => [id, this.known.get(id)?.place ?? 0]));
    this.offer();
  }

  offer() {
    for (const entry of this.entries) boxOf(entry).checked = this.chosen.has(entry.dataset.run ?? "");
    const runs = [...this.chosen.keys()].map((id) => this.known.get(id));
    this.tools.offer(this.chosen.size, MOST_COMPARED, runs.length > 0 && runs.every((run) => run?.archived));
  }

  /** The chosen runs as they were launched. */
  inOrder() {
    /** @type {(one: [string, number], other: [string, number]) => number} */
    const before = ([one, place], [other, others]) => place - others || (one < other ? -1 : 1);
    return [...this.chosen].sort(before).map(([id]) => id);
  }

  /** A run was deleted. @param {string} id */
  drop(id) {
    this.chosen.delete(id);
    this.offer();
  }
}

/** @param {Editable} what @param {RunSummary} run */
function textToEdit(what, run) {
  return what === "tags" ? run.tags.join(", ") : run[what];
}

/** @param {RunSummary} run @param {LabelChange} change */
function changedRun(run, { add_tags: added = [], name, ...rest }) {
  const tags = [...new Set([...(rest.tags ?? run.tags), ...added])].filter(Boolean);
  return { ...run, ...rest, ...(name ? { name } : {}), tags };
}
