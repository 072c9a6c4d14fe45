// What was asked of the server and got no answer: it raised, or can't be reached. Whoever asked hears so, and its
// button can be pressed again.

/** @param {string} what as the page's Python named it; a `dsgui:unanswered` carries it */
export function tell(what) {
  window.dispatchEvent(new CustomEvent("dsgui:unanswered", { detail: what }));
}

/** @param {string} what @param {() => void} heard */
export function onUnanswered(what, heard) {
  window.addEventListener("dsgui:unanswered", (event) => {
    if (event.detail === what) heard();
  });
}
