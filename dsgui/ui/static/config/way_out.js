// What would make a config fit that doesn't, below the verdict that says so: the memory panel finds and applies it, and
// offers it itself where no verdict has a place for it.

import { button, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

/** @import { WayOut } from "../types.d.ts" */

const CHANGED = "dsgui:way-out";
const PLACED = "dsgui:way-out-placed";
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

/** Whether a verdict has a place for it. */
export const isPlaced = () => document.querySelector("#findings .ds-way-out") !== null;

/** Another verdict may have one, or none. @param {() => void} listener */
export const onPlaced = (listener) => document.addEventListener(PLACED, listener);

/** After another verdict. */
export const placed = () => document.dispatchEvent(new Event(PLACED));

/** What a press adds to the script's arguments; an option is broken nowhere. @param {string[]} given */
export function givenTold(given) {
  const [before, after] = words("memory_page", "given", { arguments: "\n" }).split("\n");
  const options = given.flatMap((one, place) => [place ? " " : "", el("code", { class: "ds-option" }, one)]);
  return el("span", {}, before, ...options, after);
}

/** Where the verdict asks for it. @param {ParentNode} findings */
export function showWayOut(findings) {
  const place = findings.querySelector(".ds-way-out");
  if (!place) return;
  const focused = document.activeElement?.id === ID;
  place.replaceChildren(...(told ? drawn(told) : []));
  if (focused) document.getElementById(ID)?.focus();
}

/** @param {WayOut} way */
function drawn({ text, steps, other, leads, name, looking, press }) {
  const attributes = { class: "ds-fix", id: ID, "aria-disabled": String(looking), "aria-busy": looking };
  return [
    ...(text ? [el("p", { class: "ds-advice", role: "status" }, text)] : []),
    ...(steps.length ? [el("ul", { class: "ds-way-steps" }, ...steps.map((one) => el("li", {}, one)))] : []),
    ...leads,
    ...(name ? [el("p", {}, button(name, attributes, press))] : []),
    ...(other ? [el("p", { class: "ds-advice" }, other)] : []),
  ];
}
