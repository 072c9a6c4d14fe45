// The picture of ZeRO for the config in the editor: a bar for each stage, on one scale, with its model states and what
// is sent for a step. It asks only while its fold is open.

import { el, part, withSheet } from "../common/dom.js";
import { predictedBeside, predictedPart, gib } from "../common/format.js";
import { colourOf, isPaused, lineSwatch, swatchOf } from "./memory_bars.js";
import { listed, textOf, words } from "../texts/texts.js";
import { onUnanswered } from "../common/unanswered.js";
import { barsOf, LAST, limitNamedIn, partsIn, spelled, statesAtPeak, statesOf, totalOf } from "./zero_states.js";

export const SHEET = "/dsgui/static/memory/folds.css";

/** @import { Props, Sentence, StageBar, StateShare, Trigger, Watch, ZeroStage, ZeroStages } from "../types.d.ts" */

const PLACES = ["gpu", "host", "nvme"];

class Stages {
  /** @param {HTMLElement} root @param {Props<unknown>} props @param {Trigger} trigger */
  constructor(root, props, trigger) {
    this.props = props;
    this.trigger = trigger;
    /** What the bars above are about. */
    this.asked = "";
    this.turn = 0;
    this.content = el("div", { class: "ds-zs" });
    this.fold = el("details", { class: "ds-zs-fold" }, el("summary", {}, words("memory_page", "stages")), this.content);
    this.fold.addEventListener("toggle", () => this.look());
    window.addEventListener("dsgui:memory", (event) => {
      this.asked = event.detail;
      this.content.inert = isPaused();
      this.look();
    });
    onUnanswered("zero_stages", () => this.content.removeAttribute("aria-busy"));
    root.replaceChildren(this.fold);
  }

  /** @returns {ZeroStages | null} */
  told() {
    const { value } = this.props;
    return typeof value === "string" && value ? JSON.parse(value) : null;
  }

  look() {
    const told = this.told();
    const known = told !== null && told.asked !== "" && told.asked === this.asked;
    if (!this.fold.open || known) return;
    this.content.setAttribute("aria-busy", "true");
    this.trigger("look", { turn: (this.turn += 1) });
  }

  show() {
    const told = this.told();
    this.content.removeAttribute("aria-busy");
    this.content.replaceChildren(...(told ? drawn(told) : []));
  }
}

/**
 * @param {ZeroStages} told @param {string} [chosen] what the stage in use is called
 * @param {boolean} [alone] whether only that one is drawn, on the scale of all @returns {HTMLElement[]}
 */
export function drawn(told, chosen = words("memory_page", "this_config"), alone = false) {
  const { notes = [] } = told;
  if (told.why) return [el("p", {}, told.why.text)];
  const all = told.stages ?? [];
  const isShown = (/** @type {ZeroStage} */ one) => !alone || one.stage === told.current;
  const bars = barsOf(all).filter((_, index) => isShown(all[index]));
  const stages = all.filter(isShown);
  const named = limitNamedIn(bars);
  return [
    legend(stages, bars),
    ...stages.map((one, index) => stage(one, bars[index], { told, chosen, isNamed: index === named })),
    ...(notes.length ? [about(notes)] : []),
  ];
}

/** @param {Sentence[]} notes */
const about = (notes) =>
  el(
    "details",
    { class: "ds-mem-notes" },
    el("summary", {}, words("memory_page", "stages_about")),
    el("ul", { class: "ds-zs-notes" }, ...notes.map((one) => el("li", {}, one.text))),
  );

/**
 * @param {ZeroStage} one @param {StageBar | null | undefined} bar
 * @param {{ told: ZeroStages, chosen: string, isNamed: boolean }} about isNamed: its line says what it is
 */
function stage(one, bar, { told, chosen, isNamed }) {
  const current = one.stage === told.current;
  const mark = current ? [" ", el("span", { class: "ds-zs-current" }, chosen)] : [];
  const name = el("span", {}, el("b", {}, `Stage ${one.stage}`), ...mark);
  const attributes = {
    class: "ds-zs-stage",
    "data-stage": one.stage,
    "data-fit": one.fit,
    "aria-current": current ? "true" : undefined,
  };
  if (!bar) {
    const why = el("p", { class: "ds-zs-why" }, one.why?.text ?? "");
    return el("section", attributes, el("p", { class: "ds-mem-name" }, name), why);
  }
  const needs = words("memory_page", "need_at", { need: needed(bar), moment: textOf("memory_when", bar.moment) });
  return el(
    "section",
    attributes,
    el("p", { class: "ds-mem-name" }, name, el("span", { class: "ds-mem-need" }, needs)),
    track(one, bar, { needs, isNamed }),
    ...facts(one, bar, told),
  );
}

