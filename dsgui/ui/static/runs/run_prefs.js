// How this user looks at runs: kept by the browser. And how far a value is from the baseline's.

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

const LEAST = 0.1; // percent: below it two values are the same

/** @param {number} size */
const twoDigits = (size) => (size >= 9.95 ? Math.round(size) : Number(size.toPrecision(2)));

/**
 * How much more or less a value is than the baseline's, as `+17 %` or `+1,400 %`; "" where it is as much, or can't be
 * compared.
 * @param {Told | null | undefined} value @param {Told | null | undefined} base
 */
export function differenceOf(value, base) {
  if (typeof value !== "number" || typeof base !== "number" || !(base > 0) || !Number.isFinite(value)) return "";
  const percent = (100 * (value - base)) / base;
  const size = Math.abs(percent);
  if (size < LEAST || size === Infinity) return "";
  return `${percent < 0 ? "−" : "+"}${twoDigits(size).toLocaleString("en-US")} %`;
}
