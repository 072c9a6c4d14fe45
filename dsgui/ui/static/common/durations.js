// How long something has taken, in words, and what is said of a phase that takes long. Pure, but for the texts.

import { duration } from "./format.js";
import { textOf, words } from "../texts/texts.js";

const MINUTE_S = 60;
const IN_SECONDS = 90; // of less, a whole number of minutes says too little
const USUAL_PHASE_S = 90;
const BUSY = { whole: 95, others: 50 }; // percent of all cores: then others hold a start up
const STARTS = ["starting", "importing", "compiling", "first_step"];

/** Some seconds, as one says them. @param {number} seconds */
export function span(seconds) {
  const whole = Math.max(Math.round(seconds), 0);
  const minutes = Math.round(whole / MINUTE_S);
  if (whole < IN_SECONDS) return words("runs_page", "seconds", { count: String(whole) });
  if (minutes < MINUTE_S) return words("runs_page", "minutes", { count: String(minutes) });
  const [hours, rest] = [Math.floor(minutes / MINUTE_S), minutes % MINUTE_S];
  return words("runs_page", "hours", { hours: String(hours), minutes: String(rest) });
}

/**
 * What is said of a phase: of a start's only that it takes longer than usual, and why where the machine shows it.
 * @param {string} phase @param {number | null} taken seconds that it has taken
 * @param {{ all?: number, own?: number }} [cpu] percent of all cores that are busy, and with the run
 */
export function phaseText(phase, taken, { all = NaN, own = NaN } = {}) {
  if (!STARTS.includes(phase)) return textOf("phases", phase);
  const seconds = taken ?? 0;
  if (seconds <= USUAL_PHASE_S) return "";
  const share = Math.round(all - own);
  if (all >= BUSY.whole && share >= BUSY.others) return words("runs_page", "phase_busy", { share: String(share) });
  return words("runs_page", phase === "compiling" ? "compiling_long" : "phase_long", { time: span(seconds) });
}

/**
 * The phases of a start, the one it is in with its time; none of what has started.
 * @param {string} phase @param {number | null} taken
 */
export function startPhases(phase, taken) {
  const now = STARTS.indexOf(phase);
  if (now < 0) return [];
  return STARTS.map((one, i) => {
    const name = textOf("phases", one);
    return { text: i === now ? `${name} ${duration(taken)}` : name, is: i < now ? "done" : i > now ? "next" : "now" };
  });
}
