import assert from "node:assert/strict";
import { test } from "node:test";

import { hits, Paint, settled, settledLines, wholeLines } from "../../../dsgui/ui/static/logs/ansi.js";

/** @param {string} text */
const painted = (text) => new Paint().parts(text).map(({ text: shown, names }) => [shown, names]);

test("a line shows what came after the last return to its beginning", () => {
  assert.equal(settled("10%\r20%\r30%"), "30%");
  assert.equal(settled("done\r"), "done");
  assert.equal(settled("a\rb\r\r"), "b");
  assert.equal(settled("\r"), "");
  assert.equal(settled(""), "");
  assert.equal(settledLines("1%\r2%\nwindows\r\nend"), "2%\nwindows\nend");
});

test("returns without end take no time", () => {
  const begun = performance.now();
  const many = "\r".repeat(200_000);
  assert.equal(settledLines(`${many}x`), "x");
  assert.equal(wholeLines(many).lines, "");
  assert.ok(performance.now() - begun < 1_000);
});

test("of a bar that goes on only the last state is kept", () => {
  assert.deepEqual(wholeLines("a\nb\n1%\r2%\r3%"), { lines: "a\nb\n", rest: "\r3%" });
  assert.deepEqual(wholeLines("no end"), { lines: "", rest: "no end" });
  assert.deepEqual(wholeLines("3%\r"), { lines: "", rest: "3%\r" }); // its line end may be on its way
});

test("colours are on until they are taken back, bright ones as their plain ones", () => {
  assert.deepEqual(
    painted("a\x1b[1;31mb\x1b[22mc\x1b[92md\x1b[39me\x1b[0mf"),
    [
      ["a", ""],
      ["b", "ds-bold ds-red"],
      ["c", "ds-red"],
      ["d", "ds-green"],
      ["ef", ""],
    ].flatMap(([text, names]) =>
      text === "ef"
        ? [
            ["e", ""],
            ["f", ""],
          ]
        : [[text, names]],
    ),
  );
});

test("a colour goes on into the next text, and an empty code ends it", () => {
  const paint = new Paint();
  paint.parts("\x1b[35m");
  assert.deepEqual(paint.parts("x\x1b[m"), [{ text: "x", names: "ds-magenta" }]);
  assert.deepEqual(paint.parts("y"), [{ text: "y", names: "" }]);
});

test("other sequences of a terminal, and colours without a class, are not shown", () => {
  assert.deepEqual(painted("\x1b[2Kx\x1b[48;5;200my"), [
    ["x", ""],
    ["y", ""],
  ]);
});

test("what was looked for is found in a line, ASCII letters in either case, and nothing else is lost", () => {
  /** @param {string} text @param {string} looked */
  const told = (text, looked) => hits(text, looked).map(({ part, hit }) => (hit ? `[${part}]` : part));
  assert.deepEqual(told("Loss 1, eval_loss 2", "LOSS"), ["[Loss]", " 1, eval_", "[loss]", " 2"]);
  assert.deepEqual(told("İ loss", "loss"), ["İ ", "[loss]"]);
  assert.deepEqual(told("loss", ""), ["loss"]);
  assert.deepEqual(told("aaa", "aa"), ["[aa]", "a"]);
});
