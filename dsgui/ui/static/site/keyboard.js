// The page by keyboard: shortcuts and the sheet that lists them, a way past the tabs, Tab out of the editor, a place
// for the focus when what had it is gone.

import { around, button, el, withSheet } from "../common/dom.js";
import { words } from "../texts/texts.js";

const OFF = "dsgui.shortcuts";
const SHEET = "/dsgui/static/site/shortcuts.css";
const TYPING =
  "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], [role=listbox], dialog, #ds-learn";
// Escape shuts or leaves it, and does nothing else.
const OPEN = "dialog[open], :popover-open, [data-menu][open]";
const TABS = "#pages > .tab-wrapper [role=tab]";
// Or what opens the rest of them.
const FINDING = '#findings :is([data-goto], [data-place], .ds-more-findings > [aria-expanded="false"])';
const RUN_SEARCH = ".ds-run-detail .ds-log-tools .ds-run-search";

/** What a key does everywhere. @type {Record<string, () => void>} */
const EVERYWHERE = {
  "?": () => showSheet(),
  1: () => inTab(0),
  2: () => inTab(1),
  3: () => inTab(2),
  4: () => inTab(3),
};
/** What a key does on the page that is shown alone, in the order of the tabs. @type {Record<string, () => void>[]} */
const ON_PAGE = [
  {
    "/": () => focusOn(".ds-search"),
    n: nextFinding,
    u: () => press("#undo-edit"),
    l: () => press("#to-launch"),
    s: () => focusOn("#preset-title input, #preset-title textarea", "#own-presets button.label-wrap:not(.open)"),
  },
  { l: () => focusOn("#launch:not([disabled])") },
  {
    "/": () => focusOn([RUN_SEARCH, "#search-runs"], ".ds-run-detail .ds-output:not([open]) > summary"),
    j: () => onRuns("next"),
    k: () => onRuns("previous"),
    x: () => onRuns("choose"),
    c: () => press("#compare-runs:not([disabled])"),
    Escape: () => onRuns("all"),
  },
];
/** The sheet: the keys as they are written, and their text's code. @type {[string, [string, string][]][]} */
const GROUPS = [
  [
    "everywhere",
    [
      ["?", "sheet"],
      ["1", "configure_tab"],
      ["2", "launch_tab"],
      ["3", "runs_tab"],
      ["4", "machine_tab"],
    ],
  ],
  [
    "on_runs",
    [
      ["/", "find_run"],
      ["j · k", "step"],
      ["x", "choose"],
      ["c", "compare"],
      ["F2", "rename"],
      ["Esc", "all"],
    ],
  ],
  [
    "on_configure",
    [
      ["/", "find"],
      ["n", "finding"],
      ["Ctrl+Z · u", "undo"],
      ["Ctrl+Shift+Z", "redo"],
      ["s", "save"],
      ["l", "to_launch"],
      ["Tab", "leave"],
      ["Ctrl+] · Ctrl+[", "indent"],
    ],
  ],
  ["on_launch", [["l", "launch"]]],
];

/** @param {string} code */
const said = (code) => words("keyboard_page", code);
/** @param {Element | null | undefined} node */
const isShown = (node) => node instanceof HTMLElement && node.checkVisibility();
/** @param {string} selector @returns {HTMLElement | undefined} the first that can be seen */
const shown = (selector) =>
  [...document.querySelectorAll(selector)].find(/** @returns {one is HTMLElement} */ (one) => isShown(one));
/** @param {string} selector */
const press = (selector) => shown(selector)?.click();
const tabs = () => [...document.querySelectorAll(TABS)];
const selected = () => tabs().findIndex((tab) => tab.getAttribute("aria-selected") === "true");
/** The list of runs does it. @param {"next" | "previous" | "choose" | "all"} what */
const onRuns = (what) => window.dispatchEvent(new CustomEvent("dsgui:runs", { detail: what }));

/** @param {number} place */
function inTab(place) {
  const tab = tabs()[place];
  if (!(tab instanceof HTMLElement)) return;
  tab.click();
  tab.focus();
}

/**
 * Puts the focus on a part of the page, which `opener` may have to be pressed for.
 * @param {string | string[]} target the first that can be seen @param {string} [opener]
 */
