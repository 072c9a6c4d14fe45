// How every menu made of <details> closes again: Escape, a press elsewhere, or the focus that leaves it.

const CONTROLS = "button, a, input, label, select, textarea, summary, [contenteditable]";

/** A press that shuts a menu does nothing else where it hits no control. @param {Event} event */
const swallow = (event) => event.stopPropagation();

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
  const elsewhere = (/** @type {Event} */ event) => {
    if (!(event.target instanceof Element) || node.contains(event.target)) return;
    shut();
    if (!event.target.closest(CONTROLS)) document.addEventListener("click", swallow, { capture: true, once: true });
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
    document[listen]("pointerdown", elsewhere, true);
    document[listen]("keydown", /** @type {EventListener} */ (escaped));
  });
  return shut;
}
