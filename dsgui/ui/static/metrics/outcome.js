// What came of runs with different settings, in a sentence or a few: which reached the lowest loss, how long it took,
// what memory it needed; of trainings that are not comparable what is true of each all the same. Pure.

import { duration, fixed, gib, perSecond } from "../common/format.js";
import { IN_A_LINE, middled } from "./readout.js";
import { textOf, words } from "../texts/texts.js";

/** @import { ComparedRun, EvaluationRow, Told } from "../types.d.ts" */

const SAME = 0.05; // of the larger: a time or a memory that differs by less is called the same
const NEARLY = 0.005; // and a loss
const ENDED = new Set(["failed", "lost", "stopped"]);
const EVALUATED = "final_eval_loss";
const MOST_BEST = 2; // as many may be the best of all

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("compare_page", code, given);

/** @param {Told | null | undefined} value @returns {value is number} */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** @param {number} one @param {number} other @param {number} share */
const isNear = (one, other, share) => Math.abs(one - other) <= share * Math.max(Math.abs(one), Math.abs(other));

/** In two digits, as one says it. @param {number} size */
const roundly = (size) => String(size >= 9.95 ? Math.round(size) : Number(size.toPrecision(2)));

/** @param {number} loss @param {number} count of steps */
const afterSteps = (loss, count) => say("outcome_after", { value: fixed(loss), count: count.toLocaleString("en-US") });

/** Whether a row of evaluations is the one that judges. @param {{ name: string }} row */
export const isJudging = ({ name }) => name === say(EVALUATED);

/** The loss by which they are judged: an evaluation's where both have one. @param {EvaluationRow[]} evaluations */
function judgedBy(evaluations) {
  const found = evaluations.find((one) => isJudging(one) && one.values.every(isNumber));
  return found ? { what: say("outcome_eval_loss"), values: found.values } : null;
}

/**
 * What is told of the loss; where an evaluation's was judged, the training's as well, if it doesn't say the same.
 * @param {ComparedRun[]} pair the one that is told of, and the baseline @param {ReturnType<typeof judgedBy>} judged
 */
function lossesPart(pair, judged) {
  const [told] = lossPart(pair, judged);
  const [value, other] = pair.map(({ figures }) => figures.final_loss);
  if (!told || !judged || !isNumber(value) || !isNumber(other) || !other) return told ? [told] : [];
  if (sideOf(value, other) === 0 || sideOf(value, other) === sideOf(...judged.values)) return [told];
  const percent = roundly((100 * Math.abs(value - other)) / Math.abs(other));
  const code = value < other ? "outcome_but_lower" : "outcome_but_higher";
  return [say(code, { told, percent, what: say("outcome_train_loss") })];
}

/** Which of two losses is lower: 0 of those that are called the same. @param {...Told | null | undefined} pair */
const sideOf = (...[one, other]) =>
  isNumber(one) && isNumber(other) && !isNear(one, other, NEARLY) ? Math.sign(one - other) : 0;

/** @param {ComparedRun[]} pair as above @param {ReturnType<typeof judgedBy>} judged */
function lossPart([run, base], judged) {
  const what = judged?.what ?? say("outcome_loss");
  const [value, other] = judged?.values ?? [run.figures.final_loss, base.figures.final_loss];
  if (!isNumber(value) || !isNumber(other)) return [];
  const [steps, before] = [run.figures.steps, base.figures.steps];
  /** @param {number} loss @param {number | null} count */
  const after = (loss, count) => (steps === before || !count ? fixed(loss) : afterSteps(loss, count));
  const given = { what, value: after(value, steps), other: after(other, before) };
  if (fixed(value) === fixed(other)) return [say("outcome_same_loss", given)];
  if (isNear(value, other, NEARLY)) return [say("outcome_near_loss", given)];
  return [say(value < other ? "outcome_lower" : "outcome_higher", given)];
}

/** Of as many steps the time that they took, else how fast they went. @param {ComparedRun[]} pair */
function timePart([{ figures: run }, { figures: base }]) {
  const isWhole = run.steps !== null && run.steps === base.steps;
  const [value, other] = isWhole
    ? [run.duration_s, base.duration_s]
    : (["samples_per_second", "tokens_per_second", "steps_per_second"]
        .map((name) => [run[/** @type {"steps_per_second"} */ (name)], base[/** @type {"steps_per_second"} */ (name)]])
        .find((pair) => pair.every(isNumber)) ?? []);
  if (!isNumber(value) || !isNumber(other) || value <= 0 || other <= 0) return [];
  const kind = isWhole ? "time" : "speed";
  if (isNear(value, other, SAME)) return [say(`outcome_same_${kind}`)];
  const given = { times: roundly(value / other), percent: roundly((100 * (other - value)) / other) };
  return [say(value > other ? `outcome_more_${kind}` : `outcome_less_${kind}`, given)];
}

