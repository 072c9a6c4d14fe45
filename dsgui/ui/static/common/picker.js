// A list to choose one thing from, in groups: a text box that searches it, as the ARIA practices draw a combobox.

import { around, el, part } from "./dom.js";
import { grouped, movedTo } from "./options.js";
import { onAnother, onOwn, ownName } from "../config/own_config.js";
import { words } from "../texts/texts.js";

/** @import { PickerOption, PickerProps, Trigger, Watch } from "../types.d.ts" */

const EDGE = 12; // pixels that the list stays off the window's edges
const WIDEST = 440;

let made = 0;

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("common_page", code, given);

/**
 * What the page came with: of a list on a tab that was never open, Gradio forgets with each update, even with an empty
 * one, all that this does not name.
 * @param {Element} root @returns {{ options?: string } | undefined}
 */
function atFirst(root) {
  const id = root.closest(".block")?.id;
  const own = window.gradio_config?.components.find(({ props }) => id && props.elem_id === id)?.props.props;
  return /** @type {{ options?: string } | undefined} */ (own);
}

class Picker {
  /** @param {HTMLElement} root @param {PickerProps} props @param {Trigger} trigger */
  constructor(root, props, trigger) {
    this.root = root;
    this.props = props;
    this.trigger = trigger;
    this.name = `ds-picker-${(made += 1)}`;
    /** @type {PickerOption[]} */
    this.options = [];
    /** Of the options shown, in their order. @type {HTMLElement[]} */
    this.rows = [];
    this.at = -1;
    const list = `${this.name}-list`;
    this.box = el("input", {
      type: "text",
      id: this.name,
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: say("pick"),
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": list,
    });
    this.list = el("div", { id: list, role: "listbox", class: "ds-picker-list", "aria-label": props.label });
    this.none = el("p", { class: "ds-picker-none", role: "status" });
    this.popup = el("div", { class: "ds-picker-popup", hidden: true }, this.list, this.none);
    const label = el("label", { for: this.name }, props.label);
    const info = el("p", { class: "ds-picker-info", id: `${this.name}-info` }, props.info ?? "");
    if (props.info) this.box.setAttribute("aria-describedby", info.id);
    root.replaceChildren(label, info, el("div", { class: "ds-picker-box" }, this.box, this.popup));
    this.listen();
    this.take();
  }

  listen() {
    this.box.addEventListener("click", () => this.open());
    this.box.addEventListener("focus", () => this.box.select());
    this.box.addEventListener("input", () => {
      this.open();
      this.draw(this.box.value);
      if (this.box.value.trim()) this.move(this.rows.length ? 0 : -1);
    });
    this.box.addEventListener("keydown", (event) => this.pressed(event));
    this.box.addEventListener("blur", () => this.close());
    window.addEventListener("resize", () => this.popup.hidden || this.place()); // a phone's keyboard does it too
    this.popup.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
    this.popup.addEventListener("mousedown", (event) => event.preventDefault());
    onOwn(() => this.show());
    onAnother(this.root, () => {
      this.props.value = "";
    });
    this.list.addEventListener("click", (event) => this.choose(around(event, "[role=option]")?.dataset.id));
  }

  /** What the server offers now. What was hidden may be mounted a moment before Gradio gives it anything. */
  take() {
    const options = this.props.options ?? atFirst(this.root)?.options;
    if (options === undefined) return;
    /** @type {string[][]} */
    const told = JSON.parse(options);
    this.options = told.map(([id, title, group = "", also = ""]) => ({ id, title, group, also }));
    this.show();
  }

  /** The id of what is chosen; "" where that was left for a config of one's own. */
  get value() {
    return ownName(this.root) ? "" : this.props.value;
  }

  show() {
    const chosen = this.options.find(({ id }) => id === this.value);
    if (this.popup.hidden) this.box.value = chosen?.title ?? ownName(this.root);
    this.box.title = this.box.value; // a narrow box cuts it
  }

