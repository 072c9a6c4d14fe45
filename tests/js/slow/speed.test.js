import assert from "node:assert/strict";
import { test } from "node:test";

import { Speed, spent } from "../../../dsgui/ui/static/slow/speed.js";
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

test("afterwards it is the speed that the list of runs shows, where one was recorded", () => {
  const progress = { step: 120, total: 1000, eta_s: null, steps_per_second: 2.5 };
  assert.equal(new Speed().rate({ progress, elapsed_s: 68 }, made({ points: steps(3, 2, 1) }), false), 2.5);
});

test("a count that begins again is measured from there", () => {
  const before = [{ step: 119, time: 0 }];
  const after = [1, 2, 120].map((step) => ({ step, time: 20 + step / 2 }));
  const curves = made({ points: [...before, ...after] });
  assert.equal(new Speed().rate({ progress: null, elapsed_s: 80 }, curves, false), 2);
});

test("what an ended run took beside its training is told, where that is much and its steps tell it", () => {
  const points = Array.from({ length: 100 }, (_, at) => ({ step: at + 1, time: 20 + at }));
  assert.deepEqual(spent(made({ points }), 130), { training: 99, before: 19, after: 10 });
  const seldom = Array.from({ length: 10 }, (_, at) => ({ step: 100 * (at + 1), time: 100 * (at + 1) }));
  assert.equal(spent(made({ points: seldom }), 1095), null); // trained before the first that was logged, and after
  const early = points.map(({ step }) => ({ step, time: step }));
  assert.equal(spent(made({ points: early }), 101), null); // as good as all of it
  assert.equal(spent(made({ points: points.slice(0, 9) }), 130), null); // each of many steps
  assert.equal(spent(made({ points }), 100), null); // no clock of this run
  assert.equal(spent(made({ points }), null), null);
  assert.equal(spent(NONE, 130), null);
});
