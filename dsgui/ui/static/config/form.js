// The form of the Configure page, made from the field list at `form.json`: one control a field, grouped in sections.
// It knows no key by name. Edits are kept in `dirty` until the server has acknowledged them, so none is lost when
// several are typed while an answer is under way.

import { focusOf, isStale, showDefault, typedIn, valueOf, write } from "./controls.js";
import { around, button, el, hinted, part, withSheet } from "../common/dom.js";
import { EDITOR } from "./editor.js";
import { askedOf, beside, byField, fieldAt, fieldsInOrderOf, foreignOf, inOrderOf, leadingFields } from "./fields.js";
import { countsOf, matches, stepped, troubles } from "./fields.js";
import { foldHelp } from "./help.js";
import { goToLine, mark } from "./gutter.js";
import { tellHeld } from "./held.js";
import { heldOf, listenToKeys, openOf, showResult } from "./results.js";
import { fieldRow, markRow, showFound } from "./rows.js";
import { puttingAside } from "./steady.js";
import { keyName } from "../memory/memory_bars.js";
import { words } from "../texts/texts.js";

/** @import { Field, FormState, FormValue, Found, Props, Release, Section, Trigger, Watch } from "../types.d.ts" */

const UNSET = "";
const SHEET = "/dsgui/static/config/form.css";
const FRAMES = 120; // that a page which is shown takes to show its form
const GAP = 8; // pixels between the bar and what is below it
const TOLD = ["error", "warning"]; // problems that a section's tab counts
/** @type {Record<string, number>} */
const STEPS = { ArrowUp: 1, ArrowDown: -1 };
/** @type {Record<string, number>} */
const ARROWS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
// What the server said last. Kept here and not in the component's value, which Gradio sends back with every event.
/** @type {FormState} */
let latest = { values: {}, idle: [], not_taken: {}, problems: {} };
// The section that was opened last: while the page loads, Gradio may mount the form once more.
let opened = "";
// What one DeepSpeed release lacks and which defaults it has of its own; asked for once a release.
/** @type {Map<string, Release>} */
const releases = new Map();
/** @type {Release} */
const NO_DIFFERENCE = { absent: {}, defaults: {} };

/** @param {string | undefined} release */
async function ofRelease(release) {
  if (!release) return NO_DIFFERENCE;
  const known = releases.get(release);
  if (known) return known;
  try {
    const answer = await fetch(`/dsgui/release.json?release=${encodeURIComponent(release)}`);
    if (answer.ok) releases.set(release, await answer.json());
  } catch {
    /* the server restarts, say: the form goes on, and the next answer asks again */
  }
  return releases.get(release) || NO_DIFFERENCE;
}

/** @param {Section} section */
function sectionPanel(section) {
  return el(
    "section",
    {
      class: "ds-section",
      id: `ds-section-${section.id}`,
      role: "tabpanel",
      "aria-label": section.title,
      "data-section": section.id,
    },
    el("h2", { class: "ds-section-title" }, section.title),
    el("p", { class: "ds-intro" }, section.intro),
    el("ul", { class: "ds-at-field", hidden: true }),
  );
}

/** @param {Section} section */
const sectionTab = ({ id, title }) =>
  el(
    "button",
    { type: "button", role: "tab", "data-tab": id },
    el("span", {}, title),
    el("span", { class: "ds-tab-trouble" }),
  );

