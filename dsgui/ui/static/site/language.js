// The switch in the header: the language chosen is a cookie, since the server makes the page. What is in the editor
// stays with the browser (kept.js).

const YEAR_S = 31_536_000;

/**
 * Listens on the document, as Gradio draws the header anew. Gradio has put the browser's language where the page's
 * belongs.
 */
export function begin() {
  const spoken = document.querySelector('[data-speak][aria-pressed="true"]');
  if (spoken instanceof HTMLElement) document.documentElement.lang = spoken.dataset.speak ?? "en";
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-speak]") : null;
    if (button) press(button);
  });
  const { pressed } = document.documentElement.dataset; // before this was there: early_press.js
  const early = pressed && document.querySelector(`[data-speak="${CSS.escape(pressed)}"]`);
  if (early) press(early);
}

/** @param {Element} button */
function press(button) {
  if (button instanceof HTMLElement && button.ariaPressed !== "true") choose(button.dataset.speak ?? "");
}

/** @param {string} tag */
function choose(tag) {
  document.cookie = `dsgui_language=${tag}; path=/; max-age=${YEAR_S}; samesite=lax`;
  window.location.reload();
}
