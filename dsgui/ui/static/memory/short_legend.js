// A legend that would push what it explains off a narrow screen: the parts that take the most room in the bars, in
// three lines, and a button that shows the others.

import { button, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

const LINES = 3;
const NARROW = "(max-width: 760px)";

/** How many lines they stand in. @param {Pick<HTMLElement, "offsetTop" | "hidden">[]} shown */
export const linesOf = (shown) => new Set(shown.filter(({ hidden }) => !hidden).map(({ offsetTop }) => offsetTop)).size;

/**
 * @param {HTMLElement[]} items in the bars' order @param {number[]} widths how much of a bar each has at most; one that
 *   never goes has Infinity
 */
export function shortLegend(items, widths) {
  let [open, width] = [false, 0];
  const press = button("", { class: "ds-goal-more" }, () => {
    open = !open;
    show();
  });
  const last = el("li", {}, press);
  const list = el("ul", {}, ...items, last);
  const least = items.map((one, place) => ({ one, width: widths[place] })).toSorted((a, b) => a.width - b.width);
  const tell = () => {
    const count = items.filter(({ hidden }) => hidden).length;
    press.textContent = words("common_page", open ? "fewer_below" : "more_below", { count: String(count) });
    press.setAttribute("aria-expanded", String(open));
  };
  const show = () => {
    for (const one of items) one.hidden = false;
    last.hidden = true;
    if (!matchMedia(NARROW).matches || linesOf(items) <= LINES) return;
    last.hidden = false;
    tell();
    for (const { one, width: room } of open ? [] : least) {
      if (room === Infinity || linesOf([...items, last]) <= LINES) break;
      one.hidden = true;
      tell();
    }
  };
  new ResizeObserver(() => {
    if (list.offsetWidth !== width) show();
    width = list.offsetWidth;
  }).observe(list);
  return list;
}