class Form {
  /**
   * @param {HTMLElement} element @param {Props<FormValue>} props @param {Trigger} trigger
   * @param {Section[]} sections
   */
  constructor(element, props, trigger, sections) {
    this.props = props;
    this.trigger = trigger;
    this.sections = sections;
    /** @type {Map<string, string>} */
    this.dirty = new Map();
    this.state = latest;
    /** @type {Map<string, Field>} */
    this.fields = new Map(sections.flatMap(({ fields }) => fields.map((field) => [field.pointer, field])));
    this.release = NO_DIFFERENCE;
    /** @type {Record<string, string>} */
    this.foreign = {};
    /** @type {Map<string, Found[]>} by the pointer of the field they are shown at */
    this.found = new Map();
    /** @type {Map<string, string>} by the id of a section */
    this.troubles = new Map();
    /** @type {Map<string, Record<string, number>>} how many of each severity, by the id of a section */
    this.counts = new Map();
    /** @type {Set<string>} */
    this.idle = new Set();
    /** @type {Set<string>} as it was when what is searched for was typed */
    this.idleThen = new Set();
    /** @type {string | null} */
    this.searchedFor = null;
    /** @type {Set<string>} of what a search finds, that which stands open */
    this.openedResults = new Set();
    this.section = sections.find(({ id }) => id === opened)?.id ?? sections[0].id;
    this.all = false;
    const tabs = sections.map(sectionTab);
    this.tabs = el("div", { class: "ds-tabs", role: "tablist", "aria-orientation": "vertical" }, ...tabs);
    const search = el("input", { type: "search", class: "ds-search", "aria-label": words("form_page", "find_about") });
    this.search = hinted(search, words("form_page", "find"), words("form_page", "find_short"));
    const pressed = { class: "ds-toggle", "aria-pressed": "false" };
    this.toggle = button(words("form_page", "show_all"), pressed, () => this.toggleAll());
    this.banner = el("p", { class: "ds-banner", hidden: true, role: "status" });
    this.count = el("span", { class: "ds-search-count", role: "status" });
    // Not every browser has one in the field.
    this.clear = button(words("form_page", "clear_search"), { class: "ds-search-clear", hidden: true }, () => {
      this.search.value = "";
      this.arrange();
      this.search.focus();
    });
    this.hint = el("span", { class: "ds-search-keys", hidden: true }, words("form_page", "result_keys"));
    this.told = el("p", { class: "ds-search-told" }, this.count, this.clear, this.hint);
    this.nothingSaid = el("p", {});
    this.nothing = el("div", { class: "ds-nothing", hidden: true }, this.nothingSaid);
    const best = el("h2", { class: "ds-section-title" }, words("form_page", "best"));
    this.leading = el("div", { class: "ds-found", hidden: true }, best); // what leads a search, out of its sections
    this.panels = el("div", { class: "ds-panels" }, this.leading, ...sections.map(sectionPanel));
    /** @type {Map<string, HTMLElement>} those that were shown so far */
    this.rows = new Map();
    const pane = el("div", { class: "ds-pane" }, this.banner, this.nothing, this.panels);
    this.body = el("div", { class: "ds-body" }, this.tabs, pane);
    const whole = part(element, ".ds-form");
    this.putAside = puttingAside(whole);
    whole.replaceChildren(el("div", { class: "ds-tools" }, this.search, this.toggle), this.told, this.body);
    this.listen();
    foldHelp(this.panels);
    this.arrange();
    this.attend(FRAMES);
  }

  /**
   * The key for the search was pressed before that was there, or to be seen.
   * @param {number} frames how long to wait
   */
  attend(frames) {
    if (document.documentElement.dataset.pressed !== "search" || document.activeElement !== document.body) return;
    if (this.search.checkVisibility()) this.search.focus();
    else if (frames) requestAnimationFrame(() => this.attend(frames - 1));
  }

  listen() {
    this.tabs.addEventListener("click", (event) => {
      const id = around(event, "[data-tab]")?.dataset.tab;
      if (id === undefined) return;
      this.search.value = "";
      this.open(id);
    });
    this.tabs.addEventListener("keydown", (event) => this.moveTab(event));
    this.tabs.addEventListener("scroll", () => this.scrolled());
    new ResizeObserver(() => this.scrolled()).observe(this.tabs);
    this.panels.addEventListener("input", (event) => {
      const pointer = around(event, "[data-pointer]")?.dataset.pointer;
      if (pointer === undefined) return;
      typedIn(this.control(pointer));
      this.edited(pointer);
    });
    this.panels.addEventListener("click", (event) => this.pressed(event));
    this.panels.addEventListener("keydown", (event) => {
      const pointer = around(event, "[data-pointer]")?.dataset.pointer ?? "";
      if (event.key in STEPS && this.step(pointer, STEPS[event.key])) event.preventDefault();
    });
    this.search.addEventListener("input", () => {
      this.arrange();
      this.reach();
    });
    listenToKeys(this.search, this.panels, (pointer) => this.openResult(pointer, true));
    window.addEventListener("dsgui:goto", (event) => this.goto(event.detail));
  }

  /** On a narrow screen the sections are one line that may go on at its right. */
  scrolled() {
    const { scrollLeft, scrollWidth, clientWidth } = this.tabs;
    this.tabs.classList.toggle("ds-goes-on", scrollLeft + clientWidth < scrollWidth - 1);
  }

