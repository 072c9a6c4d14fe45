// What stands on the edge of a chart: the handle that moves it, its buttons, the menu of what is needed less often, and
// the box that says the values at the place pointed at.

import { button, el } from "../common/dom.js";
import { keepInside, shutsItself } from "../common/menus.js";
import { besideGuide, middled } from "./readout.js";
import { words } from "../texts/texts.js";

/** @import { Readout } from "../types.d.ts" */

/**
 * A menu that opens below its button.
 * @param {string} text @param {string} label
 */
function dropDown(text, label) {
  const items = el("div", { class: "ds-menu-items" });
  const opener = el("summary", { class: "ds-step", "aria-label": label, title: label }, text);
  const node = el("details", { class: "ds-menu" }, opener, items);
  const shut = shutsItself(node, opener);
  return { node, items, opener, shut };
}

const EDGE = 16; // px that a menu keeps from the window's edges

/**
 * Below its opener as far as the window goes, or above it where that has more room and it needs it.
 * @param {HTMLElement} items @param {HTMLElement} opener
 */
function keepInWindow(items, opener) {
  items.removeAttribute("style");
  keepInside(items);
  const { top, bottom } = items.getBoundingClientRect();
  const [below, above] = [window.innerHeight - EDGE - top, opener.getBoundingClientRect().top - EDGE];
  if (bottom - top <= below) return;
  if (above > below) Object.assign(items.style, { top: "auto", bottom: "calc(100% + 4px)" });
  items.style.maxHeight = `min(60vh, ${Math.max(above - 4, below)}px)`;
}

/** Where the charts are chosen: it stays within the window, wherever its opener stands. @param {string} text */
export function chartsMenu(text) {
  const menu = dropDown(text, text);
  menu.node.classList.add("ds-charts-choice");
  menu.node.addEventListener("toggle", () => menu.node.open && keepInWindow(menu.items, menu.opener));
  return menu;
}

/** @param {string} title @param {[string, () => void][]} acts a text's code, and what it does */
export function actionMenu(title, acts) {
  const menu = dropDown("⋯", words("charts_page", "menu", { title }));
  for (const [code, act] of acts) {
    const item = button(words("charts_page", code), { "data-act": code }, () => {
      menu.shut();
      menu.opener.focus();
      act();
    });
    menu.items.append(item);
  }
  return menu.node;
}

const HINTS = { log: "log_hint", pin: "pin_hint", clip: "clip_hint" };

/** @param {"log" | "pin" | "clip"} code @param {string} title @param {() => void} act */
export function toggle(code, title, act) {
  const hint = words("charts_page", HINTS[code], { title });
  const shown = { class: "ds-step", "aria-pressed": "false", "aria-label": hint, title: hint, "data-toggle": code };
  return button(words("charts_page", code), shown, act);
}

/** @type {Record<string, number>} */
const BY_KEY = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/**
 * What a chart is dragged by, or moved with the arrow keys.
 * @param {string} title @param {(by: number) => void} step @param {(over: Element | null, done: boolean) => void} drag
 */
export function handle(title, step, drag) {
  const label = words("charts_page", "move", { title });
  const node = button("⠿", { class: "ds-chart-handle", "aria-label": label, title: label }, () => {});
  node.addEventListener("keydown", (event) => {
    const by = BY_KEY[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    step(by);
    node.focus();
  });
  const over = (/** @type {PointerEvent} */ event) =>
    document.elementFromPoint(event.clientX, event.clientY)?.closest(".ds-chart") ?? null;
  node.addEventListener("pointerdown", (event) => node.setPointerCapture(event.pointerId));
  node.addEventListener("pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) drag(over(event), false);
  });
  node.addEventListener("pointerup", (event) => drag(over(event), true));
  node.addEventListener("pointercancel", () => drag(null, true));
  return node;
}

/** The values at a place, as a box beside it. */
export class Tip {
  constructor() {
    this.node = el("div", { class: "ds-tip", "aria-hidden": "true", hidden: true });
    this.chosen = 0; // of the places beside the guide
  }

  hide() {
    this.node.hidden = true;
  }

  /**
   * Beside the guide, where it hides least.
   * @param {Readout} found @param {import("./readout.js").Place} place
   */
  show({ title, rows, more, marks }, place) {
    const lines = rows.map(({ name, value, note, colour }) => {
      return el(
        "div",
        { class: "ds-tip-row" },
        swatch(colour),
        el("span", { title: name }, middled(name)),
        el("b", {}, value),
        el("small", {}, note),
      );
    });
    const rest = more ? [el("small", {}, words("charts_page", "more_rows", { count: String(more) }))] : [];
    const happened = marks.map((text) => el("div", { class: "ds-tip-mark" }, text));
    const head = title ? [el("div", { class: "ds-tip-title" }, title)] : [];
    this.node.replaceChildren(...head, el("div", { class: "ds-tip-rows" }, ...lines), ...rest, ...happened);
    this.node.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const { left, top, chosen } = besideGuide(place, width, height, this.chosen);
    this.chosen = chosen;
    this.node.style.left = `${left}px`;
    this.node.style.top = `${top}px`;
  }
}

/** @param {string} colour */
function swatch(colour) {
  const node = el("i", {});
  node.style.background = colour;
  return node;
}
