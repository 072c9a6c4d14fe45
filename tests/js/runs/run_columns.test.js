import assert from "node:assert/strict";
import { test } from "node:test";

import {
  COLUMNS,
  columnsOf,
  furtherOf,
  isSortable,
  shortChanges,
  widthsOf,
} from "../../../dsgui/ui/static/runs/run_columns.js";

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

test("beside a long name what changed has room for a key and its values: devices leave first", () => {
  const ROOM = 1214; // of a window of 1280
  const columns = columnsOf(undefined, ROOM);
  assert.deepEqual([ids(columns).includes("tags"), ids(columns).includes("gpus")], [true, false]);
  const { widths, least } = widthsOf(columns, ROOM);
  assert.match(widths, /minmax\(264px.*minmax\(132px, 3fr\)/);
  assert.ok(132 + ROOM - least >= 180); // all else is as narrow as it may be
  assert.ok(ids(columnsOf(undefined, ROOM, false)).includes("gpus")); // no tags, room for all
});

test("columns that a user chose are all there, however narrow", () => {
  assert.deepEqual(ids(columnsOf(["tags", "speed"], 100)), ["tags", "speed"]);
  assert.ok(widthsOf(columnsOf(["tags", "speed"], 100), 100).least > 100);
});

test("a name has more room where the columns leave it", () => {
  const columns = columnsOf(["state"]);
  assert.match(widthsOf(columns, 1000).widths, /minmax\(264px/);
  assert.match(widthsOf(columns, 340).widths, /minmax\(210px/);
  assert.match(widthsOf(columns, 260).widths, /minmax\(158px/);
});

test("tags that no run has take no room, unless a user asked for them", () => {
  assert.ok(!ids(columnsOf(undefined, Infinity, false)).includes("tags"));
  assert.deepEqual(ids(columnsOf(["tags", "speed"], Infinity, false)), ["tags", "speed"]);
});

test("an option without a value is set, one that is not there is not", () => {
  const [column] = columnsOf(["arguments:bf16"]);
  const shown = (/** @type {any} */ more) => column.text(/** @type {any} */ ({ more }));
  assert.equal(shown({ "arguments:bf16": "" }), "set");
  assert.equal(shown({ "arguments:bf16": "true" }), "true");
  assert.equal(shown({}), "–");
  const differs = [{ part: "arguments", key: "--bf16", before: "", after: "false" }];
  assert.equal(shortChanges(/** @type {any} */ ({ differs })), "bf16 set→false");
});

test("the two changes that tell most are told, apart from the commas of a value, and how many more there are", () => {
  const differs = [
    { part: "config", key: "/zero_optimization/stage", before: null, after: "3" },
    { part: "launch", key: "devices", before: "2 ranks", after: "GPU 0, 1" },
    { part: "launch", key: "reader", before: "a", after: "b" },
    { part: "arguments", key: "--lr", before: null, after: "1" },
  ];
  assert.equal(shortChanges(/** @type {any} */ ({ differs })), "+stage 3 · devices 2 ranks→GPU 0, 1 · +2");
  assert.equal(shortChanges(/** @type {any} */ ({ differs: differs.slice(2) })), "config passed by a→b · +lr 1");
});

test("a key that many blocks have is told with its block", () => {
  const change = { part: "config", before: null, after: '"cpu"' };
  const told = (/** @type {string} */ key) => shortChanges(/** @type {any} */ ({ differs: [{ ...change, key }] }));
  assert.equal(told("/zero_optimization/offload_param/device"), '+offload_param.device "cpu"');
  assert.equal(told("/zero_optimization/stage"), '+stage "cpu"');
  assert.equal(told("--device"), '+device "cpu"');
});

test("a list is ordered by what the server knows", () => {
  for (const id of ["name", "date", "speed", "config:zero_optimization.stage", "metrics:eval_bleu"]) {
    assert.ok(isSortable(id), id);
  }
  const long = `config:${"x".repeat(301)}`;
  for (const id of ["", "foo:bar", "foo", "differs", "config:", "config:a\nb", long]) assert.ok(!isSortable(id), id);
});

test("no more columns are asked for than the server takes", () => {
  const columns = Array.from({ length: 200 }, (_, place) => ({ id: `config:${"x".repeat(40)}${place}` }));
  const asked = furtherOf([{ id: "date" }, ...columns]);
  assert.ok(asked.join("\n").length <= 6000);
  assert.ok(asked.join("\n").length > 5900);
  assert.deepEqual(furtherOf(columns.slice(0, 3)), ids(columns.slice(0, 3)));
});
