// What would make a config fit where no change of its own does: LoRA, or more GPUs, each a press with what it takes
// then, and the fields in which anything else that helps is typed.

import { button, el } from "../common/dom.js";
import { helpsWith, leads } from "./leads.js";
import { words } from "../texts/texts.js";

/** @import { Beyond, MemoryChange } from "../types.d.ts" */

const ID = "way-beyond";
/** The field of `leads` that an offer fills in. @param {Beyond} one */
const covered = ({ fields }) => ("lora_rank" in fields ? "lora" : "gpus");

/** Why no change helps; and what does, where that is all there is. @param {MemoryChange} found */
export const whyNone = ({ why, needs, beyond: offers }) =>
  [why?.text, offers?.length ? "" : needs?.text].filter(Boolean).join(" ");

/**
 * @param {MemoryChange} found @param {boolean} seeking @param {(one: Beyond) => void} apply
 * @returns {HTMLElement[]}
 */
export function offered({ why, beyond: offers = [] }, seeking, apply) {
  if (seeking) return [el("p", { class: "ds-advice", role: "status" }, words("memory_page", "seeking"))];
  const names = helpsWith(why?.code).filter((name) => !offers.some((one) => covered(one) === name));
  if (!offers.length) return leads(names);
  const items = offers.map((one, place) => {
    const attributes = { class: place ? "ds-mem-do" : "ds-fix", id: place ? undefined : ID };
    const press = button(words("memory_page", "plan_for", { what: one.name }), attributes, () => apply(one));
    return el("li", {}, press, el("span", {}, one.then));
  });
  return [
    el("p", { class: "ds-advice" }, words("memory_page", "would")),
    el("ul", { class: "ds-way-offers" }, ...items),
    ...leads(names, words("memory_page", "or_else")),
  ];
}
