// Which runs are chosen, to be compared, tagged or archived: they need not be in sight.

/** @import { RunSummary } from "../types.d.ts" */

export class Choice {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, RunSummary | null>} null: not told of yet */
    this.runs = new Map();
  }

  get size() {
    return this.runs.size;
  }

  get ids() {
    return [...this.runs.keys()];
  }

  /** @param {string} id */
  has(id) {
    return this.runs.has(id);
  }

  /** What the server told of it last. @param {RunSummary} run */
  know(run) {
    if (this.runs.has(run.run_id)) this.runs.set(run.run_id, run);
  }

  /** Takes runs in, or out. @param {RunSummary[]} runs @param {boolean} chosen */
  set(runs, chosen) {
    for (const run of runs) {
      if (chosen) this.runs.set(run.run_id, run);
      else this.runs.delete(run.run_id);
    }
    this.changed();
  }

  /** These and no others. @param {string[]} ids @param {Map<string, RunSummary>} known */
  take(ids, known) {
    this.runs = new Map(ids.map((id) => [id, known.get(id) ?? this.runs.get(id) ?? null]));
    this.changed();
  }

  /** @param {string} id */
  drop(id) {
    this.runs.delete(id);
    this.changed();
  }

  clear() {
    this.runs.clear();
    this.changed();
  }

  /** As they were launched. */
  inOrder() {
    /** @param {string} id */
    const placeOf = (id) => this.runs.get(id)?.place ?? 0;
    return this.ids.sort((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1));
  }

  /** What archiving does to them: puts those away that are not; where all are, brings them back. */
  archiving() {
    const here = this.ids.filter((id) => !this.runs.get(id)?.archived);
    return here.length ? { ids: here, archived: true } : { ids: this.ids, archived: false };
  }
}