/** @param {StageBar} bar */
function needed(bar) {
  const place = textOf("memory_places", bar.device);
  const { bytes, capacity } = bar;
  if (capacity === null) return words("memory_page", "place_need", { place, bytes: predictedPart(bytes) });
  const need = { place, bytes: predictedBeside(bytes, capacity), total: gib(capacity, 1) };
  return words("memory_page", "place_need_of", need);
}

/** @param {ZeroStage} one @param {StageBar} bar @param {{ needs: string, isNamed: boolean }} about */
function track(one, bar, { needs, isNamed }) {
  const inner = el("div", { class: "ds-mem-track" });
  for (const { part: code, bytes, width } of bar.segments) {
    const title = listed([textOf("memory_parts", code), predictedPart(bytes)]);
    const segment = el("span", { class: "ds-mem-part", "data-code": code, title });
    segment.style.width = `${width}%`;
    segment.style.background = colourOf(code);
    inner.append(segment);
  }
  const label = `Stage ${one.stage}: ${needs}`;
  const node = el("div", { class: "ds-mem-bar ds-zs-bar", role: "img", "aria-label": label }, inner);
  if (bar.line !== null) {
    const line = el("span", { class: "ds-mem-line" });
    line.style.left = `${bar.line}%`;
    if (isNamed) line.dataset.name = words("memory_page", "limit");
    if (bar.line > LAST) line.dataset.side = "left";
    node.append(line);
  }
  return node;
}

/** Model states and communication in numbers. @param {ZeroStage} one @param {StageBar} bar @param {ZeroStages} told */
function facts(one, bar, { ranks = 1, on_cpu: onCpu = false }) {
  const { states = [], sent = 0, by_paper: byPaper = 0 } = one;
  const sums = sumsOf(states, onCpu);
  const bytes = listed(
    sums.map(({ place, count }) => words("memory_page", `on_${place}`, { bytes: predictedPart(count) })),
  );
  const told = { states: statesOf(one), bytes };
  const text = words("memory_page", ranks > 1 ? "states_per_rank" : "states", told);
  const there = statesAtPeak(states, bar);
  const lines = [there === null ? text : words("memory_page", "states_at_peak", { text, bytes: predictedPart(there) })];
  if (ranks > 1) lines.push(words("memory_page", "sent", { sent: predictedPart(sent), paper: predictedPart(byPaper) }));
  return lines.map((line) => el("p", { class: "ds-zs-fact" }, line));
}

/**
 * How much there is at each place: CPU ranks have the host alone.
 * @param {StateShare[]} states @param {boolean} onCpu
 */
function sumsOf(states, onCpu) {
  const sums = PLACES.map((place) => ({ place, count: totalOf(states, place) }));
  const [gpu, host, ...rest] = sums;
  const there = onCpu ? [{ place: host.place, count: gpu.count + host.count }, ...rest] : sums;
  return there.filter(({ count }) => count);
}

/** @param {ZeroStage[]} stages @param {(StageBar | null)[]} bars */
function legend(stages, bars) {
  const asked = stages.find((one) => one.devices);
  const items = partsIn(stages).map((code) => {
    return el("li", {}, swatchOf({ part: code, place: "" }), textOf("memory_parts", code));
  });
  if (limitNamedIn(bars) < 0 && bars.some((bar) => bar && bar.line !== null)) {
    items.push(el("li", {}, lineSwatch(), words("memory_page", "limit")));
  }
  const { parameters = 0, trainable = 0 } = asked ?? {};
  const count = spelled(parameters);
  const counted =
    trainable === parameters
      ? words("memory_page", "parameters", { count })
      : words("memory_page", "parameters_trained", { count, trained: spelled(trainable) });
  return el(
    "div",
    { class: "ds-zs-legend" },
    el("ul", {}, ...items),
    el("p", {}, `${counted} ${words("memory_page", "states_are")}`),
  );
}

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  withSheet(SHEET);
  const stages = new Stages(part(element, ".ds-zero-stages"), props, trigger);
  watch("value", () => stages.show());
}
