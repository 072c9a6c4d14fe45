// Sliders over the picture of ZeRO: the server reckons it for where they stand, by the same model as 1 · Configure.

import { el, withSheet } from "../common/dom.js";
import { placeOf, valueAt } from "./learn_steps.js";
import { words } from "../texts/texts.js";
import { drawn, SHEET } from "../memory/zero_stages.js";

/** @import { LearnOffer, LearnStep, LearnTold, ZeroStages } from "../types.d.ts" */

const SETTLED_MS = 150;
const NAMES = new Set(["device"]); // of these none is more or less than another

/** @param {string} name @param {LearnOffer} offer */
const range = (name, offer) =>
  el("input", { type: "range", min: 0, max: offer.values.length - 1, step: 1, id: `learn-${name}` });

/** @param {string} name @param {LearnOffer} offer */
function select(name, offer) {
  const options = offer.values.map(({ title }, place) => el("option", { value: place }, title));
  return el("select", { id: `learn-${name}` }, ...options);
}

/** Of what is drawn, what is read besides the bars. @param {HTMLElement} one */
const isKey = (one) => one.matches(".ds-zs-legend, .ds-mem-notes");

export class Picture {
  /** @param {LearnTold} told @param {LearnStep} step @param {(at: Record<string, string>) => void} moved */
  constructor(told, step, moved) {
    this.moved = moved;
    this.alone = step.alone;
    this.notes = step.notes.map((text) => ({ text }));
    this.turn = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.waiting = undefined;
    /** Where each stands. @type {Record<string, string>} */
    this.at = {};
    const sliders = step.sliders.map((name) => this.slider(name, told));
    const controls = el("div", { class: "ds-learn-controls" }, ...sliders);
    const about = { role: "group", "aria-label": told.labels.picture };
    this.drawing = el("div", { class: "ds-zs ds-learn-picture", ...about });
    /** What the colours mean: after the bars and what moves them, which are to be seen together. */
    this.key = el("div", { class: "ds-zs ds-learn-key" });
    const seen = this.alone ? [this.drawing, controls] : [controls, this.drawing];
    this.node = el("div", { class: "ds-learn-sliders" }, ...seen, this.key);
    void this.look(false);
  }

  /** @param {string} name @param {LearnTold} told */
  slider(name, told) {
    const offer = told.offers[name];
    const input = NAMES.has(name) ? select(name, offer) : range(name, offer);
    const shown = el("output", { for: input.id });
    const show = () => {
      const { value, title } = valueAt(offer, Number(input.value));
      this.at[name] = value;
      shown.textContent = title;
      if (!NAMES.has(name)) input.setAttribute("aria-valuetext", title);
    };
    input.value = String(placeOf(offer));
    show();
    input.addEventListener("input", () => {
      show();
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => void this.look(true), SETTLED_MS);
    });
    const said = NAMES.has(name) ? [] : [shown];
    return el("div", { class: "ds-learn-slider" }, el("label", { for: input.id }, offer.label), ...said, input);
  }

  /** @param {boolean} moved */
  async look(moved) {
    const turn = (this.turn += 1);
    const at = { ...this.at };
    this.drawing.setAttribute("aria-busy", "true");
    const asked = fetch(`/dsgui/learn/picture?${new URLSearchParams(at)}`).catch(() => null);
    const [answer] = await Promise.all([asked, withSheet(SHEET)]); // from any page
    if (turn !== this.turn) return;
    this.drawing.removeAttribute("aria-busy");
    if (!answer?.ok) return;
    /** @type {ZeroStages} */
    const told = await answer.json();
    const notes = [...this.notes, ...(told.notes ?? [])];
    const parts = drawn({ ...told, notes }, words("memory_page", "as_set"), this.alone);
    this.drawing.replaceChildren(...parts.filter((one) => !isKey(one)));
    this.key.replaceChildren(...parts.filter(isKey));
    this.key.querySelector(".ds-zs-legend > p")?.remove(); // the step's text and the first slider say it
    if (moved) this.moved(at);
  }
}
