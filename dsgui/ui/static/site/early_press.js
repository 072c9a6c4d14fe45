// A press of a button whose module is not there yet is kept for it. In the page's head, before the buttons.

document.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("[data-learn]")) document.documentElement.dataset.pressed = "learn";
});
