// How long something has taken, in words, and what is said of a phase that takes long. Pure, but for the texts.

import { textOf, words } from "../texts/texts.js";

const MINUTE_S = 60;
const USUAL_PHASE_S = 120; // so long a phase may take before "about a minute" is no help any more

/** @type {Record<string, string>} */
const LONG = { starting: "starting_long", compiling: "compiling_long" };

/** Some seconds, as one says them. @param {number} seconds */
export function span(seconds) {
  const minutes = Math.round(seconds / MINUTE_S);
  if (minutes < 1) return words("runs_page", "seconds", { count: String(Math.max(Math.round(seconds), 0)) });
  if (minutes < MINUTE_S) return words("runs_page", "minutes", { count: String(minutes) });
  const [hours, rest] = [Math.floor(minutes / MINUTE_S), minutes % MINUTE_S];
  return words("runs_page", "hours", { hours: String(hours), minutes: String(rest) });
}

/** What a run does in this phase: "about a minute" is no longer said of what takes twelve.
 * @param {string} phase @param {number | null} taken seconds that it has taken
 */
export function phaseText(phase, taken) {
  const long =
    (taken ?? 0) > USUAL_PHASE_S ? textOf("runs_page", LONG[phase] ?? "", "", { time: span(taken ?? 0) }) : "";
  return long || textOf("phases", phase);
}
