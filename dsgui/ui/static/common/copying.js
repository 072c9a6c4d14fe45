// What is shown goes to the clipboard. A page that did not come over https, or from this machine, has none: there it is
// selected, for a key to copy it.

import { words } from "../texts/texts.js";

const TOLD_MS = 3000;

/** @param {HTMLElement} button says how it went @param {Element | null} shown */
export async function copyText(button, shown) {
  const copied = shown !== null && (await toClipboard(shown.textContent ?? ""));
  if (shown && !copied) document.getSelection()?.selectAllChildren(shown);
  button.textContent = words("tools_page", copied ? "copied" : "copy_by_key");
  setTimeout(() => (button.textContent = words("tools_page", "copy")), TOLD_MS);
}

/** @param {string} text @returns {Promise<boolean>} */
export async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not there, or not allowed
  }
}
