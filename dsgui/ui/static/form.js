// The form of the Configure page, made from the field list at `form.json`: one control a field, grouped in sections.
// It knows no key by name. Edits are kept in `dirty` until the server has acknowledged them, so none is lost when
// several are typed while an answer is under way.

import { el } from "./dom.js";

const UNSET = "";
// What the server said last. Kept here and not in the component's value, which Gradio sends back with every event.
let latest = { values: {}, idle: [], not_taken: {}, problems: {} };
// What one DeepSpeed release lacks and which defaults it has of its own; asked for once a release.
const releases = new Map();
const NO_DIFFERENCE = { absent: {}, defaults: {} };

async function ofRelease(release) {
  if (!release || releases.has(release)) return releases.get(release) || NO_DIFFERENCE;
  try {
    const answer = await fetch(`/dsgui/release.json?release=${encodeURIComponent(release)}`);
    if (answer.ok) releases.set(release, await answer.json());
  } catch {} // the server restarts, say: the form goes on, and the next answer asks again
  return releases.get(release) || NO_DIFFERENCE;
}

function optionsOf(field) {
  const choices = field.kind === "boolean" ? ["true", "false"] : field.choices || [];
  return field.auto ? [...choices, "auto"] : choices;
}

// What a control shows while its key is not in the file; the default is that of the DeepSpeed checked against.
function unsetText(field, fallback) {
  if (fallback === undefined || fallback === "") return "not set";
  return field.kind === "boolean" || field.kind === "choice" ? `not set (default ${fallback})` : `default ${fallback}`;
}

function selectControl(field, id) {
  return el(
    "select",
    { id, "data-pointer": field.pointer },
    el("option", { value: UNSET }, unsetText(field, field.default)),
    ...optionsOf(field).map((choice) => el("option", { value: choice }, choice)),
  );
}

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

// A long key breaks after a dot or an underscore, not in a word.
function breakable(key) {
  return key.split(/(?<=[._])/).flatMap((part) => [part, el("wbr")]);
}

function fieldRow(field, index) {
  const id = `ds-field-${index}`;
  const controls =
    field.kind === "boolean" || field.kind === "choice" ? [selectControl(field, id)] : inputControl(field, id);
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
      el("code", { class: "ds-key" }, ...breakable(field.key)),
    ),
    el("div", { class: "ds-control" }, ...controls, clear),
    el("p", { class: "ds-help", id: `${id}-help` }, field.help || ""),
    el("p", { class: "ds-inactive", hidden: true }),
  );
}

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
    el("h3", { class: "ds-section-title" }, section.title),
    el("p", { class: "ds-intro" }, section.intro),
    ...section.fields.map((field) => fieldRow(field, counter.next++)),
  );
}

class Form {
  constructor(element, props, trigger) {
    Object.assign(this, { element, props, trigger });
    this.dirty = new Map();
    this.state = latest;
    this.fields = new Map();
    this.release = { absent: {}, defaults: {} };
    this.foreign = {};
    this.idle = new Set();
    this.rows = new Map();
    this.section = null;
    this.all = false;
  }

  build(sections) {
    const counter = { next: 0 };
    this.sections = sections;
    this.tabs = el(
      "div",
      { class: "ds-tabs", role: "tablist", "aria-orientation": "vertical" },
      ...sections.map((section) =>
        el("button", { type: "button", role: "tab", "data-tab": section.id }, section.title),
      ),
    );
    this.search = el("input", {
      type: "search",
      class: "ds-search",
      placeholder: "Find a field: bucket, offload, lr …",
      "aria-label": "Find a field by key, name or description",
    });
    this.toggle = el("button", { type: "button", class: "ds-toggle", "aria-pressed": "false" }, "Show all fields");
    this.banner = el("p", { class: "ds-banner", hidden: true, role: "status" });
    this.nothing = el(
      "p",
      { class: "ds-nothing", hidden: true },
      "No field matches. Keys the form lacks can be written in the JSON.",
    );
    this.panels = el("div", { class: "ds-panels" }, ...sections.map((section) => sectionPanel(section, counter)));
    this.element
      .querySelector(".ds-form")
      .replaceChildren(
        el("div", { class: "ds-tools" }, this.search, this.toggle),
        this.banner,
        el("div", { class: "ds-body" }, this.tabs, el("div", { class: "ds-pane" }, this.nothing, this.panels)),
      );
    for (const field of sections.flatMap((section) => section.fields)) this.fields.set(field.pointer, field);
    for (const row of this.panels.querySelectorAll("[data-row]")) this.rows.set(row.dataset.row, row);
    this.listen();
    this.open(sections[0].id);
  }

