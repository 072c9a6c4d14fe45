// A long list of findings ends with a whole one, the next errors in a line each, and a button that shows the rest; the
// way to one of them.

import { button, el, part } from "../common/dom.js";
import { listed, words } from "../texts/texts.js";

const MOST = 0.3; // of the window's height: memory and the JSON below are looked for as well
const IN_BRIEF = 2; // errors that are told in a line
const SEVERITIES = ["error", "warning", "note"];
const LITTLE = 110; // px: of a finding of a few lines

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

/** Of notes alone a single short one stands open. @param {number[]} ends */
const notesShown = (ends) => (ends.length === 1 && ends[0] <= LITTLE ? 1 : 0);

/** How many: an entry may stand for several that are alike. @param {HTMLElement[]} entries */
export const findingsIn = (entries) => entries.reduce((sum, { dataset }) => sum + Number(dataset.count ?? 1), 0);

/** How many of which: `1 warning, 2 notes`. @param {HTMLElement[]} entries */
export function countsOf(entries) {
  const counts = SEVERITIES.map((one) => [one, findingsIn(entries.filter((entry) => entry.matches(`.ds-${one}`)))]);
  const some = counts.filter(([, count]) => count);
  return listed(
    some.map(([one, count]) => words("common_page", `count${count === 1 ? "" : "s"}_${one}`, { count: String(count) })),
  );
}

/** @param {HTMLElement} root of the findings; @returns {() => void} for when there are others */
export function shortened(root) {
  let [open, width] = [false, 0];
  const show = () => {
    const list = root.querySelector(".ds-findings > ul");
    // Below what a text breaks off at stands what mends all of it.
    if (!(list instanceof HTMLElement) || !root.offsetWidth || list.closest(".ds-broken")) return;
    const entries = /** @type {HTMLElement[]} */ ([...list.children]);
    for (const one of [list, ...entries]) one.hidden = false;
    for (const one of entries) one.classList.remove("ds-brief");
    const before = root.querySelector(".ds-more-findings");
    const focused = before?.contains(document.activeElement);
    before?.remove();
    const top = list.getBoundingClientRect().top;
    const ends = entries.map((one) => one.getBoundingClientRect().bottom - top);
    // Where nothing is wrong its head says it all: each note stands at its field as well.
    const isWrong = list.querySelector(":scope > :is(.ds-error, .ds-warning)") !== null;
    const passes = root.querySelector(".ds-verdict.ds-ok") !== null; // else what does not fit is the point
    const shown = passes ? notesShown(ends) : 0;
    const count = isWrong ? whole(ends, window.innerHeight * MOST) : shown;
    if (count >= ends.length) return;
    const rest = entries.slice(count);
    const brief = rest.slice(0, IN_BRIEF).filter((one) => one.matches(".ds-error"));
    const left = rest.filter((one) => !brief.includes(one));
    for (const one of left) one.hidden = !open;
    for (const one of brief) one.classList.toggle("ds-brief", !open);
    list.hidden = !open && count === 0;
    list.after(more(countsOf(left), count === 0));
    if (focused) part(root, ".ds-more-findings > button").focus({ preventScroll: true });
  };
  /** @param {string} rest @param {boolean} isAll whether none stands open */
  const more = (rest, isAll) => {
    const opened = isAll ? "hide_notes" : "fewer_below";
    const code = open ? opened : rest ? "counts_below" : "all_below";
    const press = () => {
      open = !open;
      show();
    };
    const name = words("common_page", code, { counts: rest });
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
  const isTold = key.checkVisibility() && !key.closest(".ds-brief");
  if (!isTold && more instanceof HTMLElement) more.click();
  key.closest("details")?.setAttribute("open", "");
  key.scrollIntoView({ block: "center", behavior: "smooth" });
  key.focus({ preventScroll: true });
}
