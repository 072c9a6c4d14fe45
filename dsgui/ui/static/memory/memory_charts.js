// What plotly is handed for a dry run: its bytes phase by phase, and its peak by component and line. Pure: the page's
// colours are given.

import { GIB, gib } from "../common/format.js";
import { listed, textOf } from "../texts/texts.js";
import { partName } from "./memory_bars.js";

/** @import { RehearsedPart, RehearsedPeak, RehearsedPhase } from "../types.d.ts" */

/**
 * @typedef {object} MemoryLook
 * @property {string} text
 * @property {string} grid
 * @property {string} ground
 * @property {string} font its families
 * @property {(part: string) => string} colour of a component
 */

const HEIGHT = 120; // of one device's curve
const BELOW = 46;
const LEAST_TICK = 34; // pixels that a phase's name takes
const MARGIN = 62; // beside the curves
const DEVICES = ["gpu", "host"];
const BEFORE = new Set(["load", "model", "init"]);
/** @type {Record<string, string>} */
const SHORT = { forward: "fwd", backward: "bwd", step: "step" };

/** @param {RehearsedPhase} phase */
function nameOf({ phase, step }) {
  const name = textOf("memory_rehearsal", `phase_${phase}`, phase);
  return BEFORE.has(phase) ? name : listed([textOf("memory_rehearsal", "nth", "", { step: String(step + 1) }), name]);
}

/**
 * The devices of which anything is in use, each with its curve: every phase is as wide as any other, its points evenly
 * spread in it.
 * @param {RehearsedPhase[]} phases
 */
export function curvesOf(phases) {
  return DEVICES.flatMap((device) => {
    const points = phases.flatMap((phase, number) => {
      const counts = phase.counts[device] ?? [];
      return counts.map((count, at) => ({
        x: number + (at + 0.5) / counts.length,
        y: count / GIB,
        name: nameOf(phase),
      }));
    });
    return points.some(({ y }) => y > 0) ? [{ device, points }] : [];
  });
}

/** Where each step begins and ends, on the axis of phases. @param {RehearsedPhase[]} phases */
export function stepsOf(phases) {
  /** @type {{ step: number, from: number, to: number }[]} */
  const found = [];
  for (const [number, { phase, step }] of phases.entries()) {
    const last = found.at(-1);
    if (BEFORE.has(phase)) continue;
    if (last?.step === step) last.to = number + 1;
    else found.push({ step, from: number, to: number + 1 });
  }
  return found;
}

/** @param {RehearsedPhase[]} phases @param {MemoryLook} page @param {number} width */
export function timelineOf(phases, page, width) {
  const curves = curvesOf(phases);
  const traces = curves.map(({ device, points }, index) => ({
    x: points.map(({ x }) => x),
    y: points.map(({ y }) => y),
    text: points.map(({ name }) => name),
    type: "scatter",
    mode: "lines",
    yaxis: index ? `y${index + 1}` : "y",
    fill: "tozeroy",
    line: { color: page.colour(device === "gpu" ? "weights" : "activations"), width: 1.5, shape: "hvh" },
    hovertemplate: "%{text}: %{y:.2f} GiB<extra></extra>",
  }));
  const devices = curves.map(({ device }) => device);
  return { traces, layout: timelineLayout(phases, devices, page, width) };
}

/** @param {RehearsedPhase[]} phases @param {string[]} devices @param {MemoryLook} page @param {number} width */
function timelineLayout(phases, devices, page, width) {
  const named = (width - MARGIN) / phases.length >= LEAST_TICK;
  const axes = devices.map((device, index) => [
    index ? `yaxis${index + 1}` : "yaxis",
    axis(device, index, devices, page),
  ]);
  return {
    height: HEIGHT * devices.length + BELOW,
    width,
    margin: { l: 46, r: 10, t: 18, b: 28 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: page.font, color: page.text, size: 11 },
    showlegend: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: page.ground, font: { color: page.text } },
    xaxis: {
      range: [0, phases.length],
      fixedrange: true,
      showgrid: false,
      zeroline: false,
      anchor: devices.length > 1 ? `y${devices.length}` : "y",
      tickvals: named ? phases.map((_, number) => number + 0.5) : [],
      ticktext: named ? phases.map(({ phase }) => SHORT[phase] ?? phase) : [],
      tickangle: 0,
      tickfont: { size: 10 },
    },
    ...Object.fromEntries(axes),
    shapes: borders(phases, page),
    annotations: stepsOf(phases).map(({ step, from, to }) => ({
      x: (from + to) / 2,
      y: 1,
      yref: "paper",
      yanchor: "bottom",
      text: textOf("memory_rehearsal", "nth", "", { step: String(step + 1) }),
      showarrow: false,
      font: { size: 11, color: page.text },
    })),
  };
}

/** @param {string} device @param {number} index @param {string[]} devices @param {MemoryLook} page */
function axis(device, index, devices, page) {
  const share = 1 / devices.length;
  const isLast = index + 1 === devices.length;
  return {
    title: { text: `${textOf("memory_places", device)}, GiB`, standoff: 4, font: { size: 11 } },
    domain: [1 - (index + 1) * share + (isLast ? 0 : 0.07), 1 - index * share],
    rangemode: "tozero",
    gridcolor: page.grid,
    zerolinecolor: page.grid,
    automargin: true,
    fixedrange: true,
    nticks: 4,
  };
}

