// The versions of a config that undo and redo go through. Pure.

/** @import { Entry } from "../types.d.ts" */

/** @typedef {{ start: number, end: number, size: number, time: number }} Change where a text changed, and when */

const MOST = 300;
const SAME_EDIT_MS = 1200;
const SAME_EDIT_LETTERS = 3;
/** @type {Change} */
const NOTHING = { start: 0, end: 0, size: Infinity, time: -Infinity };

/**
 * Where text `b` differs from `a`: from `start` on, up to `end` in `b`; `size`: letters gone or new.
 * @param {string} a @param {string} b
 */
export function difference(a, b) {
  const most = Math.min(a.length, b.length);
  let start = 0;
  let tail = 0;
  while (start < most && a[start] === b[start]) start += 1;
  while (tail < most - start && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  return { start, end: b.length - tail, size: Math.max(a.length, b.length) - start - tail };
}

/** The editor may change line ends and drop the last one: that is no edit of anybody's. @param {string} text */
const settled = (text) => text.replaceAll("\r\n", "\n").trimEnd();

export class Edits {
  constructor() {
    /** @type {Entry[]} */
    this.entries = [];
    this.at = -1;
    this.last = NOTHING;
  }

  get canUndo() {
    return this.at > 0;
  }

  get canRedo() {
    return this.at < this.entries.length - 1;
  }

  /**
   * Letters typed or deleted one after another in one place are one step; everything else is a step of its own.
   * @param {Entry} entry @param {number} time in milliseconds
   */
  note(entry, time) {
    const now = this.entries[this.at];
    if (now && settled(now.text) === settled(entry.text)) {
      this.entries[this.at] = entry;
      return;
    }
    const change = now ? { ...difference(now.text, entry.text), time } : { ...NOTHING, time };
    if (this.at > 0 && this.goesOn(change)) this.at -= 1;
    this.entries = [...this.entries.slice(0, this.at + 1), entry].slice(-MOST);
    this.at = this.entries.length - 1;
    this.last = change;
  }

  /** @param {Change} change */
  goesOn(change) {
    const { last } = this;
    return (
      change.time - last.time < SAME_EDIT_MS &&
      change.size <= SAME_EDIT_LETTERS &&
      change.start >= last.start - 1 &&
      change.start <= last.end + 1
    );
  }

  /**
   * The version so many steps further, which is then the one that is shown; null where there is none.
   * @param {number} by
   */
  move(by) {
    const entry = this.entries[this.at + by];
    if (!entry) return null;
    this.at += by;
    this.last = NOTHING;
    return entry;
  }
}
