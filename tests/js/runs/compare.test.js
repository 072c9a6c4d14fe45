// Where a line of a compared run's name may break.

import assert from "node:assert/strict";
import test from "node:test";
import { namePieces } from "../../../dsgui/ui/static/runs/compare.js";

/** @param {string} name @param {string[]} pieces */
const inPieces = (name, pieces) => assert.deepEqual(namePieces(name), pieces);

test("a name breaks at spaces, after hyphens and underscores, and before dots, but for an ending's", () => {
  inPieces("a-b_c.second.py lr 1", ["a-", "b_", "c", ".second.py", " ", "lr", " ", "1"]);
});

test("a character of two halves, or of several that are joined, is never broken", () => {
  inPieces("run 😀 𠮷 v2", ["run", " ", "😀", " ", "𠮷", " ", "v2"]);
  inPieces("😀😀", ["😀😀"]);
  inPieces("𠮷𠮷v2", ["𠮷", "𠮷", "v2"]);
  inPieces("👨‍👩‍👧-❤️", ["👨‍👩‍👧-", "❤️"]);
  inPieces("👍🏽 🇨🇳", ["👍🏽", " ", "🇨🇳"]);
  inPieces("か\u3099き 葛\u{e0100}飾", ["か\u3099", "き", " ", "葛\u{e0100}", "飾"]);
});

test("Chinese breaks at any character, but not before what closes nor after what opens", () => {
  inPieces("翻译模型-v2", ["翻", "译", "模", "型", "-", "v2"]);
  inPieces("学习率，（小）。好", ["学", "习", "率，", "（小）。", "好"]);
  inPieces("《模型》“二”", ["《模", "型》", "“二”"]);
});