/** @param {ComparedRun[]} pair */
function memoryPart([{ figures: run }, { figures: base }]) {
  const [value, other] = [run.run_gpu_peak_bytes, base.run_gpu_peak_bytes];
  if (!isNumber(value) || !isNumber(other) || isNear(value, other, SAME)) return [];
  return [say(value < other ? "outcome_less_memory" : "outcome_more_memory", { size: gib(Math.abs(value - other)) })];
}

/** As a sentence has it: it may hold a comma. @param {{ name: string }} run */
export const quoted = ({ name }) => `“${middled(name, IN_A_LINE)}”`;

/** @param {string[]} parts */
const joined = (parts) =>
  parts.slice(1).reduce((first, then, place) => {
    return say(place === parts.length - 2 ? "outcome_and" : "outcome_comma", { first, then });
  }, parts[0]);

/**
 * Who is best, of runs in their order; that they are alike, where all are as good.
 * @param {string[]} names @param {(Told | null | undefined)[]} values @param {number} share
 * @param {(what: { runs: string, value: number }) => string} told @param {string} name within a sentence
 * @returns {{ best?: string, alike?: string }}
 */
function bestOf(names, values, share, told, name, sign = 1) {
  if (!values.every(isNumber)) return {};
  const value = sign * Math.min(...values.map((one) => sign * one));
  const best = names.filter((_, place) => isNear(values[place], value, share));
  if (best.length === names.length) return { alike: name };
  return best.length > MOST_BEST ? {} : { best: told({ runs: joined(best), value }) };
}

/**
 * What is told of a run's speed, in the first of these that all have.
 * @type {["samples_per_second" | "tokens_per_second" | "steps_per_second", (value: number) => string][]}
 */
const RATES = [
  ["samples_per_second", (value) => `${fixed(value)} samples/s`],
  ["tokens_per_second", (value) => `${fixed(value)} tokens/s`],
  ["steps_per_second", perSecond],
];

/**
 * Of as many steps the time that they took, else how fast they went, which of what can't be compared tells nothing.
 * @param {string[]} names @param {ComparedRun[]} runs @param {boolean} unlike
 */
function fastest(names, runs, unlike) {
  const figures = runs.map((one) => one.figures);
  const isWhole = figures.every(({ steps }) => steps !== null && steps === figures[0].steps);
  if (unlike && !isWhole) return {};
  if (isWhole) {
    const values = figures.map(({ duration_s: value }) => value);
    const told = (/** @type {{ runs: string, value: number }} */ { runs: best, value }) =>
      say("outcome_least_time", { runs: best, value: duration(value) });
    return bestOf(names, values, SAME, told, say("outcome_duration"));
  }
  const [rate, shown] = RATES.find(([name]) => figures.every((one) => isNumber(one[name]))) ?? [];
  if (!rate || !shown) return {};
  const values = figures.map((one) => one[rate]);
  const told = (/** @type {{ runs: string, value: number }} */ { runs: best, value }) =>
    say("outcome_most_speed", { runs: best, value: shown(value) });
  return bestOf(names, values, SAME, told, say("outcome_speed"), -1);
}

/**
 * Of more than two runs, or of unlike ones: who is best in what, of those that succeeded; and how the others ended.
 * @param {string[]} names @param {ComparedRun[]} runs @param {EvaluationRow[]} evaluations @param {boolean} unlike
 */
function bests(names, runs, evaluations, unlike) {
  if (runs.every(({ state }) => state === runs[0].state) && runs[0].state !== "succeeded") return [];
  const whole = runs.flatMap(({ state }, place) => (state === "succeeded" ? [place] : []));
  const isTold = whole.length > 1;
  const others = runs.flatMap((run, place) =>
    isTold && run.state === "succeeded" ? [] : [say("outcome_ended", { run: names[place], state: ended(run) })],
  );
  if (!isTold) return others;
  others.push(...oddLosses(names, runs));
  /** @template T @param {T[]} of @returns {T[]} */
  const kept = (of) => whole.map((place) => of[place]);
  const [named, told] = [kept(names), kept(runs)];
  const memory = told.map(({ figures }) => figures.run_gpu_peak_bytes);
  const judged = judgedBy(evaluations.map((one) => ({ ...one, values: kept(one.values) })).filter(isFair(unlike)));
  const loss = judged || !unlike ? lowest(named, told, judged) : {};
  const found = [
    loss,
    judged && loss.alike && !unlike ? trained(named, told) : {}, // where their evaluations don't tell them apart
    fastest(named, told, unlike),
    bestOf(
      named,
      memory,
      SAME,
      (one) => say("outcome_least_memory", { ...one, value: gib(one.value) }),
      say("outcome_memory"),
    ),
  ];
  const alike = found.flatMap((one) => one.alike ?? []);
  const same = alike.length ? [say("outcome_alike", { names: joined(alike) })] : [];
  return [...found.flatMap((one) => one.best ?? []), ...same, ...spikes(named, told), ...others];
}

