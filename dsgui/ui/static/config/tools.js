// The tools of the Configure page: a press opens one, another press closes it.

import { button, el, part } from "../common/dom.js";
import { words } from "../texts/texts.js";

/** @import { Props, Trigger, Watch } from "../types.d.ts" */

const TOOLS = ["compare", "move", "code", "trainer"];

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  const presses = TOOLS.map((tool) => {
    const press = () => {
      props.value = props.value === tool ? "" : tool;
      show();
    };
    const toggle = button(words("tools_page", tool), { class: "ds-toggle label-wrap", "data-tool": tool }, press);
    const name = el("span", {}, words("tools_page", tool));
    toggle.replaceChildren(name, el("span", { class: "icon", "aria-hidden": "true" }));
    return toggle;
  });
  const show = () => {
    for (const press of presses) {
      const open = press.dataset.tool === props.value;
      press.classList.toggle("open", open);
      press.setAttribute("aria-expanded", String(open));
      press.style.background = open ? "var(--ds-accent-soft)" : "";
    }
  };
  const root = part(element, ".ds-segments");
  root.replaceChildren(...presses);
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", words("tools_page", "tools"));
  watch("value", show);
  show();
}
