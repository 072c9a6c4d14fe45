// The arithmetic of the picture of ZeRO: bars on one scale, model states in Ψ. Pure.

import { words } from "../texts/texts.js";

/** @import { MemoryDevice, StageBar, StateShare, ZeroStage } from "../types.d.ts" */

const ROOM = 1.04; // beside the longest bar
const NEAR = 1.5; // times the longest bar: a card that is larger by more has its line beyond the picture
const LEAST_NAMED = 0.002; // of a bar: a pixel
const LESS = 0.98; // of all states: below it the fullest moment lacks some of them
const STATES = ["weights", "frozen_weights", "gradients", "master", "moments"];
const OPTIMIZER = ["master", "moments"];

/** The device that a stage is drawn by: its GPU, or the host of CPU ranks. @param {ZeroStage} one */
const drawnDevice = (one) => one.devices?.find((device) => device.device === "gpu") ?? one.devices?.[0] ?? null;

/**
 * The parts of a device's fullest moment, each once, in the order in which they are given.
 * @param {MemoryDevice} device
 */
function partsAt(device) {
  const moment = device.moments.find((one) => one.moment === device.worst);
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const { part, bytes } of moment?.parts ?? []) found.set(part, (found.get(part) ?? 0) + bytes);
  return [...found].filter(([, bytes]) => bytes > 0);
}

/** Each stage's bar, null where it has none. @param {ZeroStage[]} stages @returns {(StageBar | null)[]} */
export function barsOf(stages) {
  const devices = stages.map(drawnDevice);
  const needs = devices.map((device) => device?.moments.find((one) => one.moment === device.worst)?.bytes ?? 0);
  const most = Math.max(...needs, 1);
  const capacity = devices.find(Boolean)?.capacity ?? null;
  const scale = ROOM * (capacity !== null && capacity <= NEAR * most ? Math.max(capacity, most) : most);
  return devices.map((device, index) =>
    device === null
      ? null
      : {
          device: device.device,
          moment: device.worst,
          bytes: needs[index] ?? 0,
          capacity: device.capacity,
          line: device.capacity !== null && device.capacity <= scale ? (100 * device.capacity) / scale : null,
          segments: partsAt(device).map(([part, bytes]) => ({ part, bytes, width: (100 * bytes) / scale })),
        },
  );
}

/** Percent of a bar: a line beyond it has its name at its left. */
export const LAST = 85;

/** The first bar with room for a word beside its line, by its place; -1 where there is none.
 * @param {(StageBar | null)[]} bars */
export const limitNamedIn = (bars) =>
  bars.findIndex((bar) => {
    if (!bar || bar.line === null) return false;
    const end = bar.segments.reduce((sum, { width }) => sum + width, 0);
    return end <= (bar.line > LAST ? bar.line - (100 - LAST) : bar.line);
  });

/** The parts that can be seen in any of the bars. @param {ZeroStage[]} stages */
export function partsIn(stages) {
  const bars = barsOf(stages).filter((bar) => bar !== null);
  const longest = Math.max(...bars.map((bar) => bar.bytes), 1);
  const seen = bars.flatMap((bar) => bar.segments.filter(({ bytes }) => bytes >= LEAST_NAMED * longest));
  return [...new Set(seen.map(({ part }) => part))];
}

/** Weights, gradients, and what the optimizer keeps as one. @param {StateShare[]} states */
function grouped(states) {
  const kept = states.filter(({ part }) => OPTIMIZER.includes(part));
  const others = states.filter(({ part }) => !OPTIMIZER.includes(part));
  const [first] = kept;
  return first ? [...others, { ...first, each: kept.reduce((sum, one) => sum + one.each, 0) }] : others;
}

/** Without needless zeros. @param {number} factor */
const figure = (factor) => String(Number(factor.toFixed(2)));

/** `2Ψ + 2Ψ/8 + 12Ψ/8 = 3.75Ψ`. @param {ZeroStage} one */
export function statesOf(one) {
  const states = grouped(one.states ?? []);
  const isWhole = one.trainable === one.parameters;
  const terms = states.map(({ each, parts, trained }) => {
    const divided = parts > 1 ? `/${parts}` : "";
    return `${each}${trained && !isWhole ? "Ψₜ" : "Ψ"}${divided}`;
  });
  const sum = states.reduce((total, { each, parts }) => total + each / parts, 0);
  return `${terms.join(" + ")}${isWhole ? ` = ${figure(sum)}Ψ` : ""}`;
}

/** Bytes of a rank's model states in one place. @param {StateShare[]} states @param {string} place */
export const totalOf = (states, place) =>
  states.filter((one) => one.place === place).reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Bytes of the model states that are on the GPU at its fullest moment, where some of them are not there; else null.
 * @param {StateShare[]} states @param {StageBar} bar
 */
export function statesAtPeak(states, bar) {
  const there = bar.segments.filter(({ part }) => STATES.includes(part)).reduce((sum, { bytes }) => sum + bytes, 0);
  return bar.device === "gpu" && there < LESS * totalOf(states, "gpu") ? there : null;
}

/** `6.74 billion`. @param {number} count */
export function spelled(count) {
  for (const [each, name] of /** @type {[number, string][]} */ ([
    [1e9, "billion"],
    [1e6, "million"],
  ])) {
    if (count >= each) return words("memory_page", name, { count: String(Number((count / each).toPrecision(3))) });
  }
  return String(count);
}
