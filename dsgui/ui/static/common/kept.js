// What Gradio's events do in the browser alone: the config is kept and recalled, brought back by undo, and saved.

/** @import { Entry } from "../types.d.ts" */

const TEXT = "dsgui.config";
const PRESET = "dsgui.preset";
const BAR = "dsgui.bar";
const ARGUMENTS = "dsgui.arguments";
const SAVED_AS = "ds_config.json";
const GONE_AFTER_MS = 1000;

/** @param {string} name @param {string} text */
function keep(name, text) {
  try {
    localStorage.setItem(name, text);
  } catch {
    /* a browser that keeps nothing */
  }
}

/**
 * The browser alone keeps the text, so that a reload or a closed tab loses nothing typed; history.js makes undo of it.
 * @param {string | null} text @param {string} reader @param {string | null} preset that the text began as; "" for none
 */
export function remember(text, reader, preset) {
  /** @type {Entry} */
  const entry = { text: text ?? "", reader, preset: preset ?? "" };
  keep(TEXT, entry.text);
  keep(PRESET, entry.preset);
  window.dsguiTexts = [...(window.dsguiTexts ?? []), entry].slice(-9); // for a history that is not there yet
  window.dispatchEvent(new CustomEvent("dsgui:text", { detail: entry }));
}

/** @param {...unknown} bar */
export function rememberBar(...bar) {
  keep(BAR, JSON.stringify(bar));
}

// What is called so at its end, as --tokenizer_name is not, or looks like one.
export const SECRET = /(^|\s)[\w.-]*(token|key|secret|passw(or)?d|auth)(?=[\s=]|$)|\b(hf_|sk-|ghp_|glpat-)\w{8}/i;

/** What the script is given; not with a secret. @param {string | null} typed */
export const rememberArguments = (typed) => keep(ARGUMENTS, SECRET.test(typed ?? "") ? "" : (typed ?? ""));

/**
 * The script's arguments with a model that is planned for, whose script is chosen anew: a recipe has its own. An answer
 * after the page's: beside what opens the page it held edits up, and where nothing comes back nothing may change.
 * @param {string | null} model @param {string | null} typed what was quicker
 */
export function recallArguments(model, typed) {
  const nothing = { __type__: "update" };
  try {
    return (model?.trim() && !typed && localStorage.getItem(ARGUMENTS)) || nothing;
  } catch {
    return nothing;
  }
}

/**
 * What the page begins with: the text that was kept, and the preset it began as.
 * @param {string} text @param {string | null} preset @param {...unknown} bar
 */
export function recall(text, preset, ...bar) {
  const whole = { discard: true };
  try {
    const kept = localStorage.getItem(TEXT);
    const saved = JSON.parse(localStorage.getItem(BAR) ?? "null");
    const known = Array.isArray(saved) && saved.length === bar.length;
    const begun = kept && kept !== text ? (localStorage.getItem(PRESET) ?? "") : preset;
    return [whole, kept || text, begun, ...(known ? saved : bar)];
  } catch {
    return [whole, text, preset, ...bar];
  }
}

/** The version that undo or redo came to; `whole` tells the form that it is another. @param {unknown} whole */
export const moved = (whole) => [window.dsguiMove?.text, window.dsguiMove?.reader, whole, window.dsguiMove?.preset];

const FILE = /^file:[^:]*:(.+?)(\.\w+)?$/s;

/** What a config is saved as: the file it began as, else as DeepSpeed's own. @param {string | null} begun */
export const savedAs = (begun) => {
  const name = FILE.exec(begun ?? "")?.[1];
  return name ? `${name}.json` : SAVED_AS;
};

/** @param {string | null} text @param {string | null} begun the preset or the file that it began as */
export const save = (text, begun) => text && saveText(text, savedAs(begun));

/** @param {string} text @param {string} name of its file */
export function saveText(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), GONE_AFTER_MS);
}
