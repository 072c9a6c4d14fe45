// What can be done with one run of the list, in a menu at its row. Loaded when one is opened first.

import { toClipboard } from "../common/copying.js";
import { button, el, withSheet } from "../common/dom.js";
import { LIVE_STATES } from "./follower.js";
import { placeAt } from "./run_editing.js";
import { words } from "../texts/texts.js";

/** @import { RunSummary } from "../types.d.ts" */
/** @import { Editable } from "./run_editing.js" */

const SHEET = "/dsgui/static/runs/run_menu.css";
const TOLD_MS = 900;
/** By how many items a key moves; of those that move to an end, from where. @type {Record<string, number>} */
const BY_KEY = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/**
 * One thing to do; `copies`: what it puts on the clipboard; `apart`: a line stands above it.
 * @typedef {{ code: string, text: string, act?: () => void, href?: string, copies?: string, apart?: boolean }} Item
 */

/** @param {string} code */
const say = (code) => words("runs_page", code);

/**
 * A run like one that is damaged, or that dsgui did not start, can't be started.
 * @param {RunSummary} run @param {string} path its page's @param {boolean} isBase
 * @param {{ open: () => void, clone: () => void, edit: (what: Editable) => void, pin: (() => void) | null,
 *   archive: () => void, remove: () => void }} acts
 * @returns {Item[]}
 */
export function itemsOf(run, path, isBase, acts) {
  const href = new URL(path, document.baseURI).href;
  const clones = !run.adopted && !run.problem && run.state !== "elsewhere";
  const removes = run.adopted ? words("afterwards_page", "forget_ask") : words("afterwards_page", "delete_ask");
  /** @param {Editable} what @returns {Item} */
  const edit = (what) => ({ code: what, text: say(`edit_${what}`), act: () => acts.edit(what) });
  return [
    { code: "open", text: say("menu_open"), act: acts.open },
    { code: "new_tab", text: say("menu_new_tab"), href },
    ...(clones ? [{ code: "clone", text: words("afterwards_page", "clone"), act: acts.clone }] : []),
    { ...edit("name"), apart: true },
    edit("tags"),
    edit("note"),
    ...(acts.pin ? [{ code: "pin", text: say(isBase ? "unpin" : "pin"), act: acts.pin }] : []),
    { code: "archive", text: say(run.archived ? "unarchive" : "archive"), act: acts.archive },
    { code: "copy_id", text: say("menu_copy_id"), copies: run.run_id, apart: true },
    { code: "copy_link", text: say("menu_copy_link"), copies: href },
    ...(LIVE_STATES.has(run.state) ? [] : [{ code: "delete", text: removes, act: acts.remove, apart: true }]),
  ];
}

/** @param {HTMLElement} item @param {string} text @param {() => void} shut */
async function copy(item, text, shut) {
  if (await toClipboard(text)) {
    item.textContent = words("tools_page", "copied");
    setTimeout(shut, TOLD_MS);
    return;
  }
  const label = words("tools_page", "copy_by_key");
  const shown = el("input", { class: "ds-edit", readonly: true, value: text, "aria-label": label, title: label });
  item.replaceWith(shown);
  shown.select();
}

/**
 * Escape, a press elsewhere and whatever is done close it; the focus is where it was then.
 * @param {HTMLElement} opener @param {string} label @param {Item[]} items
 */
export async function showMenu(opener, label, items) {
  await withSheet(SHEET);
  if (!opener.isConnected) return;
  const node = el("div", { id: "run-menu", class: "ds-popover", popover: "auto", role: "menu", "aria-label": label });
  const shut = () => node.isConnected && node.hidePopover();
  const made = items.map(({ code, text, act, href, copies, apart }) => {
    const about = { role: "menuitem", tabindex: "-1", "data-act": code, class: apart ? "ds-menu-apart" : undefined };
    if (href) {
      const link = el("a", { ...about, href, target: "_blank", rel: "noopener" }, text);
      link.addEventListener("click", () => shut());
      return link;
    }
    const item = button(text, about, () => {
      if (copies === undefined) shut();
      else void copy(item, copies, shut);
      act?.();
    });
    return item;
  });
  node.append(...made);
  node.addEventListener("keydown", (event) => {
    if (event.key === "Tab") return shut();
    const by = BY_KEY[event.key];
    if (by === undefined) return undefined;
    event.preventDefault();
    event.stopPropagation();
    const all = [...node.querySelectorAll("[role=menuitem]")].filter((one) => one instanceof HTMLElement);
    const at = all.findIndex((one) => one === document.activeElement);
    const to = Number.isFinite(by) ? (at + by + all.length) % all.length : by < 0 ? 0 : all.length - 1;
    all[to].focus();
    return undefined;
  });
  node.addEventListener("toggle", (event) => {
    const isOpen = event instanceof ToggleEvent && event.newState === "open";
    opener.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) node.remove();
  });
  opener.closest(".ds-run-side")?.append(node);
  const { left, bottom } = opener.getBoundingClientRect();
  opener.focus({ preventScroll: true }); // where the focus is put when it closes
  node.showPopover();
  placeAt(node, left, bottom + 2);
  made[0].focus({ preventScroll: true });
}
