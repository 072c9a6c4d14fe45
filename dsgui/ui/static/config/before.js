// While the text is no JSON the findings of the last one that was stay below what is wrong, dimmed: a wrong character
// moves nothing that is below them. Of another config, opened or pasted, they say nothing.

import { onAnotherText, wasTyped } from "./editor.js";
import { el } from "../common/dom.js";
import { words } from "../texts/texts.js";

/** @typedef {{ list: Element, height: number }} Before */

/**
 * What draws other findings into `root` and keeps those before them where they are broken.
 * @param {HTMLElement} root @returns {(draw: () => void) => void}
 */
export function keeping(root) {
  /** @type {Before | null} */
  let before = null;
  let isAnother = false;
  onAnotherText(() => {
    [before, isAnother] = [null, true];
    root.style.minHeight = "";
    for (const one of root.querySelectorAll(".ds-broken > :is(.ds-subject, .ds-before)")) one.remove();
  });
  return (draw) => {
    if (!root.querySelector(".ds-broken")) before = wasTyped() && !isAnother ? shownIn(root) : null;
    isAnother = false;
    draw();
    const broken = root.querySelector(".ds-broken");
    root.style.minHeight = broken && before ? `${before.height}px` : "";
    if (broken && before) broken.append(about(), el("div", { class: "ds-before", inert: true }, before.list));
  };
}

/** @param {HTMLElement} root @returns {Before | null} */
function shownIn(root) {
  const list = root.querySelector(".ds-findings > ul");
  const { height } = root.getBoundingClientRect();
  return list && height ? { list, height } : null;
}

const about = () => el("p", { class: "ds-subject" }, words("common_page", "dimmed"));
