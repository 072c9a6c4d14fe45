// How every menu made of <details> closes again: Escape, a press elsewhere, or the focus that leaves it.

const EDGE = 16; // px that a menu keeps from the window's edge

/**
 * Moves what opens below its opener to the left, as far as the window has no room for it.
 * @param {HTMLElement} items
 */
export function keepInside(items) {
  items.style.left = "0";
  const over = items.getBoundingClientRect().right - (document.documentElement.clientWidth - EDGE);
  if (over > 0) items.style.left = `${-over}px`;
}

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
  node.dataset.menu = ""; // Escape is its own while it is open (site/keyboard.js)
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
    if (!node.isConnected) return listen(false);
    if (!(event.target instanceof Element) || node.contains(event.target)) return;
    shut();
    if (event.button === 0 && !event.target.closest(CONTROLS)) swallowClick();
    return undefined;
  };
  const escaped = (/** @type {KeyboardEvent} */ event) => {
    if (!node.isConnected) return listen(false);
    if (event.key !== "Escape" || event.defaultPrevented || node.contains(document.activeElement)) return;
    shut();
    opener.focus();
    return undefined;
  };
  // Only while it is open: the document would keep every menu that ever was. What stops a press on its way, as a chart
  // does that is dragged, is heard all the same.
  const listen = (/** @type {boolean} */ open) => {
    const change = open ? "addEventListener" : "removeEventListener";
    document[change]("pointerdown", /** @type {EventListener} */ (elsewhere), true);
    document[change]("keydown", /** @type {EventListener} */ (escaped));
  };
  node.addEventListener("toggle", () => listen(node.open));
  return shut;
}
