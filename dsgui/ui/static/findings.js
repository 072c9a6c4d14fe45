// The findings panel: shows the HTML the server made (everything in it is escaped there); its buttons apply a fix or
// lead to the field in the form.

export function mount(element, props, trigger, watch) {
  const root = element.querySelector(".ds-findings-root");
  root.addEventListener("click", (event) => {
    const fix = event.target.closest("[data-label]");
    const where = event.target.closest("[data-goto]");
    if (fix) trigger("fix", { rule: fix.dataset.rule, pointer: fix.dataset.pointer, label: fix.dataset.label });
    if (where) window.dispatchEvent(new CustomEvent("dsgui:goto", { detail: where.dataset.goto }));
  });
  const show = () => { if (typeof props.value === "string") root.innerHTML = props.value; };
  watch("value", show);
  show();
}
