// Other configs for the same model and batch, from the fastest to the leanest, those that fit first: what each changes,
// what it takes, and a press that applies it; short trials of the best of them, and what those measured beside the
// estimates. It asks only while its fold is open.

import { button, el, part, withSheet } from "../common/dom.js";
import { figure, gib, inColumn } from "../common/format.js";
import { givenTold } from "../config/way_out.js";
import { isPaused, keyName } from "./memory_bars.js";
import { textOf, words } from "../texts/texts.js";
import { onUnanswered } from "../common/unanswered.js";

const SHEET = "/dsgui/static/memory/folds.css";

/** @import { Ladder, LadderStep, Props, Trial, Trials, Trigger, Watch } from "../types.d.ts" */

const DEVICES = ["gpu", "host"];
const ALL_OF = ["ladder_all", "ladder_all_short_one", "ladder_all_short"];
const LOOK_MS = 2000;
const FEW = 3; // rows: fewer are not worth a button
const FINE = new Set(["small_bucket", "small_sub_group", "few_live"]); // moves that make no other kind of config

/** @param {LadderStep} step what makes it another kind: its moves, whatever their figures */
const kindOf = ({ moves }) =>
  moves
    .map(({ code = "" }) => code)
    .filter((code) => !FINE.has(code))
    .sort()
    .join(" ");

/**
 * The config itself; of each kind the fastest that fits, else the fastest; and the leanest.
 * @param {LadderStep[]} steps fastest first @returns {LadderStep[]}
 */
export function bestOf(steps) {
  /** @type {Map<string, LadderStep>} */
  const best = new Map();
  for (const one of steps) {
    const known = best.get(kindOf(one));
    if (!known || (known.fit !== FITS && one.fit === FITS)) best.set(kindOf(one), one);
  }
  const need = (/** @type {LadderStep} */ { needs }) => needs.gpu ?? needs.host ?? Infinity;
  const leanest = steps.toSorted((a, b) => need(a) - need(b))[0];
  const shown = new Set([...best.values(), leanest]);
  const found = steps.filter((one) => !one.moves.length || shown.has(one));
  return steps.length - found.length < FEW ? steps : found;
}

const FITS = "fits";
const SHORT = "does_not_fit";

/**
 * The config itself, then what fits, what may fit, and what does not: each as fast as it comes.
 * @param {LadderStep[]} steps fastest first @returns {LadderStep[]}
 */
export function inOrder(steps) {
  const ranks = new Map([
    [FITS, 1],
    [SHORT, 3],
  ]);
  const place = (/** @type {LadderStep} */ { moves, fit }) => (moves.length ? (ranks.get(fit) ?? 2) : 0);
  return steps.toSorted((a, b) => place(a) - place(b));
}

/** Before more is asked for: of the best what may fit, where any does. @param {LadderStep[]} steps */
export function firstOf(steps) {
  const best = bestOf(steps);
  const fitting = best.filter(({ moves, fit }) => !moves.length || fit !== SHORT);
  return fitting.length > 1 ? fitting : best;
}

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("memory_page", code, given);

class LadderFold {
  /** @param {HTMLElement} root @param {Props<unknown>} props @param {Trigger} trigger */
  constructor(root, props, trigger) {
    this.props = props;
    this.trigger = trigger;
    /** What the bars above are about. */
    this.asked = "";
    this.turn = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.due = undefined;
    /** What the last press was told; a later look changes the runs alone. @type {Trials} */
    this.trials = {};
    this.waiting = false;
    this.all = false;
    /** What an applied step gave the script, and leaves to it. @type {(Node | string)[]} */
    this.left = [];
    this.content = el("div", { class: "ds-ld" });
    this.fold = el("details", { class: "ds-zs-fold" }, el("summary", {}, say("ladder")), this.content);
    this.fold.addEventListener("toggle", () => this.look());
    window.addEventListener("dsgui:memory", (event) => {
      this.asked = event.detail;
      this.content.inert = isPaused();
      this.look();
    });
    onUnanswered("ladder", () => {
      this.content.removeAttribute("aria-busy");
      if (!this.told()) this.content.replaceChildren(el("p", { role: "status" }, say("unanswered")));
    });
    onUnanswered("trials", () => this.heard({ why: say("unanswered") }));
    root.replaceChildren(this.fold);
    // Back from 2 · Launch it may be another script.
    new IntersectionObserver(([seen]) => seen?.isIntersecting && this.follow()).observe(this.fold);
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
    this.trigger("look", { turn: (this.turn += 1) });
  }

