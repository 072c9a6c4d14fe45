// What stands on 2 · Launch stays over a reload of its tab, as the config does; another tab begins anew.

import { isOwn } from "./as_planned.js";
import { SECRET } from "../common/kept.js";

const DESK = "dsgui.launch";
const STAYS = { __type__: "update" };

let recalled = false; // what opens the page changes the fields as well, and is not to be kept

/** @param {...unknown} values of the fields, in their order; a secret is not kept */
export function remember(...values) {
  if (!recalled) return;
  const kept = values.map((one) => (typeof one === "string" && SECRET.test(one) ? null : one));
  try {
    sessionStorage.setItem(DESK, JSON.stringify(kept));
  } catch {
    /* a browser that keeps nothing */
  }
}

/**
 * What the fields become when the page opens: those that somebody was quicker in stay.
 * @param {string[]} ids of the fields @param {...unknown} values
 */
export function recall(ids, ...values) {
  recalled = true;
  /** @type {unknown} */
  let kept = null;
  try {
    kept = JSON.parse(sessionStorage.getItem(DESK) ?? "null");
  } catch {
    /* nothing that can be read */
  }
  if (!Array.isArray(kept) || kept.length !== ids.length) return ids.map(() => STAYS);
  const same = (/** @type {unknown} */ a, /** @type {unknown} */ b) => JSON.stringify(a) === JSON.stringify(b);
  return kept.map((one, at) => (one === null || isOwn(ids[at]) || same(one, values[at]) ? STAYS : one));
}
