// The list of runs: however many there are, the page holds the rows in sight and a few around them. The server keeps
// the order, searches, and tells what changed in the window that is asked for.

import { around, el, part } from "./dom.js";
import { duration, figure } from "./format.js";
import { textOf } from "./texts.js";

/** @import { ListedRuns, RunSummary } from "./types.d.ts" */

const AROUND = 12; // rows kept ready above and below those in sight
const STEP = 6; // a window begins at a multiple of it, so that a small scroll asks nothing
const FIRST_ROWS = 30;
const MOST_COMPARED = 6;
const READING_MS = 300; // how soon a search is asked again for what was not read yet
const TYPING_MS = 120;

/** @param {number} count */
const number = (count) => count.toLocaleString("en-US");
/** @param {number} count @param {string} one @param {string} several */
const plural = (count, one, several) => `${number(count)} ${count === 1 ? one : several}`;

/**
 * When a run began; of one that has not, when its launch was prepared, which its id tells.
 * @param {RunSummary} run
 */
function began(run) {
  if (run.started_at) return new Date(run.started_at * 1000);
  const parts = run.run_id.match(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/) ?? [];
  const [year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.slice(1).map(Number);
  return new Date(year, month - 1, day, hour, minute, second);
}

/** @param {Date} date */
export function shownDate(date, now = new Date()) {
  /** @type {Intl.DateTimeFormatOptions} */
  const time = { hour: "2-digit", minute: "2-digit" };
  if (date.toDateString() === now.toDateString()) return `Today, ${date.toLocaleTimeString(undefined, time)}`;
  /** @type {Intl.DateTimeFormatOptions} */
  const day = { month: "short", day: "numeric" };
  if (date.getFullYear() === now.getFullYear()) return date.toLocaleString(undefined, { ...day, ...time });
  return date.toLocaleDateString(undefined, { ...day, year: "numeric" });
}

/** @param {HTMLElement} entry @returns {HTMLInputElement} */
function boxOf(entry) {
  const box = part(entry, ".ds-run-choose");
  if (!(box instanceof HTMLInputElement)) throw new Error("a row of the list has no box");
  return box;
}

/**
 * `open` shows a run, `compare` several; `isShown` tells whether a run is shown now; `trouble` is told what went wrong.
 * @typedef {{ open: (id: string) => void, compare: (ids: string[]) => void, isShown: (id: string) => boolean,
 *   trouble: (error: unknown) => void }} Around
 */

export class RunList {
  /** @param {Around} given */
  constructor({ open, compare, isShown, trouble }) {
    this.compare = compare;
    this.isShown = isShown;
    this.trouble = trouble;
    this.search = el("input", {
      type: "search",
      class: "ds-run-search",
      id: "search-runs",
      hidden: true,
      placeholder: "Search runs",
      "aria-label": "Search runs",
      title: "By name, state, model, preset, device, script or id",
    });
    this.button = el("button", { type: "button", class: "ds-step", id: "compare-runs", hidden: true });
    this.clear = el("button", { type: "button", class: "ds-step", id: "clear-chosen", hidden: true }, "Clear");
    this.count = el("p", { class: "ds-remark ds-run-count", role: "status", hidden: true });
    this.rows = el("div", { class: "ds-run-rows" });
    this.list = el("nav", { class: "ds-run-list", "aria-label": "Runs" }, this.rows);
    const choice = el("div", { class: "ds-run-choice" }, this.button, this.clear);
    this.node = el("div", { class: "ds-run-side" }, this.search, choice, this.count, this.list);
    /** @type {Map<string, RunSummary>} */
    this.known = new Map(); // what the server told of the runs in the window
    /** @type {Map<string, number>} */
    this.chosen = new Map(); // the runs to compare, with their places: they need not be in sight
    /** @type {string[]} */
    this.ids = [];
    this.told = { total: 0, fits: 0, unread: 0 };
    this.searchedFor = ""; // the words that it was told of: the box may have others by now
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
    this.list.addEventListener("scroll", () => this.scrolled());
    this.list.addEventListener("click", (event) => {
      const id = around(event, ".ds-run-row") && around(event, "[data-run]")?.dataset.run;
      if (id) open(id);
    });
    this.list.addEventListener("change", (event) => this.choose(event));
    this.button.addEventListener("click", () => this.compare(this.inOrder()));
    this.clear.addEventListener("click", () => {
      this.chosen.clear();
      this.offer();
    });
    this.search.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = window.setTimeout(() => this.searched(), TYPING_MS);
    });
    new ResizeObserver(() => this.scrolled()).observe(this.list);
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
    const words = this.search.value.trim();
    const asked = `${first} ${count} ${words}`;
    if (asked !== this.window) this.since = "";
    const place = { first: String(first), count: String(count) };
    const query = new URLSearchParams({ ...place, words, since: this.since, find: this.find });
    const answer = await fetch(`/dsgui/runs?${query}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    /** @type {ListedRuns} */
    const told = await answer.json();
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
    const entries = new Map(this.entries.map((entry) => [entry.dataset.run, entry]));
    const runs = this.ids.map((id) => this.known.get(id)).filter((run) => run !== undefined);
    const shown = runs.map((run) => this.fill(entries.get(run.run_id) || this.row(run.run_id), run));
    const same = shown.length === this.rows.children.length && shown.every((one, i) => one === this.rows.children[i]);
    this.pad(); // before the rows: a list that is too short for a moment would be scrolled back
    if (!same) this.replace(shown);
    if (this.known.size > runs.length) this.known = new Map(runs.map((run) => [run.run_id, run]));
    this.measure();
    this.goTo();
    this.search.hidden = !this.told.total;
    this.tell();
    this.mark();
  }

  /** @returns {HTMLElement[]} */
  get entries() {
    return [...this.rows.querySelectorAll("[data-run]")].filter((one) => one instanceof HTMLElement);
  }

  /** An element that is put in its place again loses the focus. @param {HTMLElement[]} entries */
  replace(entries) {
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
    const sight = this.height ? Math.max(Math.round(this.list.clientHeight / this.height), 1) : fits;
    const first = this.height ? Math.min(Math.round(this.list.scrollTop / this.height), Math.max(fits - sight, 0)) : 0;
    const shown = `${number(first + 1)}–${number(Math.min(first + sight, fits))}`;
    const runs = plural(total, "run", "runs");
    const all = words ? `${plural(fits, "match", "matches")} in ${runs}` : runs;
    const found = fits > sight ? `Showing ${shown} of ${all}` : all;
    const none = unread ? "" : "No matching runs";
    const text = [words && !fits ? none : found, unread ? `${number(unread)} not searched yet` : ""];
    this.count.textContent = text.filter(Boolean).join(" · ");
    this.count.hidden = !total || (!words && fits <= sight);
  }

  /** @param {string} id */
  row(id) {
    return el(
      "div",
      { class: "ds-run-entry", "data-run": id },
      el("input", { type: "checkbox", class: "ds-run-choose", title: "Compare this run with others" }),
      el(
        "button",
        { type: "button", class: "ds-run-row" },
        el("span", { class: "ds-run-name" }),
        el("span", { class: "ds-state" }),
        el("span", { class: "ds-run-sub" }),
        el("span", { class: "ds-run-sub ds-run-what" }),
      ),
    );
  }

  /** @param {HTMLElement} entry @param {RunSummary} run */
  fill(entry, run) {
    const row = part(entry, ".ds-run-row");
    const [name, state, sub, what] = row.querySelectorAll("span");
    const box = boxOf(entry);
    box.setAttribute("aria-label", `Compare ${run.name || run.run_id} with others`);
    box.checked = this.chosen.has(run.run_id);
    const step = run.total ? `${run.step ?? 0} / ${run.total}` : figure(run.step);
    const loss = run.loss === null || run.loss === undefined ? "" : ` · loss ${figure(run.loss)}`;
    name.textContent = run.name || run.run_id;
    state.textContent = textOf("states", run.state);
    state.dataset.state = run.state;
    state.classList.toggle("ds-has-problem", Boolean(run.problem));
    sub.textContent = `${run.doing || `step ${step}${loss}`} · ${duration(run.duration_s)}`;
    const date = began(run);
    what.textContent = [shownDate(date), run.devices, run.model, run.preset].filter(Boolean).join(" · ");
    const script = (run.script || "").split("/").pop();
    const title = [date.toLocaleString(), run.devices, run.model, run.preset, script, run.run_id, run.problem];
    row.title = title.filter(Boolean).join(" · ");
    return entry;
  }

  mark() {
    for (const entry of this.entries) {
      part(entry, ".ds-run-row").setAttribute("aria-current", String(this.isShown(entry.dataset.run ?? "")));
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

  offer() {
    for (const entry of this.entries) boxOf(entry).checked = this.chosen.has(entry.dataset.run ?? "");
    const count = this.chosen.size;
    this.button.hidden = this.clear.hidden = count === 0;
    this.button.disabled = count < 2 || count > MOST_COMPARED;
    const most = count > MOST_COMPARED ? `At most ${MOST_COMPARED} can be compared` : `Compare ${count} runs`;
    this.button.textContent = count < 2 ? "Select another run to compare" : most;
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

  /** The run at the top, where nothing is searched and nothing was scrolled. */
  get newest() {
    return this.search.value.trim() || this.first ? undefined : this.ids[0];
  }
}
