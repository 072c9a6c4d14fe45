import assert from "node:assert/strict";
import { test } from "node:test";

import { Choice } from "../../../dsgui/ui/static/runs/run_choice.js";
import { RunTicks } from "../../../dsgui/ui/static/runs/run_ticks.js";

/** @param {string} id @returns {any} */
const run = (id) => ({ run_id: id, place: 0, archived: false });

/** Boxes over a server that answers when it is told to. */
function made() {
  /** @type {{ answer: (runs: any[]) => void, fail: (reason: Error) => void }[]} */
  const asked = [];
  let shown = 0;
  const choice = new Choice(() => (shown += 1));
  const ask = () => new Promise((answer, fail) => asked.push({ answer, fail }));
  const ticks = new RunTicks(choice, { placeOf: () => -1, ask });
  return { asked, choice, ticks, shown: () => shown };
}

test("a tick on all holds while the server is asked", async () => {
  const { asked, choice, ticks } = made();
  const done = ticks.every(true, 2);
  choice.changed(); // the list is polled meanwhile
  assert.ok(ticks.awaited);
  asked[0].answer([run("a"), run("b")]);
  await done;
  assert.deepEqual([choice.ids, ticks.awaited], [["a", "b"], null]);
});

test("an answer that another tick has overtaken chooses nothing", async () => {
  const { asked, choice, ticks } = made();
  const first = ticks.every(true, 2);
  await ticks.every(false, 2);
  assert.equal(ticks.awaited, null);
  asked[0].answer([run("a"), run("b")]);
  await first;
  assert.deepEqual(choice.ids, []);
  const second = ticks.every(true, 2);
  await ticks.every(false, 2);
  const third = ticks.every(true, 1);
  asked[1].answer([run("a"), run("b")]);
  await second;
  assert.ok(ticks.awaited);
  asked[2].answer([run("c")]);
  await third;
  assert.deepEqual(choice.ids, ["c"]);
});

test("where the server has no answer the box says so", async () => {
  const { asked, ticks, shown } = made();
  const done = ticks.every(true, 2);
  asked[0].fail(new Error("gone"));
  await assert.rejects(done, /gone/);
  assert.deepEqual([ticks.awaited, shown()], [null, 1]);
});
