// The dry run on the memory panel: its button, how far it is, and what it found, drawn by phase, component and line.

import { button, el, messageOf } from "../common/dom.js";
import { gib } from "../common/format.js";
import { colourOf, partName, variableOf } from "./memory_bars.js";
import { componentsOf, lineName, peakName, peakOf, timelineOf, treemapOf } from "./memory_charts.js";
import { plotColour, loadPlotly, styled } from "../metrics/plotly_library.js";
import { textOf, words as pageWords } from "../texts/texts.js";
import { onUnanswered } from "../common/unanswered.js";

/** @import { MemoryTold, PlotElement, Rehearsed, RehearsedPeak, Trigger } from "../types.d.ts" */
/** @import { MemoryLook } from "./memory_charts.js" */

const CONFIG = { displayModeBar: false, displaylogo: false, plotlyServerURL: "", scrollZoom: false };

/** @param {string} code @param {Record<string, string>} given */
const words = (code, given = {}) => textOf("memory_rehearsal", code, code, given);

/** @returns {MemoryLook} */
const look = () => ({
  text: plotColour("--body-text-color", "#222"),
  grid: plotColour("--ds-grid", "#ddd"),
  ground: plotColour("--block-background-fill", "#fff"),
  font: styled("--font", "sans-serif"),
  colour: (part) => styled(variableOf(part), "#888"),
});

export class Rehearsal {
  /** @param {Trigger} trigger */
  constructor(trigger) {
    this.trigger = trigger;
    this.moment = "";
    this.device = "gpu";
    this.pressed = ""; // a button whose press has no answer yet
    this.asked = ""; // what the page showed when it was pressed
    this.unanswered = false; // the last press
    this.sent = ""; // by the server, as it came
    /** @type {MemoryTold | null} */
    this.told = null;
    /** @type {Rehearsed | null} */
    this.rehearsed = null;
    this.head = el("div", { class: "ds-mem-dry-head", hidden: true });
    // Made once: a click that begins on a button ends on it, whatever comes from the server in between.
    this.buttons = { ask: this.button("ask"), cancel: this.button("cancel") };
    /** What it does: among the details below a formula's bars, else beside its button. */
    this.about = el("p", { class: "ds-mem-remark" }, words("how"));
    this.status = el("span", { class: "ds-mem-dry-said", role: "status" });
    this.stale = el("p", { class: "ds-stale", role: "status" }, words("outdated"));
    this.timeline = new Drawing("ds-mem-timeline", words("timeline"));
    this.treemap = new Drawing("ds-mem-treemap", words("peak"));
    this.peak = el("div", { class: "ds-mem-dry-peak" });
    this.lines = el("div", {});
    this.found = el(
      "div",
      { class: "ds-mem-dry-found", hidden: true, role: "group", "aria-label": words("ask") },
      heading(words("timeline")),
      this.timeline.node,
      heading(words("peak")),
      this.peak,
      this.treemap.node,
      this.lines,
    );
    new ResizeObserver(() => this.draw()).observe(this.found);
    onUnanswered("dry_run", () => this.giveUp());
  }

  /** The server has no answer to the press: the button is there for another. */
  giveUp() {
    this.pressed = "";
    this.unanswered = true;
    this.update();
  }

  /** @param {MemoryTold | null} told @param {string} sent @param {string} moment of the bars above */
  show(told, sent, moment) {
    if (sent !== this.sent) {
      this.sent = sent;
      this.rehearsed = sent ? JSON.parse(sent) : null;
      this.pressed = "";
      this.unanswered = false;
    }
    this.told = told;
    this.moment = moment;
    this.update();
  }

  update() {
    const focused = document.activeElement?.id ?? "";
    const found = this.rehearsed?.peaks;
    this.head.hidden = !this.told?.of && !this.going && !found;
    const nodes = this.headed();
    if (nodes.length !== this.head.childNodes.length || nodes.some((node, at) => node !== this.head.childNodes[at])) {
      this.head.replaceChildren(...nodes);
    }
    this.found.hidden = !found;
    this.about.hidden = this.head.hidden || Boolean(found);
    this.found.classList.toggle("ds-old", this.outdated);
    this.draw();
    if (focused.startsWith("ds-mem-dry")) this.focus(focused);
  }

  /** Cancel stands where Ask stood. @param {string} focused */
  focus(focused) {
    const node = document.getElementById(focused) ?? this.head.querySelector("button");
    node?.focus();
  }

  get going() {
    return ["running", "waiting"].includes(this.rehearsed?.state ?? "");
  }

  /** Whether what is shown is about something else than the page. */
  get outdated() {
    return this.rehearsed !== null && (this.rehearsed.of ?? this.asked) !== this.told?.of;
  }

  /** @param {"ask" | "cancel"} act */
  button(act) {
    const title = act === "ask" ? words("how") : undefined;
    return button(words(act), { class: "ds-mem-do", id: `ds-mem-dry-${act}`, title }, () => this.press(act));
  }

