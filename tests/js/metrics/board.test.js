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