  open() {
    if (!this.popup.hidden) return;
    this.popup.hidden = false;
    this.box.setAttribute("aria-expanded", "true");
    this.draw("");
    this.place();
    this.move(this.rows.findIndex((row) => row.dataset.id === this.value));
  }

  close() {
    this.popup.hidden = true;
    this.box.setAttribute("aria-expanded", "false");
    this.move(-1);
    this.show();
  }

  /** Within the window, above the box where there is more room. */
  place() {
    const { left, right, top, bottom } = this.box.getBoundingClientRect();
    const most = Math.min(Math.max(right - left, WIDEST), window.innerWidth - 2 * EDGE);
    const least = Math.min(right - left, most);
    Object.assign(this.popup.style, { left: "0", width: "max-content", minWidth: `${least}px`, maxWidth: `${most}px` });
    const width = Math.ceil(this.popup.getBoundingClientRect().width); // stays while a search leaves fewer options
    const start = Math.max(EDGE, Math.min(left, window.innerWidth - EDGE - width));
    const [above, below] = [top, window.innerHeight - bottom];
    const up = below < 240 && above > below;
    this.popup.toggleAttribute("data-up", up);
    this.popup.style.left = `${start - left}px`;
    this.popup.style.width = `${width}px`;
    this.list.style.maxHeight = `${Math.max(120, Math.min(380, (up ? above : below) - 2 * EDGE))}px`;
  }

  /** @param {string} typed */
  draw(typed) {
    const groups = grouped(this.options, typed);
    this.list.replaceChildren(...groups.flatMap((group, number) => this.group(group.title, group.options, number)));
    this.rows = [...this.list.querySelectorAll("[role=option]")].filter((row) => row instanceof HTMLElement);
    for (const [number, row] of this.rows.entries()) row.id = `${this.name}-${number}`;
    this.at = -1;
    this.box.removeAttribute("aria-activedescendant");
    this.list.hidden = !this.rows.length;
    this.none.textContent = this.rows.length ? "" : say("none_found", { typed: typed.trim() });
  }

  /** @param {string} title @param {PickerOption[]} options @param {number} number */
  group(title, options, number) {
    const rows = options.map((one) => {
      const chosen = String(one.id === this.value);
      const attributes = { role: "option", class: "ds-picker-option", "data-id": one.id, "aria-selected": chosen };
      return el("div", attributes, one.title);
    });
    if (!title) return rows;
    const id = `${this.name}-group-${number}`;
    const head = el("div", { id, class: "ds-picker-group", role: "presentation" }, title);
    return [el("div", { role: "group", "aria-labelledby": id }, head, ...rows)];
  }

  /** @param {number} to */
  move(to) {
    this.rows[this.at]?.classList.remove("ds-active");
    this.at = to;
    const row = this.rows[to];
    if (!row) return this.box.removeAttribute("aria-activedescendant");
    row.classList.add("ds-active");
    row.scrollIntoView({ block: "nearest" });
    this.box.setAttribute("aria-activedescendant", row.id);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const open = !this.popup.hidden;
    if (event.key === "Escape" && open) {
      event.stopPropagation();
      this.close();
      this.box.select();
    } else if (event.key === "Enter" && open) this.choose(this.rows[this.at]?.dataset.id);
    else if (event.key === "ArrowDown" && !open) this.open();
    else {
      const to = open ? movedTo(event.key, this.at, this.rows.length) : null;
      if (to === null) return;
      this.move(to);
    }
    event.preventDefault();
  }

  /** @param {string | undefined} id */
  choose(id) {
    if (id === undefined) return;
    this.close();
    this.props.value = id; // even the one that was chosen: a preset that was edited is loaded anew
    this.show();
    this.trigger("input", {});
  }
}

/** @param {HTMLElement} element @param {PickerProps} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  const picker = new Picker(part(element, ".ds-picker"), props, trigger);
  watch("value", () => picker.show());
  watch("options", () => picker.take());
}
