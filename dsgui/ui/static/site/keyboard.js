// The page by keyboard: shortcuts and the sheet that lists them, a way past the tabs, Tab out of the editor, a place
// for the focus when what had it is gone.

import { around, button, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

const OFF = "dsgui.shortcuts";
const TYPING = "input, textarea, select, [contenteditable], [role=listbox], dialog";
const TABS = "#pages > .tab-wrapper [role=tab]";
const FINDING = "#findings [data-goto]";
/** Key → what it does; its text is keyboard_page's of that name. @type {Record<string, [string, () => void]>} */
const SHORTCUTS = {
  "?": ["sheet", () => showSheet()],
  "/": ["find", () => inTab(0, ".ds-search")],
  n: ["finding", nextFinding],
  u: ["undo", () => press("#undo-edit")],
  s: [
    "save",
    () => inTab(0, "#preset-title input, #preset-title textarea", "#own-presets button.label-wrap:not(.open)"),
  ],
  l: ["launch", () => inTab(1, "#launch:not([disabled])")],
  1: ["configure_tab", () => inTab(0)],
  2: ["launch_tab", () => inTab(1)],
  3: ["runs_tab", () => inTab(2)],
  4: ["machine_tab", () => inTab(3)],
};

/** @param {string} code */
const said = (code) => words("keyboard_page", code);
/** @param {Element | null | undefined} node */
const isShown = (node) => node instanceof HTMLElement && node.checkVisibility();
/** @param {string} selector @returns {HTMLElement | undefined} the first that can be seen */
const shown = (selector) =>
  [...document.querySelectorAll(selector)].find(/** @returns {one is HTMLElement} */ (one) => isShown(one));
/** @param {string} selector */
const press = (selector) => shown(selector)?.click();
const selected = () => shown(`${TABS}[aria-selected="true"]`);

/**
 * Opens a page, and puts the focus on a part of it, which `opener` may have to be pressed for.
 * @param {number} place @param {string} [target] @param {string} [opener]
 */
function inTab(place, target, opener) {
  const tab = [...document.querySelectorAll(TABS)][place];
  if (!(tab instanceof HTMLElement)) return;
  tab.click();
  tab.focus();
  if (!target) return;
  requestAnimationFrame(() => {
    if (opener) press(opener);
    requestAnimationFrame(() => shown(target)?.focus());
  });
}

/** The one after that which has the focus. */
function nextFinding() {
  const all = [...document.querySelectorAll(FINDING)].filter(isShown);
  const next = all[(all.indexOf(/** @type {Element} */ (document.activeElement)) + 1) % all.length];
  if (next instanceof HTMLElement) next.focus();
}

const isOff = () => localStorage.getItem(OFF) === "off";

/** Where which of them are of use; `leave` and `indent` are the editor's own. @type {[string, string[]][]} */
const GROUPS = [
  ["everywhere", ["sheet", "configure_tab", "launch_tab", "runs_tab", "machine_tab"]],
  ["on_configure", ["find", "finding", "undo", "save", "leave", "indent"]],
  ["on_launch", ["launch"]],
];

/** @param {string} code */
function row(code) {
  const key = Object.keys(SHORTCUTS).find((one) => SHORTCUTS[one][0] === code);
  return [el("dt", {}, el("kbd", {}, key ?? said(`${code}_keys`))), el("dd", {}, said(code))];
}

function makeSheet() {
  const use = el("input", { type: "checkbox", id: "ds-shortcuts-on" });
  use.checked = !isOff();
  use.addEventListener("change", () => localStorage.setItem(OFF, use.checked ? "on" : "off"));
  const sheet = el("dialog", { class: "ds-sheet", id: "ds-shortcuts", "aria-labelledby": "ds-shortcuts-title" });
  const close = button(said("close"), { class: "ds-sheet-close", autofocus: true }, () => sheet.close());
  sheet.append(
    el("h2", { id: "ds-shortcuts-title" }, said("title")),
    ...GROUPS.flatMap(([page, codes]) => [el("h3", {}, said(page)), el("dl", {}, ...codes.flatMap(row))]),
    el("label", { for: use.id }, use, said("single_keys")),
    close,
  );
  sheet.addEventListener("close", () => sheet.remove());
  return sheet;
}

/** The browser itself keeps the focus in a dialog, and gives it back. */
function showSheet() {
  const sheet = makeSheet();
  (document.querySelector(".gradio-container") ?? document.body).append(sheet);
  sheet.showModal();
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const typing = event.target instanceof Element && event.target.closest(TYPING);
  // A chart that has the focus has keys of its own.
  if (typing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const shortcut = Object.hasOwn(SHORTCUTS, event.key) ? SHORTCUTS[event.key] : undefined;
  if (!shortcut || (isOff() && event.key !== "?")) return;
  event.preventDefault();
  shortcut[1]();
}

/** The editor would indent by Tab, and hold the keyboard. @param {KeyboardEvent} event */
function leave(event) {
  const inEditor = event.target instanceof Element && event.target.closest(".cm-content");
  if (event.key === "Tab" && inEditor && !event.ctrlKey && !event.altKey) event.stopImmediatePropagation();
}

/** After a fix its button is gone: the next finding's has the focus, or the panel. @param {Event} event */
function afterFix(event) {
  const panel = around(event, "[data-fix]")?.closest(".ds-findings-root");
  if (!(panel instanceof HTMLElement)) return;
  const redrawn = new MutationObserver(() => {
    redrawn.disconnect();
    if (document.activeElement !== document.body) return;
    const next = panel.querySelector(".ds-finding [data-fix]");
    panel.tabIndex = -1;
    (next instanceof HTMLElement ? next : panel).focus({ preventScroll: true });
  });
  redrawn.observe(panel, { childList: true });
}

let used = false;
const use = () => {
  used = true;
};

/**
 * A page that opened by itself hid what had the focus: its tab has it. Nothing had it where the address opened the page
 * and nobody pressed anything yet: a ring around the tab would say that somebody did.
 */
function afterTab() {
  if (!used) return;
  const now = document.activeElement;
  if (now === document.body || !isShown(now)) selected()?.focus({ preventScroll: true });
}

function skipLink() {
  const link = el("a", { class: "ds-skip", href: "#pages" }, said("skip"));
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const panel = shown("#pages > [role=tabpanel]");
    if (!panel) return;
    panel.tabIndex = -1;
    panel.focus();
  });
  return link;
}

/** When the page opens. */
export function begin() {
  document.body.prepend(skipLink());
  window.addEventListener("keydown", leave, true);
  for (const kind of ["keydown", "pointerdown"]) window.addEventListener(kind, use, { capture: true, once: true });
  document.addEventListener("keydown", pressed);
  document.addEventListener("click", afterFix, true);
  document.addEventListener("click", (event) => around(event, "[data-keys]") && showSheet());
  document.querySelector("#config-json")?.setAttribute("data-hint", said("editor_hint"));
  const tabs = document.querySelector("#pages > .tab-wrapper");
  const changed = new MutationObserver((changes) => {
    // At the first drawing there is nothing to put right.
    if (changes.some(({ oldValue }) => oldValue === "true")) requestAnimationFrame(afterTab);
  });
  if (tabs) changed.observe(tabs, { subtree: true, attributeFilter: ["aria-selected"], attributeOldValue: true });
}
