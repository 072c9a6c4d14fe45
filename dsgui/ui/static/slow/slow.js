// Why a run is slow, on its page: a line, with the figures and what to try behind it. The server is asked when the
// run's state has changed, and now and then while it trains.

import { el } from "../common/dom.js";
import { words } from "../texts/texts.js";

/** @import { SlowAnswer, SlowCause } from "../types.d.ts" */

const EVERY_MS = 60_000;
const EARLY_MS = 15_000; // while too little was sampled
const TOO_FEW = "too_few";
const CALM = new Set(["nothing", "no_gpu", TOO_FEW]);

/**
 * Whether it has a place: what it says, or from the first step on what it will say, so that it moves nothing when it
 * comes. Before that, and when the run is over, "too early" is no news; that all is well is none of a run that failed.
 * @param {string} code @param {string} state @param {boolean} live @param {boolean} trains whether a step is done
 */
export const hasPlace = (code, state, live, trains) =>
  state === "failed" ? !CALM.has(code) : code !== TOO_FEW || (live && trains);

export class Slow {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.node = el("details", { class: "ds-slow", hidden: true });
    this.state = this.code = "";
    this.asked = -Infinity;
    this.every = EVERY_MS;
  }

  /** @param {string} state @param {boolean} live @param {boolean} trains whether a step is done */
  async update(state, live, trains) {
    const now = performance.now();
    if (this.code) this.node.hidden = !hasPlace(this.code, state, live, trains);
    if (state === this.state && !(live && now - this.asked > this.every)) return;
    this.state = state;
    this.asked = now;
    const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}/slow`).catch(() => null);
    if (answer?.ok) this.show(await answer.json(), live, trains);
    else this.state = "";
  }

  /** @param {SlowAnswer} found @param {boolean} live @param {boolean} trains */
  show(found, live, trains) {
    const early = found.code === TOO_FEW;
    this.every = early ? EARLY_MS : EVERY_MS;
    const line = early ? "" : found.line;
    this.code = found.code;
    const figures = found.causes.length ? found.causes : [{ ...found, advice: "" }];
    this.node.hidden = !hasPlace(found.code, this.state, live, trains);
    this.node.dataset.verdict = early ? "early" : CALM.has(found.code) ? "calm" : "slow";
    const head = el("span", {}, words("charts_page", "speed_head"));
    this.node.replaceChildren(el("summary", {}, head, line), ...figures.map((one) => part(one, line)));
    const more = figures.some((one) => one.figures.length || one.advice);
    this.node.toggleAttribute("data-bare", !more);
  }
}

/** @param {Pick<SlowCause, "line" | "figures" | "advice">} cause @param {string} said above it already */
function part({ line, figures, advice }, said) {
  return el(
    "div",
    { class: "ds-slow-cause" },
    ...(line === said ? [] : [el("b", {}, line)]),
    ...(figures.length ? [el("p", {}, figures.join(" · "))] : []),
    ...(advice ? [el("p", {}, words("charts_page", "speed_try"), advice)] : []),
  );
}
