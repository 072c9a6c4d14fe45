// How fast a run trains, and how much of its time it trained. Pure.

/** @import { Delta } from "../types.d.ts" */
/** @import { Curves } from "../metrics/curves.js" */

const OVER_S = 60;

/** Steps a second: over the last minute while it trains; afterwards what was recorded, as the list of runs has it. */
export class Speed {
  constructor() {
    /** @type {[number, number][]} [seconds, step] as the polls told them */
    this.told = [];
  }

  /**
   * NaN where it is not known.
   * @param {Pick<Delta, "progress" | "elapsed_s">} delta @param {Curves} curves @param {boolean} live
   */
  rate({ progress, elapsed_s: now }, curves, live) {
    const step = progress?.step ?? null;
    const lately = live && step !== null && now !== null ? this.lately(now, step) : NaN;
    return Number.isFinite(lately) ? lately : (progress?.steps_per_second ?? overall(curves));
  }

  /** @param {number} now @param {number} step */
  lately(now, step) {
    this.told.push([now, step]);
    while (this.told[0][0] < now - OVER_S) this.told.shift();
    const [[begun, first]] = this.told;
    return step > first && now > begun ? (step - first) / (now - begun) : NaN;
  }
}

const FEW_S = 5; // what else it took is told from here on,
const SHARE = 0.05; // and where it is that much of all
const FEWEST = 10; // logged steps: of fewer nobody knows what one takes

/**
 * How long an ended run trained, by the first and the last step that it logged, and what came before and after, in
 * seconds; null where that is all of it, or not known.
 * @param {Curves} curves @param {number | null} took
 */
export function spent(curves, took) {
  const clock = curves.counted ? null : curves.clock("step");
  const [begin, end] = [clock?.stretches[0]?.low.time, clock?.last?.high.time];
  if (!clock || clock.count < FEWEST || took === null || begin === undefined || end === undefined) return null;
  const logged = (end - begin) / (clock.count - 1); // the first of what is logged was trained before it, too
  const found = { training: end - begin, before: begin - logged, after: took - end - logged };
  const [before, after] = [found.before, found.after].map((seconds) => Math.max(seconds, 0));
  const isKnown = begin >= 0 && end >= begin && took >= end;
  return isKnown && before + after >= Math.max(FEW_S, SHARE * took) ? { ...found, before, after } : null;
}

/** From where its count last began. @param {Curves} curves */
function overall(curves) {
  const clock = curves.counted ? null : curves.clock("step");
  const places = clock?.stretches.flatMap(({ low, high }) => [low, high]) ?? [];
  const begin = places[places.findLastIndex(({ step }, at) => !at || step < places[at - 1].step)];
  const end = places.at(-1);
  return begin && end && end.time > begin.time ? (end.step - begin.step) / (end.time - begin.time) : NaN;
}
