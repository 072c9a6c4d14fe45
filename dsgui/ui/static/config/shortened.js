// A long list of findings ends with a whole one, and with a button that shows the rest; the way to one of them.

import { button, el, part } from "../common/dom.js";
import { words } from "../texts/texts.js";

const MOST = 0.5; // of the window's height
const LITTLE = 110; // px: of a finding of a few lines
const MOST_OF_NOTES = 0.2; // where nothing is wrong, memory and the JSON below it are what is looked for

/**
 * How many of those that end at `ends` stand whole above `limit`; the first does in any case, and the last where it is
 * the only one below: a button in its place would save little.
 * @param {number[]} ends @param {number} limit
 */
export function whole(ends, limit) {
  const count = Math.max(1, ends.filter((end) => end <= limit).length);
  const isLast = count === ends.length - 1 && ends[count] - ends[count - 1] <= LITTLE;
  return isLast ? ends.length : count;
}

/** How many: an entry may stand for several that are alike. @param {HTMLElement[]} entries */
export const findingsIn = (entries) => entries.reduce((sum, { dataset }) => sum + Number(dataset.count ?? 1), 0);

/** @param {HTMLElement} root of the findings; @returns {() => void} for when there are others */
export function shortened(root) {
  let [open, width] = [false, 0];
  const show = () => {
    const list = root.querySelector(".ds-findings > ul");
    if (!(list instanceof HTMLElement) || !list.offsetWidth) return;
    const entries = /** @type {HTMLElement[]} */ ([...list.children]);
    for (const one of entries) one.hidden = false;
    const before = root.querySelector(".ds-more-findings");
    const focused = before?.contains(document.activeElement);
    before?.remove();
    const top = list.getBoundingClientRect().top;
    const ends = entries.map((one) => one.getBoundingClientRect().bottom - top);
    const most = list.querySelector(":scope > :is(.ds-error, .ds-warning)") ? MOST : MOST_OF_NOTES;
    const count = whole(ends, window.innerHeight * most);
    if (count >= ends.length) return;
    for (const one of entries.slice(count)) one.hidden = !open;
    list.after(more(findingsIn(entries.slice(count))));
    if (focused) part(root, ".ds-more-findings > button").focus({ preventScroll: true });
  };
  /** @param {number} rest */
  const more = (rest) => {
    const [code, count] = [open ? "fewer_below" : "more_below", String(rest)];
    const press = () => {
      open = !open;
      show();
    };
    const name = words("common_page", code, { count });
    const attributes = { class: "ds-mem-do", "aria-expanded": String(open) };
    return el("p", { class: "ds-more-findings" }, button(name, attributes, press));
  };
  root.addEventListener("toggle", show, true);
  window.addEventListener("resize", show);
  new ResizeObserver(() => {
    if (root.offsetWidth !== width) show();
    width = root.offsetWidth;
  }).observe(root);
  return show;
}

/** The way from a field to what the list says of it. @param {string} rule @param {string} pointer */
export function showFinding(rule, pointer) {
  const [about, where] = [`.ds-finding[data-rule="${rule}"]`, `[data-goto="${CSS.escape(pointer)}"]`];
  const key = document.querySelector(`#findings ${about} ${where}`);
  if (!(key instanceof HTMLElement)) return;
  const more = document.querySelector('.ds-more-findings > [aria-expanded="false"]');
  if (!key.checkVisibility() && more instanceof HTMLElement) more.click();
  key.closest("details")?.setAttribute("open", "");
  key.scrollIntoView({ block: "center", behavior: "smooth" });
  key.focus({ preventScroll: true });
}
