// What came of two runs with different settings, in one sentence: which reached the lower loss, how long it took, what
// memory it needed. Pure.

import { fixed, gib } from "../common/format.js";
import { middled } from "./readout.js";
import { textOf, words } from "../texts/texts.js";

/** @import { ComparedRun, EvaluationRow, Told } from "../types.d.ts" */

const SAME = 0.05; // of the larger: a time or a memory that differs by less is called the same
const NEARLY = 0.005; // and a loss
const ENDED = new Set(["failed", "lost", "stopped"]);
const EVALUATED = "final_eval_loss";

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("compare_page", code, given);

/** @param {Told | null | undefined} value @returns {value is number} */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** @param {number} one @param {number} other @param {number} share */
const isNear = (one, other, share) => Math.abs(one - other) <= share * Math.max(Math.abs(one), Math.abs(other));

/** In two digits, as one says it. @param {number} size */
const roundly = (size) => String(size >= 9.95 ? Math.round(size) : Number(size.toPrecision(2)));

/** The loss by which they are judged: an evaluation's where both have one. @param {EvaluationRow[]} evaluations */
function judgedBy(evaluations) {
  const name = say(EVALUATED);
  const found = evaluations.find((one) => one.name === name && one.values.every(isNumber));
  return found ? { what: say("outcome_eval_loss"), values: found.values } : null;
}

/** @param {ComparedRun[]} pair the one that is told of, and the baseline @param {ReturnType<typeof judgedBy>} judged */
function lossPart([run, base], judged) {
  const what = judged?.what ?? say("outcome_loss");
  const [value, other] = judged?.values ?? [run.figures.final_loss, base.figures.final_loss];
  if (!isNumber(value) || !isNumber(other)) return [];
  const [steps, before] = [run.figures.steps, base.figures.steps];
  /** @param {number} loss @param {number | null} count */
  const after = (loss, count) =>
    steps === before || !count
      ? fixed(loss)
      : say("outcome_after", { value: fixed(loss), count: count.toLocaleString("en-US") });
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

/** @param {string[]} parts */
const joined = (parts) =>
  parts.slice(1).reduce((first, then, place) => {
    return say(place === parts.length - 2 ? "outcome_and" : "outcome_comma", { first, then });
  }, parts[0]);

/**
 * Of two runs that did the same work with other settings; "" of others, and while one goes on.
 * @param {{ name: string }[]} names @param {ComparedRun[]} runs @param {EvaluationRow[]} evaluations
 * @param {number} base the place of the baseline
 */
export function outcomeText(names, runs, evaluations, base) {
  if (runs.length !== 2) return "";
  const place = 1 - base;
  const [run, other] = [names[place], names[base]].map(({ name }) => middled(name));
  /** @template T @param {T[]} pair */
  const inOrder = (pair) => [pair[place], pair[base]];
  const [one, two] = inOrder(runs);
  if (runs.some(({ state }) => ENDED.has(state))) {
    if (one.state === two.state) return "";
    const [state, otherState] = [one, two].map((it) => ended(it));
    return state && otherState ? say("outcome_states", { run, state, other, other_state: otherState }) : "";
  }
  if (runs.some(({ state }) => state !== "succeeded")) return "";
  const judged = judgedBy(evaluations);
  const parts = [
    ...lossPart(inOrder(runs), judged && { ...judged, values: inOrder(judged.values) }),
    ...timePart(inOrder(runs)),
    ...memoryPart(inOrder(runs)),
  ];
  return parts.length ? say("outcome", { run, other, told: joined(parts) }) : "";
}

/** How it ended, and where; "" of one that goes on. @param {ComparedRun} run */
function ended({ state, figures: { steps } }) {
  if (state !== "succeeded" && !ENDED.has(state)) return "";
  const told = textOf("states", state);
  return steps && state !== "succeeded" ? say("outcome_at", { state: told, step: String(steps) }) : told;
}
