// How this user looks at runs: kept by the browser. And a value in percent of the baseline's.

/** @import { Told } from "../types.d.ts" */

const KEPT = "dsgui.runs";

/**
 * @typedef {{ columns?: string[], sort?: string, down?: boolean, archived?: boolean, baseline?: string }} Prefs
 */

/** @returns {Prefs} */
export function prefs() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

/** @param {Prefs} changed */
export function keepPrefs(changed) {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...prefs(), ...changed }));
  } catch {
    /* a browser that keeps nothing */
  }
}

/** The id of the run that others are compared with. */
export function baseline() {
  const { baseline: id } = prefs();
  return typeof id === "string" && id ? id : undefined;
}

/**
 * "" where there is nothing to compare.
 * @param {Told | null | undefined} value @param {Told | null | undefined} base
 */
export function shareOf(value, base) {
  if (typeof value !== "number" || typeof base !== "number" || !(base > 0) || !Number.isFinite(value)) return "";
  const percent = (100 * value) / base;
  return `${percent >= 9.95 ? Math.round(percent) : Number(percent.toPrecision(2))} %`;
}
