// What stands on Launch is being checked, and that takes a while: the first look at a script asks its libraries. Until
// the answer comes the page says so, over what it said of what stood there before.

import { words } from "../texts/texts.js";

const SOON_MS = 600; // an answer that comes sooner needs no word

/** @type {ReturnType<typeof setTimeout> | undefined} */
let soon;

/** @param {string | null} told */
function show(told) {
  const checks = document.getElementById("preflight");
  if (told) checks?.setAttribute("data-checking", told);
  else checks?.removeAttribute("data-checking");
  checks?.setAttribute("aria-busy", String(Boolean(told)));
}

/** Once for the page. */
export function tellWhileChecked() {
  document.addEventListener("dsgui:asked", () => {
    clearTimeout(soon);
    soon = setTimeout(() => show(words("launch_page", "checking")), SOON_MS);
  });
  document.addEventListener("dsgui:answered", () => {
    clearTimeout(soon);
    show(null);
  });
}
