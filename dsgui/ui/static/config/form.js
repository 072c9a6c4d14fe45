// The form of the Configure page, made from the field list at `form.json`: one control a field, grouped in sections.
// It knows no key by name. Edits are kept in `dirty` until the server has acknowledged them, so none is lost when
// several are typed while an answer is under way.

import { controlsOf, focusOf, isStale, showDefault, valueOf, write } from "./controls.js";
import { around, button, el, part, parted } from "../common/dom.js";
import { byField, fieldAt, fieldsInOrderOf, foreignOf, inOrderOf } from "./fields.js";
import { isSegmented, matches, stepped } from "./fields.js";
import { goToLine, mark } from "./gutter.js";
import { wordsOf } from "../texts/terms.js";
import { words } from "../texts/texts.js";

/** @import { Field, FormState, FormValue, Found, Props, Release, Section, Trigger, Watch } from "../types.d.ts" */

const UNSET = "";
const SHOWN = { error: "✕", warning: "▲", note: "●" };
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

/** @param {Field} field @param {number} index */
function fieldRow(field, index) {
  const id = `ds-field-${index}`;
  const controls = controlsOf(field, id);
  const clear = el(
    "button",
    {
      type: "button",
      class: "ds-clear",
      "data-clear": field.pointer,
      title: words("form_page", "unset_hint"),
      "aria-label": words("form_page", "unset", { key: field.key }),
    },
    "×",
  );
  const unit = field.unit ? el("span", { class: "ds-unit" }, field.unit) : "";
  const gone = words("form_page", "removed", { release: field.removed ?? "" });
  const removed = field.removed ? el("span", { class: "ds-removed" }, gone) : "";
  const row = el(
    "div",
    { class: "ds-field", "data-row": field.pointer, "data-common": Boolean(field.common) },
    el(
      isSegmented(field) ? "div" : "label",
      isSegmented(field) ? { class: "ds-name", id: `${id}-name` } : { class: "ds-name", for: id },
      el("span", { class: "ds-title" }, field.title),
      " ",
      unit,
      removed,
      el("code", { class: "ds-key" }, ...parted(field.key)),
    ),
    el("div", { class: "ds-control" }, ...controls, clear),
    el("ul", { class: "ds-at-field", id: `${id}-found`, hidden: true }),
    el("p", { class: "ds-help", id: `${id}-help` }, field.help || ""),
    el("p", { class: "ds-inactive", hidden: true }),
  );
  const control = part(row, "[data-pointer]");
  control.setAttribute("aria-describedby", `${id}-found ${id}-help`);
  showDefault(control, field, field.default);
  return row;
}

