// Which limits of a chart are lines, and which only words at its upper edge: what is far above the curves would flatten
// them. Pure; a report has it inlined.

/** @import { Limit } from "../types.d.ts" */

const AFAR = 2; // times the most that was seen: a limit above that is no line
const [ROOM, AIR] = [1.05, 1.12]; // times a limit's line, which has a name above it; times the highest of the curves
const OFF_LINE = 2; // px between a name and its line
const LIMIT_ROOM = 0.085; // of the height, which a name takes
const NAME = { xref: "paper", yanchor: "bottom", showarrow: false };
export const LIMIT_SIZE = 12; // px of a name
/** Of the height, above the curves: where a name stands. */
export const LIMIT_NAME = 0.06;

/**
 * `most`: where the axis ends, but for some room.
 * @param {Limit[]} limits @param {number} seen the most that was
 * @returns {{ lines: Limit[], above: Limit[], most: number }}
 */
export function reached(limits, seen) {
  const lines = limits.filter(({ at }) => at <= AFAR * seen);
  const above = limits.filter((one) => !lines.includes(one)).sort((a, b) => a.at - b.at);
  return { lines, above, most: Math.max(seen, ...lines.map(({ at }) => at)) };
}

/**
 * Where an axis ends: above the most that was seen, or above the limit that is over it.
 * @param {number} most @param {number} seen
 */
export const roofOf = (most, seen) => (most > seen ? ROOM * most : AIR * seen);

/**
 * @param {ReturnType<typeof reached>} placed @param {boolean} log
 * @param {object} font @param {number} top where the curves' part of the height ends
 * @param {string} ground on which a name is read, whatever runs below it
 * @param {(limit: Limit, right: boolean, over: boolean) => boolean} isFree whether no curve runs through a limit's
 *   name at this end of its line, over or below it
 */
export function limitNames({ lines, above, most }, log, font, top, ground, isFree = () => true) {
  /** Whether the name of a higher one stands where its own would. @param {number} at */
  const crowded = (at) => lines.some((other) => other.at > at && other.at - at < LIMIT_ROOM * most);
  const placed = lines.map((limit) => {
    const places = [true, false].flatMap((right) =>
      (crowded(limit.at) ? [false] : [true, false]).map((over) => ({ right, over })),
    );
    return { limit, place: places.find(({ right, over }) => isFree(limit, right, over)) };
  });
  const named = placed.flatMap(({ limit: { at, text }, place }) => {
    if (!place) return [];
    const end = place.right ? { x: 1, xanchor: "right" } : { x: 0, xanchor: "left" };
    const yanchor = place.over ? "bottom" : "top";
    const yshift = place.over ? OFF_LINE : -OFF_LINE;
    return [{ ...NAME, ...end, y: log ? Math.log10(at) : at, yanchor, yshift, text, font, bgcolor: ground }];
  });
  const atLeft = named.some(({ x }) => x === 0); // where the edge's words would stand over it
  const end = atLeft ? { x: 1, xanchor: "right" } : { x: 0, xanchor: "left" };
  // A name for which there is no room at its line stands there too.
  const dashed = placed.flatMap(({ limit, place }) => (place ? [] : [`╌ ${limit.text}`]));
  const higher = above.length ? [`↑ ${above.map((one) => one.text).join(" · ")}`] : [];
  const words = [...dashed, ...higher].join(" · ");
  const edge = { ...NAME, ...end, yref: "paper", y: top, text: words, font };
  return words ? [...named, edge] : named;
}
