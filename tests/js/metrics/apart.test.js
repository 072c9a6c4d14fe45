import assert from "node:assert/strict";
import { test } from "node:test";

import { allComparable, curvesApart, figureApart, most } from "../../../dsgui/ui/static/metrics/apart.js";
import { made, steps } from "../made.js";

test("two runs are furthest apart where both logged a loss or a score at the same step", () => {
  const one = made({ points: steps(3, 2, 1) }, { name: "grad_norm", points: steps(1, 1, 1) });
  const other = made({ points: steps(3, 4, 1.1, 9) }, { name: "grad_norm", points: steps(9, 9, 9) });
  const found = curvesApart([one, other], 0);
  assert.deepEqual(found, [{ name: "loss", step: 2, place: 1, value: 4, base: 2, size: 0.5 }]);
  const scored = { name: "eval_bleu", kind: /** @type {const} */ ("eval"), points: [{ step: 2, y: 30 }] };
  const costs = { ...scored, name: "eval_runtime", points: [{ step: 2, y: 90 }] };
  const worse = { ...scored, points: [{ step: 2, y: 3 }] };
  const evaluated = curvesApart([made(scored, costs), made(worse, { ...costs, points: [{ step: 2, y: 1 }] })], 0);
  assert.deepEqual(
    evaluated.map(({ name, base, value }) => [name, base, value]),
    [["eval bleu", 30, 3]],
  );
});

test("a reward is a result of a training, its norm is none", () => {
  const [one, other] = [1, 5].map((y) => made({ name: "train_reward", points: steps(0, y) }));
  assert.equal(curvesApart([one, other], 0)[0]?.value, 5);
  const [norm, larger] = [1, 5].map((y) => made({ name: "loss_scale", points: steps(0, y) }));
  assert.deepEqual(curvesApart([norm, larger], 0), []);
});

test("values whose steps are their order are held to no other's, and nobody says that they are the same", () => {
  const [one, other] = [steps(3, 2, 1), steps(3, 4, 1)].map((points) => made({ points }));
  const first = made({ points: [3, 2, 1].map((y) => ({ y })) });
  assert.deepEqual(curvesApart([one, first], 0), []);
  assert.deepEqual(
    [
      [one, first],
      [first, first],
      [one, other],
      [one, made()],
    ].map((runs) => allComparable(runs, 0)),
    [false, false, true, false],
  );
});

test("nobody says that results are the same where there are none, at other steps, or where some are left out", () => {
  const at = (/** @type {number[]} */ ...all) => made({ points: all.map((step) => ({ step, y: 2 })) });
  const long = made({ points: Array.from({ length: 20_000 }, (_, step) => ({ step, y: step % 7 })) });
  const pairs = [
    [made(), made()],
    [made({ name: "grad_norm", points: steps(1, 1) }), made({ name: "grad_norm", points: steps(1, 1) })],
    [at(5, 15, 25), at(10, 20, 30)],
    [at(5, 15, 25), at(5, 15)],
    [long, long],
    [at(5, 15, 25), at(5, 15, 25)],
  ];
  assert.deepEqual(
    pairs.map((runs) => allComparable(runs, 0)),
    [false, false, false, false, false, true],
  );
});

test("a loss that is no number is furthest from one that is, and no different from another such", () => {
  const [nan, number] = [made({ points: steps(3, "NaN") }), made({ points: steps(3, 2) })];
  assert.equal(most(curvesApart([nan, number], 0))?.step, 2);
  assert.equal(most(curvesApart([nan, nan], 0)), null);
});

test("the furthest of all figures and curves is told, unless it is too little to tell", () => {
  const speed = figureApart("speed", [2, 1.5, null], 0);
  assert.deepEqual(speed, [{ name: "speed", place: 1, value: 1.5, base: 2, size: 0.25 }]);
  const loss = figureApart("loss", [1, 1.0001, 4], 0);
  assert.deepEqual(most([...speed, ...loss]), { name: "loss", place: 2, value: 4, base: 1, size: 0.75 });
  assert.equal(most(figureApart("loss", [1, 1.0001], 0)), null);
  assert.equal(most(figureApart("loss", [0, 0], 0)), null);
  assert.equal(most(figureApart("loss", ["NaN", 0.5], 0))?.size, Infinity);
});
