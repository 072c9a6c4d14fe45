import assert from "node:assert/strict";
import { test } from "node:test";

import {
  examples,
  fullestHost,
  headOf,
  merged,
  needOf,
  offers,
  problemOf,
  roleOf,
  sentence,
  shortOf,
  widthsOf,
} from "../../../dsgui/ui/static/config/goal.js";

test("what a config needs goes to the arguments typed, once", () => {
  assert.equal(merged("", "--bf16"), "--bf16");
  assert.equal(merged("--output_dir out --bf16", "--bf16"), "--output_dir out --bf16");
  assert.equal(
    merged("--fp16 --per_device_train_batch_size 8 --seed 1", "--per_device_train_batch_size 2 --bf16"),
    "--seed 1 --per_device_train_batch_size 2 --bf16",
  );
  assert.equal(
    merged("--gradient_checkpointing=False data.json", "--bf16"),
    "--gradient_checkpointing=False data.json --bf16",
  );
});

test("a wrong value is said: of a count below one, above what there is, of no model", () => {
  const gpus = (/** @type {string} */ value) => problemOf({ type: "number", id: "goal-gpus", value, max: "4096" });
  assert.deepEqual(["8", "0", "", "-1", "0.5"].map(gpus), ["", ...Array.from({ length: 4 }, () => "At least 1")]);
  assert.equal(gpus("4097"), "At most 4096");
  assert.equal(problemOf({ type: "number", id: "goal-host", value: "", max: "9" }), "");
  const model = { type: "text", id: "goal-model", value: " ", max: "" };
  assert.equal(problemOf(model), "Enter a model or a size, such as 7B.");
});

test("the bars of the hosts are as long as the fullest", () => {
  const host = (/** @type {number} */ bytes) => ({
    ...{ device: "host", worst: "step", capacity: null, in_use: 0, fit: "cannot_say" },
    moments: [{ moment: "step", fit: "cannot_say", bytes, parts: [] }],
  });
  const choices = [112, 21, 167, 5].map((bytes) => ({ verdict: { devices: [host(bytes)] } }));
  assert.equal(fullestHost(/** @type {any} */ (choices)).moments[0].bytes, 167);
});

test("a legend names the parts of the first card before larger ones of the others", () => {
  const parts = (/** @type {Record<string, number>} */ bytes) =>
    Object.entries(bytes).map(([part, count]) => ({ part, place: "gpu", bytes: count }));
  const choice = (/** @type {Record<string, number>} */ bytes) => {
    const moments = [{ moment: "step", fit: "fits", bytes: 100, parts: parts(bytes) }];
    return { verdict: { devices: [{ device: "gpu", worst: "step", capacity: 100, in_use: 0, fit: "fits", moments }] } };
  };
  const choices = [choice({ gradients: 10, nccl: 2, master: 60 }), choice({ weights: 90, nccl: 8 })];
  const [gradients, nccl, master, weights] = widthsOf(
    /** @type {any} */ (parts({ gradients: 1, nccl: 1, master: 1, weights: 1 })),
    /** @type {any} */ (choices),
  );
  assert.deepEqual([gradients, nccl, master], [10, 2, 60]);
  assert.ok(0 < weights && weights < nccl);
});

test("what needs least is said of the GPU's memory only where there is one", () => {
  const needs = (/** @type {string[]} */ ...devices) => ({ devices: devices.map((device) => ({ device })) });
  const choice = (/** @type {string} */ role, /** @type {string[]} */ ...devices) =>
    roleOf(/** @type {any} */ ({ role, verdict: needs(...devices) }));
  assert.equal(choice("leanest", "gpu", "host"), "leanest");
  assert.equal(choice("leanest", "host"), "leanest_host");
  assert.equal(choice("roomier", "host"), "roomier_host");
  assert.equal(choice("fastest", "host"), "fastest");
});

test("the goals to begin with name devices that are offered, and this machine as it is", () => {
  const device = (/** @type {string} */ id) => ({ id, title: id, group: "" });
  const usual = { gpus: 3, length: 512, has_gpu: false };
  const all = examples({ devices: ["this", "rtx4090", "a100-80"].map(device), usual });
  assert.deepEqual(
    all.map(({ code }) => code),
    ["example_one", "example_many", "example_here"],
  );
  assert.equal(all[2].values.gpus, 3);
  assert.deepEqual(
    examples({ devices: [device("this")], usual }).map(({ code }) => code),
    ["example_here"],
  );
});