/**
 * A line where a phase begins, a stronger one where a step does.
 * @param {RehearsedPhase[]} phases @param {MemoryLook} page
 */
function borders(phases, page) {
  const first = new Set(stepsOf(phases).map(({ from }) => from));
  return phases.slice(1).map((_, index) => {
    const x = index + 1;
    const line = first.has(x) ? { color: page.text, width: 1 } : { color: page.grid, width: 1, dash: "dot" };
    return { type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, layer: "below", line };
  });
}

// --- the peak ------------------------------------------------------------------------------------------------------

/** `deepspeed/runtime/zero/stage3.py:789` as `stage3.py:789`. @param {RehearsedPart} one */
export function lineName({ line, smaller }) {
  if (line) return line.slice(line.lastIndexOf("/") + 1);
  return textOf("memory_rehearsal", smaller ? "smaller" : "no_line");
}

/**
 * The peak of a device at a moment, by default its fullest.
 * @param {RehearsedPeak[]} peaks @param {string} device @param {string} moment
 */
export const peakOf = (peaks, device, moment) =>
  peaks.find((one) => one.device === device && (moment ? one.moment === moment : one.fullest));

/** @param {RehearsedPeak} peak */
const bytesOf = (peak) => peak.parts.reduce((sum, { bytes }) => sum + bytes, 0);

/** @param {RehearsedPeak} peak */
export function peakName(peak) {
  const [device, phase] = [textOf("memory_places", peak.device), textOf("memory_rehearsal", `phase_${peak.moment}`)];
  return `${listed([device, phase])}: ${gib(bytesOf(peak))}`;
}

/** The lines of a peak by their components, the larger first. @param {RehearsedPeak} peak */
export function componentsOf(peak) {
  /** @type {Map<string, { part: string, place: string, bytes: number, lines: RehearsedPart[] }>} */
  const found = new Map();
  for (const one of peak.parts) {
    const key = `${one.part}/${one.place}`;
    const component = found.get(key) ?? { part: one.part, place: one.place, bytes: 0, lines: [] };
    component.bytes += one.bytes;
    component.lines.push(one);
    found.set(key, component);
  }
  return [...found.values()].toSorted((a, b) => b.bytes - a.bytes);
}

/**
 * A sector for the peak, one for each of its components, and one for each line of those.
 * @param {RehearsedPeak} peak @param {Record<string, string>} code the lines' texts
 */
export function sectorsOf(peak, code) {
  const name = peakName(peak);
  const root = { id: "peak", parent: "", label: "", bytes: bytesOf(peak), part: "", hover: name };
  const inner = componentsOf(peak).flatMap((component) => {
    const id = `${component.part}/${component.place}`;
    const label = partName(component);
    const hover = `${label}: ${gib(component.bytes)}`;
    const lines = component.lines.map((one) => ({
      id: `${id}/${one.line ?? (one.smaller ? "…" : "")}`,
      parent: id,
      label: lineName(one),
      bytes: one.bytes,
      part: one.part,
      hover: hoverOf(one, code),
    }));
    return [{ id, parent: "peak", label, bytes: component.bytes, part: component.part, hover }, ...lines];
  });
  return [root, ...inner];
}

/** @param {RehearsedPart} one @param {Record<string, string>} code */
function hoverOf(one, code) {
  const lines = [`${partName(one)}: ${gib(one.bytes)}`, one.line ?? lineName(one), code[one.line ?? ""] ?? ""];
  return lines.filter(Boolean).map(plain).join("<br>");
}

/** plotly reads tags in texts. @param {string} text */
const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/**
 * @param {RehearsedPeak} peak @param {Record<string, string>} code @param {MemoryLook} page
 * @param {number} width
 */
export function treemapOf(peak, code, page, width) {
  const sectors = sectorsOf(peak, code);
  const trace = {
    type: "treemap",
    ids: sectors.map(({ id }) => id),
    parents: sectors.map(({ parent }) => parent),
    labels: sectors.map(({ label }) => label),
    values: sectors.map(({ bytes }) => bytes),
    text: sectors.map(({ label, bytes }) => (label ? gib(bytes) : "")),
    customdata: sectors.map(({ hover }) => hover),
    branchvalues: "total",
    textinfo: "label+text",
    hovertemplate: "%{customdata}<extra></extra>",
    pathbar: { visible: false },
    tiling: { pad: 2 },
    marker: {
      colors: sectors.map(({ part }) => (part ? page.colour(part) : page.ground)),
      line: { color: page.ground, width: 1 },
      pad: { t: 18, l: 2, r: 2, b: 2 },
    },
  };
  const layout = {
    height: width < 480 ? 300 : 340,
    width,
    margin: { l: 0, r: 0, t: 0, b: 0 },
    paper_bgcolor: "rgba(0,0,0,0)",
    font: { color: page.text, size: 12 },
    uniformtext: { minsize: 9, mode: "hide" },
    hoverlabel: { bgcolor: page.ground, font: { color: page.text }, align: "left" },
  };
  return { traces: [trace], layout };
}
