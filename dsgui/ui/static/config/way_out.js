// What would make a config fit that doesn't, below the verdict that says so: the memory panel finds and applies it.

import { button, el } from "../common/dom.js";

/** @import { WayOut } from "../types.d.ts" */

const CHANGED = "dsgui:way-out";
const ID = "way-out";
/** @type {WayOut | null} */
let told = null;

/** @param {WayOut | null} now null where nothing is to be changed */
export function tellWayOut(now) {
  told = now;
  document.dispatchEvent(new Event(CHANGED));
}

/** @param {() => void} listener */
export const onWayOut = (listener) => document.addEventListener(CHANGED, listener);

/** Where the verdict asks for it. @param {ParentNode} findings */
export function showWayOut(findings) {
  const place = findings.querySelector(".ds-way-out");
  if (!place) return;
  const focused = document.activeElement?.id === ID;
  place.replaceChildren(...(told ? drawn(told) : []));
  if (focused) document.getElementById(ID)?.focus();
}

/** @param {WayOut} way */
function drawn({ text, name, looking, press }) {
  const attributes = { class: "ds-fix", id: ID, "aria-disabled": String(looking), "aria-busy": looking };
  return [
    ...(text ? [el("p", { class: "ds-advice" }, text)] : []),
    ...(name ? [el("p", {}, button(name, attributes, press))] : []),
  ];
}