/** Whose loss spikes, where not all of theirs do. @param {string[]} names @param {ComparedRun[]} runs */
function spikes(names, runs) {
  const found = runs.flatMap(({ figures: { loss_spike: spike } }, place) =>
    spike ? [say("outcome_spike_of", { run: names[place], step: String(spike.step) })] : [],
  );
  return found.length && found.length < runs.length ? [say("outcome_spiked", { runs: joined(found) })] : [];
}

/** Of each whose loss at its end is no number. @param {string[]} names @param {ComparedRun[]} runs */
const oddLosses = (names, runs) =>
  runs.flatMap(({ state, figures: { final_loss: loss } }, place) => {
    const isOdd = state === "succeeded" && typeof loss === "string";
    return isOdd ? [say("outcome_ended", { run: names[place], state: `${say("outcome_loss")} ${loss}` })] : [];
  });

/** Of unlike runs an evaluation counts where it was of the same data: then one is better. @param {boolean} unlike */
const isFair =
  (unlike) =>
  (/** @type {EvaluationRow} */ { better }) =>
    !unlike || Boolean(better);

/**
 * The lowest loss of training, where that isn't the same.
 * @param {string[]} names @param {ComparedRun[]} runs @returns {ReturnType<typeof bestOf>}
 */
function trained(names, runs) {
  const { best } = lowest(names, runs, null, say("outcome_train_loss"));
  return { best };
}

/**
 * Who reached the lowest loss; after other steps with the steps that it took, which tell how much that says.
 * @param {string[]} names @param {ComparedRun[]} runs @param {ReturnType<typeof judgedBy>} judged
 */
function lowest(names, runs, judged, what = judged?.what ?? say("outcome_loss")) {
  const losses = judged?.values ?? runs.map(({ figures }) => figures.final_loss);
  const steps = runs.map(({ figures }) => figures.steps);
  const isAlike = new Set(steps).size === 1;
  const least = (/** @type {{ runs: string, value: number }} */ one) => {
    const counts = new Set(steps.filter((_, place) => isNear(Number(losses[place]), one.value, NEARLY)));
    const [count] = counts;
    const value = isAlike || counts.size > 1 || !count ? fixed(one.value) : afterSteps(one.value, count);
    return say("outcome_least_loss", { ...one, what, value });
  };
  return bestOf(names, losses, NEARLY, least, what);
}

/**
 * Of two runs that did the same work with other settings, or of more; nothing of others, and while one goes on. Runs
 * are `quoted`.
 * @param {{ name: string }[]} names @param {ComparedRun[]} runs @param {EvaluationRow[]} evaluations
 * @param {number} base the place of the baseline @param {boolean} [unlike] whether what they trained is another
 * @returns {string[]} each of one thing
 */
export function outcome(names, runs, evaluations, base, unlike = false) {
  if (runs.length < 2 || runs.some(({ state }) => state !== "succeeded" && !ENDED.has(state))) return [];
  if (runs.length > 2 || unlike) return bests(names.map(quoted), runs, evaluations, unlike);
  const place = 1 - base;
  const [run, other] = [names[place], names[base]].map(quoted);
  /** @template T @param {T[]} pair */
  const inOrder = (pair) => [pair[place], pair[base]];
  const [one, two] = inOrder(runs);
  if (runs.some(({ state }) => ENDED.has(state))) {
    if (one.state === two.state) return [];
    const [state, otherState] = [one, two].map((it) => ended(it));
    return state && otherState ? [say("outcome_states", { run, state, other, other_state: otherState })] : [];
  }
  const judged = judgedBy(evaluations);
  const parts = [
    ...lossesPart(inOrder(runs), judged && { ...judged, values: inOrder(judged.values) }),
    ...timePart(inOrder(runs)),
    ...memoryPart(inOrder(runs)),
  ];
  const told = parts.length ? [say("outcome", { run, other, told: withSpike(joined(parts), one, two, other) })] : [];
  return [...oddLosses(names.map(quoted), runs), ...told];
}

/**
 * What is told, with the spike that one of the two has and the other has not.
 * @param {string} told @param {ComparedRun} run @param {ComparedRun} base @param {string} other the baseline's name
 */
function withSpike(told, { figures: { loss_spike: spike } }, { figures: { loss_spike: before } }, other) {
  if (spike && !before) return say("outcome_spikes", { told, step: String(spike.step) });
  if (before && !spike) return say("outcome_other_spikes", { told, other, step: String(before.step) });
  return told;
}

/** How it ended, and where; "" of one that goes on. @param {ComparedRun} run */
function ended({ state, figures: { steps } }) {
  if (state !== "succeeded" && !ENDED.has(state)) return "";
  const told = textOf("states", state);
  return steps && state !== "succeeded" ? say("outcome_at", { state: told, step: String(steps) }) : told;
}