  show() {
    const told = this.told();
    this.content.removeAttribute("aria-busy");
    this.draw();
    if (told) this.follow();
  }

  draw() {
    const told = this.told();
    this.content.replaceChildren(...(told ? this.drawn(told) : []));
  }

  /** Asks what the trials of the steps shown have measured. */
  follow() {
    clearTimeout(this.due);
    const keys = this.told()?.steps.map(({ key }) => key) ?? [];
    if (this.fold.open && keys.length) this.trigger("follow", { keys });
  }

  measured() {
    const { measured } = /** @type {{ measured?: unknown }} */ (/** @type {unknown} */ (this.props));
    if (typeof measured === "string" && measured) this.heard(JSON.parse(measured));
  }

  /** @param {Trials} told */
  heard(told) {
    const pressed = "why" in told || "note" in told || "removed" in told;
    if (pressed) this.waiting = false;
    const said = pressed ? told : this.trials;
    const before = JSON.stringify(this.trials);
    this.trials = { why: said.why, to: said.to, note: said.note, runs: told.runs ?? this.trials.runs };
    if (pressed || JSON.stringify(this.trials) !== before) this.draw(); // else what has the focus would lose it
    clearTimeout(this.due);
    if (this.tried().some(({ live }) => live) || told.removed) this.due = setTimeout(() => this.follow(), LOOK_MS);
  }

  /** @returns {Trial[]} */
  tried() {
    return Object.values(this.trials.runs ?? {});
  }

  attempt() {
    this.waiting = true;
    this.trials = { runs: this.trials.runs };
    this.draw();
    this.trigger("attempt", {});
  }

  /** The press or why there is none, what came of the last one, and what leads on from there. @param {Ladder} told */
  bench({ untried }) {
    const { why, to, note } = this.trials;
    const tried = this.tried();
    const live = tried.some((one) => one.live);
    const hints = { class: "ds-mem-do ds-ld-try", title: say("trial_about") };
    const press = button(say("trial"), hints, () => this.attempt());
    press.disabled = this.waiting || live;
    const onward = () => document.getElementById("to-launch")?.click();
    const ids = tried.map(({ run }) => run);
    const parts = [
      untried ? el("span", { class: "ds-ld-about" }, untried) : press,
      why ? el("span", { role: "alert" }, why) : "",
      why && to ? button(say("trial_to_launch"), { class: "ds-mem-do" }, onward) : "",
      live ? el("span", { role: "status" }, say("trial_queued")) : "",
      note ? el("span", {}, note) : "",
      ids.length > 1 ? el("a", { href: `?compare=${ids.join(",")}` }, say("trial_compare")) : "",
      ids.length && !live ? this.remover(ids) : "",
    ];
    return el("div", { class: "ds-ld-bench" }, ...parts.filter(Boolean));
  }

  /** Asks once more on the same button. @param {string[]} ids */
  remover(ids) {
    const ask = button(say("trial_remove"), { class: "ds-mem-do" }, () => {
      const sure = () => this.trigger("discard", { runs: ids });
      ask.replaceWith(button(say("trial_remove_sure", { count: String(ids.length) }), { class: "ds-mem-do" }, sure));
    });
    return ask;
  }

  /** @param {Ladder} told @returns {HTMLElement[]} */
  drawn(told) {
    if (told.why) return [el("p", {}, told.why.text)];
    const left = this.left.map((text) => el("p", { class: "ds-ld-left", role: "status" }, text));
    const head = ["ladder_change", "ladder_time", "gpu", "host"].map((code) =>
      el("th", { scope: "col" }, DEVICES.includes(code) ? `${placeOf(code)} (GiB)` : say(code)),
    );
    const first = firstOf(told.steps);
    const shown = told.steps.filter((one) => this.all || first.includes(one) || this.trials.runs?.[one.key]);
    const rows = inOrder(shown).map((one) => this.row(one));
    const table = el(
      "table",
      { class: "ds-ld-table" },
      el("thead", {}, el("tr", {}, ...head, el("th", {}, el("span", { class: "ds-ld-unseen" }, say("ladder_apply"))))),
      el("tbody", {}, ...rows),
    );
    return [
      ...left,
      el("p", { class: "ds-ld-about" }, say("ladder_about")),
      this.bench(told),
      table,
      ...this.more(told.steps, first),
    ];
  }

