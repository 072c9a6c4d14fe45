// What somebody types in stays where it is on the screen: what changes above it is made up for by scrolling. The
// browser would hold another part of the page, or none.

import { EDITOR, isFocused } from "./editor.js";

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

const STILL_MS = 250;

/**
 * While the text is no JSON the form waits, and on a narrow screen it would lie between what is wrong and the editor:
 * its fields go, and the editor follows (config/form.css). Not under who types there: they go when the editor is left
 * or out of view and nothing scrolls, and what is seen below them stays where it is.
 *
 * Returns what puts the fields of `form` aside once nobody is at them, or brings them back.
 * @param {HTMLElement} form @returns {(waits: boolean) => void} */
export function puttingAside(form) {
  let [waits, timer] = [false, 0];
  /** @param {boolean} aside */
  const put = (aside) => stayingInView(form, () => form.classList.toggle("ds-aside", aside));
  const onceStill = () => {
    if (!waits || form.classList.contains("ds-aside")) return;
    clearTimeout(timer);
    const begun = window.scrollY;
    timer = window.setTimeout(() => {
      if (window.scrollY !== begun) onceStill();
      else if (waits && !isTyping() && !form.contains(document.activeElement)) put(true);
    }, STILL_MS);
  };
  for (const event of ["focusout", "scroll"]) document.addEventListener(event, onceStill);
  return (now) => {
    waits = now;
    if (waits) onceStill();
    // In a frame of its own: the browser makes up for what else changed in this one.
    else requestAnimationFrame(() => setTimeout(() => !waits && form.classList.contains("ds-aside") && put(false)));
  };
}

const editor = () => document.getElementById(EDITOR)?.getBoundingClientRect() ?? new DOMRect();

/** In the editor, of which something is in view. */
const isTyping = () => isFocused() && editor().top < window.innerHeight && editor().bottom > 0;

/** @param {HTMLElement} form @param {() => void} change of its height */
function stayingInView(form, change) {
  const [before, stays] = [editor().top, isTyping() || form.getBoundingClientRect().top < 0];
  change();
  if (stays) window.scrollBy({ top: editor().top - before, behavior: "instant" });
}
