// A run's output as a terminal would show it: colours, and bars that rewrite their line. Pure.

/** @typedef {{ text: string, names: string }} Painted a part of a text, and the CSS classes of its colours */

/** @type {Record<number, string>} */
const CLASSES = {
  1: "ds-bold",
  30: "ds-black",
  31: "ds-red",
  32: "ds-green",
  33: "ds-yellow",
  34: "ds-blue",
  35: "ds-magenta",
  36: "ds-cyan",
  37: "ds-white",
};
// eslint-disable-next-line no-control-regex -- ESC is what a terminal's sequences begin with
const ESCAPE = /\x1b\[([0-9;?]*)([A-Za-z])/g;

/** What a line shows that was rewritten: what came after the last return to its beginning. @param {string} line */
export function settled(line) {
  let end = line.length;
  while (end > 0 && line[end - 1] === "\r") end -= 1;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

/** The lines of a text, each as it was settled. @param {string} text */
export const settledLines = (text) => joined(text).split("\n").map(settled).join("\n");

/** A return before a line's end is none. @param {string} text */
const joined = (text) => text.replace(/(?<!\r)\r+\n/g, "\n");

/**
 * Output as far as its lines are whole, and the rest, of which (a bar) only the last state is needed.
 * @param {string} text
 */
export function wholeLines(text) {
  const all = joined(text);
  const end = all.lastIndexOf("\n") + 1;
  const rest = all.slice(end);
  const bar = rest.lastIndexOf("\r", rest.length - 2);
  return { lines: settledLines(all.slice(0, end)), rest: bar > 0 ? rest.slice(bar) : rest };
}

/**
 * A text in parts: those that are what was looked for, ASCII letters in either case as the server has it, and the rest.
 * @param {string} text @param {string} looked @returns {{ part: string, hit: boolean }[]}
 */
export function hits(text, looked) {
  const [low, wanted] = [text, looked].map((one) => one.replace(/[A-Z]/g, (letter) => letter.toLowerCase()));
  const found = [];
  let begin = 0;
  for (let at = low.indexOf(wanted); wanted && at >= 0; at = low.indexOf(wanted, begin)) {
    found.push({ part: text.slice(begin, at), hit: false });
    begin = at + wanted.length;
    found.push({ part: text.slice(at, begin), hit: true });
  }
  return [...found, { part: text.slice(begin), hit: false }].filter(({ part }) => part);
}

/** The colours that are on; they go on from one text to the next. */
export class Paint {
  /** @param {Iterable<number>} on */
  constructor(on = []) {
    this.on = new Set(on);
  }

  /** @param {string} codes */
  change(codes) {
    for (const code of (codes || "0").split(";").map(Number)) {
      if (code === 0) this.on.clear();
      else if (code === 1) this.on.add(1);
      else if (code === 22) this.on.delete(1);
      else if (code === 39) this.setColour(null);
      else if (code >= 30 && code <= 37) this.setColour(code);
      else if (code >= 90 && code <= 97) this.setColour(code - 60);
    }
  }

  /** @param {number | null} colour */
  setColour(colour) {
    for (const code of [...this.on]) if (code >= 30) this.on.delete(code);
    if (colour !== null) this.on.add(colour);
  }

  get names() {
    return [...this.on].map((code) => CLASSES[code]).join(" ");
  }

  /** The parts of a text. @param {string} text @returns {Painted[]} */
  parts(text) {
    const found = [];
    let begin = 0;
    for (const match of text.matchAll(ESCAPE)) {
      found.push({ text: text.slice(begin, match.index), names: this.names });
      if (match[2] === "m") this.change(match[1]);
      begin = match.index + match[0].length;
    }
    found.push({ text: text.slice(begin), names: this.names });
    return found.filter((one) => one.text);
  }
}
