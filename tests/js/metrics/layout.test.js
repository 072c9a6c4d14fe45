import assert from "node:assert/strict";
import { test } from "node:test";

import {
  inOrder,
  isLog,
  isPlain,
  layoutFrom,
  moved,
  neighbour,
  PLAIN,
  rescaled,
  toggled,
} from "../../../dsgui/ui/static/metrics/layout.js";

const USUAL = ["loss", "memory", "rate", "norm"];

test("a chart takes another's place, and the others close up", () => {
  assert.deepEqual(moved(PLAIN, USUAL, "norm", "loss").order, ["norm", "loss", "memory", "rate"]);
  assert.deepEqual(moved(PLAIN, USUAL, "loss", "rate").order, ["memory", "rate", "loss", "norm"]);
  assert.equal(moved(PLAIN, USUAL, "loss", "loss"), PLAIN);
  assert.equal(moved(PLAIN, USUAL, "loss", "gone"), PLAIN);
});

test("a chart of another run keeps its place, and a new one stands after the one that it usually follows", () => {
  const layout = moved({ ...PLAIN, order: ["bleu"] }, USUAL, "norm", "loss");
  assert.deepEqual(layout.order, ["norm", "loss", "memory", "rate", "bleu"]);
  const { order } = layout;
  assert.deepEqual(inOrder(["loss", "memory", "score", "rate", "norm"], layout), [
    "norm",
    "loss",
    "memory",
    "score",
    "rate",
  ]);
  assert.deepEqual(inOrder(USUAL, PLAIN), USUAL);
  assert.deepEqual(inOrder(["first", ...USUAL], { ...PLAIN, order }), ["first", "norm", "loss", "memory", "rate"]);
});

test("a chart is hidden or pinned, or no longer", () => {
  const hidden = toggled(PLAIN, "hidden", "loss");
  assert.deepEqual(hidden, { ...PLAIN, hidden: ["loss"] });
  assert.deepEqual([isPlain(hidden), isPlain(toggled(hidden, "hidden", "loss"))], [false, true]);
});

test("a chart that is logarithmic by itself is linear where the user chose it, and back it is as it was", () => {
  assert.deepEqual([isLog(PLAIN, "loss", false), isLog(PLAIN, "loss", true)], [false, true]);
  const linear = rescaled(PLAIN, "loss", true);
  assert.deepEqual(linear, { ...PLAIN, linear: ["loss"] });
  assert.equal(isLog(linear, "loss", true), false);
  assert.deepEqual(rescaled(linear, "loss", true), PLAIN);
  const log = rescaled(PLAIN, "loss", false);
  assert.deepEqual(log, { ...PLAIN, log: ["loss"] });
  assert.equal(isLog(log, "loss", false), true);
  assert.deepEqual(rescaled(log, "loss", true), linear); // which was chosen beside runs that are alike
  const both = rescaled(linear, "loss", false); // of one run alone
  assert.equal(isLog(both, "loss", false), true);
  assert.deepEqual(rescaled(both, "loss", false), linear);
});

test("what a browser kept may be anything", () => {
  for (const kept of [null, 3, "x", [], { order: 3, log: { a: 1 } }]) assert.deepEqual(layoutFrom(kept), PLAIN);
  const kept = { order: ["loss", 3, null], hidden: [], pinned: ["rate"], log: ["loss"], axis: "step" };
  assert.deepEqual(layoutFrom(kept), {
    ...PLAIN,
    order: ["loss"],
    pinned: ["rate"],
    log: ["loss"],
  });
  assert.equal(layoutFrom({ order: new Array(1000).fill("x") }).order.length, 200);
});

test("a chart at an end has no neighbour there", () => {
  assert.deepEqual([neighbour(USUAL, "loss", -1), neighbour(USUAL, "loss", 1)], [undefined, "memory"]);
});
