// Runs of a comparison taken together: which have the same tag, preset, model or config, and of a group's curves the
// mean at every place, with the least and the most. Pure.

import { label } from "./charts.js";
import { Curve } from "./curves.js";
import { listed, words } from "../texts/texts.js";
import { COLOURS, look, placing } from "./traces.js";

/** @import { ComparedRun, Group, Line, Placed, SettingsPart, Stretch } from "../types.d.ts" */

export const GROUPINGS = ["none", "tag", "preset", "model", "config"];
const MOST_PLACES = 600; // of a band: as many as a chart is wide
const MOST_SETTINGS = 3; // that a group of configs is named by

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("compare_page", code, given);

/**
 * The groups, in the order of their first runs; null where runs stand for themselves. A run is in the group of each of
 * its tags.
 * @param {string} by @param {ComparedRun[]} runs @param {SettingsPart[]} sections @returns {Group[] | null}
 */
export function groupsOf(by, runs, sections) {
  if (!GROUPINGS.includes(by) || by === "none") return null;
  /** @type {Map<string, number[]>} */
  const found = new Map();
  for (const [place, run] of runs.entries()) {
    for (const name of namesOf(by, run, place, sections)) found.set(name, [...(found.get(name) ?? []), place]);
  }
  return [...found].map(([name, members]) => ({ name, members }));
}

/** @type {Record<string, (run: ComparedRun) => string[]>} */
const NAMED = {
  tag: ({ tags }) => tags,
  preset: ({ preset }) => [preset].filter(Boolean),
  model: ({ model }) => [model].filter(Boolean),
};

/** Whether some run says what it would be grouped by. @param {string} by @param {ComparedRun[]} runs */
export const canGroup = (by, runs) => !Object.hasOwn(NAMED, by) || runs.some((run) => NAMED[by](run).length);

/** @param {string} by @param {ComparedRun} run @param {number} place @param {SettingsPart[]} sections */
function namesOf(by, run, place, sections) {
  if (by === "config") return [configOf(place, sections)];
  const names = NAMED[by](run);
  return names.length ? names : [say(`no_${by}`)];
}

/**
 * A config is named by what in it differs: `stage 2, lr 1e-4`.
 * @param {number} place @param {SettingsPart[]} sections
 */
function configOf(place, sections) {
  const config = sections.find(({ code }) => code === "config");
  if (!config || config.unknown.includes(place)) return say("no_config");
  const told = config.differ.map(({ key, values }) => `${key.split(/[./]/).at(-1)} ${values[place] ?? say("not_set")}`);
  if (!told.length) return say("same_config");
  const rest = told.length - MOST_SETTINGS;
  // What is not named tells groups apart all the same.
  const other = rest > 0 ? [say("more_settings", { count: String(rest), mark: mark(told.slice(MOST_SETTINGS)) })] : [];
  return listed([...told.slice(0, MOST_SETTINGS), ...other]);
}

/** A short mark of some texts, another for others. @param {string[]} texts */
function mark(texts) {
  let sum = 0;
  for (const letter of texts.join("\n")) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 46656;
  return sum.toString(36).padStart(3, "0");
}

/** How many runs a value is of: of a group, or of those of it that have one there. @param {number} count */
export function runsText(count, total = count) {
  const given = { count: String(count), total: String(total) };
  return say(count < total ? "runs_some" : count === 1 ? "run_one" : "runs_many", given);
}

/** What a group is called in the legend. @param {Group} group */
export const titleOf = ({ name, members }) => `${name} (${runsText(members.length)})`;

/**
 * A curve's stretches where they are on an axis, in order; those without a value or a place are left out.
 * @param {Stretch[]} stretches @param {(point: Stretch["low"]) => number} place @returns {Placed[]}
 */
export function placed(stretches, place) {
  const all = stretches.map(({ low, high, mean }) => ({
    at: (place(low) + place(high)) / 2,
    low: low.y,
    high: high.y,
    mean,
  }));
  return all.filter(({ at, mean }) => Number.isFinite(at) && Number.isFinite(mean)).sort((a, b) => a.at - b.at);
}

/**
 * Several curves as one: at every place of any of them the mean, the least and the most of those that reach so far,
 * in a straight line between their own points. What lies between two places counts for the first of them. `cut` where
 * they are others than before: from there on the mean is one of others, and no line leads to it.
 * @param {Placed[][]} tracks @returns {(Placed & { count: number, cut: boolean })[]}
 */
export function bandOf(tracks) {
  const places = thinned([...new Set(tracks.flatMap((track) => track.map(({ at }) => at)))].sort((a, b) => a - b));
  const next = tracks.map(() => 0); // of each track, its first point at or after the place
  const found = [];
  let before = "";
  for (const [index, at] of places.entries()) {
    const until = places[index + 1] ?? Infinity;
    const here = tracks.flatMap((track, number) => {
      while (next[number] < track.length && track[next[number]].at < at) next[number] += 1;
      const value = valueAt(track, next[number], at);
      return value ? [{ number, value: spreadTo(value, track, next[number], until) }] : [];
    });
    const who = here.map(({ number }) => number).join();
    const values = here.map(({ value }) => value);
    if (values.length) found.push({ at, ...together(values), count: values.length, cut: who !== before });
    before = who;
  }
  return found;
}

