// Beside a field that takes a path: a button that opens a list of folders and files. A typed path stays possible.

import { button, el, withSheet } from "./dom.js";
import { words } from "../texts/texts.js";

/** What the server answers. @typedef {{ folder: string, parent: string, folders: string[], files: string[],
 *   left_out: number, more: boolean, unnamed: number, starts: string[] }} Listing */

const SHEET = "/dsgui/static/common/browse.css";
/** The field's element → what is looked for there. @type {Record<string, string>} */
const FIELDS = {
  script: "script",
  "working-dir": "folder",
  "output-dir": "folder",
  "memory-model": "folder",
  "open-path": "config",
};
/** Key → where it leads in a list. @type {Record<string, (at: number, count: number) => number>} */
const MOVES = {
  ArrowDown: (at, count) => Math.min(at + 1, count - 1),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (at, count) => count - 1,
};

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("launch_page", code, given);

/** @param {string} folder @param {string} name */
export const joined = (folder, name) => (folder.endsWith("/") ? folder + name : `${folder}/${name}`);

/** What is said below a list; "" if all is there. @param {Listing} found */
export function noteOn({ folders, files, left_out: rest, more, unnamed }) {
  const shown = folders.length + files.length;
  const notes = [
    rest ? say("browse_shown", { shown: String(shown), rest: String(rest) }) : "",
    more ? say("browse_more") : "",
    unnamed ? say("browse_unnamed", { count: String(unnamed) }) : "",
    shown ? "" : say("browse_empty"),
  ];
  return notes.filter(Boolean).join(" ");
}

/** The place in a list that a key leads to; -1 for a key that leads nowhere.
 * @param {string} key @param {number} at @param {number} count */
export const movedTo = (key, at, count) => (Object.hasOwn(MOVES, key) ? MOVES[key](at, count) : -1);

export class Browser {
  /** @param {string} wanted @param {(path: string) => void} choose */
  constructor(wanted, choose) {
    this.wanted = wanted;
    this.choose = choose;
    this.parent = "";
    this.asked = 0;
    this.path = el("input", { type: "text", id: "ds-browse-path", spellcheck: "false", autocomplete: "off" });
    const go = el("button", { type: "submit", class: "ds-browse-button" }, say("browse_go"));
    const form = el("form", { class: "ds-browse-bar" }, this.path, go);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.show(this.path.value);
    });
    this.up = button(say("browse_up"), { class: "ds-browse-button", id: "ds-browse-up" }, () => this.show(this.parent));
    this.starts = el("span", { class: "ds-browse-starts" });
    this.list = el("ul", { class: "ds-browse-list", "aria-label": say("browse_list"), tabindex: "-1" });
    this.list.addEventListener("keydown", (event) => this.pressed(event));
    this.note = el("p", { class: "ds-browse-note", role: "status" });
    const cancel = button(say("browse_cancel"), { class: "ds-browse-button" }, () => this.node.close());
    this.take = button(
      say("browse_this"),
      { class: "ds-browse-button", id: "ds-browse-this" },
      () => this.chosen(this.path.value), // typed since it was listed, it is meant
    );
    this.take.hidden = wanted !== "folder" && wanted !== "training";
    this.node = el(
      "dialog",
      { class: "ds-dialog ds-browse", "aria-labelledby": "ds-browse-title" },
      el("h3", { id: "ds-browse-title" }, say(`browse_${wanted}`)),
      el("label", { for: "ds-browse-path" }, say("browse_path")),
      form,
      el("p", { class: "ds-browse-bar" }, this.up, this.starts),
      this.list,
      this.note,
      el("p", { class: "ds-remedy" }, el("span", { class: "ds-browse-keys" }, say("browse_keys")), cancel, this.take),
    );
    this.node.addEventListener("close", () => this.node.remove());
  }

  /** The browser itself keeps the focus in a dialog, and gives it back. @param {string} path */
  async open(path) {
    await withSheet(SHEET);
    if (document.querySelector("dialog.ds-browse")) return; // pressed twice
    (document.querySelector(".gradio-container") ?? document.body).append(this.node);
    this.node.showModal();
    this.show(path, true);
  }

  /** @param {string} path @param {boolean} near  or the nearest that is there */
  async show(path, near = false) {
    const number = ++this.asked;
    this.note.textContent = say("browse_loading");
    this.take.disabled = true; // the folder that is shown is another than was asked for
    const query = new URLSearchParams({ path, wanted: this.wanted, near: String(near) });
    const answer = await fetch(`/dsgui/folder?${query}`).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (number !== this.asked) return; // another was asked for meanwhile
    this.take.disabled = false;
    if (answer?.ok) this.draw(told);
    else this.note.textContent = typeof told?.detail === "string" ? told.detail : say("browse_failed");
  }

  /** @param {Listing} found */
  draw(found) {
    this.path.value = found.folder;
    this.parent = found.parent;
    this.up.disabled = !found.parent;
    this.starts.replaceChildren(
      ...found.starts.map((start) => button(start, { class: "ds-browse-button" }, () => this.show(start))),
    );
    this.list.replaceChildren(
      ...found.folders.map((name) => this.row(`${name}/`, () => this.show(joined(found.folder, name)))),
      ...found.files.map((name) => this.row(name, () => this.chosen(joined(found.folder, name)))),
    );
    this.list.scrollTop = 0;
    this.note.textContent = noteOn(found);
    const first = this.rows()[0];
    if (first) first.tabIndex = 0;
    (first ?? this.path).focus();
  }

  /** @param {string} text @param {() => void} act */
  row(text, act) {
    return el("li", {}, button(text, { tabindex: "-1", class: text.endsWith("/") ? "ds-is-folder" : "" }, act));
  }

  rows() {
    return [...this.list.querySelectorAll("button")];
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const rows = this.rows();
    const at = rows.findIndex((row) => row === document.activeElement);
    if (event.key === "ArrowLeft" && this.parent) this.show(this.parent);
    else if (event.key === "ArrowRight") rows[at]?.classList.contains("ds-is-folder") && rows[at].click();
    else if (!Object.hasOwn(MOVES, event.key)) return;
    else this.move(rows, at, movedTo(event.key, at, rows.length));
    event.preventDefault();
  }

  /** @param {HTMLButtonElement[]} rows @param {number} from @param {number} to */
  move(rows, from, to) {
    if (rows[from]) rows[from].tabIndex = -1;
    if (rows[to]) rows[to].tabIndex = 0;
    rows[to]?.focus();
  }

  /** @param {string} path */
  chosen(path) {
    this.node.close();
    this.choose(path);
  }
}

/** @param {HTMLElement} field @param {string} wanted */
function beside(field, wanted) {
  const input = field.querySelector("input, textarea");
  if (!(input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement)) return;
  const opener = button(say("browse"), { class: "ds-browse-button ds-browse-open" }, () => {
    const browser = new Browser(wanted, (path) => {
      input.value = path;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    browser.open(input.value);
  });
  opener.setAttribute("aria-label", `${say(`browse_${wanted}`)}: ${say("browse")}`);
  field.append(opener);
}

function complete() {
  for (const [id, wanted] of Object.entries(FIELDS)) {
    const field = document.getElementById(id);
    if (field && !field.querySelector(":scope > .ds-browse-open")) beside(field, wanted);
  }
}

/** A field may come, go and come again. */
export function begin() {
  let due = false;
  new MutationObserver(() => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      complete();
    });
  }).observe(document.body, { childList: true, subtree: true });
  complete();
}