/** @param {Section} section @param {{ next: number }} counter */
function sectionPanel(section, counter) {
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
    ...section.fields.map((field) => fieldRow(field, counter.next++)),
  );
}

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
    /** @type {Set<string>} */
    this.idle = new Set();
    this.section = sections.find(({ id }) => id === opened)?.id ?? sections[0].id;
    this.all = false;
    const counter = { next: 0 };
    const tabs = sections.map(({ id, title }) => el("button", { type: "button", role: "tab", "data-tab": id }, title));
    this.tabs = el("div", { class: "ds-tabs", role: "tablist", "aria-orientation": "vertical" }, ...tabs);
    const hints = {
      placeholder: words("form_page", "find"),
      "aria-label": words("form_page", "find_about"),
    };
    this.search = el("input", { type: "search", class: "ds-search", ...hints });
    const pressed = { class: "ds-toggle", "aria-pressed": "false" };
    this.toggle = button(words("form_page", "show_all"), pressed, () => this.toggleAll());
    this.banner = el("p", { class: "ds-banner", hidden: true, role: "status" });
    const nothing = words("form_page", "no_field");
    this.nothing = el("p", { class: "ds-nothing", hidden: true }, nothing);
    this.panels = el("div", { class: "ds-panels" }, ...sections.map((section) => sectionPanel(section, counter)));
    /** @type {Map<string, HTMLElement>} */
    this.rows = new Map();
    for (const pointer of this.fields.keys()) this.rows.set(pointer, part(this.panels, `[data-row="${pointer}"]`));
    part(element, ".ds-form").replaceChildren(
      el("div", { class: "ds-tools" }, this.search, this.toggle),
      this.banner,
      el("div", { class: "ds-body" }, this.tabs, el("div", { class: "ds-pane" }, this.nothing, this.panels)),
    );
    this.listen();
    this.arrange();
  }

  listen() {
    this.tabs.addEventListener("click", (event) => {
      const id = around(event, "[data-tab]")?.dataset.tab;
      if (id === undefined) return;
      this.search.value = "";
      this.open(id);
    });
    this.tabs.addEventListener("keydown", (event) => this.moveTab(event));
    this.panels.addEventListener("input", (event) => {
      const pointer = around(event, "[data-pointer]")?.dataset.pointer;
      if (pointer !== undefined) this.edited(pointer);
    });
    this.panels.addEventListener("click", (event) => this.pressed(event));
    this.panels.addEventListener("keydown", (event) => {
      const pointer = around(event, "[data-pointer]")?.dataset.pointer ?? "";
      if (event.key in STEPS && this.step(pointer, STEPS[event.key])) event.preventDefault();
    });
    this.search.addEventListener("input", () => this.arrange());
    window.addEventListener("dsgui:goto", (event) => this.goto(event.detail));
  }

  /** @param {Event} event */
  pressed(event) {
    const pressed = around(event, "[data-clear], [data-auto], [data-steps], [data-line]")?.dataset;
    if (!pressed) return;
    const { clear, auto, steps, step, line } = pressed;
    if (clear !== undefined) this.set(clear, UNSET);
    if (auto !== undefined) this.set(auto, valueOf(this.control(auto)) === "auto" ? UNSET : "auto");
    if (steps !== undefined) this.step(steps, Number(step));
    if (line !== undefined) goToLine(Number(line));
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

  /** @param {string} pointer */
  row(pointer) {
    const row = this.rows.get(pointer);
    if (!row) throw new Error(`the form has no field ${pointer}; reload the page`);
    return row;
  }

  /** @param {string} pointer */
  control(pointer) {
    return part(this.row(pointer), "[data-pointer]");
  }

  /**
   * A new state from the server: what it acknowledged is no longer dirty; what is still dirty keeps what was typed.
   * While the text is broken it says so and nothing else, and the form keeps what it shows.
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
    const shown = (latest = this.state = state.values ? state : { ...this.state, broken: state.broken });
    const release = await ofRelease(shown.release);
    if (this.state !== shown) return; // a newer one came in the meantime
    this.release = release;
    this.showBroken(shown.broken);
    const pointers = [...this.fields.keys()];
    this.idle = new Set((shown.idle ?? []).map((number) => pointers[number]));
    this.foreign = foreignOf(shown, release, pointers);
    this.found = byField(this.sections, shown.broken ? [] : (shown.found ?? []));
    mark(shown.broken ? [] : (shown.found ?? []));
    for (const [pointer, field] of this.fields) this.refresh(pointer, field);
    this.arrange();
    if (this.dirty.size && !shown.broken) this.send();
  }

  /** @param {string | undefined} broken */
  showBroken(broken) {
    this.banner.hidden = !broken;
    this.banner.textContent = broken ? words("form_page", "waits", { why: broken }) : "";
    this.panels.classList.toggle("ds-waiting", Boolean(broken));
    this.panels.inert = Boolean(broken); // what is typed now would land in whatever text comes next
  }

  /** @param {string} pointer @param {Field} field */
  refresh(pointer, field) {
    const { values = {}, problems = {} } = this.state;
    const row = this.row(pointer);
    const control = this.control(pointer);
    const text = values[pointer] ?? UNSET;
    const shown = valueOf(control);
    const differs = shown !== text || isStale(control, text);
    if (!this.dirty.has(pointer) && differs && !isBeingTyped(control, text)) write(control, text);
    showDefault(control, field, this.release.defaults[pointer] ?? field.default);
    const value = valueOf(control);
    row.classList.toggle("ds-set", value !== UNSET);
    row.querySelector(".ds-auto")?.setAttribute("aria-pressed", String(value === "auto"));
    row.dataset.problem = problems[pointer] || "";
    control.setAttribute("aria-invalid", String(row.dataset.problem === "error"));
    this.showFound(row, this.found.get(pointer) ?? []);
    const note = part(row, ".ds-inactive");
    const why = this.foreign[pointer] || (this.idle.has(pointer) && field.otherwise) || "";
    note.hidden = !why;
    note.textContent = why;
    row.classList.toggle("ds-idle", Boolean(why));
  }

  /** What was found, beneath the field; a press shows the line. @param {HTMLElement} row @param {Found[]} found */
  showFound(row, found) {
    const list = part(row, ".ds-at-field");
    const key = JSON.stringify(found);
    if (list.dataset.shown === key) return; // what has the focus keeps it
    list.dataset.shown = key;
    list.hidden = !found.length;
    list.replaceChildren(...found.map(foundItem));
  }

  /** @param {string} id */
  open(id) {
    this.section = opened = id;
    this.arrange();
  }

  arrange() {
    const asked = wordsOf(this.search.value);
    this.order(asked);
    const shown = this.sections.map((section) => this.arrangeSection(section, asked));
    this.nothing.hidden = shown.some(Boolean);
  }

  /** The best that a search finds stands first. @param {string[]} asked */
  order(asked) {
    const panels = inOrderOf(this.sections, asked).map(({ id }) => part(this.panels, `[data-section="${id}"]`));
    if (panels.some((panel, place) => this.panels.children[place] !== panel)) this.panels.append(...panels);
  }

  /** Whether some field of it is shown. @param {Section} section @param {string[]} asked */
  arrangeSection(section, asked) {
    const panel = part(this.panels, `[data-section="${section.id}"]`);
    const [chosen, searched] = [section.id === this.section, asked.length > 0];
    const rows = fieldsInOrderOf(section.fields, asked).map((field) => ({ row: this.row(field.pointer), field }));
    inThisOrder(rows.map(({ row }) => row));
    for (const { row, field } of rows) row.hidden = !(searched ? matches(field, asked) : this.isOffered(field, row));
    const set = rows.filter(({ row }) => row.classList.contains("ds-set")).length;
    const troubles = rows.map(({ row }) => row.dataset.problem).filter(Boolean);
    const trouble = troubles.find((one) => one === "error") ?? troubles[0] ?? "";
    panel.hidden = !(searched || chosen) || rows.every(({ row }) => row.hidden);
    panel.classList.toggle("ds-found", searched);
    this.markTab(section, set, trouble, chosen && !searched);
    return !panel.hidden;
  }

  /** Whether a field is shown while nothing is searched for. @param {Field} field @param {HTMLElement} row */
  isOffered(field, row) {
    if (field.pointer in this.foreign && !(field.pointer in (this.state.values ?? {}))) return false;
    return Boolean(this.all || field.common || row.classList.contains("ds-set") || row.dataset.problem);
  }

  /** @param {Section} section @param {number} set @param {string} trouble @param {boolean} selected */
  markTab(section, set, trouble, selected) {
    const tab = this.tab(section.id);
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = section.id === this.section ? 0 : -1;
    tab.dataset.problem = trouble;
    tab.dataset.count = set ? String(set) : "";
    tab.title = set ? words("form_page", "count_set", { count: String(set) }) : words("form_page", "none_set");
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
    row.scrollIntoView({ block: "center", behavior: "smooth" });
    focusOf(this.control(found.field.pointer)).focus({ preventScroll: true });
  }
}

