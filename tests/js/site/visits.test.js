import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf, isStep, lookIn, namesIn, tabIn, tabToCome } from "../../../dsgui/ui/static/site/visits.js";

test("an address names a run or several compared, and keeps what else stands in it", () => {
  const home = "http://localhost:7860/?__theme=dark";
  const run = addressOf(home, { run: "20260131-235959-0a1b", compare: null });
  assert.equal(run, "http://localhost:7860/?__theme=dark&run=20260131-235959-0a1b");
  const compared = addressOf(run, { run: null, compare: "a,b" });
  assert.deepEqual(namesIn(new URL(compared)), { run: null, compare: "a,b", baseline: null });
  const against = addressOf(compared, { run: null, compare: "a,b", baseline: "b" });
  assert.equal(against, `${home}&compare=a%2Cb&baseline=b`);
  assert.deepEqual(namesIn(new URL(against)), { run: null, compare: "a,b", baseline: "b" });
  assert.equal(addressOf(against, { run: null, compare: "a,b" }), compared); // the first one is it anyway
  assert.equal(isStep(compared, against), true);
  assert.equal(addressOf(against, { run: "x", compare: null }), `${home}&run=x`);
  const none = { run: null, compare: null };
  assert.equal(addressOf(compared, none, 0), home);
  assert.equal(addressOf(compared, none), `${home}&tab=runs`);
});

test("each page has an address, and a run is named only where it is seen", () => {
  const home = "http://localhost:7860/";
  const names = { run: "20260131-235959-0a1b", compare: null };
  assert.equal(addressOf(home, names, 1), `${home}?tab=launch`);
  assert.equal(addressOf(`${home}?tab=launch`, names, 2), `${home}?run=20260131-235959-0a1b`);
  assert.equal(addressOf(`${home}?run=x`, names, 0), home);
  for (const [query, tab] of /** @type {[string, number][]} */ ([
    ["", 0],
    ["?tab=machine", 3],
    ["?tab=runs", 2],
    ["?run=x", 2],
    ["?tab=launch&compare=x,y", 2],
    ["?tab=none", 0],
  ])) {
    assert.equal(tabIn(new URL(home + query)), tab, query);
  }
});

test("a tab chosen before the page was ready is not waited for to go away again", () => {
  const home = "http://localhost:7860/";
  assert.equal(tabToCome(new URL(home), 2), null);
  assert.equal(tabToCome(new URL(`${home}?tab=machine`), 0), 3);
  assert.equal(tabToCome(new URL(`${home}?tab=machine`), 3), null);
});

test("how the table of runs is looked at stands in its address, and is no step of its own", () => {
  const table = "http://localhost:7860/?tab=runs";
  const [none, look] = [
    { run: null, compare: null },
    { q: "loss<0.3 tag:a", state: "failed", sort: "-final_loss" },
  ];
  const looked = addressOf(table, none, 2, look);
  assert.equal(looked, `${table}&q=loss%3C0.3+tag%3Aa&state=failed&sort=-final_loss`);
  assert.deepEqual(lookIn(new URL(looked)), look);
  assert.equal(addressOf(looked, none, 2, { q: "", state: "", sort: "" }), table);
  assert.equal(addressOf(looked, none, 1, look), "http://localhost:7860/?tab=launch");
  assert.equal(addressOf(looked, { run: "x", compare: null }, 2, look), "http://localhost:7860/?run=x");
  assert.equal(isStep(table, looked), false);
  assert.equal(isStep(looked, "http://localhost:7860/?run=x"), true);
});
