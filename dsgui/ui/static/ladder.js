// Other configs for the same model and batch, from the fastest to the leanest: what each changes, what it takes, and a
// press that applies it. It asks only while its fold is open.

import { button, el, part } from "./dom.js";
import { gib } from "./format.js";
import { keyName } from "./memory_bars.js";
import { textOf, words } from "./texts.js";
import { onUnanswered } from "./unanswered.js";

/** @import { Ladder, LadderStep, Props, Trigger, Watch } from "./types.d.ts" */

const DEVICES = ["gpu", "host"];
const AS_FAST = 1.005;

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("memory_page", code, given);

class LadderFold {
  /** @param {HTMLElement} root @param {Props<unknown>} props @param {Trigger} trigger */
  constructor(root, props, trigger) {
    this.props = props;
    this.trigger = trigger;
    /** What the bars above are about. */
    this.asked = "";
    /** What an applied step leaves to the script. @type {string[]} */
    this.left = [];
    this.content = el("div", { class: "ds-ld" });
    this.fold = el("details", { class: "ds-zs-fold" }, el("summary", {}, say("ladder")), this.content);
    this.fold.addEventListener("toggle", () => this.look());
    window.addEventListener("dsgui:memory", (event) => {
      this.asked = event.detail;
      this.look();
    });
    onUnanswered("ladder", () => {
      this.content.removeAttribute("aria-busy");
      if (!this.told()) this.content.replaceChildren(el("p", { role: "status" }, say("unanswered")));
    });
    root.replaceChildren(this.fold);
  }

  /** @returns {Ladder | null} */
  told() {
    const { value } = this.props;
    return typeof value === "string" && value ? JSON.parse(value) : null;
  }

  look() {
    const told = this.told();
    const known = told !== null && told.asked !== "" && told.asked === this.asked;
    if (!this.fold.open || known) return;
    this.content.setAttribute("aria-busy", "true");
    if (!told) this.content.replaceChildren(el("p", { role: "status" }, say("ladder_looking")));
    this.trigger("look", {});
  }

  show() {
    const told = this.told();
    this.content.removeAttribute("aria-busy");
    this.content.replaceChildren(...(told ? this.drawn(told) : []));
  }

  /** @param {Ladder} told @returns {HTMLElement[]} */
  drawn(told) {
    if (told.why) return [el("p", {}, told.why.text)];
    const left = this.left.map((text) => el("p", { class: "ds-ld-left", role: "status" }, text));
    const head = ["ladder_change", "ladder_time", "gpu", "host"].map((code) =>
      el("th", { scope: "col" }, DEVICES.includes(code) ? textOf("memory_places", code) : say(code)),
    );
    const rows = told.steps.map((one) => this.row(one));
    const table = el(
      "table",
      { class: "ds-ld-table" },
      el("thead", {}, el("tr", {}, ...head, el("th", {}, el("span", { class: "ds-ld-unseen" }, say("ladder_apply"))))),
      el("tbody", {}, ...rows),
    );
    return [...left, el("p", { class: "ds-ld-about" }, say("ladder_about")), table];
  }

  /** @param {LadderStep} one */
  row(one) {
    const current = !one.moves.length;
    const moves = current ? say("ladder_as_is") : one.moves.map(({ text }) => text).join(" + ");
    const edits = one.changes.map(({ pointer, value }) => `${keyName(pointer)}: ${JSON.stringify(value)}`).join("\n");
    const fit = el("span", { class: "ds-mem-chip", "data-fit": one.fit }, textOf("memory_fits", one.fit));
    const press = button(say("ladder_apply"), { class: "ds-mem-do", title: edits || undefined }, () => this.apply(one));
    press.setAttribute("aria-label", say("ladder_apply_this", { moves }));
    return el(
      "tr",
      { "data-fit": one.fit, "aria-current": current ? "true" : undefined },
      el("th", { scope: "row" }, moves, " ", fit),
      el("td", {}, current ? "1" : timesOf(one.slower)),
      ...DEVICES.map((device) => el("td", {}, needOf(one, device))),
      el("td", {}, current ? "" : press),
    );
  }

  /** @param {LadderStep} one */
  apply(one) {
    this.left = one.script.map(({ text }) => text);
    const ticks = [...(one.checkpointing ? ["checkpointing"] : []), ...(one.zero_init ? ["zero_init"] : [])];
    this.trigger("apply", { changes: one.changes, ticks });
  }
}

/** @param {number} slower */
const timesOf = (slower) => (slower < AS_FAST ? "≈ 1" : `≈ ${slower.toFixed(2)}×`);

/** @param {LadderStep} one @param {string} device */
const needOf = (one, device) => (one.needs[device] === undefined ? "–" : gib(one.needs[device]));

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  const fold = new LadderFold(part(element, ".ds-ladder"), props, trigger);
  watch("value", () => fold.show());
}
