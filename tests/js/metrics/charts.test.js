import assert from "node:assert/strict";
import { test } from "node:test";

import {
  cardLimits,
  heldAgainst,
  isScoreTooMany,
  label,
  nameOf,
  offloadLimits,
  placeOf,
  placesOfCards,
  predictedLimits,
  rankOf,
  trafficIn,
  withLimits,
} from "../../../dsgui/ui/static/metrics/charts.js";
import { made, only, steps } from "../made.js";

/** @import { SeriesInfo } from "../../../dsgui/ui/static/types.d.ts" */

/** @param {Partial<SeriesInfo>} info @param {number} value */
const curve = (info, value = 1) => only(made({ ...info, points: steps(value) }));
/** @param {Partial<SeriesInfo>} info */
const chartOf = (info) => placeOf(curve(info), false)?.heading ?? null;
/** @param {Partial<SeriesInfo>} info */
const named = (info) => {
  const found = curve(info);
  const place = placeOf(found, false);
  return place && nameOf(found, place);
};
const SAMPLE = /** @type {const} */ ("sample");
const EVAL = /** @type {const} */ ("eval");

test("a curve belongs to a chart by its name; what nobody knows gets one of its own", () => {
  assert.equal(chartOf({ name: "lm_loss" }), "Loss");
  assert.equal(chartOf({ name: "lossless" }), "lossless");
  assert.equal(chartOf({ name: "grad_norm" }), "Gradient norm");
  assert.equal(chartOf({ name: "fwd_ms" }), "Step times");
  assert.equal(chartOf({ name: "my_own_score" }), "my own score");
  assert.equal(chartOf({ name: "eval_bleu", kind: EVAL }), "Evaluation: bleu");
  assert.equal(chartOf({ name: "gpu3.used_bytes", kind: SAMPLE }), "GPU memory");
});

test("what an evaluation took is no score, a total at the end no curve, an unknown reading no chart", () => {
  assert.equal(chartOf({ name: "eval_runtime", kind: EVAL }), null);
  assert.equal(chartOf({ name: "eval_num_tokens", kind: EVAL }), null);
  assert.equal(chartOf({ name: "train_runtime", kind: "final" }), null);
  assert.equal(chartOf({ name: "gpu0.total_bytes", kind: SAMPLE }), null);
});

test("swap is shown where any was used", () => {
  const swap = { name: "swap_used_bytes", kind: SAMPLE };
  assert.equal(placeOf(curve(swap, 0), false), null);
  assert.equal(placeOf(curve(swap, 5), false)?.chart, "host_memory");
});

test("of several runs a card's memory is what each run took; all of the card where nothing else was told", () => {
  const [run, whole] = ["run_bytes", "used_bytes"].map((name) => curve({ name: `gpu0.${name}`, kind: SAMPLE }));
  const elsewhere = curve({ name: "gpu0.run_bytes", kind: SAMPLE, node: "b" });
  const untold = curve({ name: "gpu0.run_bytes", kind: SAMPLE }, NaN);
  assert.deepEqual(
    [run, whole].map((one) => placeOf(one, false, [run, whole])?.chart),
    ["gpu_memory", "gpu_memory"],
  );
  assert.equal(placeOf(run, true, [run, whole])?.chart, "gpu_memory");
  assert.equal(placeOf(whole, true, [run, whole]), null);
  for (const other of [elsewhere, untold]) assert.equal(placeOf(whole, true, [other, whole])?.chart, "gpu_memory");
  assert.equal(placeOf(curve({ name: "gpu0.run_cpu_percent", kind: SAMPLE }), true), null);
});

test("a line is called what tells it apart in its chart", () => {
  assert.equal(named({ name: "loss" }), "train");
  assert.equal(named({ name: "eval_loss", kind: EVAL }), "eval");
  assert.equal(named({ name: "lm_loss", rank: 3 }), "lm_loss (rank 3)");
  assert.equal(named({ name: "eval_exact_match", kind: EVAL }), "exact match");
  assert.equal(named({ name: "gpu1.run_bytes", kind: SAMPLE, node: "b" }), "b: GPU 1, this run");
  assert.equal(named({ name: "host_used_bytes", kind: SAMPLE }), "host, all processes");
});

test("each score has a chart of its own, with the evaluations': beside a perplexity an accuracy is a flat line", () => {
  const [accuracy, again, perplexity] = ["eval_accuracy", "accuracy", "eval_perplexity"].map((name) =>
    placeOf(curve({ name, kind: EVAL }), false),
  );
  assert.equal(accuracy?.chart, again?.chart);
  assert.notEqual(accuracy?.chart, perplexity?.chart);
  assert.deepEqual([accuracy?.heading, accuracy?.y], ["Evaluation: accuracy", "accuracy"]);
  const among = ["throughput", String(perplexity?.chart), "logged:my own", "gpu_utilization"];
  assert.deepEqual(
    among.sort((a, b) => rankOf(a) - rankOf(b)),
    ["gpu_utilization", perplexity?.chart, "throughput", "logged:my own"],
  );
});

test("the loss comes first, and what has no place of its own last", () => {
  assert.deepEqual(
    ["logged:my own", "throughput", "loss", undefined].sort((a, b) => rankOf(a) - rankOf(b)),
    ["loss", "throughput", "logged:my own", undefined],
  );
});

