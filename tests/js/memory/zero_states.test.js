import assert from "node:assert/strict";
import { test } from "node:test";

import {
  barsOf,
  limitNamedIn,
  partsIn,
  spelled,
  statesAtPeak,
  statesOf,
  totalOf,
} from "../../../dsgui/ui/static/memory/zero_states.js";

const GIB = 2 ** 30;

/** @param {number} stage @param {Record<string, number>} gib @param {number | null} capacity */
const staged = (stage, gib, capacity = null) => {
  const parts = Object.entries(gib).map(([part, count]) => ({ part, place: "gpu", bytes: count * GIB }));
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const moments = [{ moment: "step", fit: "fits", bytes, parts: [...parts, ...parts].map(halved) }];
  return { stage, devices: [{ device: "gpu", fit: "fits", capacity, in_use: 0, worst: "step", moments }] };
};
/** @param {{ part: string; place: string; bytes: number }} part */
const halved = (part) => ({ ...part, bytes: part.bytes / 2 });
/** @param {string} part @param {number} each @param {number} parts @param {string} place */
const share = (part, each, parts, place = "gpu") => ({ part, place, each, parts, trained: true, bytes: each * 10 });

test("bars stand on one scale, a part that comes twice is one segment", () => {
  const [first, none, third] = barsOf([
    staged(0, { weights: 10, moments: 30 }),
    { stage: 1 },
    staged(3, { weights: 4 }),
  ]);
  assert.equal(none, null);
  assert.equal(first?.bytes, 40 * GIB);
  assert.deepEqual(
    first?.segments.map(({ part }) => part),
    ["weights", "moments"],
  );
  const ends = first?.segments.reduce((sum, { width }) => sum + width, 0) ?? 0;
  assert.ok(ends > 95 && ends < 100);
  assert.equal((third?.segments[0]?.width ?? 0).toFixed(6), (ends / 10).toFixed(6));
});

test("a card that is far larger than all bars has its line beyond them", () => {
  assert.equal(barsOf([staged(0, { weights: 10 }, 80 * GIB)])[0]?.line, null);
  const near = barsOf([staged(0, { weights: 10 }, 12 * GIB)])[0];
  assert.ok((near?.line ?? 0) > (near?.segments[0]?.width ?? 0));
});

test("parts too small to be seen are not in the legend", () => {
  assert.deepEqual(partsIn([staged(0, { weights: 10, gradients: 0.06, staging: 0.01 })]), ["weights", "gradients"]);
});

test("the fullest moment may lack states, and says how many it has", () => {
  const states = [share("weights", 2, 1), share("gradients", 2, 1)];
  const bytes = totalOf(states, "gpu") / GIB;
  const [lacking, whole] = [staged(1, { weights: bytes / 2 }), staged(1, { weights: bytes / 2, gradients: bytes / 2 })];
  const [first, second] = barsOf([lacking, whole]);
  assert.ok(first && second);
  assert.equal(statesAtPeak(states, first), totalOf(states, "gpu") / 2);
  assert.equal(statesAtPeak(states, second), null);
});

test("model states are written as in the paper", () => {
  const states = [share("weights", 2, 1), share("gradients", 2, 8), share("master", 4, 8), share("moments", 8, 8)];
  assert.equal(statesOf({ stage: 2, states, parameters: 10, trainable: 10 }), "2Ψ + 2Ψ/8 + 12Ψ/8 = 3.75Ψ");
  assert.equal(totalOf(states, "gpu"), 160);
});

test("of a model that is trained in part there is no sum in Ψ", () => {
  const states = [{ ...share("weights", 2, 1), trained: false }, share("moments", 8, 1, "host")];
  assert.equal(statesOf({ stage: 1, states, parameters: 100, trainable: 10 }), "2Ψ + 8Ψₜ");
  assert.equal(totalOf(states, "host"), 80);
});

test("counts are spelled", () => {
  assert.deepEqual([6.738e9, 7.7e8, 900].map(spelled), ["6.74 billion", "770 million", "900"]);
});

test("the limit is named in the first bar that leaves room beside its line, on the side where there is some", () => {
  const at = (/** @type {number[]} */ ...needs) =>
    limitNamedIn(
      barsOf(needs.map((need, place) => (need ? staged(place, { moments: need }, 40 * GIB) : { stage: place }))),
    );
  assert.equal(at(80, 0, 30), 2);
  assert.equal(at(39, 10), 1);
  assert.equal(at(39), -1);
  assert.equal(limitNamedIn(barsOf([staged(0, { moments: 39 })])), -1);
});