function focusOn(target, opener) {
  if (opener) press(opener);
  requestAnimationFrame(() =>
    [target]
      .flat()
      .map(shown)
      .find((one) => one)
      ?.focus(),
  );
}

/** The one after that which has the focus. */
function nextFinding() {
  const all = [...document.querySelectorAll(FINDING)].filter(isShown);
  const next = all[(all.indexOf(/** @type {Element} */ (document.activeElement)) + 1) % all.length];
  if (next instanceof HTMLElement) next.focus();
}

const isOff = () => localStorage.getItem(OFF) === "off";

/** @param {[string, string]} keys and their text's code */
const row = ([keys, code]) => [
  el("dt", {}, ...keys.split(" · ").map((key) => el("kbd", {}, key))),
  el("dd", {}, said(code)),
];

function makeSheet() {
  const use = el("input", { type: "checkbox", id: "ds-shortcuts-on" });
  use.checked = !isOff();
  use.addEventListener("change", () => localStorage.setItem(OFF, use.checked ? "on" : "off"));
  const sheet = el("dialog", { class: "ds-sheet", id: "ds-shortcuts", "aria-labelledby": "ds-shortcuts-title" });
  const close = button(said("close"), { class: "ds-sheet-close", autofocus: true }, () => sheet.close());
  sheet.append(
    el("div", { class: "ds-sheet-head" }, el("h2", { id: "ds-shortcuts-title" }, said("title")), close),
    el(
      "div",
      { class: "ds-sheet-groups" },
      ...GROUPS.map(([page, rows]) => el("section", {}, el("h3", {}, said(page)), el("dl", {}, ...rows.flatMap(row)))),
    ),
    el("label", { for: use.id }, use, said("single_keys")),
  );
  sheet.addEventListener("close", () => sheet.remove());
  return sheet;
}

/** The browser itself keeps the focus in a dialog, and gives it back. */
async function showSheet() {
  await withSheet(SHEET);
  if (document.querySelector("#ds-shortcuts")) return;
  const sheet = makeSheet();
  (document.querySelector(".gradio-container") ?? document.body).append(sheet);
  sheet.showModal();
}

/** What a key does where it is pressed. @param {string} key */
function actOf(key) {
  const page = ON_PAGE[selected()] ?? {};
  if (Object.hasOwn(EVERYWHERE, key)) return EVERYWHERE[key];
  return Object.hasOwn(page, key) ? page[key] : undefined;
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const typing = event.target instanceof Element && event.target.closest(TYPING);
  // A chart that has the focus has keys of its own.
  if (typing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const act = actOf(event.key);
  if (!act || (isOff() && event.key !== "?")) return;
  if (event.key === "Escape" && (document.fullscreenElement || document.querySelector(OPEN))) return;
  event.preventDefault();
  act();
}

/** The editor would indent by Tab, and hold the keyboard. @param {KeyboardEvent} event */
function leave(event) {
  const inEditor = event.target instanceof Element && event.target.closest(".cm-content");
  if (event.key === "Tab" && inEditor && !event.ctrlKey && !event.altKey) event.stopImmediatePropagation();
}

/** After a fix its button is gone: the first that is left has the focus, or the panel. @param {Event} event */
function afterFix(event) {
  const panel = around(event, "[data-fix]")?.closest(".ds-findings-root");
  if (!(panel instanceof HTMLElement)) return;
  const redrawn = new MutationObserver(() => {
    redrawn.disconnect();
    if (document.activeElement !== document.body) return;
    const next = [...panel.querySelectorAll(".ds-finding [data-fix]")].find(isShown); // others are folded
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
  if (now === document.body || !isShown(now)) shown(`${TABS}[aria-selected="true"]`)?.focus({ preventScroll: true });
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
  const pages = document.querySelector("#pages > .tab-wrapper");
  const changed = new MutationObserver((changes) => {
    // At the first drawing there is nothing to put right.
    if (changes.some(({ oldValue }) => oldValue === "true")) requestAnimationFrame(afterTab);
  });
  if (pages) changed.observe(pages, { subtree: true, attributeFilter: ["aria-selected"], attributeOldValue: true });
}
