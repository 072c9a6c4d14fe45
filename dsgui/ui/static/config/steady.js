// What somebody types in stays where it is on the screen: what changes above it is made up for by scrolling. The
// browser would hold another part of the page, or none.

import { EDITOR } from "./editor.js";

const HELD = `#${EDITOR}, #memory input, #memory textarea, #config-form :is(input, select, textarea)`;
const LEAST = 1; // pixel

/** Of all that is typed in on 1 · Configure. */
export function holdWhatIsTypedIn() {
  /** @type {Element | null} */
  let held = null;
  let [at, scrolled] = [0, 0];
  const place = () => (held ? held.getBoundingClientRect().top + window.scrollY : 0);
  const note = () => {
    held = document.activeElement?.closest(HELD) ?? null;
    document.documentElement.style.overflowAnchor = held ? "none" : "";
    [at, scrolled] = [place(), window.scrollY];
  };
  const hold = () => {
    const moved = place() - at;
    const stays = held?.contains(document.activeElement) && held.checkVisibility();
    if (stays && Math.abs(moved) >= LEAST) window.scrollTo({ top: from(scrolled) + moved, behavior: "instant" });
    note();
  };
  for (const event of ["focusin", "focusout", "resize"]) window.addEventListener(event, note);
  // Who scrolls wants to be elsewhere; a page that got shorter was scrolled by nobody.
  window.addEventListener("scroll", () => (from(scrolled) === window.scrollY ? note() : hold()));
  const watching = new ResizeObserver(hold);
  for (const id of ["workspace", "checked"]) {
    const box = document.getElementById(id);
    if (box) watching.observe(box);
  }
  watching.observe(document.body);
}

/** Where the page was: one that got shorter has no more of it, and was scrolled. @param {number} before */
function from(before) {
  const end = document.documentElement.scrollHeight - window.innerHeight;
  return window.scrollY < before && window.scrollY >= end - LEAST ? before : window.scrollY;
}
