// The form of the Configure page, made from the field list at `form.json`: one control a field, grouped in sections.
// It knows no key by name. Edits are kept in `dirty` until the server has acknowledged them, so none is lost when
// several are typed while an answer is under way.

import { around, button, el, part } from "./dom.js";
import { breakable, fieldAt, foreignOf, isChosen, matches, optionsOf, unsetText, wordsOf } from "./fields.js";

/** @import { Field, FormState, FormValue, Props, Release, Section, Trigger, Watch } from "./types.d.ts" */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

const UNSET = "";
/** @type {Record<string, number>} */
const ARROWS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
// What the server said last. Kept here and not in the component's value, which Gradio sends back with every event.
/** @type {FormState} */
let latest = { values: {}, idle: [], not_taken: {}, problems: {} };
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

/** @param {Field} field @param {string} id */
function selectControl(field, id) {
  return el(
    "select",
    { id, "data-pointer": field.pointer },
    el("option", { value: UNSET }, unsetText(field, field.default)),
    ...optionsOf(field).map((choice) => el("option", { value: choice }, choice)),
  );
}

/** @param {Field} field @param {string} id @returns {[HTMLInputElement | HTMLTextAreaElement, ...HTMLElement[]]} */
function inputControl(field, id) {
  const placeholder = unsetText(field, field.default);
  if (field.kind === "object") {
    return [el("textarea", { id, placeholder, rows: 3, "data-pointer": field.pointer, spellcheck: "false" })];
  }
  const suggestions = [...(field.auto ? ["auto"] : []), ...(field.suggestions || [])];
  const list = suggestions.length ? `${id}-list` : undefined;
  const numeric = field.kind === "integer" || field.kind === "number";
  const input = el("input", {
    id,
    type: "text",
    placeholder,
    list,
    "data-pointer": field.pointer,
    autocomplete: "off",
    spellcheck: "false",
    class: numeric ? "ds-numeric" : undefined,
  });
  if (!list) return [input];
  return [input, el("datalist", { id: list }, ...suggestions.map((value) => el("option", { value })))];
}