test("nothing that a program printed is markup for plotly", () => assert.equal(label("<b>x</b>"), "‹b›x‹/b›"));

test("a card's limit is drawn once a size", () => {
  const total = 80 * 2 ** 30;
  const readings = ["gpu0.total_bytes", "gpu1.total_bytes"].map((name) => curve({ name, kind: SAMPLE }, total));
  const used = curve({ name: "gpu0.used_bytes", kind: SAMPLE });
  const first = cardLimits(readings, used, 0);
  assert.deepEqual(first, [{ at: 80, text: "GPU has 80 GiB" }]);
  assert.deepEqual(withLimits(first, cardLimits(readings, used, 1)), first);
  assert.equal(withLimits(first, [{ at: 40, text: "" }]).length, 2);
  assert.deepEqual(cardLimits(readings, curve({ node: "other" }), 0), []);
});

test("what is offloaded is told in GiB", () => {
  const limits = offloadLimits({ states_bytes: 2 ** 30, estimate_bytes: 1.5 * 2 ** 30 });
  assert.deepEqual(
    limits.map(({ at, text }) => [at, text]),
    [
      [1, "1.0 GiB: what is offloaded"],
      [1.5, "1.5 GiB: DeepSpeed’s estimate, with buffers"],
    ],
  );
});

test("what was predicted is a line of the memory charts, and held against what was measured", () => {
  const predicted = { gpu_bytes: 18.2 * 2 ** 30, host_bytes: 62 * 2 ** 30 };
  assert.deepEqual(
    ["gpu_memory", "host_memory", "loss"].map((chart) => predictedLimits(predicted, chart).map(({ text }) => text)),
    [["predicted peak: 18.2 GiB"], ["predicted peak: 62.0 GiB"], []],
  );
  assert.deepEqual(predictedLimits(null, "gpu_memory"), []);
  /** @param {string} name @param {...number} gib */
  const sample = (name, ...gib) => ({ name, kind: SAMPLE, points: steps(...gib.map((one) => one * 2 ** 30)) });
  const curves = made(
    sample("gpu0.used_bytes", 20, 21),
    sample("gpu0.run_bytes", 17, 18.6, 3),
    sample("gpu1.run_bytes", 18, 18.5),
    sample("run_bytes", 40, 61),
  );
  const host = "Host memory: predicted 62.0 GiB, used 61.0 GiB";
  assert.equal(heldAgainst(predicted, curves.each), `GPU memory: predicted 18.2 GiB, used 18.6 GiB; ${host}`);
  assert.equal(heldAgainst({ host_bytes: 2 ** 30 }, made(sample("gpu0.used_bytes", 20)).each), "");
  assert.equal(heldAgainst(null, curves.each), "");
  const record = { gpu_bytes: 17 * 2 ** 30 }; // without what compiled operators
  assert.match(heldAgainst(predicted, curves.each, "", record), /used 17.0 GiB; Host memory: .*, used 61.0 GiB/);
  assert.equal(
    heldAgainst(predicted, curves.each, "cuda-memory-start"),
    `GPU memory: predicted 18.2 GiB, 18.6 GiB when it ran out; ${host}`,
  );
  const out = /used 18.6 GiB; Host memory: .*, 61.0 GiB when it ran out$/;
  assert.match(heldAgainst(predicted, curves.each, "host-memory"), out);
  assert.equal(heldAgainst({ host_bytes: 62 * 2 ** 30 }, curves.each), `${host}; GPU memory: no prediction was stored`);
});

test("traffic is told in the unit that one reads", () => {
  /** @param {number} most */
  const told = (most) => {
    const sent = only(made({ name: "gpu0.pcie_tx_bytes_s", kind: SAMPLE, points: steps(5, most, NaN) }));
    const line = {
      run: 0,
      name: "",
      plain: "",
      legend: true,
      colour: "",
      dash: "",
      scale: 2 ** 20,
      curve: sent,
      clock: null,
    };
    const { unit, lines } = trafficIn([line]);
    return [unit, lines[0].scale];
  };
  assert.deepEqual(told(2 ** 29), ["MiB/s", 2 ** 20]);
  assert.deepEqual(told(30 * 2 ** 30), ["GiB/s", 2 ** 30]); // not 30k MiB/s
});

test("a card's colour is by node and number, whichever was heard of first", () => {
  const heard = [
    ["node-b", 0],
    ["", 10],
    ["", 2],
  ].map(([node, gpu]) => curve({ node: String(node), name: `gpu${gpu}.used_bytes`, kind: SAMPLE }));
  assert.deepEqual(Object.fromEntries(placesOfCards(heard)), { " 2": 0, " 10": 1, "node-b 0": 2 });
});

test("of very many scores those that were logged first are seen at once, the others folded away", () => {
  const ids = ["loss", ...Array.from({ length: 20 }, (_, place) => `evaluation:class ${place} f1`), "cpu"];
  const folded = ids.filter((id, place) => isScoreTooMany(id, ids.slice(0, place)));
  assert.deepEqual(folded, ids.slice(13, 21)); // twelve after the loss
});
