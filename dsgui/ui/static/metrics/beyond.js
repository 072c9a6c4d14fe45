// What a chart by steps does not show: the most that was measured before the first step, or after the last. Pure.

import { words } from "../texts/texts.js";
import { figure } from "../common/format.js";

/** @import { Axis, Line } from "../types.d.ts" */

const MORE = 1.05; // times the most that is shown: less is not missed
const DIGITS = 3;

/** @param {Line} line */
function beyond(line) {
  const { curve, clock } = line;
  if (curve.kind !== "sample" || !clock?.known) return [];
  const highs = curve.stretches.map(({ high }) => high).filter(({ y }) => Number.isFinite(y));
  const inside = highs.filter(({ time }) => clock.covers(time));
  if (!inside.length) return []; // nothing is shown that would be taken for the whole
  const shown = inside.reduce((most, { y }) => Math.max(most, y), 0);
  const left = highs.filter(({ y, time }) => !clock.covers(time) && y > MORE * shown);
  return left.map(({ y, time }) => ({ line, clock, value: y / line.scale, time, times: y / shown }));
}

/**
 * `Peak 4.99 GiB (this run) before step 1`, of the line that most of it is missing of; "" where what is shown has the
 * peak.
 * @param {Line[]} lines @param {Axis} axis @param {string} unit
 */
export function peakBeyond(lines, axis, unit) {
  const found = lines.flatMap(beyond).sort((a, b) => b.times - a.times);
  if (!found.length || axis === "time") return "";
  const [{ line, clock, value, time }] = found;
  const side = time < clock.times[0] ? "before" : "after";
  const place = figure(
    side === "before" ? clock.places[0] : clock.places[clock.places.length - 1],
    DIGITS + (axis === "step" ? 9 : 0),
  );
  const size = `${value.toFixed(2)} ${unit}`;
  const told = lines.length > 1 ? words("charts_page", "peak_of", { value: size, name: line.plain }) : size;
  return words("charts_page", `peak_${side}_${axis}`, { value: told, place });
}
