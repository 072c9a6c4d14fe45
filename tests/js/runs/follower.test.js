import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

import { Follower } from "../../../dsgui/ui/static/runs/follower.js";
import { answer, only, steps } from "../made.js";

afterEach(() => mock.restoreAll());

/** A server that gives these answers one after another; the addresses it was asked for. @param {...unknown} bodies */
function server(...bodies) {
  const asked = /** @type {string[]} */ ([]);
  mock.method(globalThis, "fetch", async (/** @type {string} */ address) => {
    asked.push(address);
    const body = bodies.shift();
    return body === 404 ? new Response("", { status: 404 }) : Response.json(body);
  });
  return asked;
}

/** @param {string} output @param {object} curves */
const delta = (output, curves) => ({ cursor: { output, points: "7" }, events: [{ kind: "stop" }], about: {}, curves });

test("each question begins where the last answer ended, and what was told adds up", async () => {
  const asked = server(
    delta("10", answer("0", { points: steps(3, 2) })),
    delta("20", { ...answer("0", { points: steps(1) }), series: {} }),
  );
  const follower = new Follower("a b");
  await follower.poll();
  follower.seek(15);
  await follower.poll();
  assert.deepEqual(asked, ["/dsgui/runs/a%20b?", "/dsgui/runs/a%20b?output=15&points=7"]);
  assert.equal(only(follower.curves).count, 3);
  assert.equal(follower.events.length, 2);
  assert.equal(follower.cursor.output, "20");
});

test("what is told anew takes the place of what was told before", async () => {
  server(delta("10", answer("0", { points: steps(3, 2) })), {
    ...delta("20", answer("0", { points: steps(4, 3, 2) })),
    anew: true,
  });
  const follower = new Follower("a");
  await follower.poll();
  await follower.poll();
  assert.equal(only(follower.curves).count, 3);
});

test("a run that is not there has no news", async () => {
  server(404);
  assert.equal(await new Follower("x").poll(), null);
});

for (const wanted of [true, false]) {
  test(`finer stretches are taken while they are looked at: ${wanted}`, async () => {
    const points = Array.from({ length: 4_000 }, (_, i) => ({ step: i + 1, time: i, y: 1 }));
    const asked = server(answer("0", { points: steps(5, 6, 7) }));
    const follower = new Follower("x");
    follower.curves.take(answer("0", { points }));
    await follower.refine("step", 1, 4_000, () => wanted);
    assert.deepEqual(asked, ["/dsgui/runs/x/window?ids=0&axis=step&low=1&high=4000"]);
    const values = only(follower.curves)
      .drawn()
      .map((one) => one.low.y);
    assert.deepEqual(values.slice(0, 3), wanted ? [5, 6, 7] : [1, 1, 1]);
  });
}
