import assert from "node:assert/strict";
import { test } from "node:test";

import { Board } from "../../../dsgui/ui/static/metrics/board.js";
import { made } from "../made.js";

test("of several runs the one without a loss is named in quotes: its name may read like a sentence", () => {
  const [silent, other] = [
    { name: "waits for data", curves: made(), noLoss: "No loss yet." },
    { name: "b", curves: made() },
  ];
  const { noLoss } = Board.prototype;
  assert.equal(noLoss([silent, other]), "“waits for data”: No loss yet.");
  assert.equal(noLoss([silent]), "No loss yet.");
});

/**
 * @param {string} id @param {[number, number][]} having runs, and how many values each has of it
 * @param {{ live: boolean }[]} sources
 */
function standing(id, having, sources = [{ live: false }, { live: false }]) {
  const lines = having.map(([run, count]) => ({ run, curve: { count } }));
  const board = { apart: new Map(), stand() {} };
  const { setAside } = /** @type {any} */ (Board.prototype);
  setAside.call(board, sources, new Map([[{ id }, { lines }]]));
  return board.apart.get(id);
}

test("of several runs a chart stands apart where one alone has it, or nobody a line", () => {
  assert.equal(standing("a", [[0, 5]]), "lone");
  assert.equal(
    standing("a", [
      [0, 1],
      [1, 1],
    ]),
    "dot",
  );
  // Evaluated during training here and once at the end there: that compares.
  assert.equal(
    standing("a", [
      [0, 5],
      [1, 1],
    ]),
    undefined,
  );
});

test("of one run a point alone is no chart, unless more may come", () => {
  assert.equal(standing("loss", [[0, 1]], [{ live: false }]), "dot");
  assert.equal(standing("loss", [[0, 1]], [{ live: true }]), undefined);
  assert.equal(standing("a", [[0, 2]], [{ live: false }]), undefined);
  assert.equal(
    standing(
      "loss",
      [
        [0, 1],
        [0, 1],
      ],
      [{ live: false }],
    ),
    "dot",
  );
  assert.equal(standing("loss", [], [{ live: false }]), undefined); // why there is none is told there
});
