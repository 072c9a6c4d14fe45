// A panel of HTML that the server made (everything in it is escaped there); its buttons apply a fix, lead to the field
// in the form, or copy the code above them.

export function mount(element, props, trigger, watch) {
  const root = element.querySelector(".ds-findings-root");
  root.addEventListener("click", (event) => {
    const fix = event.target.closest("[data-label]");
    const where = event.target.closest("[data-goto]");
    const copy = event.target.closest("[data-copy]");
    if (fix) trigger("fix", { rule: fix.dataset.rule, pointer: fix.dataset.pointer, label: fix.dataset.label });
    if (where) window.dispatchEvent(new CustomEvent("dsgui:goto", { detail: where.dataset.goto }));
    if (copy) copyAbove(copy);
  });
  const show = () => {
    if (typeof props.value === "string") root.innerHTML = props.value;
  };
  watch("value", show);
  show();
}

async function copyAbove(button) {
  await navigator.clipboard.writeText(button.previousElementSibling.textContent);
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1500);
}
