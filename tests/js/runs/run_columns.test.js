import assert from "node:assert/strict";
import { test } from "node:test";

import { COLUMNS, columnsOf, widthsOf } from "../../../dsgui/ui/static/runs/run_columns.js";

const TELLING = ["state", "duration", "final_loss", "speed"];
const ids = (/** @type {{ id: string }[]} */ columns) => columns.map(({ id }) => id);

test("a table as wide as it likes has every column that is shown unasked", () => {
  assert.deepEqual(ids(columnsOf(undefined)), ids(COLUMNS.filter(({ shown }) => shown)));
});

test("with less room it leaves out columns, never those that tell how a run went, and fits", () => {
  let most = Infinity;
  for (const room of [1400, 1212, 1100, 950, 800, 702, 650]) {
    const columns = columnsOf(undefined, room);
    assert.ok(columns.length <= most);
    most = columns.length;
    for (const id of TELLING) assert.ok(ids(columns).includes(id), `${id} at ${room}`);
    assert.ok(widthsOf(columns, room).least <= room, String(room));
  }
});

test("columns that a user chose are all there, however narrow", () => {
  assert.deepEqual(ids(columnsOf(["tags", "speed"], 100)), ["tags", "speed"]);
  assert.ok(widthsOf(columnsOf(["tags", "speed"], 100), 100).least > 100);
});

test("a name has more room where the columns leave it", () => {
  const columns = columnsOf(["state"]);
  assert.match(widthsOf(columns, 1000).widths, /minmax\(256px/);
  assert.match(widthsOf(columns, 340).widths, /minmax\(208px/);
  assert.match(widthsOf(columns, 260).widths, /minmax\(150px/);
});

test("tags that no run has take no room, unless a user asked for them", () => {
  assert.ok(!ids(columnsOf(undefined, Infinity, false)).includes("tags"));
  assert.deepEqual(ids(columnsOf(["tags", "speed"], Infinity, false)), ["tags", "speed"]);
});
