import assert from "node:assert/strict";
import { test } from "node:test";

import { Afterwards } from "../../../dsgui/ui/static/afterwards/afterwards.js";

/** @typedef {import("node:test").TestContext} TestContext */

const page = { isConnected: true };

/** As much of an element as the parts of a run's page use. */
function element() {
  const nothing = () => {};
  return {
    get isConnected() {
      return page.isConnected;
    },
    querySelector: () => null,
    ...{ setAttribute: nothing, append: nothing, replaceChildren: nothing, addEventListener: nothing, close: nothing },
  };
}

const ABOUT = {
  checking: true,
  ...{ diagnosis: null, parent: "", provenance: {}, checkpoints: [], resume_note: "", is_job: true, config: "" },
  ...{ script: "", estimate: null, predicted: null },
};
const PREDICTED = { gpu_bytes: 5, host_bytes: 7 };

/** Turns of the loop of events, for promises. */
async function settle() {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}

/**
 * A finished run, whose prediction is asked for and answered so.
 * @param {TestContext} t @param {() => Promise<{ ok: boolean, status: number, json?: () => Promise<object> }>} judged
 */
function opened(t, judged) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  page.isConnected = true;
  Object.assign(globalThis, { document: { createElement: element, documentElement: { lang: "en" } } });
  const asked = t.mock.fn(judged);
  const about = async () => ({ ok: true, status: 200, json: async () => ABOUT });
  t.mock.method(globalThis, "fetch", (/** @type {string} */ url) => (url.endsWith("/judged") ? asked() : about()));
  const afterwards = new Afterwards(
    "1",
    () => {},
    () => {},
  );
  /** @type {unknown[]} */
  const drawn = [];
  afterwards.onPredicted = () => drawn.push(afterwards.predicted);
  return { afterwards, asked, drawn };
}

/** @param {TestContext} t @param {number} ms */
async function later(t, ms) {
  await settle();
  t.mock.timers.tick(ms);
  await settle();
}

test("a prediction that comes after the page was told the rest is drawn too", async (t) => {
  const answer = async () => ({ ok: true, status: 200, json: async () => ({ diagnosis: null, predicted: PREDICTED }) });
  /** @type {() => void} */
  let answers = () => {};
  const waits = new Promise((resolve) => {
    answers = () => resolve(answer());
  });
  const { afterwards, drawn } = opened(t, () => /** @type {ReturnType<typeof answer>} */ (waits));
  const updated = afterwards.update("succeeded", false);
  await later(t, 400);
  await updated;
  assert.deepEqual([afterwards.predicted, drawn], [null, []]);
  answers();
  await settle();
  assert.deepEqual(drawn, [PREDICTED]);
});

for (const [status, times] of [
  [404, 1],
  [500, 3],
]) {
  test(`where the answer is ${status}, it is asked for ${times} times`, async (t) => {
    const { afterwards, asked, drawn } = opened(t, async () => ({ ok: false, status }));
    void afterwards.update("failed", false);
    for (let i = 0; i < 10; i += 1) await later(t, 3000);
    assert.deepEqual([asked.mock.callCount(), drawn], [times, []]);
  });
}

test("nothing is asked for a page that was left", async (t) => {
  const { afterwards, asked } = opened(t, async () => ({ ok: false, status: 500 }));
  void afterwards.update("failed", false);
  await later(t, 400);
  page.isConnected = false;
  for (let i = 0; i < 10; i += 1) await later(t, 3000);
  assert.equal(asked.mock.callCount(), 1);
});

test("while its changes are checked, a run that died of memory holds the room of one, which is what will fit", (t) => {
  const { afterwards } = opened(t, async () => ({ ok: false, status: 404 }));
  const made = t.mock.method(globalThis.document, "createElement", element);
  const remedies = ["a", "b"].map((key) => ({ key, label: key, button: key, fits: "" }));
  const counts = [["It took more."], []].map((cause) => {
    made.mock.resetCalls();
    afterwards.checking(/** @type {import("../../../dsgui/ui/static/types.d.ts").Diagnosis} */ ({ remedies, cause }));
    return made.mock.calls.filter((call) => call.arguments[0] === "button").length;
  });
  assert.deepEqual(counts, [1, 2]);
});
