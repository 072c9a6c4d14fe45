// The list of runs: however many there are, the page holds the rows in sight and a few around them. The server keeps
// the order, searches, and tells what changed in the window that is asked for. Beside a run they are cards; alone they
// are a table, on a phone cards again.

import { around, el, part } from "../common/dom.js";
import { Toast } from "../common/toast.js";
import { Choice } from "./run_choice.js";
import { columnsOf, furtherOf, widthsOf } from "./run_columns.js";
import { countOf, plural } from "./run_count.js";
import { Pending, editOver, isEditable, placeAt } from "./run_editing.js";
import { RunHead } from "./run_head.js";
import { baseline, keepPrefs, prefs } from "./run_prefs.js";
import { addressOf, boxOf, card, changesPopover, fillCard, fillRow, tableRow } from "./run_rows.js";
import { RunTicks } from "./run_ticks.js";
import { RunTools } from "./run_tools.js";
import { words as say } from "../texts/texts.js";

/** @import { Removal } from "../afterwards/removal.js" */
/** @import { LabelChange, ListedRuns, RunSummary } from "../types.d.ts" */

const AROUND = 12; // rows kept ready above and below those in sight
const STEP = 6; // a window begins at a multiple of it, so that a small scroll asks nothing
const FIRST_ROWS = 30;
const MOST_COMPARED = 6;
const LEAST_PX = 230; // of rows, however low the window is
const PART = 0.5; // of the last row in sight, where more come below it
const CONTROLS = "button, a, input, label, select, [popover]";
const READING_MS = 300; // how soon a search is asked again for what was not read yet
const TYPING_MS = 120;
const WRITTEN_MS = [200, 900]; // when a changed label is looked for: it may have another order, or leave the list
const NARROW = "(max-width: 760px)";

/**
 * `open` shows a run, `compare` several, `all` none: the table; `add` asks for a folder of others; `held` tells which
 * are shown now: they are in the list whatever else is; `colourOf` in which colour one of several is; `label` changes
 * what is written on runs; `clone` loads a run like one; `remove` is how one is deleted; `looked` is told that
 * something else is searched, or in another order; `trouble` what went wrong.
 * @typedef {{ open: (id: string) => void, clone: (id: string) => void, compare: (ids: string[]) => void,
 *   all: () => void, add: () => void,
 *   remove: (id: string) => Removal, held: () => string[], colourOf: (id: string) => string,
 *   label: (ids: string[], change: LabelChange) => void, looked: () => void,
 *   trouble: (error: unknown) => void }} Around
 */

export class RunList {
  /** @param {Around} given */
  constructor({ open, clone, compare, all, add, remove, held, colourOf, label, looked, trouble }) {
    this.open = open;
    this.clone = clone;
    this.compare = compare;
    this.remove = remove;
    this.held = held;
    this.colourOf = colourOf;
    this.sendLabel = label;
    this.lookChanged = looked;
    this.trouble = trouble;
    this.tools = new RunTools({
      searched: () => this.searched(),
      changed: () => this.restart(),
      compare: () => this.compare(this.choice.inOrder()),
      label: (change) => this.label(this.choice.ids, change),
      archive: () => this.archive(),
      columns: () => this.columns,
      leftOut: () => this.leftOut,
      further: () => this.further(),
      pin: () => this.pin(this.choice.inOrder()[0]),
      clear: () => this.choice.clear(),
      all,
      add,
    });
    this.search = this.tools.search;
    this.count = this.tools.count;
    this.head = new RunHead(
      (column) => this.tools.heading(column),
      () => this.pin(undefined),
    );
    this.rows = el("div", { class: "ds-run-rows" });
    this.table = el("div", { class: "ds-run-table" }, this.head.node, this.rows);
    const about = { "aria-label": say("runs_page", "runs_label"), "aria-busy": "true" };
    this.list = el("nav", { class: "ds-run-list", ...about }, this.table, this.tools.none);
    this.toast = new Toast();
    this.node = el("div", { class: "ds-run-side" }, this.tools.node, this.list, this.toast.node);
    /** @type {Map<string, RunSummary>} */
    this.known = new Map(); // what the server told of the runs in the window
    this.choice = new Choice(() => this.offer());
    this.ticks = new RunTicks(this.choice, {
      placeOf: (id) => (this.ids.includes(id) ? this.first + this.ids.indexOf(id) : -1),
      ask: async (first, count) => {
        const { rows } = await this.askFor(first, count, this.looked);
        return rows.map((run) => this.pending.over(run.run_id, run));
      },
    });
    /** @type {string[]} */
    this.ids = [];
    /** @type {Pick<ListedRuns, "total" | "fits" | "held" | "unread" | "archived" | "archived_fit" | "baseline" |
     *   "unfinished" | "misread" | "tagged" | "bases">} */
    this.told = {
      total: 0,
      fits: 0,
      held: 0,
      unread: 0,
      archived: 0,
      archived_fit: 0,
      baseline: null,
      unfinished: null,
      misread: null,
      tagged: 0,
      bases: {},
    };
    this.searchedFor = ""; // the words that it was told of: the box may have others by now
    this.alone = true;
    this.columns = this.fitting();
    this.narrow = window.matchMedia(NARROW);
    this.first = 0;
    this.since = "";
    this.pending = new Pending(); // what was changed of labels
    this.window = "";
    this.height = 0;
    /** @type {Promise<void> | null} */
    this.asking = null;
    this.again = false;
    this.find = "";
    this.toFocus = ""; // the run whose row gets the focus when it is there
    /** @type {number | null} the place of the run to scroll to */
    this.goal = null;
    this.typing = this.reading = 0;
    this.listen();
    this.layOut(true);
  }

