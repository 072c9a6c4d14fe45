// The arithmetic of the memory bars: which moment, how wide each part, where the line is; a verdict in a word; the
// squares and the line of a legend, as the bars have them.

import { el } from "../common/dom.js";
import { gib, roughly } from "../common/format.js";
import { listed, textOf, words } from "../texts/texts.js";

/** @import { MemoryBar, MemoryChange, MemoryDevice, MemoryPart, MemoryTold } from "../types.d.ts" */

const LEAST = 5e-4;
const SEEN = 0.2; // percent of a bar: a narrower part is no pixel wide
const ROOM = 1.04; // beside a need that has no end, or is more than there is: that ends the bar
const COLOURS = new Map(
  Object.entries({
    weights: "states-1",
    frozen_weights: "states-1",
    gathered: "states-2",
    secondary_partition: "states-2",
    master: "states-3",
    moments: "states-4",
    gradients: "gradients",
    buckets: "sent-1",
    staging: "sent-2",
    swap_buffers: "sent-2",
    activations: "kept-1",
    logits: "kept-2",
    step: "passing-1",
    initialize: "passing-2",
    interpreter: "around-host",
    dataloader: "around-host",
    pinned_cache: "around-host",
    system: "around-host",
  }),
);

/** A variable of the style sheet: light and dark have their own. @param {string} part */
export const variableOf = (part) => `--ds-mem-${COLOURS.get(part) ?? "around"}`;

/** @param {string} part */
export const colourOf = (part) => `var(${variableOf(part)})`;

/** @param {string} device @param {MemoryPart} part */
export const idOf = (device, part) => `ds-part-${device}-${part.place}-${part.part}`;

/** Whether the panel, and what is told beside it, is of a text before the one that can't be read. */
export const isPaused = () => document.querySelector(".ds-memory[inert]") !== null;

/** `/zero_optimization/stage` as people write it. @param {string} pointer */
export const keyName = (pointer) => pointer.split("/").slice(1).join(".");

/**
 * What a device has at a moment, by default the fullest; widths and the capacity's line are percent of the bar, which
 * is as long as that of the same device `beside` it.
 * @param {MemoryDevice} device @param {string} moment @param {MemoryDevice} beside @returns {MemoryBar}
 */
export function barOf(device, moment, beside = device) {
  const { capacity, in_use: used } = device;
  const found = device.moments.find((one) => one.moment === (moment || device.worst));
  const bytes = found?.bytes ?? 0;
  const others = found && used ? [{ part: "in_use", place: device.device, bytes: used }] : [];
  const parts = [...(found?.parts ?? []).filter((one) => one.bytes > 0), ...others];
  const most = Math.max(...[...device.moments, ...beside.moments].map((one) => one.bytes)) + (used ?? 0);
  const ends = capacity !== null && most <= capacity;
  const scale = Math.max(capacity ?? 0, most, 1) * (ends ? 1 : ROOM);
  return {
    bytes,
    capacity,
    fit: moment ? (found?.fit ?? "fits") : device.fit,
    line: capacity === null ? null : (100 * capacity) / scale,
    segments: parts.map((part) => ({ part, width: (100 * part.bytes) / scale, id: idOf(device.device, part) })),
  };
}

/**
 * A verdict on all devices in a word, and how it is coloured.
 * @param {{ fit: string, host_asked?: number, why?: { code?: string } }} told
 */
export function fitOf({ fit, host_asked: asked, why }) {
  if (why?.code === "no_model") return { fit, text: words("memory_page", "no_model") };
  if (why && fit === "cannot_say") return { fit, text: words("memory_page", "not_estimated") };
  if (!asked || !["fits", "tight"].includes(fit)) return { fit, text: textOf("memory_fits", fit) };
  return { fit: "tight", text: words("memory_page", "fits_if_host", { size: roughly(asked) }) };
}

/**
 * The same of what the panel tells; where the errors are taken as fixed it says so of what is known.
 * @param {MemoryTold} told
 */
export function chipOf(told) {
  const { fit, text } = fitOf(told);
  return { fit, text: told.as_if && fit !== "cannot_say" ? words("memory_page", "chip_as_if", { fit: text }) : text };
}

/**
 * What stands below the bars: nothing where it fits, the offer to look for a change, that it is looked for, or what was
 * found for this very config.
 * @param {MemoryTold} told @param {MemoryChange | null} found @param {string} looking what is looked for
 * @returns {"nothing" | "offer" | "looking" | "found"}
 */
export function stageOf(told, found, looking) {
  if (!told.asked || !["does_not_fit", "tight"].includes(told.fit)) return "nothing";
  if (found?.asked === told.asked) return "found";
  return looking === told.asked ? "looking" : "offer";
}

/**
 * The parts of a device at a moment, the largest first; not the few bytes that a dry run finds here and there.
 * @param {MemoryDevice} device @param {string} moment
 */
export function partsOf(device, moment) {
  const { bytes, segments } = barOf(device, moment);
  return segments.filter(({ part }) => part.bytes > LEAST * bytes).toSorted((a, b) => b.part.bytes - a.part.bytes);
}

/**
 * What the legend below the bars names: each part once that can be seen in one of them, in their order.
 * @param {MemoryDevice[]} devices @param {string} moment @returns {MemoryPart[]}
 */
export function legendOf(devices, moment) {
  const bars = devices.flatMap((device) => barOf(device, moment).segments);
  const seen = bars.filter(({ width }) => width >= SEEN).map(({ part }) => part);
  return seen.filter((one, place) => seen.findIndex((other) => isAlike(one, other)) === place);
}

/** What a part is called. @param {{ part: string, place: string }} one */
export function partName({ part, place }) {
  const name = textOf("memory_parts", part);
  return place === "pinned" ? words("memory_page", "pinned", { part: name }) : name;
}

/** The square before a part's name, as the part is drawn. @param {{ part: string, place: string }} one */
export function swatchOf({ part: code, place }) {
  const about = { class: "ds-mem-swatch", "data-place": place, "data-code": code, "aria-hidden": "true" };
  const swatch = el("span", about);
  swatch.style.background = colourOf(code);
  return swatch;
}

/** What the line of a device is, and for a GPU why it isn't what its name says. @param {string} device
 * @param {number | null} capacity */
export const limitTold = (device, capacity) =>
  device === "gpu"
    ? words("memory_page", "limit_gpu", { size: gib(capacity) })
    : listed([words("memory_page", "limit"), gib(capacity)]);

/** The capacity's line, as it is drawn across a bar. */
export const lineSwatch = () => el("span", { class: "ds-mem-swatch", "data-place": "limit", "aria-hidden": "true" });

/** By their name and their look. @param {MemoryPart} one @param {MemoryPart} other */
const isAlike = (one, other) => one.part === other.part && (one.place === "pinned") === (other.place === "pinned");
