import assert from "node:assert/strict";
import { test } from "node:test";

import {
  breakable,
  byField,
  defaultText,
  fieldAt,
  foreignOf,
  hasSteps,
  isSegmented,
  labelOf,
  matches,
  optionsOf,
  stepped,
  unsetText,
  wordsOf,
} from "../../dsgui/ui/static/fields.js";

const STAGE = { pointer: "/zero/stage", key: "zero.stage", title: "ZeRO stage", kind: "choice", choices: ["0", "1"] };
const LR = { pointer: "/lr", key: "lr", title: "Learning rate", kind: "number", help: "How far a step goes" };
const BF16 = { pointer: "/bf16/enabled", key: "bf16.enabled", title: "bf16", kind: "boolean", auto: true };
const SECTIONS = [
  { id: "one", title: "One", intro: "", fields: [LR] },
  { id: "two", title: "Two", intro: "", fields: [STAGE, BF16] },
];

test("a list offers what a field takes, and auto where its reader fills it in", () => {
  assert.deepEqual(optionsOf(STAGE), ["0", "1"]);
  assert.deepEqual(optionsOf(BF16), ["true", "false", "auto"]);
});

test("what is not set says which default holds", () => {
  assert.equal(unsetText(LR, "0.001"), "default 0.001");
  assert.equal(unsetText(STAGE, "0"), "not set (default 0)");
  assert.equal(unsetText(LR, ""), "not set");
  assert.equal(unsetText(LR, undefined), "not set");
});

test("a search finds every word in key, title or help", () => {
  assert.ok(matches(LR, wordsOf("  RATE step ")));
  assert.ok(!matches(LR, wordsOf("rate stage")));
  assert.ok(matches(STAGE, []));
});

test("a long key breaks after a dot or an underscore", () => {
  assert.deepEqual(breakable("zero.reduce_bucket"), ["zero.", "reduce_", "bucket"]);
});

test("what another release or optimizer lacks is named by its field", () => {
  const release = { absent: { "/lr": "since 0.9" }, defaults: {} };
  const pointers = ["/lr", "/zero/stage", "/bf16/enabled"];
  assert.deepEqual(foreignOf({ not_taken: { Lion: [1] } }, release, pointers), {
    "/lr": "since 0.9",
    "/zero/stage": "Lion does not take this parameter.",
  });
});

test("a finding leads to its field, one about an object to the first field in it", () => {
  assert.equal(fieldAt(SECTIONS, "/zero/stage")?.field, STAGE);
  assert.equal(fieldAt(SECTIONS, "/bf16")?.section.id, "two");
  assert.equal(fieldAt(SECTIONS, "/ze"), null);
});

test("booleans and short lists are segments, long ones are not; a boolean is on or off", () => {
  assert.ok(isSegmented(BF16) && isSegmented(STAGE));
  assert.ok(!isSegmented(LR) && !isSegmented({ ...STAGE, choices: ["a", "b", "c", "d", "e"] }));
  assert.ok(!isSegmented({ ...STAGE, choices: ["a long name", "another long name"] }));
  assert.deepEqual(
    ["", "true", "false", "auto", "True,"].map((value) => labelOf(BF16, value)),
    ["not set", "on", "off", "auto", "True,"],
  );
  assert.equal(labelOf(STAGE, "2"), "2");
  assert.equal(defaultText(BF16, "false"), "default off");
  assert.equal(defaultText(BF16, ""), "");
});

test("counts go in steps from what is typed or the default, never below the least; sizes don't", () => {
  const count = { ...LR, kind: "integer", default: "16" };
  assert.ok(hasSteps(count) && !hasSteps(LR));
  assert.ok(!hasSteps({ ...count, unit: "elements" }) && !hasSteps({ ...count, default: "500000000" }));
  assert.equal(stepped("", "16", 1, 0), "17");
  assert.equal(stepped(" 4 ", "16", -1, 1), "3");
  assert.equal(stepped("1", "16", -1, 1), "1");
  assert.equal(stepped("", undefined, 1, 1), "1");
  assert.equal(stepped("auto", undefined, 1, 1), null);
});

test("what was found stands at its field, else at the first below; what is no field's nowhere", () => {
  const [at, below, none, whole] = ["/lr", "/zero", "/typo", ""].map((pointer) => ({
    pointer,
    severity: /** @type {const} */ ("error"),
    text: pointer,
    line: 1,
  }));
  assert.deepEqual(
    [...byField(SECTIONS, [at, below, none, whole, at])],
    [
      ["/lr", [at, at]],
      ["/zero/stage", [below]],
    ],
  );
});
