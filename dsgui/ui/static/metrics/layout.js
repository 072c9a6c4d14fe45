// How a user wants the charts of a board to stand: their order, which are hidden, pinned to the top, drawn on a
// logarithmic scale or without their outliers. Pure: layouts in, layouts out.

/** @import { Layout } from "../types.d.ts" */

/** @typedef {"hidden" | "pinned" | "clipped"} Mark what a chart may be, besides being somewhere */

const MOST = 200; // of what a browser kept

/** @type {Layout} */
export const PLAIN = { order: [], hidden: [], pinned: [], log: [], linear: [], clipped: [] };

/** @param {unknown} list @returns {string[]} */
const ids = (list) => (Array.isArray(list) ? list.filter((one) => typeof one === "string").slice(0, MOST) : []);

/** What a browser kept, which anybody may have written. @param {any} kept @returns {Layout} */
export const layoutFrom = (kept) => ({
  order: ids(kept?.order),
  hidden: ids(kept?.hidden),
  pinned: ids(kept?.pinned),
  log: ids(kept?.log),
  linear: ids(kept?.linear),
  clipped: ids(kept?.clipped),
});

/** @param {Layout} layout */
export const isPlain = (layout) => !Object.values(layout).some((list) => list.length);

/** Whether a chart is so, or no longer. @param {Layout} layout @param {Mark} mark @param {string} id */
export function toggled(layout, mark, id) {
  const without = layout[mark].filter((one) => one !== id);
  return { ...layout, [mark]: without.length < layout[mark].length ? without : [...without, id] };
}

/**
 * Whether a chart has a logarithmic scale; `usual`: it has one unless the user chose the other.
 * @param {Layout} layout @param {string} id @param {boolean} usual
 */
export const isLog = ({ log, linear }, id, usual) => log.includes(id) || (usual && !linear.includes(id));

/**
 * The other scale for a chart; only what is not the usual one is kept. What was chosen where a logarithmic scale is
 * usual stays elsewhere.
 * @param {Layout} layout @param {string} id @param {boolean} usual
 */
export function rescaled(layout, id, usual) {
  const log = !isLog(layout, id, usual);
  /** @param {string[]} list @param {boolean} has */
  const kept = (list, has) => [...list.filter((one) => one !== id), ...(has ? [id] : [])];
  return { ...layout, log: kept(layout.log, log && !usual), linear: usual ? kept(layout.linear, !log) : layout.linear };
}

/**
 * The charts in the order in which they stand: those that were moved as the user had them, each other one after the
 * chart that it usually follows.
 * @param {string[]} usual all ids, in the order in which they stand for everybody @param {Layout} layout
 */
export function inOrder(usual, { order }) {
  const found = order.filter((id) => usual.includes(id));
  for (const [place, id] of usual.entries()) {
    if (found.includes(id)) continue;
    const before = usual.slice(0, place).findLast((one) => found.includes(one));
    found.splice(before === undefined ? 0 : found.indexOf(before) + 1, 0, id);
  }
  return found;
}

/**
 * A chart put where another is; the others close up.
 * @param {Layout} layout @param {string[]} standing all ids as they stand @param {string} id @param {string} to
 */
export function moved(layout, standing, id, to) {
  const place = standing.indexOf(to);
  if (place < 0 || id === to) return layout;
  const order = standing.filter((one) => one !== id);
  order.splice(place, 0, id);
  // What stands in charts of other runs keeps its place among them.
  const elsewhere = layout.order.filter((one) => !standing.includes(one));
  return { ...layout, order: [...order, ...elsewhere].slice(0, MOST) };
}

/**
 * The chart before or after one, among those that it may change places with; undefined at an end.
 * @param {string[]} group @param {string} id @param {number} by
 */
export const neighbour = (group, id, by) => group[group.indexOf(id) + by];