  listen() {
    this.tabs.addEventListener("click", (event) => {
      const tab = event.target.closest("[data-tab]");
      if (tab) {
        this.search.value = "";
        this.open(tab.dataset.tab);
      }
    });
    this.tabs.addEventListener("keydown", (event) => this.moveTab(event));
    this.panels.addEventListener("input", (event) => this.edited(event.target));
    this.panels.addEventListener("click", (event) => {
      const clear = event.target.closest("[data-clear]");
      if (clear) this.set(clear.dataset.clear, UNSET);
    });
    this.search.addEventListener("input", () => this.arrange());
    this.toggle.addEventListener("click", () => {
      this.all = !this.all;
      this.toggle.setAttribute("aria-pressed", String(this.all));
      this.toggle.textContent = this.all ? "Show common fields" : "Show all fields";
      this.arrange();
    });
    window.addEventListener("dsgui:goto", (event) => this.goto(event.detail));
  }

  // As in any tab list: the arrows move, and only the chosen tab is a stop of the Tab key.
  moveTab(event) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    const ids = this.sections.map((section) => section.id);
    const next = ids[(ids.indexOf(this.section) + by + ids.length) % ids.length];
    this.open(next);
    this.tabs.querySelector(`[data-tab="${next}"]`).focus();
    event.preventDefault();
  }

  edited(control) {
    const pointer = control.dataset.pointer;
    if (!pointer) return;
    this.dirty.set(pointer, control.value);
    this.send();
  }

  set(pointer, text) {
    const control = this.control(pointer);
    control.value = text;
    this.edited(control);
  }

  send() {
    this.props.value = { edits: Object.fromEntries(this.dirty) };
    this.trigger("edit", {});
  }

  control(pointer) {
    return this.rows.get(pointer).querySelector("[data-pointer]");
  }

  // A new state from the server: what it acknowledged is no longer dirty; what is still dirty keeps what was typed.
  // While the text is broken it says so and nothing else, and the form keeps what it shows.
  async receive(value) {
    if (value?.discard) this.dirty.clear(); // a whole new text was loaded: what waited for the old one is void
    if (value?.discard || value?.refresh) {
      this.send();
      return;
    }
    const state = value?.state ? JSON.parse(value.state) : value;
    if (!state || !(state.values || state.broken)) return;
    this.props.value = {};
    for (const [pointer, text] of Object.entries(state.acked || {})) {
      if (this.dirty.get(pointer) === text) this.dirty.delete(pointer);
    }
    const shown = (latest = this.state = state.values ? state : { ...this.state, broken: state.broken });
    this.release = await ofRelease(shown.release);
    if (this.state !== shown) return; // a newer one came in the meantime
    this.banner.hidden = !this.state.broken;
    this.banner.textContent = this.state.broken
      ? `${this.state.broken} The form follows again once the JSON can be read.`
      : "";
    this.panels.classList.toggle("ds-waiting", Boolean(this.state.broken));
    this.panels.inert = Boolean(this.state.broken); // what is typed now would land in whatever text comes next
    const pointers = [...this.fields.keys()];
    this.idle = new Set(this.state.idle.map((number) => pointers[number]));
    this.foreign = { ...this.release.absent };
    for (const [kind, numbers] of Object.entries(this.state.not_taken)) {
      for (const number of numbers) this.foreign[pointers[number]] = `${kind} does not take this parameter.`;
    }
    for (const [pointer, row] of this.rows) this.refresh(pointer, row);
    this.arrange();
    if (this.dirty.size && !this.state.broken) this.send();
  }

  refresh(pointer, row) {
    const { values, problems } = this.state;
    const { foreign } = this;
    const { defaults } = this.release;
    const field = this.fields.get(pointer);
    const control = row.querySelector("[data-pointer]");
    const text = values[pointer] ?? UNSET;
    if (!this.dirty.has(pointer) && control.value !== text && !this.isBeingTyped(control, text)) {
      if (control.tagName === "SELECT") this.admit(control, text);
      control.value = text;
    }
    this.showDefault(control, unsetText(field, (defaults || {})[pointer] ?? field.default));
    row.classList.toggle("ds-set", control.value !== UNSET);
    row.dataset.problem = (problems || {})[pointer] || "";
    control.setAttribute("aria-invalid", String(row.dataset.problem === "error"));
    const note = row.querySelector(".ds-inactive");
    const why = foreign[pointer] || (this.idle.has(pointer) ? field.otherwise : "");
    note.hidden = !why;
    note.textContent = why || "";
    row.classList.toggle("ds-idle", Boolean(why));
  }

  showDefault(control, text) {
    if (control.tagName !== "SELECT") control.placeholder = text;
    else if (control.options[0].textContent !== text) control.options[0].textContent = text;
  }

  // "1e-5 " and "1e-5" are the same answer: leave the text of the focused field alone.
  isBeingTyped(control, text) {
    return control === document.activeElement && control.value.trim() === text;
  }

  // A value the list does not offer (a typing error in the file, say) is shown, never swallowed.
  admit(select, text) {
    if (![...select.options].some((option) => option.value === text))
      select.append(el("option", { value: text }, text));
  }

  open(id) {
    this.section = id;
    this.arrange();
  }

  arrange() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hidden = new Set(Object.keys(this.foreign).filter((pointer) => !(pointer in this.state.values)));
    let shown = 0;
    for (const section of this.sections) {
      const panel = this.panels.querySelector(`[data-section="${section.id}"]`);
      const here = words.length > 0 || section.id === this.section;
      let any = 0,
        set = 0,
        trouble = "";
      for (const field of section.fields) {
        const row = this.rows.get(field.pointer);
        const isSet = row.classList.contains("ds-set");
        const visible = words.length
          ? this.matches(field, words)
          : !hidden.has(field.pointer) && (this.all || field.common || isSet || row.dataset.problem);
        row.hidden = !visible;
        any += visible ? 1 : 0;
        set += isSet ? 1 : 0;
        if (row.dataset.problem === "error" || (row.dataset.problem && !trouble)) trouble = row.dataset.problem;
      }
      panel.hidden = !here || !any;
      panel.classList.toggle("ds-found", words.length > 0);
      shown += panel.hidden ? 0 : any;
      this.markTab(section, set, trouble, words.length === 0 && section.id === this.section);
    }
    this.nothing.hidden = shown > 0;
  }

  markTab(section, set, trouble, selected) {
    const tab = this.tabs.querySelector(`[data-tab="${section.id}"]`);
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = section.id === this.section ? 0 : -1;
    tab.dataset.problem = trouble;
    tab.dataset.count = set || "";
    tab.title = set ? `${set} set` : "nothing set";
  }

  matches(field, words) {
    const text = `${field.key} ${field.title} ${field.help || ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  }

  goto(pointer) {
    const section = this.sections.find((s) =>
      s.fields.some((f) => f.pointer === pointer || f.pointer.startsWith(`${pointer}/`)),
    );
    if (!section) return;
    this.search.value = "";
    this.open(section.id);
    const found =
      section.fields.find((f) => f.pointer === pointer) ||
      section.fields.find((f) => f.pointer.startsWith(`${pointer}/`));
    const row = this.rows.get(found.pointer);
    row.hidden = false;
    row.scrollIntoView({ block: "center", behavior: "smooth" });
    this.control(found.pointer).focus({ preventScroll: true });
  }
}

export async function mount(element, props, trigger, watch) {
  const form = new Form(element, props, trigger);
  const answer = await fetch("/dsgui/form.json");
  form.build(await answer.json());
  watch("value", () => form.receive(props.value));
  const given = props.value || {};
  form.receive(given.state || given.discard || given.refresh ? given : latest);
}
