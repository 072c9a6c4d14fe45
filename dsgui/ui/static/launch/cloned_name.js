// The name of a clone follows what differs, until somebody types one: also while an answer with another is on its way.

const BOX = "#run-name input, #run-name textarea";
// Gradio may write the new line into the elements of the last.
const WATCHED = { childList: true, subtree: true, attributeFilter: ["data-name"] };

/** Writes each name that comes with the line of `#loaded-run` into the box, where the last one still stands there. */
export function followNames() {
  const line = document.getElementById("loaded-run");
  if (line) new MutationObserver(() => follow(line)).observe(line, WATCHED);
}

/** @param {HTMLElement} line */
function follow(line) {
  const told = /** @type {HTMLElement | null} */ (line.querySelector("[data-name]"));
  const box = /** @type {HTMLInputElement | HTMLTextAreaElement | null} */ (document.querySelector(BOX));
  if (!told || !box) return;
  const { was, name = "" } = told.dataset;
  told.removeAttribute("data-name"); // once
  if (box.value !== was) return;
  box.value = name;
  box.dispatchEvent(new Event("input", { bubbles: true }));
}
