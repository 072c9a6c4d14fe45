import assert from "node:assert/strict";
import { test } from "node:test";

import {
  askedOf,
  beside,
  byField,
  countsOf,
  defaultText,
  fieldAt,
  fieldsInOrderOf,
  foreignOf,
  hasSteps,
  inOrderOf,
  isSegmented,
  labelOf,
  leadingFields,
  matches,
  optionsOf,
  piecesOf,
  sectionAt,
  stepped,
  troubles,
  unsetText,
} from "../../../dsgui/ui/static/config/fields.js";
import { heldOf, openOf } from "../../../dsgui/ui/static/config/results.js";
import { wordsOf } from "../../../dsgui/ui/static/texts/terms.js";

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

test("a search has the sections first whose fields are called so, and none changes its place without one", () => {
  /** @param {string} typed */
  const order = (typed) => inOrderOf(SECTIONS, wordsOf(typed)).map(({ id }) => id);
  assert.deepEqual(
    [order(""), order("lr"), order("stage"), order("bf16"), order("step")],
    [
      ["one", "two"],
      ["one", "two"],
      ["two", "one"],
      ["two", "one"],
      ["one", "two"],
    ],
  );
});

const USED = { pointer: "/a/offload", key: "a.offload", title: "A", kind: "boolean", common: true };
const RARE = { ...USED, pointer: "/b/offload", key: "b.offload", title: "B", common: false };
const ABOUT = { pointer: "/c", key: "c", title: "C", kind: "number", help: "How much is offloaded" };

test("what is called as a search asks stands before what only mentions it", () => {
  /** @param {string} typed */
  const order = (typed) => fieldsInOrderOf([ABOUT, RARE, USED], wordsOf(typed)).map(({ key }) => key);
  assert.deepEqual(
    [order("offload"), order("")],
    [
      ["a.offload", "b.offload", "c"],
      ["c", "b.offload", "a.offload"],
    ],
  );
});

test("a rare field of just the word does not put its section before one that is all about it", () => {
  const sections = [
    { id: "rare", title: "", intro: "", fields: [ABOUT, RARE] },
    { id: "about", title: "", intro: "", fields: ["x", "y"].map((one) => ({ ...RARE, key: `offload_${one}.device` })) },
  ];
  /** @param {string} typed */
  const order = (typed) => inOrderOf(sections, wordsOf(typed)).map(({ id }) => id);
  assert.deepEqual(
    [order("offload"), order("b.offload")],
    [
      ["about", "rare"],
      ["rare", "about"],
    ],
  );
});

test("exact title, title's start, title, key, help: in this order; what is not used now comes last", () => {
  /** @param {string} pointer @param {string} title @param {string} key @param {string} help */
  const field = (pointer, title, key, help = "") => ({ pointer, title, key, help, kind: "number" });
  const exact = field("/1", "Warmup steps", "a.b");
  const starts = field("/2", "Warmup steps of the rate", "a.c");
  const within = field("/3", "All warmup steps", "a.d");
  const key = field("/4", "Four", "a.warmup_steps");
  const help = field("/5", "Five", "a.e", "how many warmup steps");
  const idle = field("/6", "Warmup steps", "a.f");
  const fields = [idle, help, key, within, starts, exact];
  const order = fieldsInOrderOf(fields, wordsOf("warmup steps"), ({ pointer }) => pointer === "/6");
  assert.deepEqual(
    order.map(({ pointer }) => pointer),
    ["/1", "/2", "/3", "/4", "/5", "/6"],
  );
  const sections = fields.map((one) => ({ id: one.pointer, title: "", intro: "", fields: [one] }));
  assert.deepEqual(
    inOrderOf(sections, wordsOf("warmup steps"), ({ pointer }) => pointer === "/6").map(({ id }) => id),
    ["/1", "/6", "/2", "/3", "/4", "/5"],
  );
});

test("what most are after leads a search for it, in both languages; other searches have nothing that leads", () => {
  const rate = { ...LR, pointer: "/optimizer/params/lr" };
  const stage = { ...STAGE, pointer: "/zero_optimization/stage" };
  const micro = { ...LR, pointer: "/train_micro_batch_size_per_gpu" };
  const sections = [{ id: "all", title: "", intro: "", fields: [micro, rate, stage] }];
  /** @param {string} typed */
  const leading = (typed) => leadingFields(sections, wordsOf(typed)).map(({ pointer }) => pointer);
  for (const typed of ["learning rate", "学习率", "lr"]) assert.deepEqual(leading(typed), [rate.pointer]);
  for (const typed of ["memory", "显存"]) assert.deepEqual(leading(typed), [stage.pointer, micro.pointer]);
  for (const typed of ["", "bucket", "memory bucket"]) assert.deepEqual(leading(typed), []);
});