/** @param {Field} field @param {number} index */
function fieldRow(field, index) {
  const id = `ds-field-${index}`;
  const controls = isChosen(field) ? [selectControl(field, id)] : inputControl(field, id);
  const clear = el(
    "button",
    {
      type: "button",
      class: "ds-clear",
      "data-clear": field.pointer,
      title: "Unset: remove the key from the config",
      "aria-label": `Unset ${field.key}`,
    },
    "×",
  );
  controls[0].setAttribute("aria-describedby", `${id}-help`);
  const unit = field.unit ? el("span", { class: "ds-unit" }, field.unit) : "";
  const removed = field.removed ? el("span", { class: "ds-removed" }, `removed in DeepSpeed ${field.removed}`) : "";
  return el(
    "div",
    { class: "ds-field", "data-row": field.pointer, "data-common": Boolean(field.common) },
    el(
      "label",
      { for: id },
      el("span", { class: "ds-title" }, field.title),
      " ",
      unit,
      removed,
      el("code", { class: "ds-key" }, ...breakable(field.key).flatMap((piece) => [piece, el("wbr")])),
    ),
    el("div", { class: "ds-control" }, ...controls, clear),
    el("p", { class: "ds-help", id: `${id}-help` }, field.help || ""),
    el("p", { class: "ds-inactive", hidden: true }),
  );
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
    /** @type {Set<string>} */
    this.idle = new Set();
    this.section = sections[0].id;
    this.all = false;
    const counter = { next: 0 };
    const tabs = sections.map(({ id, title }) => el("button", { type: "button", role: "tab", "data-tab": id }, title));
    this.tabs = el("div", { class: "ds-tabs", role: "tablist", "aria-orientation": "vertical" }, ...tabs);
    const hints = {
      placeholder: "Find a field: bucket, offload, lr …",
      "aria-label": "Find a field by key, name or description",
    };
    this.search = el("input", { type: "search", class: "ds-search", ...hints });
    this.toggle = button("Show all fields", { class: "ds-toggle", "aria-pressed": "false" }, () => this.toggleAll());
    this.banner = el("p", { class: "ds-banner", hidden: true, role: "status" });
    const nothing = "No matching field. Other keys can be added in the JSON.";
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
    this.panels.addEventListener("click", (event) => {
      const pointer = around(event, "[data-clear]")?.dataset.clear;
      if (pointer !== undefined) this.set(pointer, UNSET);
    });
    this.search.addEventListener("input", () => this.arrange());
    window.addEventListener("dsgui:goto", (event) => this.goto(event.detail));
  }

  toggleAll() {
    this.all = !this.all;
    this.toggle.setAttribute("aria-pressed", String(this.all));
    this.toggle.textContent = this.all ? "Show common fields" : "Show all fields";
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
    this.dirty.set(pointer, this.control(pointer).value);
    this.send();
  }

  /** @param {string} pointer @param {string} text */
  set(pointer, text) {
    this.control(pointer).value = text;
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

  /** @param {string} pointer @returns {Control} */
  control(pointer) {
    return /** @type {Control} */ (part(this.row(pointer), "[data-pointer]"));
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
    for (const [pointer, field] of this.fields) this.refresh(pointer, field);
    this.arrange();
    if (this.dirty.size && !shown.broken) this.send();
  }

  /** @param {string | undefined} broken */
  showBroken(broken) {
    this.banner.hidden = !broken;
    this.banner.textContent = broken ? `${broken} The form updates again once the JSON is valid.` : "";
    this.panels.classList.toggle("ds-waiting", Boolean(broken));
    this.panels.inert = Boolean(broken); // what is typed now would land in whatever text comes next
  }

  /** @param {string} pointer @param {Field} field */
  refresh(pointer, field) {
    const { values = {}, problems = {} } = this.state;
    const row = this.row(pointer);
    const control = this.control(pointer);
    const text = values[pointer] ?? UNSET;
    if (!this.dirty.has(pointer) && control.value !== text && !this.isBeingTyped(control, text)) {
      if (control instanceof HTMLSelectElement) this.admit(control, text);
      control.value = text;
    }
    this.showDefault(control, unsetText(field, this.release.defaults[pointer] ?? field.default));
    row.classList.toggle("ds-set", control.value !== UNSET);
    row.dataset.problem = problems[pointer] || "";
    control.setAttribute("aria-invalid", String(row.dataset.problem === "error"));
    const note = part(row, ".ds-inactive");
    const why = this.foreign[pointer] || (this.idle.has(pointer) && field.otherwise) || "";
    note.hidden = !why;
    note.textContent = why;
    row.classList.toggle("ds-idle", Boolean(why));
  }

  /** @param {Control} control @param {string} text */
  showDefault(control, text) {
    if (!(control instanceof HTMLSelectElement)) control.placeholder = text;
    else if (control.options[0].textContent !== text) control.options[0].textContent = text;
  }

  /**
   * "1e-5 " and "1e-5" are the same answer: leave the text of the focused field alone.
   * @param {Control} control @param {string} text
   */
  isBeingTyped(control, text) {
    return control === document.activeElement && control.value.trim() === text;
  }

  /**
   * A value the list does not offer (a typing error in the file, say) is shown, never swallowed.
   * @param {HTMLSelectElement} select @param {string} text
   */
  admit(select, text) {
    const known = [...select.options].some((option) => option.value === text);
    if (!known) select.append(el("option", { value: text }, text));
  }

  /** @param {string} id */
  open(id) {
    this.section = id;
    this.arrange();
  }

  arrange() {
    const words = wordsOf(this.search.value);
    const shown = this.sections.map((section) => this.arrangeSection(section, words));
    this.nothing.hidden = shown.some(Boolean);
  }

  /** Whether some field of it is shown. @param {Section} section @param {string[]} words */
  arrangeSection(section, words) {
    const panel = part(this.panels, `[data-section="${section.id}"]`);
    const [chosen, searched] = [section.id === this.section, words.length > 0];
    const rows = section.fields.map((field) => ({ row: this.row(field.pointer), field }));
    for (const { row, field } of rows) row.hidden = !(searched ? matches(field, words) : this.isOffered(field, row));
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
    tab.title = set ? `${set} set` : "nothing set";
  }

  /** @param {string} pointer */
  goto(pointer) {
    const found = fieldAt(this.sections, pointer);
    if (!found) return;
    this.search.value = "";
    this.open(found.section.id);
    const row = this.row(found.field.pointer);
    row.hidden = false;
    row.scrollIntoView({ block: "center", behavior: "smooth" });
    this.control(found.field.pointer).focus({ preventScroll: true });
  }
}

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
