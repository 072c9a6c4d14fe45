// plotly.js, loaded when a chart is drawn for the first time, and how the page looks that it draws on.

import { el } from "../common/dom.js";

/** @import { PlotlyLibrary } from "../types.d.ts" */

/** @type {Promise<PlotlyLibrary> | null} */
let plotlyLoading = null;
export function loadPlotly() {
  plotlyLoading ??= new Promise((resolve, reject) => {
    const script = el("script", { src: "/dsgui/static/plotly.min.js" });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      plotlyLoading = null;
      reject(new Error("plotly.min.js did not load"));
    };
    document.head.append(script);
  });
  return plotlyLoading;
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