/** Puts siblings, the last of their parent, in this order. @param {HTMLElement[]} rows */
function inThisOrder(rows) {
  const wrong = rows.some((row, place) => place > 0 && row.previousElementSibling !== rows[place - 1]);
  if (wrong) rows[0]?.parentElement?.append(...rows);
}

/** An option of a script, which no line breaks after its dashes. */
const OPTION = /(--\w+)/;

/** @param {Found} found */
const foundItem = ({ severity, text, line }) =>
  el(
    "li",
    { class: `ds-${severity}` },
    el(
      "button",
      { type: "button", "data-line": line, title: words("form_page", "show_line", { line: String(line) }) },
      el("span", { class: "ds-sign", "aria-hidden": "true" }, SHOWN[severity]),
      el("span", { class: "ds-word" }, words("common_page", `word_${severity}`)),
      " ",
      ...text.split(OPTION).map((one, place) => (place % 2 ? el("span", { class: "ds-whole" }, one) : one)),
    ),
  );

/**
 * "1e-5 " and "1e-5" are the same answer: leave the text of the focused field alone.
 * @param {HTMLElement} control @param {string} text
 */
const isBeingTyped = (control, text) => control === document.activeElement && valueOf(control).trim() === text;

/** Whether it asks for the form's edits anew. @param {FormValue | FormState} value */
const isOrder = (value) => Boolean(("discard" in value && value.discard) || ("refresh" in value && value.refresh));

/** @param {FormValue | FormState | null} value @returns {FormState | null} */
function stateOf(value) {
  if (!value) return null;
  if ("state" in value && value.state) return JSON.parse(value.state);
  return "values" in value || "broken" in value ? value : null;
}

/** @param {HTMLElement} element @param {Props<FormValue>} props @param {Trigger} trigger @param {Watch} watch */
export async function mount(element, props, trigger, watch) {
  const answer = await fetch("/dsgui/form.json");
  const form = new Form(element, props, trigger, await answer.json());
  watch("value", () => form.receive(props.value));
  const given = props.value || {};
  form.receive(given.state || given.discard || given.refresh ? given : latest);
}
