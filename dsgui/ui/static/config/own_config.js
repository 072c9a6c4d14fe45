// Whether the config is none of the presets any more: the list of presets then shows its name, not theirs.

import { onPastedOver } from "./editor.js";

const [MARK, CHANGED, LIST] = ["data-own-config", "dsgui:own-config", "#preset"];

/** @param {string} name of the user's own config; "" while it is a preset */
export function tellOwn(name) {
  const root = document.documentElement;
  if (name) root.setAttribute(MARK, name);
  else root.removeAttribute(MARK);
  document.dispatchEvent(new Event(CHANGED));
}

/** Its name, for the list of presets; "" for any other. @param {Element} list */
export const ownName = (list) => (list.closest(LIST) && document.documentElement.getAttribute(MARK)) || "";

/** @param {() => void} listener */
export const onOwn = (listener) => document.addEventListener(CHANGED, listener);

/**
 * What is pasted over a whole config is another: the list of presets has none then.
 * @param {Element} list @param {() => void} listener
 */
export const onAnother = (list, listener) => list.closest(LIST) && onPastedOver(listener);
