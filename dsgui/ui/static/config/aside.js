// While the text is no JSON the form waits, and on a narrow screen it would lie between what is wrong and the editor:
// its fields go, and the editor follows (config/form.css). Not under who types there: they go when the editor is left
// or out of view and nothing scrolls, and what is seen below them stays where it is.

import { EDITOR, isFocused } from "./editor.js";

const STILL_MS = 250;

/** What puts the fields of `form` aside once nobody is at them, or brings them back.
 * @param {HTMLElement} form @returns {(waits: boolean) => void} */
export function puttingAside(form) {
  let [waits, timer] = [false, 0];
  /** @param {boolean} aside */
  const put = (aside) => stayingInView(form, () => form.classList.toggle("ds-aside", aside));
  const onceStill = () => {
    if (!waits || form.classList.contains("ds-aside")) return;
    clearTimeout(timer);
    const from = window.scrollY;
    timer = window.setTimeout(() => {
      if (window.scrollY !== from) onceStill();
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