  /** The button, and what there is to say. */
  headed() {
    const busy = String(this.pressed !== "");
    const press = this.buttons[this.going ? "cancel" : "ask"];
    press.setAttribute("aria-disabled", busy);
    press.setAttribute("aria-busy", busy);
    const says = this.says();
    if (this.status.textContent !== says) this.status.textContent = says;
    const found = Boolean(this.rehearsed?.peaks);
    const answered = found && !this.outdated;
    const shown = this.going || (this.told?.of && !answered);
    return [...(shown ? [press] : []), this.status, ...(found && this.outdated ? [this.stale] : [])];
  }

  says() {
    const { rehearsed, told } = this;
    if (this.unanswered) return pageWords("memory_page", "unanswered");
    if (rehearsed && this.going) {
      return words("going", { seconds: String(rehearsed.seconds ?? 0), now: rehearsed.said });
    }
    if (rehearsed?.state === "cannot" && !this.outdated) {
      return told?.devices ? `${rehearsed.said} ${words("stands")}` : rehearsed.said;
    }
    if (rehearsed?.peaks) return rehearsed.said;
    return told?.devices ? "" : words("how");
  }

  /** @param {"ask" | "cancel"} act */
  press(act) {
    if (this.pressed) return;
    this.pressed = act;
    this.unanswered = false;
    this.asked = this.told?.of ?? "";
    this.update();
    this.trigger(act === "ask" ? "rehearse" : "cancel", {});
  }

  draw() {
    const { rehearsed } = this;
    if (!rehearsed?.peaks || !rehearsed.phases) return;
    const { of = "", phases, peaks, code = {} } = rehearsed;
    this.timeline.draw(of, (width) => timelineOf(phases, look(), width));
    const devices = ["gpu", "host"].filter((device) => peakOf(peaks, device, ""));
    if (!devices.includes(this.device)) this.device = devices[0] ?? "gpu";
    const peak = peakOf(peaks, this.device, this.moment) ?? peakOf(peaks, this.device, "");
    if (!peak) return;
    const shown = `${of}/${peak.device}/${peak.moment}`;
    if (this.peak.dataset.shown !== shown) {
      this.peak.dataset.shown = shown;
      this.peak.replaceChildren(this.devices(devices, peak));
      this.lines.replaceChildren(list(peak, code));
    }
    this.treemap.draw(shown, (width) => treemapOf(peak, code, look(), width));
  }

  /** Which device's peak is shown. @param {string[]} devices @param {RehearsedPeak} peak */
  devices(devices, peak) {
    const buttons = devices.map((device) => {
      const id = `ds-mem-dry-${device}`;
      const attributes = { class: "ds-mem-moment", id, "aria-pressed": String(device === this.device) };
      return button(textOf("memory_places", device), attributes, () => {
        this.device = device;
        this.draw();
        document.getElementById(id)?.focus();
      });
    });
    const group = { class: "ds-mem-moments", role: "group", "aria-label": words("peak") };
    return el("div", group, ...(buttons.length > 1 ? buttons : []), peakName(peak));
  }
}

/** @param {string} text */
const heading = (text) => el("p", { class: "ds-mem-dry-title" }, text);

/**
 * What the treemap shows, for who can't point at it.
 * @param {RehearsedPeak} peak @param {Record<string, string>} code
 */
function list(peak, code) {
  const rows = componentsOf(peak).flatMap((component) =>
    component.lines.map((one) => {
      const swatch = el("span", { class: "ds-mem-swatch", "data-place": one.place, "aria-hidden": "true" });
      swatch.style.background = colourOf(one.part);
      const where = el("code", { class: "ds-option", title: code[one.line ?? ""] }, one.line ?? lineName(one));
      const bytes = el("td", { class: "ds-mem-gib" }, gib(one.bytes));
      return el("tr", {}, el("td", {}, swatch, partName(one)), bytes, el("td", {}, where));
    }),
  );
  const table = el("table", { class: "ds-mem-lines" }, el("tbody", {}, ...rows));
  return el("details", { class: "ds-mem-notes" }, el("summary", {}, words("lines")), table);
}

/** A chart that is drawn anew when it shows something else, or has another width. */
class Drawing {
  /** @param {string} name @param {string} label */
  constructor(name, label) {
    /** @type {PlotElement} */
    this.node = el("div", { class: `ds-plot ${name}`, role: "img", "aria-label": label });
    this.drawn = "";
  }

  /** @param {string} shown @param {(width: number) => { traces: object[], layout: object }} make */
  draw(shown, make) {
    const width = this.node.clientWidth;
    const state = `${shown}/${width}`;
    if (!width || state === this.drawn) return;
    this.drawn = state;
    loadPlotly()
      .then((Plotly) => {
        const { traces, layout } = make(width);
        return Plotly.react(this.node, traces, layout, CONFIG);
      })
      .catch((error) => {
        this.drawn = "";
        this.node.textContent = pageWords("memory_page", "not_drawn", { why: messageOf(error) });
      });
  }
}
