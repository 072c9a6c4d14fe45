// Where what would help is typed, once no change of the config does: a press focuses the field.

import { button, el } from "../common/dom.js";
import { words } from "../texts/texts.js";

const OPENED_MS = 100; // Gradio has made what a fold holds
const MORE = "#memory .gr-accordion button.label-wrap:not(.open)";
const CONTEXT = '#context-fold[aria-expanded="false"]';

/** By the sentence that says what is needed. @type {Record<string, string[]>} */
const HELPS = {
  none: ["gpus", "host", "length", "nvme", "lora"],
  none_on_cpu: ["host", "length", "nvme", "lora"],
  none_with_nvme: ["gpus", "host", "length", "nvme", "lora"],
  none_on_cpu_with_nvme: ["host", "length", "nvme", "lora"],
  never: ["gpus", "host", "nvme", "lora"],
  never_on_cpu: ["host", "nvme", "lora"],
  never_adapted: ["gpus", "host", "nvme"],
  never_adapted_on_cpu: ["host", "nvme"],
};

/** Where each is, and the fold that it may be in. @type {Record<string, { at: string, fold: string }>} */
const FIELDS = {
  model: { at: "#memory-model", fold: "" },
  gpus: { at: "#gpus", fold: CONTEXT },
  host: { at: "#memory-host", fold: MORE },
  length: { at: "#memory-length", fold: "" },
  nvme: { at: "#memory-nvme", fold: MORE },
  lora: { at: "#memory-lora-rank", fold: MORE },
};

/** What a press does. @type {Record<string, () => string>} */
const NAMES = {
  gpus: () => words("memory_page", "change_gpus"),
  host: () => words("memory_page", "change_host"),
  length: () => words("memory_page", "change_length"),
  nvme: () => words("memory_page", "set_nvme"),
  lora: () => words("memory_page", "set_lora"),
};

/** What helps where this is why nothing fits. @param {string | undefined} code */
export const helpsWith = (code) => HELPS[code ?? ""] ?? [];

/** Opens what a field is in, and focuses it. @param {string} name of `FIELDS` */
export function focusField(name) {
  const { at, fold } = FIELDS[name];
  const closed = fold ? document.querySelector(fold) : null;
  if (closed instanceof HTMLElement && closed.checkVisibility()) closed.click();
  setTimeout(() => {
    const input = document.querySelector(`${at} :is(input, textarea)`);
    if (input instanceof HTMLElement) input.focus();
  }, OPENED_MS);
}

/** A button for each of them. @param {string[]} names of `FIELDS` @param {string} [before] @returns {HTMLElement[]} */
export function leads(names, before = "") {
  if (!names.length) return [];
  const buttons = names.map((name) =>
    button(NAMES[name](), { class: "ds-mem-do ds-mem-lead", "data-field": name }, () => focusField(name)),
  );
  const spaced = buttons.flatMap((one, at) => (at ? [" ", one] : [one]));
  return [el("p", { class: "ds-mem-leads" }, ...(before ? [before, " "] : []), ...spaced)];
}
