// The menu of the table's columns: its own, and each key of the config, argument and metric that a listed run has; at
// first those in which the runs differ, the others when they are searched for.

import { el, parted } from "../common/dom.js";
import { COLUMNS, titleOf } from "./run_columns.js";
import { keepPrefs } from "./run_prefs.js";
import { words } from "../texts/texts.js";

/** @param {string} code */
const say = (code) => words("runs_page", code);

const GROUPS = ["config", "arguments", "metrics"];
const MOST_SUGGESTED = 8; // in a group, while nothing is searched

/** @param {string} id @param {string} name @param {boolean} differs @param {string} [group] */
function choiceOf(id, name, differs, group = "") {
  const box = el("input", { type: "checkbox", value: id });
  const why = el("span", { class: "ds-share" });
  return {
    box,
    why,
    name,
    differs,
    group,
    node: el("label", { class: "ds-check" }, box, el("span", {}, ...parted(name)), " ", why),
  };
}

export class ColumnMenu {
  /**
   * @param {{ columns: () => { id: string }[], leftOut: () => string[], changed: () => void,
   *   further: () => Promise<Record<string, boolean>> }} acts as `RunTools` has them
   */
  constructor(acts) {
    this.acts = acts;
    this.own = COLUMNS.map(({ id }) => choiceOf(id, titleOf(id), true));
    /** @type {ReturnType<typeof choiceOf>[]} */
    this.further = [];
    const label = say("search_columns");
    this.search = el("input", { type: "search", class: "ds-run-search", "aria-label": label, placeholder: label });
    this.search.addEventListener("input", () => this.filter());
    this.groups = GROUPS.map((code) => {
      const about = { class: "ds-columns-group", role: "group", "aria-label": say(`columns_${code}`) };
      return { code, node: el("div", about) };
    });
    this.node = el(
      "div",
      { class: "ds-columns-list" },
      this.search,
      ...this.own.map(({ node }) => node),
      ...this.groups.map(({ node }) => node),
    );
    this.node.addEventListener("change", ({ target }) => {
      if (target instanceof HTMLInputElement && target.type === "checkbox") this.choose(target.value, target.checked);
    });
    this.filter();
  }

  /** @param {string} id @param {boolean} isShown */
  choose(id, isShown) {
    const shown = this.acts.columns().map((column) => column.id);
    keepPrefs({ columns: isShown ? [...shown, id] : shown.filter((one) => one !== id) });
    this.acts.changed();
  }

  async opened() {
    this.search.value = "";
    this.tick();
    this.filter();
    /** @type {Record<string, boolean>} */
    const found = await this.acts.further().catch(() => ({})); // the list itself says that the server is away
    for (const { id } of this.acts.columns()) if (id.includes(":")) found[id] ??= false;
    this.further = Object.entries(found).map(([id, differs]) => {
      const at = id.indexOf(":");
      return choiceOf(id, id.slice(at + 1), differs, id.slice(0, at));
    });
    for (const { code, node } of this.groups) {
      const rows = this.further.filter(({ group }) => group === code).map((one) => one.node);
      node.replaceChildren(el("p", { class: "ds-group", "aria-hidden": "true" }, say(`columns_${code}`)), ...rows);
    }
    this.tick();
    this.filter();
  }

  /** What the table shows. What it has no room for is not ticked: the first change would have it chosen. */
  tick() {
    const shown = this.acts.columns().map(({ id }) => id);
    const without = this.acts.leftOut();
    for (const { box, why } of [...this.own, ...this.further]) {
      box.checked = shown.includes(box.value);
      why.textContent = without.includes(box.value) ? say("no_room") : "";
    }
  }

  /** By what is searched; while nothing is, what tells the runs apart. */
  filter() {
    const asked = this.search.value.trim().toLowerCase();
    const fits = (/** @type {{ name: string }} */ { name }) => name.toLowerCase().includes(asked);
    for (const one of this.own) one.node.hidden = !fits(one);
    for (const { code, node } of this.groups) {
      let room = MOST_SUGGESTED;
      const ones = this.further.filter(({ group }) => group === code);
      for (const one of ones) {
        const isWanted = asked || one.box.checked || (one.differs && room-- > 0);
        one.node.hidden = !(isWanted && fits(one));
      }
      node.hidden = ones.every((one) => one.node.hidden);
    }
  }
}
