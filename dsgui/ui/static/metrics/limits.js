// Which limits of a chart are lines, and which only words at its upper edge: what is far above the curves would flatten
// them. Pure; a report has it inlined.

/** @import { Limit } from "../types.d.ts" */

const AFAR = 2; // times the most that was seen: a limit above that is no line
const LIMIT_ROOM = 0.07; // of the height, which a name takes
const NAME = { xref: "paper", yanchor: "bottom", showarrow: false };
export const LIMIT_SIZE = 11; // px of a name
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
 * @param {ReturnType<typeof reached>} placed @param {boolean} log
 * @param {object} font @param {number} top where the curves' part of the height ends
 */
export function limitNames({ lines, above, most }, log, font, top) {
  /** Whether the name of a higher one stands where its own would. @param {number} at */
  const crowded = (at) => lines.some((other) => other.at > at && other.at - at < LIMIT_ROOM * most);
  const named = lines.map(({ at, text }) => {
    const side = crowded(at) ? "top" : "bottom";
    return { ...NAME, x: 1, xanchor: "right", y: log ? Math.log10(at) : at, yanchor: side, text, font };
  });
  const text = `↑ ${above.map((one) => one.text).join(" · ")}`;
  const edge = { ...NAME, x: 0, xanchor: "left", yref: "paper", y: top, text, font };
  return above.length ? [...named, edge] : named;
}