  /** @param {Event} event */
  pressed(event) {
    const [brief, opener] = [around(event, ".ds-brief")?.dataset.row, around(event, "[data-open]")?.dataset.open];
    if (brief ?? opener) return this.openResult(brief ?? opener ?? "", brief !== undefined);
    const pressed = around(event, "[data-clear], [data-auto], [data-steps]")?.dataset;
    if (!pressed) return;
    const { clear, auto, steps, step } = pressed;
    if (clear !== undefined) this.set(clear, UNSET);
    if (auto !== undefined) this.set(auto, valueOf(this.control(auto)) === "auto" ? UNSET : "auto");
    if (steps !== undefined) this.step(steps, Number(step));
  }

  /** Whether the field went a step up or down. @param {string} pointer @param {number} by */
  step(pointer, by) {
    const field = this.fields.get(pointer);
    if (!field || !this.row(pointer).querySelector("[data-steps]")) return false;
    const usual = this.release.defaults[pointer] ?? field.default;
    const next = stepped(valueOf(this.control(pointer)), usual, by, field.least ?? 0);
    if (next !== null) this.set(pointer, next);
    return next !== null;
  }

  /** Of what a search finds. @param {string} pointer @param {boolean} open */
  openResult(pointer, open) {
    if (open) this.openedResults.add(pointer);
    else this.openedResults.delete(pointer);
    showResult(this.row(pointer), { searched: true, open });
    if (open) focusOf(this.control(pointer)).focus();
  }

  toggleAll() {
    this.all = !this.all;
    this.toggle.setAttribute("aria-pressed", String(this.all));
    this.toggle.textContent = words("form_page", this.all ? "show_common" : "show_all");
    this.arrange();
  }

  /**
   * As in any tab list: the arrows move, and only the chosen tab is a stop of the Tab key.
   * @param {KeyboardEvent} event
   */
  moveTab(event) {
    const by = ARROWS[event.key];
    if (!by) return;
    const ids = this.sections.map((section) => section.id);
    const next = ids[(ids.indexOf(this.section) + by + ids.length) % ids.length];
    this.open(next);
    this.tab(next).focus();
    event.preventDefault();
  }

  /** @param {string} section */
  tab(section) {
    return part(this.tabs, `[data-tab="${section}"]`);
  }

  /** @param {string} pointer */
  edited(pointer) {
    this.dirty.set(pointer, valueOf(this.control(pointer)));
    this.send();
  }

  /** @param {string} pointer @param {string} text */
  set(pointer, text) {
    write(this.control(pointer), text);
    this.edited(pointer);
  }

  send() {
    this.props.value = { edits: Object.fromEntries(this.dirty) };
    this.trigger("edit", {});
  }

  /** A field's row, made when it is first asked for: most are never looked at. @param {string} pointer */
  row(pointer) {
    const made = this.rows.get(pointer);
    if (made) return made;
    const section = this.sections.find(({ fields }) => fields.some((field) => field.pointer === pointer));
    const field = this.fields.get(pointer);
    if (!section || !field) throw new Error(`the form has no field ${pointer}; reload the page`);
    const row = fieldRow(field, `ds-field-${[...this.fields.keys()].indexOf(pointer)}`);
    this.rows.set(pointer, row);
    // Before the next one that is there: what has the focus stays where it is.
    const after = section.fields.slice(section.fields.indexOf(field) + 1);
    const panel = this.panel(section.id);
    const next = after.map((one) => this.rows.get(one.pointer)).find((one) => one?.parentElement === panel);
    panel.insertBefore(row, next ?? null);
    this.refresh(pointer, field, row);
    return row;
  }

  /** @param {string} id */
  panel(id) {
    return part(this.panels, `[data-section="${id}"]`);
  }

  /** @param {string} pointer */
  control(pointer) {
    return part(this.row(pointer), "[data-pointer]");
  }

