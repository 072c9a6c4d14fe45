// What a recipe does and what it takes are an element each: a title that wraps on a phone keeps its size.

import { el } from "../common/dom.js";

const LABELS = "#what-to-run label > span";

/** Gradio's radio buttons may be drawn after what asks for this. */
export function splitTitles() {
  if (split()) return;
  const watching = new MutationObserver(() => split() && watching.disconnect());
  watching.observe(document.body, { childList: true, subtree: true });
}

/** Whether they were there. The text stays Gradio's own node. */
function split() {
  const labels = document.querySelectorAll(LABELS);
  for (const { firstChild } of labels) {
    const [title, ...rest] = firstChild?.nodeValue?.split("\n") ?? [];
    if (!firstChild || !rest.length) continue;
    firstChild.nodeValue = `${title} `;
    firstChild.parentNode?.append(el("small", {}, rest.join(" ")));
  }
  return labels.length > 0;
}
