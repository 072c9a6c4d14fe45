// What a training takes, as bars: a stack of parts for a GPU and one for the host, each against what there is. What a
// part is and which keys change it stands below the bar, for who points at it, taps it or comes by with the keyboard.

import { around, button, el, part } from "./dom.js";
import { gib } from "./format.js";
import { barOf, colourOf, idOf, keyName, partsOf } from "./memory_bars.js";
import { textOf } from "./texts.js";

/** @import { MemoryDevice, MemoryPart, MemoryTold, Props, Trigger, Watch } from "./types.d.ts" */

const ALL = "";

class Memory {
  /** @param {HTMLElement} root @param {Props<unknown>} props @param {Trigger} trigger */
  constructor(root, props, trigger) {
    this.root = root;
    this.props = props;
    this.trigger = trigger;
    this.moment = ALL;
    this.chosen = "";
    root.addEventListener("click", (event) => {
      const where = around(event, "[data-goto]")?.dataset.goto;
      if (where !== undefined) window.dispatchEvent(new CustomEvent("dsgui:goto", { detail: where }));
    });
  }

  /** @returns {MemoryTold | null} */
  told() {
    const { value } = this.props;
    return typeof value === "string" && value ? JSON.parse(value) : null;
  }

  show() {
    const told = this.told();
    const focused = document.activeElement?.id ?? "";
    this.root.replaceChildren(...(told ? this.drawn(told) : []));
    if (focused && this.root.querySelector(`#${CSS.escape(focused)}`)) document.getElementById(focused)?.focus();
  }

  /** @param {MemoryTold} told */
  drawn(told) {
    if (!told.devices) {
      return [head(told), el("p", { class: "ds-subject" }, told.why?.text ?? "")];
    }
    return [
      head(told),
      ...told.devices.map((device) => this.device(device, told)),
      this.moments(told.devices),
      this.about(told.devices),
      ...told.short.map((one) => el("p", { class: "ds-mem-short" }, one.text)),
      notes(told),
    ];
  }

  /** @param {MemoryDevice} device @param {MemoryTold} told */
  device(device, told) {
    const bar = barOf(device, this.moment);
    const name = textOf("memory_places", device.device);
    const each = device.device === "gpu" && told.ranks > 1 ? ` (each of ${told.ranks})` : "";
    const need = bar.capacity === null ? gib(bar.bytes) : `${gib(bar.bytes)} of ${gib(bar.capacity)}`;
    const fit = device.device === "nvme" ? "" : `, ${textOf("memory_fits", bar.fit)}`;
    const track = el("div", { class: "ds-mem-track" });
    for (const one of bar.segments) {
      const segment = button("", this.segment(device, one.part), () => this.choose(one.id));
      segment.style.width = `${one.width}%`;
      segment.style.background = colourOf(one.part.part);
      segment.addEventListener("mouseenter", () => this.point(one.id));
      segment.addEventListener("focus", () => this.point(one.id));
      track.append(segment);
    }
    const line = el("span", { class: "ds-mem-line", "aria-hidden": "true" });
    if (bar.line !== null) line.style.left = `${bar.line}%`;
    const marks = bar.line === null ? [] : [line];
    return el(
      "section",
      { class: "ds-mem-device", "data-device": device.device, "data-fit": bar.fit },
      el(
        "p",
        { class: "ds-mem-name" },
        el("b", {}, `${name}${each}`),
        el("span", { class: "ds-mem-need" }, `${need}${fit}`),
      ),
      el("div", { class: "ds-mem-bar", role: "group", "aria-label": `${name}: ${need}${fit}` }, track, ...marks),
    );
  }

  /** @param {MemoryDevice} device @param {MemoryPart} one */
  segment(device, one) {
    const label = `${partName(one)}, ${range(one)}`;
    return {
      class: "ds-mem-part",
      id: idOf(device.device, one),
      "data-place": one.place,
      title: label,
      "aria-label": label,
    };
  }

