import assert from "node:assert/strict";
import { test } from "node:test";

import { Edits, difference } from "../../../dsgui/ui/static/config/edits.js";

/** Texts, each with the time at which it was there. @param {...[string, number]} versions */
function noted(...versions) {
  const edits = new Edits();
  for (const [text, time] of versions) edits.note({ text, reader: "hf", preset: "" }, time);
  return edits;
}

/** @param {Edits} edits */
const texts = (edits) => edits.entries.map((entry) => entry.text);

test("a difference is where two texts part and meet again", () => {
  assert.deepEqual(difference("abcd", "abXYd"), { start: 2, end: 4, size: 2 });
  assert.deepEqual(difference("aaa", "aaaa"), { start: 3, end: 4, size: 1 });
  assert.deepEqual(difference("same", "same"), { start: 4, end: 4, size: 0 });
  assert.deepEqual(difference("", "new"), { start: 0, end: 3, size: 3 });
});

test("letters typed one after another in one place are one step", () => {
  const edits = noted(["{}", 0], ["{1}", 5_000], ["{12}", 5_400], ["{123}", 5_800]);
  assert.deepEqual(texts(edits), ["{}", "{123}"]);
  assert.equal(edits.move(-1)?.text, "{}");
});

test("a pause, another place or many letters at once are a step of their own", () => {
  const pause = noted(["a", 0], ["ab", 5_000], ["abc", 6_300]);
  assert.deepEqual(texts(pause), ["a", "ab", "abc"]);
  const elsewhere = noted(["abcdefgh", 0], ["abcdefghi", 5_000], ["Xabcdefghi", 5_100]);
  assert.equal(elsewhere.entries.length, 3);
  const further = noted(["abcdefgh", 0], ["Xabcdefgh", 5_000], ["XabcdefghY", 5_100]);
  assert.equal(further.entries.length, 3);
  const pasted = noted(["a", 0], ["ab", 5_000], ["ab {} []", 5_100]);
  assert.equal(pasted.entries.length, 3);
});

test("the first text stays, however soon it is typed in", () => {
  assert.deepEqual(texts(noted(["a", 0], ["ab", 1])), ["a", "ab"]);
});

test("line ends that the editor changes are no edit", () => {
  const edits = noted(["a\r\nb\n", 0], ["a\nb", 9_000]);
  assert.deepEqual(texts(edits), ["a\nb"]);
  assert.equal(edits.canUndo, false);
});

test("undo and redo go through the versions and no further; a new edit ends what could be redone", () => {
  const edits = noted(["1", 0], ["2", 5_000], ["3", 10_000]);
  assert.equal(edits.move(1), null);
  assert.equal(edits.move(-1)?.text, "2");
  assert.equal(edits.move(-1)?.text, "1");
  assert.equal(edits.move(-1), null);
  assert.deepEqual([edits.canUndo, edits.canRedo], [false, true]);
  assert.equal(edits.move(1)?.text, "2");
  edits.note({ text: "4", reader: "hf", preset: "" }, 10_001); // at once, and still no part of the step that was undone
  assert.deepEqual(texts(edits), ["1", "2", "4"]);
  assert.equal(edits.canRedo, false);
});

test("the oldest versions are forgotten", () => {
  const versions = Array.from({ length: 310 }, (_, i) => /** @type {[string, number]} */ ([`v${i}`, i * 5_000]));
  const edits = noted(...versions);
  assert.equal(edits.entries.length, 300);
  assert.equal(edits.entries[edits.at].text, "v309");
});
