// What the drawer of tutorials reckons: which step comes next, a text's pieces, where sliders stand. Pure.

/** @import { LearnOffer, LearnState, LearnStep } from "../types.d.ts" */

/**
 * A text with code between backticks, in pieces.
 * @param {string} text @returns {{ text: string, code: boolean }[]}
 */
export const pieces = (text) =>
  text
    .split("`")
    .map((piece, index) => ({ text: piece, code: index % 2 === 1 }))
    .filter((piece) => piece.text);

/** A text with its places filled. @param {string} text @param {Record<string, string | number>} given */
export const filled = (text, given) =>
  text.replace(/\{(\w+)\}/g, (place, name) => (Object.hasOwn(given, name) ? String(given[name]) : place));

/** @param {LearnStep[]} steps @param {LearnState | null} state */
export const countDone = (steps, state) => steps.filter((step) => state?.steps[step.id]?.done).length;

const BY_RUNS = new Set(["launches", "halves", "works_on"]);

/** Whether a step is done in the drawer alone: it opens nothing of the pages, and waits for no run.
 * @param {LearnStep} step */
export const isRead = ({ buttons, does }) => !buttons.length && (does === "answers" || does === "finds");

/** Of the steps that are done those that a run does, whenever it was started. @param {LearnStep[]} steps
 * @param {LearnState | null} state */
export const countByRuns = (steps, state) =>
  countDone(
    steps.filter(({ does }) => BY_RUNS.has(does)),
    state,
  );

/** Where a reader goes on: at the first step that is not done, else at the last. @param {LearnStep[]} steps
 * @param {LearnState | null} state */
export function whereToGoOn(steps, state) {
  const place = steps.findIndex((step) => !state?.steps[step.id]?.done);
  return place < 0 ? steps.length - 1 : place;
}

/** The value that a slider has at a place. @param {LearnOffer} offer @param {number} place */
export const valueAt = (offer, place) =>
  offer.values[Math.min(Math.max(place, 0), offer.values.length - 1)] ?? { value: "", title: "" };

/** @param {LearnOffer} offer @param {string} [value] */
export const placeOf = (offer, value = offer.first) =>
  Math.max(
    offer.values.findIndex((one) => one.value === value),
    0,
  );

/**
 * Whether the runs that are compared have all of these among them.
 * @param {string | null} shown @param {string[]} runs
 */
export function comparesAll(shown, runs) {
  const ids = (shown ?? "").split(",");
  return runs.length > 1 && runs.every((id) => ids.includes(id));
}
