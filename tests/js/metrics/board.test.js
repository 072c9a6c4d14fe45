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

/** @param {string} id @param {[number, number][]} having runs, and how many values each has of it */
function standing(id, having) {
  const lines = having.map(([run, count]) => ({ run, curve: { count } }));
  const board = { apart: new Map(), stand() {} };
  const sources = [{ live: false }, { live: false }];
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