/** @param {number[]} places */
function thinned(places) {
  if (places.length <= MOST_PLACES) return places;
  const step = (places.length - 1) / (MOST_PLACES - 1);
  return Array.from({ length: MOST_PLACES }, (_, index) => places[Math.round(index * step)]);
}

/**
 * @param {Placed[]} track @param {number} index of its first point at or after the place @param {number} at
 * @returns {Placed | null} null before its first point and after its last
 */
function valueAt(track, index, at) {
  const [before, after] = [track[index - 1], track[index]];
  if (!after) return null;
  if (after.at === at) return after;
  if (!before) return null;
  const share = (at - before.at) / (after.at - before.at);
  /** @param {"low" | "high" | "mean"} part */
  const between = (part) => before[part] + share * (after[part] - before[part]);
  return { at, low: between("low"), high: between("high"), mean: between("mean") };
}

/**
 * With the points up to the next place: no spike is lost.
 * @param {Placed} value @param {Placed[]} track @param {number} from @param {number} until
 */
function spreadTo(value, track, from, until) {
  let { low, high } = value;
  for (let i = from; i < track.length && track[i].at < until; i += 1) {
    low = Math.min(low, track[i].low);
    high = Math.max(high, track[i].high);
  }
  return { ...value, low, high };
}

/** @param {Placed[]} values */
function together(values) {
  const low = Math.min(...values.map((one) => one.low));
  const high = Math.max(...values.map((one) => one.high));
  const mean = values.reduce((sum, one) => sum + one.mean, 0) / values.length;
  return { low, high, mean: Math.min(Math.max(mean, low), high) }; // rounding puts it outside of equal ones
}

/**
 * The stretches of a band from one cut to the next; `whole` where every run has a value.
 * @param {{ count: number, cut: boolean }[]} found @param {number} total
 */
function partsOf(found, total) {
  const begins = found.flatMap(({ cut }, place) => (cut ? [place] : []));
  return begins.map((from, i) => ({ from, to: begins[i + 1] ?? found.length, whole: found[from].count === total }));
}

/** @typedef {(point: Stretch["low"]) => number} Placing */

/** What is drawn where curves of one run are: its places are those of the axis, as times, and its `n` count runs. */
export class Band extends Curve {
  /** @param {{ curve: Curve, place: Placing }[]} members @param {number} total the runs of the group */
  constructor(members, total) {
    const [{ curve }] = members;
    super(curve.ids[0], {
      name: curve.name,
      kind: curve.kind,
      rank: curve.rank,
      source: curve.source,
      node: curve.node,
    });
    const found = bandOf(members.map((one) => placed(one.curve.drawn(), one.place)));
    /** @param {number} at @param {number} y */
    const point = (at, y) => ({ step: at, time: at, epoch: at, y });
    this.stretches = found.map(({ at, low, high, mean, count }) => {
      return { low: point(at, low), high: point(at, high), mean, n: count };
    });
    this.parts = partsOf(found, total);
    this.total = total;
    this.count = found.length;
    this.told = found.length > 0;
    this.version = members.reduce((sum, one) => sum + one.curve.version, 0);
  }
}

/**
 * The lines of a chart with those of a group's runs as one. Colours tell groups apart (the page's legend has them);
 * a chart's own legend tells its lines apart.
 * @param {Line[]} lines @param {Group[]} groups @returns {Line[]}
 */
export function groupedLines(lines, groups) {
  const names = [...new Set(lines.map(({ name }) => name))];
  /** @type {Set<string>} */
  const named = new Set();
  return groups.flatMap((group, run) => {
    const mine = lines.filter((line) => group.members.includes(line.run));
    return names.flatMap((name, number) => {
      const members = mine.filter((line) => line.name === name);
      if (!members.length) return [];
      const curves = members.map((line) => ({ curve: line.curve, place: placing(line.curve, line.clock) }));
      const band = new Band(curves, group.members.length);
      const plain = label(names.length > 1 ? `${group.name} · ${name}` : group.name);
      const style = { colour: look(run).colour, dash: look(number * COLOURS.length).dash };
      const legend = !named.has(name);
      named.add(name);
      const of = label(titleOf(group));
      return [{ ...members[0], run, of, plain, legend, neutral: true, curve: band, clock: null, ...style, band }];
    });
  });
}

/** A line's means, smoothed as a run's own are. @param {number[]} means @param {number} smoothing */
export function smoothed(means, smoothing) {
  let [sum, weight] = [0, 0];
  return means.map((mean) => {
    sum = smoothing * sum + (1 - smoothing) * mean;
    weight = smoothing * weight + (1 - smoothing);
    return Number((sum / weight).toPrecision(7));
  });
}