  /** @param {LadderStep[]} steps @param {LadderStep[]} first those shown before */
  more(steps, first) {
    if (first.length === steps.length) return [];
    const count = String(steps.filter(({ moves }) => moves.length).length);
    const short = steps.filter((one) => one.moves.length && one.fit === SHORT && !first.includes(one)).length;
    const left = steps.length - first.length;
    const all = steps.every((one) => !one.moves.length || one.fit === SHORT)
      ? words("common_page", "more_below", { count: String(left) })
      : say(ALL_OF[Math.min(short, 2)] ?? "", { count, short: String(short) });
    const name = this.all ? words("common_page", "fewer_below") : all;
    const press = button(name, { class: "ds-mem-do", "aria-expanded": String(this.all) }, () => {
      this.all = !this.all;
      this.draw();
      part(this.content, "[aria-expanded]").focus({ preventScroll: true });
    });
    return [press];
  }

  /** @param {LadderStep} one */
  row(one) {
    const current = !one.moves.length;
    const trial = this.trials.runs?.[one.key];
    const moves = current ? say("ladder_as_is") : one.moves.map(({ text }) => text).join(" + ");
    const edits = one.changes.map(({ pointer, value }) => `${keyName(pointer)}: ${JSON.stringify(value)}`).join("\n");
    const chip = el("span", { class: "ds-mem-chip", "data-fit": one.fit }, textOf("memory_fits", one.fit));
    const told = current || one.fit !== FITS ? [" ", chip] : []; // that a row fits is what it is here for
    const isShort = one.fit === SHORT;
    const name = say(isShort ? "ladder_apply_short" : "ladder_apply");
    const press = button(name, { class: "ds-mem-do", title: edits || undefined }, () => this.apply(one));
    press.setAttribute("aria-label", say(isShort ? "ladder_apply_short_this" : "ladder_apply_this", { moves }));
    return el(
      "tr",
      { "data-fit": one.fit, "aria-current": current ? "true" : undefined },
      el("th", { scope: "row" }, moves, ...told, trial ? runOf(trial) : ""),
      el("td", {}, current ? "1.0×" : timesOf(one.slower), trial ? beside(paceOf(trial)) : ""),
      ...DEVICES.map((device) => el("td", {}, needOf(one, device), trial ? beside(peakOf(trial, device)) : "")),
      ...(current ? [el("td", {})] : [el("td", { class: "ds-ld-do" }, press)]),
    );
  }

  /** @param {LadderStep} one */
  apply(one) {
    const { given = [], script } = one;
    this.left = [...(given.length ? [givenTold(given)] : []), ...script.map(({ text }) => text)];
    const ticks = [...(one.checkpointing ? ["checkpointing"] : []), ...(one.zero_init ? ["zero_init"] : [])];
    this.trigger("apply", { changes: one.changes, ticks, given: one.given ?? [] });
  }
}

/** @param {number} slower */
const timesOf = (slower) => `≈ ${slower < 10 ? slower.toFixed(1) : Math.round(slower)}×`;

/** @param {string} device */
const placeOf = (device) => textOf("memory_places", device);

/** With its name where the column's head is not shown. @param {LadderStep} one @param {string} device */
const needOf = ({ needs }, device) =>
  needs[device] === undefined
    ? el("span", { class: "ds-ld-none" }, "–")
    : el("span", { "data-name": placeOf(device) }, `≈ ${inColumn(needs[device])}`);

/** @param {string} text */
const beside = (text) => el("small", { class: "ds-ld-measured" }, text);

/** Nothing yet of a run that goes on. @param {string | null} value @param {boolean} live */
const orNot = (value, live) => {
  if (value !== null) return say("trial_measured", { value });
  return live ? "" : say("trial_unmeasured");
};

/** @param {Trial} trial */
const paceOf = ({ step_s: seconds, live }) =>
  orNot(seconds === null ? null : say("trial_step", { seconds: figure(seconds, 3) }), live);

/** @param {Trial} trial @param {string} device */
const peakOf = (trial, device) => {
  const peak = device === "gpu" ? trial.gpu : trial.host;
  return orNot(peak === null ? null : gib(peak), trial.live);
};

/** @param {Trial} trial */
const runOf = ({ run, says, failed }) =>
  el(
    "small",
    { class: "ds-ld-measured", "data-failed": failed ? "true" : undefined },
    el("a", { href: `?run=${encodeURIComponent(run)}`, title: say("trial_run") }, says),
  );

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  withSheet(SHEET);
  const fold = new LadderFold(part(element, ".ds-ladder"), props, trigger);
  watch("value", () => fold.show());
  watch("measured", () => fold.measured());
}
