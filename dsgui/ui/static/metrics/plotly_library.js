// plotly.js, loaded when there are charts for the first time, whose turn it is to be drawn, and how the page looks that
// it is drawn on.

import { el } from "../common/dom.js";

/** @import { PlotlyLibrary } from "../types.d.ts" */

const ADDRESS = "/dsgui/static/plotly.min.js";

/** @type {Promise<PlotlyLibrary> | null} */
let plotlyLoading = null;

/** While a page stands that has no chart yet, the browser may fetch what the next one needs. */
export function fetchAhead() {
  const fetched = () =>
    plotlyLoading ?? document.head.append(el("link", { rel: "prefetch", as: "script", href: ADDRESS }));
  window.requestIdleCallback?.(fetched);
}

export function loadPlotly() {
  plotlyLoading ??= new Promise((resolve, reject) => {
    const script = el("script", { src: ADDRESS });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      plotlyLoading = null;
      reject(new Error("plotly.min.js did not load"));
    };
    document.head.append(script);
  });
  return plotlyLoading;
}

let drawing = Promise.resolve();
/** One chart is drawn after the other: the page shows each, and answers, before the next begins. */
export function turn() {
  const mine = drawing;
  drawing = mine.then(() => new Promise((next) => setTimeout(next)));
  return mine;
}

export const isDark = () => document.body.classList.contains("dark");

/** What a variable of the style sheet is here. @param {string} name @param {string} otherwise */
export const styled = (name, otherwise) => getComputedStyle(document.body).getPropertyValue(name).trim() || otherwise;

/**
 * A colour of the style sheet as plotly reads it: where the system's own are forced it is CanvasText, which plotly drew
 * as a dark grey, on black.
 * @param {string} name @param {string} otherwise
 */
export function plotColour(name, otherwise) {
  const told = styled(name, otherwise);
  if (!matchMedia("(forced-colors: active)").matches) return told;
  const probe = document.createElement("span");
  probe.style.cssText = `forced-color-adjust: none; color: ${told}`; // one of ours stays as it is
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
