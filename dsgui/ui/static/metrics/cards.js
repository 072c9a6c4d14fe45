// A legend of several GPUs: each once, by its colour, and once what each of their lines is, by its dashes. Pure.

/** @import { Line } from "../types.d.ts" */

/**
 * The lines of one run's chart: `GPU 0 · GPU 0, this run · GPU 1 · GPU 1, this run` is said as `GPU 0 · GPU 1 · this
 * run`; a press on a card there hides all of its lines.
 * @param {Line[]} lines @returns {Line[]}
 */
export function namedOnce(lines) {
  const cards = new Set(lines.map(({ card }) => card));
  const notes = new Set(lines.map(({ note }) => note ?? ""));
  if (cards.size < 2 || notes.size < 2 || cards.has(undefined)) return lines;
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {Set<string | undefined>} */
  const signed = new Set([undefined]);
  return lines.map((line) => {
    const { card = "", note } = line;
    const legend = !seen.has(card);
    const sign = signed.has(note) ? undefined : note;
    seen.add(card);
    signed.add(note);
    return { ...line, name: card, legend, sign, group: card };
  });
}