test("of what doesn't fit it says how much each device lacks, as roughly as the workspace does", () => {
  const device = (/** @type {string} */ name, /** @type {number} */ needs, /** @type {number | null} */ capacity) => ({
    ...{ device: name, worst: "step", in_use: 0, fit: "does_not_fit", capacity: capacity && capacity * 2 ** 30 },
    moments: [{ moment: "step", fit: "does_not_fit", bytes: needs * 2 ** 30, parts: [] }],
  });
  const lacks = (/** @type {any[]} */ ...devices) => shortOf(/** @type {any} */ ({ verdict: { devices } }));
  assert.deepEqual(lacks(device("gpu", 147.25, 23.5), device("host", 8, 64)), ["124 GiB short on the GPU"]);
  assert.deepEqual(lacks(device("gpu", 30, 24), device("host", 99, 64)), [
    "6.0 GiB short on the GPU",
    "35 GiB short in host memory",
  ]);
  assert.deepEqual(lacks(device("host", 99, null)), []);
});

test("what a config needs is a guess beside what there is", () => {
  const device = (/** @type {string} */ name, /** @type {number} */ needs, /** @type {number | null} */ capacity) => ({
    ...{ device: name, worst: "step", in_use: 0, fit: "fits", capacity: capacity && capacity * 2 ** 30 },
    moments: [{ moment: "step", fit: "fits", bytes: needs * 2 ** 30, parts: [] }],
  });
  const need = (/** @type {any} */ one) => needOf(one);
  assert.equal(need(device("gpu", 21.43, 23.64)), "≈ 21 GiB / 23.6 GiB");
  assert.equal(need(device("gpu", 3.456, 80)), "≈ 3.5 GiB / 80.0 GiB");
  assert.equal(need(device("host", 112.3, null)), "needs ≈ 112 GiB of host memory per node");
});

test("a host that few have heads the card, and no preset that needs one is said to fit", () => {
  const head = (/** @type {string} */ role, /** @type {number} */ large) =>
    headOf(/** @type {any} */ ({ role, verdict: { devices: [{ device: "gpu" }] } }), large);
  assert.deepEqual(head("only", 0), ["The only preset that fits", ""]);
  assert.deepEqual(head("only", 1.8 * 2 ** 40), ["", "Fits the GPUs; needs a host with 1.8 TiB"]);
  assert.deepEqual(head("fastest", 600 * 2 ** 30), ["Fastest · 1×", "needs a host with 600 GiB"]);
});

test("only what was found to fit is offered, with its card's name and all of its GPUs", () => {
  const gpus = { device: "h100", title: "H100 80 GB", gpus: 8, nodes: 4 };
  assert.deepEqual(offers({ gpus, lora: 16 }), [
    { name: "Try 4 nodes × 8 H100 80 GB", values: { device: "h100", gpus: 8, nodes: 4 }, lora: 0 },
    { name: "With LoRA", values: {}, lora: 16 },
  ]);
  assert.deepEqual(offers({ gpus: null, lora: 0 }), []);
  assert.deepEqual(offers(undefined), []);
});

test("a card alone is not ranked, and where nothing would fit the sequence is to be shortened", () => {
  const verdict = { devices: [{ device: "gpu" }] };
  const said = (/** @type {string[]} */ roles, /** @type {any} */ ways) =>
    sentence(/** @type {any} */ ({ ways, choices: roles.map((role) => ({ role, verdict })) }));
  assert.match(said(["fastest", "leanest"], undefined), /^Ranked by estimated speed/);
  assert.equal(said(["only"], undefined), "Memory is predicted for each GPU and each node.");
  assert.match(said(["nearest", "nearest"], { gpus: null, lora: 16 }), /but this would/);
  const gpus = { device: "h100", title: "H100 80 GB", gpus: 8, nodes: 1 };
  assert.match(said(["nearest", "nearest"], { gpus, lora: 16 }), /but each of these would/);
  assert.match(said(["nearest", "nearest"], { gpus: null, lora: 0 }), /shorten the sequence/);
  assert.match(said(["only"], { gpus, lora: 0 }), /^These fit the GPUs only if each node has the host memory/);
  assert.equal(said(["only"], { gpus: null, lora: 0 }), "Memory is predicted for each GPU and each node.");
});
