// The boxes of the list of runs: one, with Shift all from the one before, or all that fit, in sight or not.

/** @import { RunSummary } from "../types.d.ts" */
/** @import { Choice } from "./run_choice.js" */

const MOST_CHOSEN = 1000; // as many as the server labels at once
const MOST_TOLD = 200; // rows that the server tells at once

export class RunTicks {
  /**
   * @param {Choice} choice
   * @param {{ placeOf: (id: string) => number, ask: (first: number, count: number) => Promise<RunSummary[]> }} list
   * where a run stands in it, -1 where it is not in sight; a part of it, told of already or not
   */
  constructor(choice, list) {
    this.choice = choice;
    this.list = list;
    this.isRange = false;
    this.anchor = ""; // the run whose box was ticked last
    this.anchorAt = 0;
    /** @type {object | null} the tick on all that waits for the server */
    this.awaited = null;
  }

  /** The list is another: no range begins in the last one. */
  forget() {
    this.anchor = "";
  }

  /** @param {RunSummary} run @param {boolean} checked */
  async one(run, checked) {
    const [from, to] = [this.anchor, run.run_id].map((id) => this.placeOf(id));
    const isRange = this.isRange && this.anchor;
    const runs = isRange ? await this.between(Math.min(from, to), Math.max(from, to)) : [run];
    Object.assign(this, { anchor: run.run_id, anchorAt: to, isRange: false });
    this.choice.set(runs, checked);
  }

  /** @param {boolean} checked @param {number} fits how many there are */
  async every(checked, fits) {
    const awaited = (this.awaited = checked ? {} : null);
    if (!awaited) return this.choice.clear();
    try {
      const runs = await this.between(0, Math.min(fits, MOST_CHOSEN) - 1);
      if (!this.overtaken(awaited)) this.choice.set(runs, true);
    } catch (error) {
      if (!this.overtaken(awaited)) this.choice.changed();
      throw error;
    }
  }

  /** Whether another tick came after it. An answer is awaited no longer. @param {object} awaited */
  overtaken(awaited) {
    const isOld = this.awaited !== awaited;
    if (!isOld) this.awaited = null;
    return isOld;
  }

  /** Where in the list a run stands, or stood when its box was ticked. @param {string} id */
  placeOf(id) {
    const place = this.list.placeOf(id);
    return place < 0 ? this.anchorAt : place;
  }

  /** The runs from one place to another. @param {number} from @param {number} to */
  async between(from, to) {
    /** @type {RunSummary[]} */
    const found = [];
    for (let first = from; first <= to; first += MOST_TOLD) {
      found.push(...(await this.list.ask(first, Math.min(to + 1 - first, MOST_TOLD))));
    }
    return found;
  }
}
