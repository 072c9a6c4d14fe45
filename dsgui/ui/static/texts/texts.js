// Codes as words. What was written before there were codes, or by a later dsgui, comes with its text. Pure.

import { TEXTS } from "./catalogue.js";

/** @import { RunEvent } from "../types.d.ts" */

// Of these a run never recovered, and what dsgui failed to record stays missing. Before alerts had codes, their subject
// told the values apart.
const LASTING = new Set(["nan", "nan_in_file", "infinite", "infinite_in_file", "own_fault"]);
const VALUES = new Set(["loss", "grad_norm", "eval_loss"]);
const PLACE = /\{(\w+)\}/g;
const [HAN, LATIN] = [/\p{Script=Han}/u, /[A-Za-z0-9]/];

/**
 * The text of a code; `otherwise` for one that is not known.
 * @param {string} kind @param {string} code @param {string} otherwise @param {Record<string, string>} given
 */
export function textOf(kind, code, otherwise = code, given = {}) {
  const text = TEXTS[kind]?.[code];
  if (text === undefined) return otherwise;
  return text.replace(PLACE, (place, name, at) => {
    const found = given[name] ?? place;
    return apart(text[at - 1], found[0]) + found + apart(found.at(-1), text[at + place.length]);
  });
}

/** A blank between a Chinese character and a Latin letter or a figure, as saying.py has it. @param {string} [one]
 * @param {string} [two] */
const apart = (one = "", two = "") =>
  (HAN.test(one) && LATIN.test(two)) || (LATIN.test(one) && HAN.test(two)) ? " " : "";

/**
 * A label, hint or message of a page; its code where it has no text.
 * @param {string} kind @param {string} code @param {Record<string, string>} [given]
 */
export const words = (kind, code, given = {}) => textOf(kind, code, code, given);

/** One beside the other, as the language sets them apart; "" for none. @param {string[]} parts */
export const listed = (parts) =>
  parts.length ? parts.reduce((first, then) => words("lists", "comma", { first, then })) : "";

/** As `listed`, of what has commas itself. @param {string[]} parts */
export const setApart = (parts) =>
  parts.length ? parts.reduce((first, then) => words("lists", "semicolon", { first, then })) : "";

/** What happened, in words. @param {RunEvent} event */
export function told({ kind, code, given, text, machine }) {
  if (!code) return text;
  const found = textOf(kind === "alert" || kind === "calm" ? "alerts" : "events", code, "", given);
  return found ? `${machine ? `${machine}: ` : ""}${found}` : text;
}

/** Whether an alert is one after the run has ended, too. @param {RunEvent} event */
export const lasts = ({ code, subject = "" }) => (code ? LASTING.has(code) : VALUES.has(subject.split(" ")[0]));