  listen() {
    this.list.addEventListener("scroll", () => this.scrolled());
    window.addEventListener("scroll", () => {
      if (this.isPage && this.list.offsetHeight) this.scrolled();
    });
    this.list.addEventListener("click", (event) => this.clicked(event));
    this.list.addEventListener("auxclick", (event) => this.clicked(event));
    this.list.addEventListener("change", (event) => this.choose(event).catch((error) => this.trouble(error)));
    this.list.addEventListener("mousedown", (event) => {
      if (event.shiftKey && around(event, "[data-run]")) event.preventDefault(); // or the texts between were selected
    });
    this.rows.addEventListener("keydown", (event) => {
      if (event.key === "F2" && around(event, ".ds-run-row")) this.edit(event);
    });
    this.search.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = window.setTimeout(() => this.searched(), TYPING_MS);
    });
    const resized = new ResizeObserver(() => this.resized());
    for (const node of [this.list, this.tools.node]) resized.observe(node);
    window.addEventListener("resize", () => this.resized());
    this.narrow.addEventListener("change", () => this.layOut(this.alone));
  }

  // -- how it looks -------------------------------------------------------------------------------------------------

  get isTable() {
    return this.alone && !this.narrow.matches;
  }

  /** Whether the page scrolls it: cards that are alone. One that is in another scrolls by itself. */
  get isPage() {
    return this.alone && !this.isTable;
  }

  /** How far it is scrolled, and how much of it is in sight, in pixels. */
  get sight() {
    if (!this.isPage) return { top: this.list.scrollTop, height: this.list.clientHeight };
    return { top: Math.max(-this.rows.getBoundingClientRect().top, 0), height: window.innerHeight };
  }

  /** @param {number} top */
  scrollTo(top) {
    if (!this.isPage) this.list.scrollTop = top;
    else window.scrollTo(0, top && this.rows.getBoundingClientRect().top + window.scrollY + top);
  }

  /** For the table, in pixels; before it is seen as much as it likes. */
  get room() {
    return this.list.clientWidth || Infinity;
  }

  /** @param {number} [room] */
  fitting(room) {
    return columnsOf(prefs().columns, room, this.told.tagged > 0);
  }

  get hasItsColumns() {
    if (!this.isTable || !this.list.clientWidth) return true; // cards have none, and what isn't seen no room
    const fitting = this.fitting(this.room);
    return fitting.length === this.columns.length && fitting.every(({ id }, place) => id === this.columns[place].id);
  }

  /** The columns that the listed runs have besides, and whether they differ there. */
  async further() {
    const { words, archived } = this.looked;
    const answer = await fetch(`/dsgui/columns?${new URLSearchParams({ words, archived })}`);
    if (!answer.ok) throw new Error(say("runs_page", "answered", { status: String(answer.status) }));
    /** @type {Record<string, boolean>} */
    const found = await answer.json();
    return found;
  }

  /** The columns that would be there were there room. */
  get leftOut() {
    const shown = this.columns.map(({ id }) => id);
    return this.fitting().flatMap(({ id }) => (shown.includes(id) ? [] : [id]));
  }

  /** As the whole page, or beside a run. @param {boolean} alone */
  layOut(alone) {
    this.alone = alone;
    this.node.classList.toggle("ds-alone", alone);
    this.node.classList.toggle("ds-as-table", this.isTable);
    this.tools.layOut(alone, this.isTable);
    this.columns = this.fitting(this.room);
    this.tools.tickColumns(); // also of a menu that is open while the window gets another width
    const { widths, least } = widthsOf(this.columns, this.room);
    this.table.style.setProperty("--columns", widths);
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
    this.fromTop();
    this.ticks.forget();
    this.layOut(this.alone);
    this.lookChanged();
    this.refreshOrSay();
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
    const { top, height } = this.sight;
    const seen = Math.ceil(height / this.height) || FIRST_ROWS;
    const first = Math.floor(top / this.height) - AROUND;
    return [Math.max(Math.floor(first / STEP) * STEP, 0), seen + 2 * AROUND + STEP];
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

  /**
   * A part of what is looked for, in the order that is shown.
   * @param {number} first @param {number} count @param {Record<string, string>} more @returns {Promise<ListedRuns>}
   */
  async askFor(first, count, more) {
    const query = new URLSearchParams({ ...more, first: String(first), count: String(count) });
    const answer = await fetch(`/dsgui/runs?${query}`);
    if (!answer.ok) throw new Error(say("runs_page", "answered", { status: String(answer.status) }));
    return answer.json();
  }

  /** What is looked for, and in which order. */
  get looked() {
    const held = this.alone ? "" : this.held().join(",");
    const more = this.isTable ? furtherOf(this.columns).join("\n") : "";
    return { ...this.tools.order(), words: this.tools.words, held, more };
  }

  /** @returns {Promise<void>} */
  async ask() {
    const [first, count] = this.wanted();
    const looked = { ...this.looked, baseline: (this.alone && baseline()) || "" };
    const [searched, words] = [this.tools.looked, looked.words];
    const asked = `${first} ${count} ${JSON.stringify(looked)}`;
    if (asked !== this.window) this.since = "";
    const { find } = this;
    const told = await this.askFor(first, count, { ...looked, since: this.since, find });
    this.list.removeAttribute("aria-busy");
    for (const run of told.rows) this.known.set(run.run_id, run);
    for (const [id, more] of Object.entries(told.more)) {
      const run = this.known.get(id);
      if (run) this.known.set(id, { ...run, more });
    }
    if (told.ids && !told.ids.every((id) => this.known.has(id))) {
      this.since = ""; // a run came into the window that was told of in another
      return this.ask();
    }
    Object.assign(this, {
      window: asked,
      first,
      since: told.since,
      told,
      searchedFor: words ? searched : "",
      ids: told.ids ?? this.ids,
    });
    if (told.place !== null) Object.assign(this, { goal: told.place, find: "" });
    else if (find && find === this.toFocus) Object.assign(this, { find: "", toFocus: "" });
    if (this.hasItsColumns || this.rows.querySelector(".ds-edit")) this.write();
    else this.layOut(this.alone); // the column of tags comes or goes, but not under who writes
    if (told.unread) this.soon();
    return undefined;
  }

  /** The row of a run, when it is there. @param {string} id */
  focusOn(id) {
    this.toFocus = id;
    this.refresh(id).catch((error) => this.trouble(error));
  }

  /**
   * The run that stands so far after another, in the order that is shown; "" where none does.
   * @param {string} id @param {number} by
   */
  async neighbour(id, by) {
    const { looked } = this;
    const { place } = await this.askFor(0, 1, { ...looked, find: id });
    if (place === null || place + by < 0) return "";
    const { rows } = await this.askFor(place + by, 1, looked);
    return rows[0]?.run_id ?? "";
  }

  soon() {
    clearTimeout(this.reading);
    this.reading = window.setTimeout(() => this.refreshOrSay(), READING_MS);
  }

  /** Whatever row was to have the focus: somebody looks for others. */
  fromTop() {
    if (this.sight.top) this.scrollTo(0);
    this.toFocus = "";
  }

  refreshOrSay() {
    this.refresh().catch((error) => this.trouble(error));
  }

  searched() {
    this.fromTop();
    this.ticks.forget();
    this.lookChanged();
    this.refreshOrSay();
  }

  resized() {
    const { widths } = widthsOf(this.fitting(this.room), this.room);
    if (this.isTable && widths !== this.table.style.getPropertyValue("--columns")) this.layOut(this.alone);
    this.fit();
    this.scrolled();
  }

  scrolled() {
    this.tellEdges();
    const [first, count] = this.wanted();
    const end = Math.min(first + count - STEP, this.told.fits);
    const least = Math.min(first + STEP, this.told.fits);
    if (this.first > least || this.first + this.ids.length < end) this.refreshOrSay();
  }

  /** At which sides the table goes on. */
  tellEdges() {
    const { scrollLeft, scrollWidth, clientWidth, scrollTop, scrollHeight, clientHeight } = this.list;
    this.list.classList.toggle("ds-scrolled", scrollLeft > 0);
    this.list.classList.toggle("ds-goes-on", scrollLeft + clientWidth < scrollWidth - 1);
    this.list.classList.toggle("ds-goes-up", !this.alone && scrollTop > 0);
    this.list.classList.toggle("ds-goes-down", !this.isPage && scrollTop + clientHeight < scrollHeight - 1);
  }

  goTo() {
    if (this.goal === null || !this.height) return;
    const [seen, top] = [this.sight.height, this.sight.top].map((px) => Math.floor(px / this.height));
    if (this.goal < top || this.goal >= top + seen) this.scrollTo(Math.max(this.goal - 1, 0) * this.height);
    this.goal = null;
  }

  // -- showing ------------------------------------------------------------------------------------------------------

  // Rows stay the same elements while their text changes: a row that has the focus keeps it.
  write() {
    const pinned = this.told.baseline;
    const base = pinned && this.pending.over(pinned.run_id, pinned);
    this.head.write(this.isTable ? this.columns : null, base, this.tools.sorted);
    const entries = new Map(this.entries.map((entry) => [entry.dataset.run, entry]));
    const runs = this.ids.map((id) => this.runOf(id)).filter((run) => run !== undefined);
    const shown = runs.map((run) => this.fill(entries.get(run.run_id) ?? this.made(run.run_id), run));
    const same = shown.length === this.rows.children.length && shown.every((one, i) => one === this.rows.children[i]);
    this.pad(); // before the rows: a list that is too short for a moment would be scrolled back
    if (!same) this.replace(shown);
    for (const id of this.known.size > runs.length ? [...this.known.keys()] : []) {
      if (!this.ids.includes(id)) this.known.delete(id);
    }
    this.measure();
    this.goTo();
    this.tools.show(this.told);
    this.tell();
    this.fit();
    this.tellEdges();
    this.mark();
    this.showEvery();
    this.giveFocus();
  }

  giveFocus() {
    const entry = this.entries.find(({ dataset }) => dataset.run === this.toFocus);
    if (!entry) return;
    this.toFocus = "";
    part(entry, ".ds-run-row").focus();
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
    this.fit();
  }

  /**
   * A table that is alone is as high as the window has room for: the page itself does not scroll. Where it goes on, its
   * last row in sight is seen in part.
   */
  fit() {
    this.node.style.paddingBottom = `${this.tools.barHeight}px`; // a phone's bar covers no card
    if (!this.isTable) this.list.style.removeProperty("max-height");
    if (!this.isTable || !this.height || !this.list.offsetHeight) return;
    const above = this.list.getBoundingClientRect().top + window.scrollY + this.head.node.offsetHeight;
    const edges = this.list.offsetHeight - this.list.clientHeight;
    const room = window.innerHeight - above - edges - below(this.list);
    const most = Math.max(room, LEAST_PX) / this.height;
    const rows = this.told.fits <= Math.floor(most) ? Math.floor(most) : Math.floor(most - PART) + PART;
    this.list.style.maxHeight = `${rows * this.height + this.head.node.offsetHeight + edges}px`;
  }

  /** How many runs there are, and how many of them fit; in place of the rows, where none does. */
  tell() {
    const { total, archived, archived_fit: away } = this.told;
    const { text, none } = countOf(this.told, this.searchedFor);
    this.count.textContent = text;
    this.count.hidden = !total && !archived;
    this.count.classList.toggle("ds-unseen", Boolean(none)); // it is said there
    this.tools.showNone(none, total, away);
  }

  /** As the server told it last, with what was written on it since. @param {string} id */
  runOf(id) {
    const told = this.known.get(id);
    return told && { ...this.pending.over(id, told), base: this.called(told.differs_from) };
  }

  /** By its name of now; by its id where it was deleted. @param {string} id */
  called(id) {
    const told = this.known.get(id);
    return (told && this.pending.over(id, told).name) || this.told.bases[id] || id;
  }

  /** @param {string} id */
  made(id) {
    return this.isTable ? tableRow(id, this.columns) : card(id);
  }

  /** @param {HTMLElement} entry @param {RunSummary} run */
  fill(entry, run) {
    const box = boxOf(entry);
    box.setAttribute("aria-label", say("runs_page", "compare_with", { name: run.name || run.run_id }));
    this.choice.know(run);
    box.checked = this.choice.has(run.run_id);
    if (this.isTable) fillRow(entry, run, this.columns, this.told.baseline);
    else fillCard(entry, run);
    return entry;
  }

  mark() {
    const shown = this.held();
    for (const entry of this.entries) {
      const row = part(entry, ".ds-run-row");
      const id = entry.dataset.run ?? "";
      row.setAttribute("aria-current", String(shown.includes(id)));
      entry.style.setProperty("--run-colour", this.colourOf(id) || null);
    }
    this.offerTools();
  }

  offerTools() {
    const shown = this.held();
    const isShown = shown.length > 1 && shown.length === this.choice.size && shown.every((id) => this.choice.has(id));
    this.tools.offer(this.choice.size, MOST_COMPARED, this.choice.archiving(), isShown);
  }

  // -- what is written on runs --------------------------------------------------------------------------------------

  /** @param {MouseEvent} event */
  clicked(event) {
    if (around(event, "#choose-every")) return;
    const entry = around(event, "[data-run]");
    const id = entry?.dataset.run ?? around(event, "[data-base]")?.dataset.base;
    const run = id ? (this.runOf(id) ?? this.told.baseline) : null;
    if (!id || !run) return;
    const changes = around(event, ".ds-changes-of");
    const tag = around(event, ".ds-tag")?.dataset.tag;
    const menu = around(event, ".ds-row-menu");
    this.ticks.isRange = event.shiftKey;
    if (event.type !== "click") this.follow(event, id);
    else if (menu && entry) this.showMenu(menu, entry, run).catch((error) => this.trouble(error));
    else if (around(event, ".ds-pencil")) this.edit(event);
    else if (tag) this.tools.searchFor(`tag:${tag.includes(" ") ? tag.split(" ")[0] : tag}`);
    else if (changes) this.explain(changes, run);
    else this.follow(event, id);
  }

  /**
   * A row is a link to its run wherever it is no control; its name is one for the keyboard.
   * @param {MouseEvent} event @param {string} id
   */
  follow(event, id) {
    if (this.rows.querySelector(".ds-edit")) return; // a text was selected past the end of its editor
    const link = around(event, ".ds-run-row");
    const isOther = event.button === 1 || event.ctrlKey || event.metaKey; // another tab
    if (event.button > 1 || (isOther && link)) return; // the browser does it
    if (!link && (around(event, CONTROLS) || around(event, '[data-column="choose"]'))) return;
    if (!link && !window.getSelection()?.isCollapsed) return; // a text was selected, to be copied
    if (isOther) window.open(addressOf(id), "_blank", "noopener");
    else if (!event.shiftKey || !link) {
      event.preventDefault();
      this.open(id);
    }
  }

  /** @param {HTMLElement} beside @param {RunSummary} run */
  explain(beside, run) {
    const popover = changesPopover(run, () => this.compare([run.differs_from, run.run_id]));
    this.node.append(popover);
    popover.showPopover();
    const { left, bottom } = beside.getBoundingClientRect();
    placeAt(popover, left, bottom + 4);
  }

  /**
   * What can be done with one run, at its row. @param {HTMLElement} opener @param {HTMLElement} entry
   * @param {RunSummary} run
   */
  async showMenu(opener, entry, run) {
    const id = run.run_id;
    const { showMenu, itemsOf } = await import("./run_menu.js");
    const acts = {
      open: () => this.open(id),
      clone: () => this.clone(id),
      edit: (/** @type {import("./run_editing.js").Editable} */ what) => {
        const cell = [`[data-column="${what}"]`, '[data-column="name"]'].map((one) => entry.querySelector(one));
        const over = cell.find((one) => one instanceof HTMLElement) ?? entry;
        editOver(
          over,
          what,
          run,
          (change) => this.label([id], change),
          () => opener,
        );
      },
      pin: this.isTable ? () => this.pin(id) : null,
      archive: () => {
        opener.blur(); // it goes with its row
        this.putAway([id], !run.archived);
      },
      remove: () => this.askToRemove(run, opener),
    };
    await showMenu(opener, opener.title, itemsOf(run, addressOf(id), id === baseline(), acts));
  }

  /** As its page asks. @param {RunSummary} run @param {HTMLElement} opener gets the focus where the run stays */
  async askToRemove({ run_id: id, adopted }, opener) {
    if (this.node.querySelector(":scope > .ds-question")) return; // its answer is on its way
    const removal = this.remove(id);
    removal.back = () => (removal.isGone ? this.search : opener);
    removal.question.addEventListener("close", () => removal.question.remove());
    this.node.append(removal.question);
    await removal.ask(Boolean(adopted));
  }

  /** @param {Event} event */
  edit(event) {
    const cell = around(event, ".ds-cell") ?? around(event, ".ds-card");
    const run = this.runOf(around(event, "[data-run]")?.dataset.run ?? "");
    const what = cell?.dataset.column ?? "name"; // a card's F2
    if (!cell || !run || !isEditable(what) || cell.querySelector(".ds-edit")) return;
    event.preventDefault();
    const back = () => part(cell, what === "name" ? ".ds-run-row" : ".ds-pencil");
    editOver(cell, what, run, (change) => this.label([run.run_id], change), back);
  }

  /** Puts the chosen runs away, or brings them back; both can be undone for a while. */
  archive() {
    const { ids, archived } = this.choice.archiving();
    this.choice.clear(); // its button is gone, and the one that takes it back has the focus
    this.putAway(ids, archived);
  }

  /** @param {string[]} ids @param {boolean} archived */
  putAway(ids, archived) {
    this.label(ids, { archived });
    const told = archived ? ["archived_one", "archived_several"] : ["unarchived_one", "unarchived_several"];
    const text = plural(ids.length, told[0], told[1]);
    this.toast.show(text, say("runs_page", "undo"), () => this.label(ids, { archived: !archived }));
  }

  /** Shown at once; what the server made of it soon. @param {string[]} ids @param {LabelChange} change */
  label(ids, change) {
    this.sendLabel(ids, change);
    this.pending.add(ids, change);
    this.write();
    for (const wait of WRITTEN_MS) setTimeout(() => this.refreshOrSay(), wait);
  }

  // -- choosing -----------------------------------------------------------------------------------------------------

  /** @param {Event} event */
  async choose(event) {
    const { every } = this.head;
    if (event.target === every) return this.ticks.every(every.checked, this.told.fits);
    const entry = around(event, "[data-run]");
    const run = this.runOf(entry?.dataset.run ?? "");
    return entry && run ? this.ticks.one(run, boxOf(entry).checked) : undefined;
  }

  /** The runs that are compared are the chosen ones, however one came to them. @param {string[]} ids */
  take(ids) {
    this.choice.take(ids, this.known);
  }

  offer() {
    for (const entry of this.entries) boxOf(entry).checked = this.choice.has(entry.dataset.run ?? "");
    this.offerTools();
    this.showEvery();
    if (this.alone && !this.isTable) this.fit(); // what is done with them stands below
  }

  showEvery() {
    const all =
      this.ids.length > 0 && this.choice.size >= this.told.fits && this.ids.every((id) => this.choice.has(id));
    this.head.showEvery(all || this.ticks.awaited !== null, this.choice.size > 0, !this.told.fits);
  }

  /** A run was deleted. @param {string} id */
  drop(id) {
    this.choice.drop(id);
  }
}

/** What stands between an element and the end of the page. @param {HTMLElement} node */
function below(node) {
  let found = 0;
  for (let one = node.parentElement; one; one = one.parentElement) {
    const { paddingBottom, marginBottom, borderBottomWidth } = window.getComputedStyle(one);
    found += parseFloat(paddingBottom) + parseFloat(marginBottom) + parseFloat(borderBottomWidth);
  }
  return found;
}