  /**
   * A new state from the server: what it acknowledged is no longer dirty; what is still dirty keeps what was typed.
   * While the text is broken it says so and nothing else, and the form keeps all that it shows.
   * @param {FormValue | FormState | null} value
   */
  async receive(value) {
    if (value && isOrder(value)) {
      if ("discard" in value) this.dirty.clear(); // a whole new text was loaded: what waited for the old one is void
      this.send();
      return;
    }
    const state = stateOf(value);
    if (!state || !(state.values || state.broken)) return;
    this.props.value = {};
    for (const [pointer, text] of Object.entries(state.acked || {})) {
      if (this.dirty.get(pointer) === text) this.dirty.delete(pointer);
    }
    const shown =
      (latest =
      this.state =
        state.values ? state : { ...this.state, broken: state.broken, blank: state.blank, place: state.place });
    tellHeld(shown.values ?? {});
    const release = await ofRelease(shown.release);
    if (this.state !== shown) return; // a newer one came in the meantime
    this.release = release;
    this.showBroken(shown.broken, shown.blank);
    const pointers = [...this.fields.keys()];
    this.idle = new Set((shown.idle ?? []).map((number) => pointers[number]));
    this.foreign = foreignOf(shown, release, pointers);
    this.found = byField(this.sections, shown.found ?? []);
    this.troubles = troubles(this.sections, shown.problems ?? {});
    this.counts = countsOf(this.sections, shown.found ?? []);
    for (const section of this.sections) this.showBeside(section, shown.found ?? []);
    mark(shown.broken ? brokenAt(shown) : (shown.found ?? []));
    for (const [pointer, row] of this.rows) this.refresh(pointer, /** @type {Field} */ (this.fields.get(pointer)), row);
    this.arrange();
    if (this.dirty.size && !shown.broken) this.send();
  }

  /** @param {Section} section @param {Found[]} found */
  showBeside(section, found) {
    const named = beside(this.sections, found, section).map((one) => ({
      ...one,
      text: words("form_page", "of_key", { key: keyName(one.pointer), text: one.text }),
    }));
    showFound(this.panel(section.id), named);
  }

  /** @param {string | undefined} broken @param {boolean} [blank] */
  showBroken(broken, blank) {
    this.banner.hidden = !broken;
    this.banner.textContent = broken ? words("form_page", blank ? "waits_blank" : "waits") : "";
    this.banner.toggleAttribute("data-blank", Boolean(blank));
    this.body.classList.toggle("ds-waiting", Boolean(broken));
    this.putAside(Boolean(broken));
    markEditor(broken);
    this.panels.inert = Boolean(broken); // what is typed now would land in whatever text comes next
  }

  /** What a field holds: what was typed, else what the server said. @param {string} pointer */
  textOf(pointer) {
    return this.dirty.get(pointer) ?? this.state.values?.[pointer] ?? UNSET;
  }

  /** @param {string} pointer */
  problemOf(pointer) {
    return this.state.problems?.[pointer] || "";
  }

  /** @param {string} pointer @param {Field} field @param {HTMLElement} row */
  refresh(pointer, field, row) {
    const control = this.control(pointer);
    const text = this.textOf(pointer);
    const differs = valueOf(control) !== text || isStale(control, text);
    if (differs && !isBeingTyped(control, text)) write(control, text);
    showDefault(control, field, this.release.defaults[pointer] ?? field.default, this.state.native);
    const value = valueOf(control);
    row.classList.toggle("ds-set", value !== UNSET);
    row.querySelector(".ds-auto")?.setAttribute("aria-pressed", String(value === "auto"));
    row.dataset.problem = this.problemOf(pointer);
    control.setAttribute("aria-invalid", String(row.dataset.problem === "error"));
    showFound(row, this.found.get(pointer) ?? []);
    part(row, ".ds-held").textContent = heldOf(field, value, this.release.defaults[pointer] ?? field.default);
    const note = part(row, ".ds-inactive");
    const why = this.foreign[pointer] || (this.isIdle(field) && field.otherwise) || "";
    note.hidden = !why;
    note.textContent = why;
    row.classList.toggle("ds-idle", Boolean(why));
  }

  /** @param {string} id */
  open(id) {
    this.section = opened = id;
    this.arrange();
  }

  arrange() {
    const asked = askedOf(this.search.value);
    const another = this.search.value !== this.searchedFor;
    if (another) {
      this.searchedFor = this.search.value;
      const fields = this.sections.flatMap((section) => section.fields);
      this.idleThen = new Set(fields.filter((field) => this.isIdle(field)).map(({ pointer }) => pointer));
      const found = asked.length ? fields.filter((field) => matches(field, asked)) : [];
      this.openedResults = openOf(found, asked);
    }
    this.order(asked);
    const leading = leadingFields(this.sections, asked).map(({ pointer }) => pointer);
    const shown = this.sections.map((section) => this.arrangeSection(section, asked, leading));
    inThisOrder(
      leading.map((pointer) => this.row(pointer)),
      this.leading,
    );
    this.leading.hidden = !leading.length;
    for (const [pointer, row] of this.rows) {
      showResult(row, { searched: asked.length > 0, open: this.openedResults.has(pointer) });
    }
    const count = shown.reduce((sum, one) => sum + one, 0);
    this.tellCount(asked.length > 0, count);
    if (another) this.scrollTabs();
  }

