// Asks for a run's news again and again, each time for what came after its cursor.

import { Curves } from "../metrics/curves.js";
import { words } from "../texts/texts.js";

/** @import { Axis, CurvesAnswer, Delta, RunAbout, RunEvent } from "../types.d.ts" */

const IDS_AT_ONCE = 200;
export const LIVE_STATES = new Set(["pending", "queued", "running", "stopping"]);

export class Follower {
  /** @param {string} id @param {boolean} alone whether its curves are not laid over those of other runs */
  constructor(id, alone = false) {
    this.id = id;
    this.alone = alone;
    /** @type {Record<string, string>} as the server gave it */
    this.cursor = {};
    this.curves = this.none();
    /** @type {RunEvent[]} */
    this.events = [];
    /** @type {Partial<RunAbout>} */
    this.about = {};
  }

  none() {
    const curves = new Curves();
    curves.countsLines = this.alone;
    return curves;
  }

  /** Where the output goes on. @param {number} offset */
  seek(offset) {
    this.cursor.output = String(offset);
  }

  /** The news, or null where there is no such run. @returns {Promise<Delta | null>} */
  async poll() {
    const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}?${new URLSearchParams(this.cursor)}`);
    if (answer.status === 404) return null;
    if (!answer.ok) throw new Error(words("runs_page", "answered", { status: String(answer.status) }));
    /** @type {Delta} */
    const delta = await answer.json();
    this.cursor = delta.cursor;
    if (delta.anew) this.curves = this.none();
    this.curves.take(delta.curves);
    this.curves.peak = delta.peak ?? null;
    this.events.push(...delta.events);
    if (Object.keys(delta.about).length) this.about = delta.about;
    return delta;
  }

  /**
   * Asks for finer stretches of a part; `wanted` says whether it is still looked at when the answer comes.
   * @param {Axis} axis @param {number} low @param {number} high @param {() => boolean} wanted
   */
  async refine(axis, low, high, wanted) {
    const ids = this.curves.hidden(axis, low, high);
    const part = { axis, low: String(low), high: String(high) };
    for (let begin = 0; begin < ids.length; begin += IDS_AT_ONCE) {
      const query = new URLSearchParams({ ids: ids.slice(begin, begin + IDS_AT_ONCE).join(","), ...part });
      const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}/window?${query}`).catch(() => null);
      /** @type {CurvesAnswer | null} */
      const found = answer?.ok ? await answer.json() : null;
      if (found && wanted()) this.curves.refine(found, axis, low);
    }
  }
}
