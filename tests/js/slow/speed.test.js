import assert from "node:assert/strict";
import { test } from "node:test";

import { Speed } from "../../../dsgui/ui/static/slow/speed.js";
import { made, steps } from "../made.js";

const NONE = made();
/** @param {number | null} step @param {number} elapsed_s */
const news = (step, elapsed_s) => ({ progress: { step, total: null, eta_s: null }, elapsed_s });

test("while it trains: over the last minute", () => {
  const speed = new Speed();
  assert.ok(Number.isNaN(speed.rate(news(0, 0), NONE, true)));
  assert.equal(speed.rate(news(10, 10), NONE, true), 1);
  assert.equal(speed.rate(news(500, 100), NONE, true), NaN); // what is older counts for nothing
  assert.equal(speed.rate(news(505, 101), NONE, true), 5);
});

test("afterwards, and while no step was told: over all logged points", () => {
  const curves = made({ points: steps(3, 2, 1) });
  const ended = new Speed();
  ended.rate(news(9, 50), curves, true);
  assert.equal(ended.rate(news(99, 60), curves, false), 1);
  assert.equal(new Speed().rate({ progress: null, elapsed_s: 5 }, curves, true), 1);
  assert.ok(Number.isNaN(new Speed().rate(news(null, 5), NONE, true)));
});
