// How every menu made of <details> closes again: Escape, a press elsewhere, or the focus that leaves it.

const CONTROLS = "button, a, input, label, select, textarea, summary, [contenteditable]";

/** A press that shuts a menu does nothing else where it hits no control: its click, if it becomes one, is not heard. */
function swallowClick() {
  const over = new AbortController();
  const heard = { capture: true, signal: over.signal };
  const end = () => over.abort();
  document.addEventListener("click", (event) => (event.stopPropagation(), end()), heard);
  for (const another of ["pointerdown", "pointercancel"]) document.addEventListener(another, end, heard);
}

/**
 * Escape gives the focus back to the opener.
 * @param {HTMLDetailsElement} node @param {HTMLElement} opener its summary
 */
export function shutsItself(node, opener) {
  const shut = () => {
    node.open = false;
  };
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    event.stopPropagation();
    shut();
    opener.focus();
  });
  node.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !node.contains(event.relatedTarget)) shut();
  });
  const elsewhere = (/** @type {PointerEvent} */ event) => {
    if (!(event.target instanceof Element) || node.contains(event.target)) return;
    shut();
    if (event.button === 0 && !event.target.closest(CONTROLS)) swallowClick();
  };
  const escaped = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || event.defaultPrevented || node.contains(document.activeElement)) return;
    shut();
    opener.focus();
  };
  // Only while it is open: the document would keep every menu that ever was. What stops a press on its way, as a chart
  // does that is dragged, is heard all the same.
  node.addEventListener("toggle", () => {
    const listen = node.open ? "addEventListener" : "removeEventListener";
    document[listen]("pointerdown", /** @type {EventListener} */ (elsewhere), true);
    document[listen]("keydown", /** @type {EventListener} */ (escaped));
  });
  return shut;
}
