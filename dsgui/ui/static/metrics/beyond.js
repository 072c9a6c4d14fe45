// What a chart by steps does not show: the most that was measured before the first step, or after the last. Pure.

import { words } from "../texts/texts.js";
import { figure } from "../common/format.js";

/** @import { Axis, Line, Predicted } from "../types.d.ts" */

const MORE = 1.05; // times the most that is shown: less is not missed
const DIGITS = 3;
const OF_CARD = /^gpu\d+\.run_bytes$/;

/** What a run's own record says of the most that it had of what a line shows. @typedef {Predicted | null} Peak */

/**
 * The most that the run had by its record, in the line's own number; 0 where the line is not the run's alone, or nobody
 * told. @param {Line} line @param {Peak} peak
 */
function recorded({ curve }, peak) {
  const own = curve.name === "run_bytes" ? peak?.host_bytes : OF_CARD.test(curve.name) ? peak?.gpu_bytes : 0;
  return own ?? 0;
}

/** @param {Line} line */
const highsOf = ({ curve }) => curve.stretches.map(({ high }) => high).filter(({ y }) => Number.isFinite(y));

/**
 * By time all is shown, what compiled operators too, which the list of runs and the record have none of.
 * @param {Line[]} lines @param {(line: Line, count: number) => string} named
 * @param {(line: Line, count: number) => string} size @param {(run: number) => Peak} peak
 */
function peakOfTraining(lines, named, size, peak) {
  for (const line of lines) {
    const own = recorded(line, peak(line.run));
    const most = highsOf(line).reduce((found, { y }) => Math.max(found, y), 0);
    if (line.curve.name === "run_bytes" && own && most > MORE * own) {
      // compilers hold no GPU memory
      return words("charts_page", "peak_and_compiled", { peak: named(line, own), value: size(line, most) });
    }
  }
  return "";
}

/** @param {Line} line */
function beyond(line) {
  const { curve, clock } = line;
  if (curve.kind !== "sample" || !clock?.known) return [];
  const highs = highsOf(line);
  const inside = highs.filter(({ time }) => clock.covers(time));
  if (!inside.length) return []; // nothing is shown that would be taken for the whole
  const shown = inside.reduce((most, { y }) => Math.max(most, y), 0);
  const left = highs.filter(({ y, time }) => !clock.covers(time) && y > MORE * shown);
  return left.map(({ y, time }) => ({ line, clock, most: y, shown, time, times: y / shown }));
}

/**
 * `Peak 4.99 GiB (this run) before step 1`, of the line that most of it is missing of; "" where what is shown has the
 * peak. Where the run's record has less for its peak, which leaves out what compiled operators, that is said first, as
 * everywhere else: `Peak 1.22 GiB (this run); 4.99 GiB before step 1`.
 * @param {Line[]} lines @param {Axis} axis @param {string} unit @param {(run: number) => Peak} peak of a run
 */
export function peakBeyond(lines, axis, unit, peak = () => null) {
  /** @param {Line} line @param {number} count */
  const size = ({ scale }, count) => `${(count / scale).toFixed(2)} ${unit}`;
  /** @param {Line} line @param {number} count */
  const named = (line, count) =>
    lines.length > 1
      ? words("charts_page", "peak_of", { value: size(line, count), name: line.plain })
      : size(line, count);
  if (axis === "time") return peakOfTraining(lines, named, size, peak);
  const found = lines.flatMap(beyond).sort((a, b) => b.times - a.times);
  if (!found.length) return "";
  const [{ line, clock, most, shown, time }] = found;
  const side = time < clock.times[0] ? "before" : "after";
  const place = figure(
    side === "before" ? clock.places[0] : clock.places[clock.places.length - 1],
    DIGITS + (axis === "step" ? 9 : 0),
  );
  const own = recorded(line, peak(line.run));
  if (side === "before" && own && most > own) {
    const whole = Math.max(shown, line.curve.node ? 0 : own); // the record is of all nodes together
    return words("charts_page", `peak_and_before_${axis}`, {
      peak: named(line, whole),
      value: size(line, most),
      place,
    });
  }
  return words("charts_page", `peak_${side}_${axis}`, { value: named(line, most), place });
}
