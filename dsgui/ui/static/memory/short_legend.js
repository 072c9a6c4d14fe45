// A legend of no more than is looked for: the parts that take the most room in the bars, and all that are large, and a
// button that shows the others.

import { button, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

const MOST = 5;
const LARGE = 2; // percent of a bar: what its colour is can be seen

/**
 * Which of them are left out at first, by their places: one alone is not.
 * @param {number[]} widths how much of a bar each has at most; one that never goes has Infinity
 */
export function smaller(widths) {
  const places = widths.map((_, place) => place).filter((place) => widths[place] !== Infinity);
  const all = places.toSorted((a, b) => widths[b] - widths[a]);
  const large = all.filter((place) => widths[place] >= LARGE).length;
  const rest = all.slice(Math.max(MOST, large));
  return new Set(rest.length > 1 ? rest : []);
}

/** @param {HTMLElement[]} items in the bars' order @param {number[]} widths */
export function shortLegend(items, widths) {
  const rest = smaller(widths);
  const list = el("ul", {}, ...items);
  if (!rest.size) return list;
  let open = false;
  const press = button("", { class: "ds-goal-more" }, () => {
    open = !open;
    show();
  });
  const show = () => {
    for (const place of rest) items[place].hidden = !open;
    press.textContent = words("common_page", open ? "fewer_below" : "smaller_parts", { count: String(rest.size) });
    press.setAttribute("aria-expanded", String(open));
  };
  show();
  list.append(el("li", {}, press));
  return list;
}