  /** Every moment with what it takes; one of them is shown. @param {MemoryDevice[]} devices */
  moments(devices) {
    const named = [...new Set(devices.flatMap((device) => device.moments.map((one) => one.moment)))];
    const buttons = [ALL, ...named].map((moment) => {
      const pressed = this.moment === moment;
      const label = moment === ALL ? "fullest" : textOf("memory_moments", moment);
      const attributes = {
        class: "ds-mem-moment",
        id: `ds-moment-${moment || "all"}`,
        "aria-pressed": String(pressed),
      };
      return button(label, attributes, () => {
        this.moment = moment;
        this.show();
      });
    });
    return el("div", { class: "ds-mem-moments", role: "group", "aria-label": "Moment" }, "At:", ...buttons);
  }

  /** The list of parts, and what the chosen one is. @param {MemoryDevice[]} devices */
  about(devices) {
    const items = partsOf(devices, this.moment).map(({ device, part: one, id }) => {
      const swatch = el("span", { class: "ds-mem-swatch", "data-place": one.place, "aria-hidden": "true" });
      swatch.style.background = colourOf(one.part);
      const open = this.chosen === id;
      const entry = button("", { class: "ds-mem-entry", id: `${id}-entry`, "aria-expanded": String(open) }, () =>
        this.choose(open ? "" : id),
      );
      const places = devices.length > 1 ? `${textOf("memory_places", device.device)}: ` : "";
      entry.append(
        swatch,
        el("span", {}, `${places}${partName(one)}`),
        el("span", { class: "ds-mem-gib" }, range(one)),
      );
      return el("li", { "data-part": id }, entry, ...(open ? [explained(one)] : []));
    });
    return el("ul", { class: "ds-mem-parts" }, ...items);
  }

  /** @param {string} id */
  choose(id) {
    this.chosen = id;
    this.show();
  }

  /** @param {string} id */
  point(id) {
    for (const entry of this.root.querySelectorAll("[data-part]")) {
      entry.classList.toggle("ds-mem-pointed", entry.getAttribute("data-part") === id);
    }
  }
}

/** @param {MemoryTold} told */
function head(told) {
  const chip = el(
    "span",
    { class: "ds-mem-chip", "data-fit": told.fit, role: "status" },
    textOf("memory_fits", told.fit),
  );
  const about = told.about ? [el("span", { class: "ds-mem-about" }, told.about)] : [];
  return el("p", { class: "ds-mem-head" }, el("b", {}, "Memory"), chip, ...about);
}

/** @param {MemoryTold} told */
function notes(told) {
  if (!told.notes.length) return "";
  const items = told.notes.map((one) => el("li", {}, one.text));
  const count = items.length === 1 ? "1 assumption" : `${items.length} assumptions`;
  return el("details", { class: "ds-mem-notes" }, el("summary", {}, count), el("ul", {}, ...items));
}

/** What a part is, and the keys that change it. @param {MemoryPart} one */
function explained(one) {
  const keys = (one.keys ?? []).map((pointer) =>
    pointer.startsWith("/")
      ? el("button", { type: "button", class: "ds-where", "data-goto": pointer }, keyName(pointer))
      : el("code", { class: "ds-option" }, pointer),
  );
  const changed = keys.length ? [el("span", { class: "ds-mem-keys" }, "Changed by: ", ...spaced(keys))] : [];
  return el("p", { class: "ds-mem-explained" }, textOf("memory_about", one.part), " ", ...changed);
}

/** @param {HTMLElement[]} nodes */
const spaced = (nodes) => nodes.flatMap((node, index) => (index ? [", ", node] : [node]));

/** @param {MemoryPart} one */
const partName = (one) => `${textOf("memory_parts", one.part)}${one.place === "pinned" ? " (pinned)" : ""}`;

/** @param {MemoryPart} one */
function range(one) {
  return one.least === undefined || one.most === undefined ? gib(one.bytes) : `${gib(one.least)} to ${gib(one.most)}`;
}

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  const memory = new Memory(part(element, ".ds-memory"), props, trigger);
  watch("value", () => memory.show());
  memory.show();
}
