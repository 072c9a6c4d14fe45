// A press of a button whose module is not there yet is kept for it, and so is the key for a search that is not there.
// In the page's head, before the buttons.

const OTHER_PAGE = /[?&](run|compare|tab)=/; // which has a search of its own, or none
const pressed = document.documentElement.dataset;

document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return;
  if (target.closest("[data-learn]")) pressed.pressed = "learn";
  const tag = target.closest("[data-speak]")?.getAttribute("data-speak");
  if (tag) pressed.pressed = tag;
});

document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (pressed.pressed === "search") delete pressed.pressed; // whatever else is pressed is meant now
  const isFree = target === document.body && !ctrlKey && !metaKey && !altKey;
  if (key !== "/" || !isFree || OTHER_PAGE.test(location.search) || document.querySelector(".ds-search")) return;
  if (localStorage.getItem("dsgui.shortcuts") === "off") return;
  pressed.pressed = "search";
  event.preventDefault(); // some browsers search the page by it
});

document.addEventListener("pointerdown", () => {
  if (pressed.pressed === "search") delete pressed.pressed;
});