test("a section counts its errors and its warnings", () => {
  /** @param {string} pointer @param {"error" | "warning" | "note"} severity */
  const one = (pointer, severity) => ({ pointer, severity, text: "", line: 1 });
  const found = [
    one("/zero/stage", "error"),
    one("/zero/stagee", "error"),
    one("/zero/x", "warning"),
    one("/y", "error"),
    one("/lr", "note"),
  ];
  assert.deepEqual(
    [...countsOf(SECTIONS, found)],
    [
      ["two", { error: 2, warning: 1 }],
      ["one", { note: 1 }],
    ],
  );
});

test("a search finds every word in key, title or help", () => {
  assert.ok(matches(LR, wordsOf("  RATE step ")));
  assert.ok(!matches(LR, wordsOf("rate stage")));
  assert.ok(matches(STAGE, []));
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

const PAIRS = [
  ["显存", "memory"],
  ["卸载", "offload"],
  ["学习率", "learning rate"],
  ["优化器", "optimizer"],
  ["梯度裁剪", "gradient clipping"],
  ["检查点", "checkpoint"],
  ["批大小", "batch size"],
  ["损失缩放", "loss scale"],
  ["张量并行", "tensor parallel"],
  ["序列并行", "sequence parallel"],
  ["量化", "quantization"],
  ["桶", "bucket"],
  ["缓冲区", "buffer"],
  ["重叠", "overlap"],
  ["收集", "gather"],
  ["动量", "momentum"],
  ["专家", "expert"],
  ["注意力", "attention"],
  ["课程学习", "curriculum"],
  ["弹性", "elastic"],
  ["节点", "node"],
  ["步数", "steps"],
  ["混合专家", "moe"],
  ["溢出", "overflow"],
  ["权重", "weight"],
];

for (const [chinese, english] of PAIRS) {
  test(`${chinese} finds what “${english}” finds, its words apart, too, and it finds the Chinese`, () => {
    const apart = english.split(" ").reverse().join(" of a ");
    assert.ok(matches({ ...LR, key: "x", title: english, help: "" }, wordsOf(chinese)));
    assert.ok(matches({ ...LR, key: "x", title: apart, help: "" }, wordsOf(chinese)));
    assert.ok(!matches({ ...LR, key: "x", title: "of a", help: "" }, wordsOf(chinese)));
    const chineseOnly = { ...LR, key: "x", title: chinese, help: "" };
    assert.ok(matches(chineseOnly, wordsOf(english)));
  });
}

const TOGETHER = [
  ["优化器卸载", "optimizer offload"],
  ["参数预取", "param prefetch"],
  ["梯度检查点", "gradient checkpoint"],
  ["学习率调度器", "learning rate scheduler"],
  ["通信重叠", "communication overlap"],
  ["预热步数", "warmup steps"],
  ["稀疏注意力", "sparse attention"],
  ["动态批大小", "dynamic batch size"],
  ["优化器的状态", "optimizer 状态"],
];

for (const [chinese, english] of TOGETHER) {
  test(`${chinese}, written together, is asked as “${english}” is`, () => {
    const asked = wordsOf(chinese);
    assert.equal(asked.length, 2);
    assert.ok(matches({ ...LR, key: "x", title: english, help: "" }, asked));
    assert.ok(!matches({ ...LR, key: "x", title: english.split(" ")[0], help: "" }, asked));
    assert.ok(matches({ ...LR, key: "x", title: chinese, help: "" }, wordsOf(english)));
  });
}

test("a term of two words is asked as one, as it is written in either language, and only whole", () => {
  assert.deepEqual(wordsOf("Mixed  precision"), ["mixed precision"]);
  assert.ok(matches(BF16, wordsOf("mixed precision")));
  assert.deepEqual(wordsOf("learning rates"), ["learning", "rates"]);
  assert.deepEqual(wordsOf(" ZeRO卸载 到CPU "), ["zero", "卸载", "到cpu"]);
  assert.deepEqual(wordsOf("  "), []);
});

test("a block’s device comes before what else is called like the block, in both languages", () => {
  const key = "zero_optimization.offload_optimizer";
  /** @param {string[]} titles */
  const found = (titles, typed = "") => {
    const fields = ["device", "ratio"].map((one, at) => ({ ...LR, key: `${key}.${one}`, title: titles[at] }));
    return fieldsInOrderOf(fields, wordsOf(typed)).map((field) => field.key);
  };
  const inOrder = [`${key}.device`, `${key}.ratio`];
  assert.deepEqual(found(["Offload optimizer to", "Offloaded share"], "offload"), inOrder);
  for (const typed of ["offload", "卸载"]) assert.deepEqual(found(["优化器卸载到", "卸载比例"], typed), inOrder);
});

test("an unknown key belongs to the section of the keys beside it, and a section tells its gravest problem", () => {
  assert.equal(sectionAt(SECTIONS, "/zero/stagee")?.id, "two");
  assert.equal(sectionAt(SECTIONS, "/zero/deep/er")?.id, "two");
  assert.equal(sectionAt(SECTIONS, "/nothing"), null);
  const problems = { "/zero/stage": "warning", "/zero/stagee": "error", "/lr": "note", "/lrr": "error" };
  assert.deepEqual(
    [...troubles(SECTIONS, problems)],
    [
      ["two", "error"],
      ["one", "note"],
    ],
  );
  const found = ["/zero/stage", "/zero/stagee", "/lrr"].map((pointer) => ({
    severity: /** @type {const} */ ("error"),
    text: "",
    line: 1,
    pointer,
  }));
  assert.deepEqual(
    beside(SECTIONS, found, SECTIONS[1]).map(({ pointer }) => pointer),
    ["/zero/stagee"],
  );
});

test("what was searched for is marked where it stands, and nothing is lost of a text", () => {
  /** @param {string} text @param {string} typed */
  const marked = (text, typed) => piecesOf(text, wordsOf(typed)).filter((_, place) => place % 2);
  assert.deepEqual(marked("Offload optimizer to", "offload"), ["Offload"]);
  assert.deepEqual(marked("zero_optimization.offload_optimizer.offload", "offload"), ["offload", "offload"]);
  assert.deepEqual(marked("优化器卸载到", "offload"), ["卸载"]); // the page's language has it in other words
  assert.deepEqual(marked("Learning rate, or lr", "学习率"), ["Learning rate", "lr"]);
  assert.deepEqual(marked("the rate of learning", "learning rate"), ["rate", "learning"]);
  assert.deepEqual(marked("Prefetch bucket", "fetch bucket"), ["fetch", "bucket"]);
  assert.deepEqual(marked("Prefetch", "pref refetch"), ["Prefetch"]);
  assert.deepEqual(marked("ZeRO stage", "offload"), []); // found by what the other language calls it
  assert.deepEqual(marked("", "offload"), []);
  assert.deepEqual(marked("İ offload", "offload"), []); // its small letters are more than its letters
  for (const typed of ["offload", "学习率", "a", ""]) {
    for (const text of ["Offload a, an offload", "学习率 (learning rate)", "a"]) {
      assert.equal(piecesOf(text, wordsOf(typed)).join(""), text);
    }
  }
});

test("two letters are a word or its beginning, not what stands in the middle of one", () => {
  const already = { ...STAGE, help: "It is already there" };
  assert.equal(matches(already, ["lr"]), false);
  assert.equal(matches({ ...STAGE, key: "params.warmup_min_lr" }, ["lr"]), true);
  assert.equal(matches({ ...STAGE, title: "Lr decay" }, ["lr"]), true);
  assert.equal(matches(already, ["ready"]), true);
  assert.deepEqual(piecesOf("already lr_decay", ["lr"]), ["already ", "lr", "_decay"]);
});

test("a pointer is searched for as the key that it leads to", () => {
  assert.deepEqual(askedOf("/zero/stage"), ["zero.stage"]);
  assert.deepEqual(askedOf("async i/o"), ["async", "i/o"]);
});

test("few results stand open, of many the one that is called just so", () => {
  const many = [STAGE, LR, BF16, { ...LR, pointer: "/other", key: "other" }];
  assert.deepEqual([...openOf([LR, BF16], ["l"])], ["/lr", "/bf16/enabled"]);
  assert.deepEqual([...openOf(many, ["zero.stage"])], ["/zero/stage"]);
  assert.deepEqual([...openOf(many, ["e"])], []);
});

test("a result tells what its field holds, or what holds without it", () => {
  assert.equal(heldOf(BF16, "true", "false"), "on");
  assert.equal(heldOf(LR, "", "0.001"), "default 0.001");
  assert.equal(heldOf(LR, "", undefined), "not set");
  assert.equal(heldOf({ ...LR, kind: "object" }, '{\n  "a": 1\n}', undefined), '{ "a": 1 }');
});
