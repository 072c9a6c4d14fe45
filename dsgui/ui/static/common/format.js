// Numbers as a page shows them. Pure.

import { words } from "../texts/texts.js";

export const GIB = 2 ** 30;
const TIB = 2 ** 40;
const UNITS = ["bytes", "KB", "MB", "GB", "TB"];
const FEW_DIGITS = 3;
const NONE = "–";
const SMALL = 1e-3; // from here on down noughts are counted, not read

/** @param {number} n */
const pad = (n) => String(n).padStart(2, "0");

/** Seconds as a clock shows them: 1:02:03, or 02:03 of less than an hour. @param {number | null | undefined} seconds */
export function clockTime(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return NONE;
  const s = Math.round(seconds);
  const rest = `${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
  return s >= 3600 ? `${Math.floor(s / 3600)}:${rest}` : rest;
}

/**
 * How long something took: 1h 02m, 2m 03s of less than an hour, 3s of less than a minute. As
 * `core/texts/durations.py` has it.
 * @param {number | null | undefined} seconds
 */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return NONE;
  const all = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  if (hours) return words("runs_page", "took_hours", { hours: String(hours), minutes: pad(minutes) });
  if (minutes) return words("runs_page", "took_minutes", { minutes: String(minutes), seconds: pad(rest) });
  return words("runs_page", "took_seconds", { seconds: String(rest) });
}

/**
 * A logged value in a few digits, a small one as 1e-4; "NaN" and the like are said as they are.
 * @param {number | string | null | undefined} value
 */
export function figure(value, digits = 4) {
  if (value === undefined || value === null) return NONE;
  if (typeof value !== "number" || !Number.isFinite(value)) return String(value);
  const rounded = Number(value.toPrecision(digits));
  return rounded && Math.abs(rounded) < SMALL ? rounded.toExponential() : rounded.toString();
}

/**
 * As `figure`, with noughts at its end: in a column every value has as many digits.
 * @param {number | string | null | undefined} value
 */
export function fixed(value, digits = 4) {
  if (typeof value !== "number" || !Number.isFinite(value)) return figure(value);
  const rounded = Math.abs(Number(value.toPrecision(digits)));
  if (rounded >= 10 ** digits) return figure(value, digits);
  return rounded && rounded < SMALL ? value.toExponential(digits - 1) : value.toPrecision(digits);
}

/** What a file takes, as file managers count it. @param {number} bytes */
export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** Memory. @param {number | null | undefined} bytes */
export function gib(bytes, digits = 2) {
  if (typeof bytes !== "number") return NONE;
  return isOfTib(bytes, digits) ? `${(bytes / TIB).toFixed(1)} TiB` : `${inGib(bytes, digits)} GiB`;
}

/** @param {number} bytes @param {number} digits */
const inGib = (bytes, digits) => (bytes / GIB).toFixed(digits);

/** As it is said: 1023.999 GiB are 1.0 TiB. @param {number} bytes @param {number} digits */
const isOfTib = (bytes, digits) => Number(inGib(bytes, digits)) >= TIB / GIB;

/** How much memory there is too little, or a machine has to have. @param {number} bytes */
export function roughly(bytes) {
  if (bytes > 0 && Number(inGib(bytes, 2)) === 0) return "<0.01 GiB";
  const places = [
    [2, 1],
    [1, 10],
  ];
  const [digits] = places.find(([some, below]) => Number(inGib(bytes, some)) < below) ?? [0];
  return gib(bytes, digits);
}

/** A text as a guess, unless it says so itself: `≈ 21 GiB`, `<0.01 GiB`. @param {string} text */
const guessed = (text) => (text.startsWith("<") ? text : `≈ ${text}`);

/** What a prediction is good for: `≈ 21 GiB`. @param {number} bytes */
export const predicted = (bytes) => guessed(roughly(bytes));

/** The same beside a limit, in its unit; where rounding might say the other of the two to be more, with a digit more.
 * @param {number} bytes @param {number} limit */
export function predictedBeside(bytes, limit) {
  if (Math.abs(bytes - limit) < GIB) return guessed(gib(bytes, 1));
  if (isOfTib(limit, 1)) return predicted(bytes);
  return predictedPart(bytes);
}

/** The same number for a column, whose rows have one unit, GiB: `1,050`, `376`, `4.3`. @param {number} bytes */
export function inColumn(bytes) {
  if (bytes < 1000 * GIB) return roughly(bytes).split(" ")[0];
  return Number((bytes / GIB).toPrecision(FEW_DIGITS)).toLocaleString("en-US");
}

/** What a part takes, in a column; from its least to its most where it has a margin. @param {number} bytes
 * @param {number} [least] @param {number} [most] */
export const predictedPart = (bytes, least = bytes, most = bytes) =>
  least === most ? `${guessed(inColumn(bytes))} GiB` : `${inColumn(least)}–${inColumn(most)} GiB`;

/** Steps a second, of slow ones as well: one unit, wherever a speed is told. @param {number | null} [rate] */
export const perSecond = (rate) =>
  rate && rate > 0
    ? words("runs_page", "steps_a_second", { rate: rate < 1000 ? fixed(rate, FEW_DIGITS) : figure(Math.round(rate)) })
    : NONE;

/** A whole number as one reads it, with its thousands apart; another text as it is. @param {string} text */
export const separated = (text) => (/^\d{5,15}$/.test(text) ? Number(text).toLocaleString("en-US") : text);
