import assert from "node:assert/strict";
import { test } from "node:test";

class Element {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.parentElement = null;
  }
}

const STAYS = { __type__: "update" };
/** @type {Map<string, string>} */
const kept = new Map();
/** @type {((event: object) => void)[]} */
const listening = [];
const listen = (/** @type {string} */ kind, /** @type {any} */ heard) => kind === "input" && listening.push(heard);
const sheet = { setAttribute: () => {}, append: () => {}, addEventListener: () => {} };
Object.assign(globalThis, {
  Element,
  document: { addEventListener: listen, createElement: () => sheet, head: sheet },
  sessionStorage: {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => kept.set(key, value),
  },
});
const { begin } = await import("../../../dsgui/ui/static/launch/as_planned.js");
const { recall, remember } = await import("../../../dsgui/ui/static/launch/kept_desk.js");
const IDS = ["script", "arguments", "where"];

test("what opens the page is not kept, and where nothing was kept nothing changes", () => {
  remember("", "", "here");
  assert.equal(kept.size, 0);
  assert.deepEqual(recall(IDS, "", "", "here"), [STAYS, STAYS, STAYS]);
});

test("the fields are as they were, but for secrets and what somebody was quicker in", () => {
  begin();
  remember("train.py", "--hub_token abc", "slurm");
  assert.doesNotMatch([...kept.values()].join(), /abc/);
  assert.deepEqual(recall(IDS, "", "", "here"), ["train.py", STAYS, "slurm"]);
  assert.deepEqual(recall(IDS, "train.py", "", "slurm"), [STAYS, STAYS, STAYS]); // as they are already
  listening.forEach((heard) => heard({ target: new Element("where") }));
  assert.deepEqual(recall(IDS, "", "", "here"), ["train.py", STAYS, STAYS]);
});

test("what another version of the page kept, or nobody can read, changes nothing", () => {
  for (const text of ['["a"]', "{}", "[", "null", "3"]) {
    kept.set("dsgui.launch", text);
    assert.deepEqual(recall(IDS, "", "", ""), [STAYS, STAYS, STAYS]);
  }
});