  /** @param {boolean} searched @param {number} count of the fields that are shown */
  tellCount(searched, count) {
    this.nothing.hidden = count > 0;
    this.tabs.hidden = searched && !count; // none of them has anything
    const ofRemoved = this.sections.find(({ id }) => id === this.section)?.fields.every(({ removed }) => removed);
    const given = { words: this.search.value.trim(), count: String(this.fields.size) };
    const said = ofRemoved && !searched ? words("form_page", "no_removed") : words("form_page", "no_field", given);
    this.nothingSaid.textContent = said;
    this.count.textContent = searched ? matching(count) : "";
    this.clear.hidden = !this.search.value;
    this.hint.hidden = !searched || !count;
  }

  /** Where the sections are one line: to the first in which something is found, or to the one that is open. */
  scrollTabs() {
    const which = this.search.value ? "[data-tab]:not(.ds-nowhere)" : '[aria-selected="true"]';
    const tab = this.tabs.querySelector(which);
    if (tab) this.tabs.scrollLeft += tab.getBoundingClientRect().left - this.tabs.getBoundingClientRect().left - GAP;
  }

  /** The search goes up to the bar where that hides it, or the screen ends above what it found: in view it stays. */
  reach() {
    const { top, bottom } = this.search.getBoundingClientRect();
    const first = [...this.panels.querySelectorAll("[data-row]")].find((row) => row.checkVisibility());
    const least = first ? first.getBoundingClientRect().bottom : bottom;
    const bar = document.getElementById("workspace-bar")?.getBoundingClientRect().bottom ?? 0;
    const end = window.visualViewport?.height ?? window.innerHeight; // a keyboard on the screen covers the rest
    if (this.search.value && (top < bar || least > end)) window.scrollBy(0, top - bar - GAP);
  }

  /** The best that a search finds stands first. @param {string[]} asked */
  order(asked) {
    const panels = inOrderOf(this.sections, asked, (field) => this.wasIdle(field)).map(({ id }) => this.panel(id));
    inThisOrder(panels, this.panels);
  }

  /** Whether nothing used a field when the search began: an edit moves no row away. @param {Field} field */
  wasIdle({ pointer }) {
    return this.idleThen.has(pointer);
  }

  /** Whether nothing uses a field now. @param {Field} field */
  isIdle({ pointer, otherwise }) {
    return Boolean(this.foreign[pointer] || (this.idle.has(pointer) && otherwise));
  }

  /**
   * How many of its fields are shown.
   * @param {Section} section @param {string[]} asked @param {string[]} leading those that stand above all sections
   */
  arrangeSection(section, asked, leading) {
    const [chosen, searched] = [section.id === this.section, asked.length > 0];
    const shown = new Set();
    if (searched || chosen) {
      for (const field of section.fields) if (this.isShown(field, asked, leading)) shown.add(field.pointer);
    }
    for (const pointer of shown) this.row(pointer);
    const ordered = fieldsInOrderOf(section.fields, asked, (field) => this.wasIdle(field));
    const rows = ordered.flatMap(({ pointer }) => this.rows.get(pointer) ?? []);
    for (const row of rows) row.hidden = !shown.has(row.dataset.row);
    for (const field of section.fields) {
      const row = shown.has(field.pointer) && this.rows.get(field.pointer);
      if (row) markRow(row, field, asked);
    }
    const panel = this.panel(section.id);
    const own = rows.filter((row) => !leading.includes(row.dataset.row ?? ""));
    inThisOrder(own, panel);
    panel.hidden = own.every((row) => row.hidden);
    panel.classList.toggle("ds-found", searched);
    const found = searched ? shown.size : null;
    part(panel, ".ds-section-title").dataset.count = found === null ? "" : String(own.filter(isShownNow).length);
    this.markTab(section, chosen && !searched, found);
    return shown.size;
  }

  /** @param {Field} field @param {string[]} asked @param {string[]} leading */
  isShown(field, asked, leading) {
    return asked.length > 0 ? leading.includes(field.pointer) || matches(field, asked) : this.isOffered(field);
  }

  /** Whether a field is shown while nothing is searched for. @param {Field} field */
  isOffered({ pointer, common }) {
    if (pointer in this.foreign && !(pointer in (this.state.values ?? {}))) return false;
    return Boolean(this.all || common || this.textOf(pointer) !== UNSET || this.problemOf(pointer));
  }

