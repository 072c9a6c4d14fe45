// While the text is no JSON the findings of the last one that was fold below what is wrong, in short: a
// wrong character moves nothing that is below them. Of another config, opened or pasted, they say nothing.

import { onAnotherText, wasTyped } from "./editor.js";
import { el } from "../common/dom.js";
import { findingsIn } from "./shortened.js";
import { words } from "../texts/texts.js";

/** @typedef {{ list: Element, height: number }} Before */

/**
 * What draws other findings into `root` and keeps those before them where they are broken.
 * @param {HTMLElement} root @returns {(draw: () => void) => void}
 */
export function keeping(root) {
  /** @type {Before | null} */
  let before = null;
  let [isAnother, isOpen] = [false, true];
  onAnotherText(() => {
    [before, isAnother] = [null, true];
    root.style.minHeight = "";
    for (const one of root.querySelectorAll(".ds-broken > .ds-before")) one.remove();
  });
  return (draw) => {
    if (!root.querySelector(".ds-broken")) before = wasTyped() && !isAnother ? shownIn(root) : null;
    isAnother = false;
    draw();
    const broken = root.querySelector(".ds-broken");
    root.style.minHeight = broken && before ? `${before.height}px` : "";
    if (!broken || !before) return;
    const count = String(findingsIn(/** @type {HTMLElement[]} */ ([...before.list.children])));
    const isBlank = broken.hasAttribute("data-blank");
    const head = words("common_page", isBlank ? "before_blank" : "before", { count });
    broken.append(folded(before.list, head, isOpen, (now) => (isOpen = now)));
  };
}

/** It takes what height is left; where none of its findings is to be seen it would be a line that is cut off.
 * @param {HTMLElement} root */
export function hideWithoutRoom(root) {
  const fold = root.querySelector(".ds-before");
  const head = fold?.querySelector("summary");
  if (!(fold instanceof HTMLDetailsElement) || !head) return;
  fold.hidden = false;
  fold.hidden = fold.offsetHeight < head.offsetHeight * (fold.open ? 2 : 1);
}

/** @param {HTMLElement} root @returns {Before | null} */
function shownIn(root) {
  const list = root.querySelector(".ds-findings > ul");
  const { height } = root.getBoundingClientRect();
  return list && height ? { list, height } : null;
}

/**
 * It is drawn anew with every letter.
 * @param {Element} list @param {string} head @param {boolean} open @param {(open: boolean) => void} told
 */
function folded(list, head, open, told) {
  const entries = /** @type {HTMLElement[]} */ ([...list.children]);
  for (const one of entries) one.hidden = false;
  const fold = el("details", { class: "ds-before", open });
  fold.addEventListener("toggle", () => told(fold.open));
  fold.append(el("summary", {}, head), el("div", { inert: true }, list));
  return fold;
}
