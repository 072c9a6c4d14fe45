// The name of a clone follows what differs, until somebody types one: also while an answer with another is on its way.

const BOX = "#run-name input, #run-name textarea";
// Gradio may write the new line into the elements of the last.
const WATCHED = { childList: true, subtree: true, attributeFilter: ["data-name"] };

const [TRIES, AGAIN_MS] = [100, 100];

/** Writes each name that comes with the line of `#loaded-run` into the box, where one of ours still stands there. */
export function followNames() {
  const line = document.getElementById("loaded-run");
  if (!line) return;
  new MutationObserver((seen) => {
    if (seen.some(({ type }) => type === "childList")) clearTimeout(waiting); // of another clone, or typed by now
    follow(line);
  }).observe(line, WATCHED);
}

/** @type {number | undefined} */
let waiting;

/** @param {HTMLElement} line */
function follow(line) {
  const told = /** @type {HTMLElement | null} */ (line.querySelector("[data-name]"));
  if (!told) return;
  const { was = "[]", name = "" } = told.dataset;
  told.removeAttribute("data-name"); // once
  clearTimeout(waiting);
  write(JSON.parse(was), name, TRIES);
}

/**
 * Gradio may write the last name into the box after the line that has the next. Not waited for while somebody types.
 * @param {string[]} ours all names that the box was given for this clone @param {string} name @param {number} tries
 */
function write(ours, name, tries) {
  const box = /** @type {HTMLInputElement | HTMLTextAreaElement | null} */ (document.querySelector(BOX));
  if (box && ours.includes(box.value)) {
    box.value = name;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  } else if (tries && box?.value !== name && box !== document.activeElement) {
    waiting = window.setTimeout(() => write(ours, name, tries - 1), AGAIN_MS);
  }
}
