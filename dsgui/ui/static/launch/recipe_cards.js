// The cards of what to train. What a recipe does and what it takes are an element each: a title that wraps on a phone
// keeps its size. Once something is chosen, only that card is left: what belongs to it is on the first screen then.
// Whoever goes through the cards by keys sees them all until the focus has left.

import { hasFollowed } from "./as_planned.js";
import { button, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

const CARDS = "what-to-run";

/** Gradio's radio buttons may be drawn after what asks for this. */
export function dressCards() {
  if (dress()) return;
  const watching = new MutationObserver(() => dress() && watching.disconnect());
  watching.observe(document.body, { childList: true, subtree: true });
}

/** Whether they were there. */
const dress = () => split() && fold();

/** The text stays Gradio's own node. */
function split() {
  const labels = document.querySelectorAll(`#${CARDS} label > span`);
  for (const { firstChild } of labels) {
    const [title, ...rest] = firstChild?.nodeValue?.split("\n") ?? [];
    if (!firstChild || !rest.length) continue;
    firstChild.nodeValue = `${title} `;
    firstChild.parentNode?.append(el("small", {}, rest.join(" ")));
  }
  return labels.length > 0;
}

function fold() {
  const cards = document.getElementById(CARDS);
  if (!cards?.querySelector("label")) return false;
  const change = button(words("launch_page", "change"), { class: "ds-change", id: "change-what", hidden: "" }, open);
  cards.append(change);
  let chosen = chosenIn(cards);
  /** @param {boolean} folds */
  function set(folds) {
    cards?.toggleAttribute("data-folded", folds);
    change.hidden = !folds;
  }
  function open() {
    set(false);
    /** @type {HTMLElement | null} */ (cards?.querySelector("input:checked"))?.focus();
  }
  cards.addEventListener("click", ({ target, detail }) => {
    const card = target instanceof Element && target.closest("label");
    if (card && detail > 0) set(true); // a key's click has no count
  });
  cards.addEventListener("focusout", ({ relatedTarget }) => {
    const within = relatedTarget instanceof Node && cards.contains(relatedTarget);
    if (!within && relatedTarget && chosenIn(cards) !== chosen) set(true);
    if (!within) chosen = chosenIn(cards);
  });
  // A clone, an import or a goal chooses by itself, perhaps before this was drawn.
  new MutationObserver(() => {
    const now = chosenIn(cards);
    if (cards.contains(document.activeElement) || now < 0 || now === chosen) return;
    chosen = now;
    if (!hasFollowed()) set(true);
  }).observe(cards, { subtree: true, attributeFilter: ["class"] });
  const line = document.getElementById("loaded-run");
  let clone = isClone();
  if (line) {
    new MutationObserver(() => {
      if (isClone() && !clone) set(true);
      clone = isClone();
    }).observe(line, { childList: true, subtree: true });
  }
  if ((chosen > 0 && !hasFollowed()) || clone) set(true);
  return true;
}

/** @param {HTMLElement} cards */
const chosenIn = (cards) => [...cards.querySelectorAll("label")].findIndex((one) => one.matches(".selected"));

const isClone = () => Boolean(document.querySelector("#loaded-run .ds-cloned"));