  /**
   * @param {Section} section @param {boolean} selected
   * @param {number | null} found how many of its fields a search finds; null while nothing is searched for
   */
  markTab(section, selected, found) {
    const pointers = section.fields.map(({ pointer }) => pointer);
    const set = pointers.filter((pointer) => this.textOf(pointer) !== UNSET).length;
    const trouble = this.troubles.get(section.id) ?? "";
    const tab = this.tab(section.id);
    const counts = this.counts.get(section.id) ?? {};
    const told = TOLD.filter((kind) => counts[kind]);
    const troubled = told.map((kind) => counted(kind, counts[kind]));
    part(tab, ".ds-tab-trouble").textContent = troubled
      .map((text) => words("form_page", "tab_told", { text }))
      .join("");
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = section.id === this.section ? 0 : -1;
    tab.dataset.problem = trouble;
    tab.classList.toggle("ds-nowhere", found === 0);
    const chip = found === null && told.length ? told[0] : "";
    const count = found ?? (chip ? counts[chip] : set);
    const named = set ? words("form_page", "count_set", { count: String(set) }) : words("form_page", "none_set");
    tab.dataset.count = count ? String(count) : "";
    if (chip) tab.dataset.chip = chip;
    else delete tab.dataset.chip;
    tab.title = found === null ? [...troubled, named].join(" · ") : matching(found);
  }

  /** @param {string} pointer */
  goto(pointer) {
    const found = fieldAt(this.sections, pointer);
    if (!found) {
      const line = this.state.found?.find((one) => one.pointer === pointer)?.line;
      if (line) goToLine(line); // not a field of the form: the editor has it
      return;
    }
    this.search.value = "";
    this.open(found.section.id);
    const row = this.row(found.field.pointer);
    row.hidden = false;
    markRow(row, found.field, []);
    row.scrollIntoView({ block: "center", behavior: "smooth" });
    focusOf(this.control(found.field.pointer)).focus({ preventScroll: true });
  }
}

/** Below the editor: what it is checked by may be out of view. @param {string | undefined} broken */
function markEditor(broken) {
  const editor = document.getElementById(EDITOR);
  const plain = broken?.replaceAll("`", "");
  if (plain) editor?.setAttribute("data-broken", plain);
  else editor?.removeAttribute("data-broken");
}

/** @param {HTMLElement} row */
const isShownNow = (row) => !row.hidden;

/** @param {string} kind @param {number} count */
const counted = (kind, count) =>
  words("configure_page", `${kind}_${count === 1 ? "one" : "many"}`, { count: String(count) });

/** @param {number} count */
const matching = (count) => words("form_page", count === 1 ? "matches_one" : "matches_many", { count: String(count) });

/**
 * Puts these last into a parent, in this order; what is put there again loses the focus, and gets it back.
 * @param {HTMLElement[]} rows @param {HTMLElement} parent
 */
function inThisOrder(rows, parent) {
  const there = [...parent.children].slice(-rows.length);
  if (!rows.some((row, place) => row !== there[place])) return;
  const focused = document.activeElement;
  parent.append(...rows);
  if (focused instanceof HTMLElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

/**
 * "1e-5 " and "1e-5" are the same answer: leave the text of the focused field alone.
 * @param {HTMLElement} control @param {string} text
 */
const isBeingTyped = (control, text) => control === document.activeElement && valueOf(control).trim() === text;

/** Whether it asks for the form's edits anew. @param {FormValue | FormState} value */
const isOrder = (value) => Boolean(("discard" in value && value.discard) || ("refresh" in value && value.refresh));

/** Where the text breaks off. @param {FormState} state @returns {Found[]} */
const brokenAt = ({ broken = "", place }) =>
  place ? [{ ...place, pointer: "", severity: "error", text: broken }] : [];

/** @param {FormValue | FormState | null} value @returns {FormState | null} */
function stateOf(value) {
  if (!value) return null;
  if ("state" in value && value.state) return JSON.parse(value.state);
  return "values" in value || "broken" in value ? value : null;
}

/** @param {HTMLElement} element @param {Props<FormValue>} props @param {Trigger} trigger @param {Watch} watch */
export async function mount(element, props, trigger, watch) {
  const [answer] = await Promise.all([fetch("/dsgui/form.json"), withSheet(SHEET)]);
  const form = new Form(element, props, trigger, await answer.json());
  watch("value", () => form.receive(props.value));
  const given = props.value || {};
  form.receive(given.state || given.discard || given.refresh ? given : latest);
}
