// Gradio's editor for the config, a CodeMirror: its view, whether all that it holds is about to be pasted over, and the
// buttons on its edges: what puts a config of one line on many, what repairs one that is no JSON.

import { button } from "../common/dom.js";
import { words } from "../texts/texts.js";

export const EDITOR = "config-json";

/**
 * @typedef {{ from: number, to: number }} Range a line, or what is selected
 * @typedef {Range & { text: string }} Line
 * @typedef {{ lines: number, length: number, line(number: number): Line }} Text
 * @typedef {{ doc: Text, selection: { main: Range } }} State
 * @typedef {{ state: State, dispatch(change: object): void, focus(): void,
 *   domAtPos(at: number): { node: Node, offset: number } }} View what is used of CodeMirror's view
 */

/** As CodeMirror's own `EditorView.findFromDOM` finds it. @returns {View | null} */
export function view() {
  const content = document.querySelector(`#${EDITOR} .cm-content`);
  if (!content) return null;
  const { cmTile, cmView } = /** @type {any} */ (content);
  return cmTile?.root?.view ?? cmView?.rootView?.view ?? cmView?.view ?? null;
}

export const isFocused = () => Boolean(document.activeElement?.closest(`#${EDITOR}`));

const ANOTHER = "dsgui:another-text";
const PASTED_MS = 3000;
let typed = false;

/** Whether somebody typed the last change: asked of when it was made, whoever hears of it later. */
export const wasTyped = () => typed;

/** Calls `listener` when the text is another config: opened, chosen, recalled, or pasted over all.
 * @param {() => void} listener */
export const onAnotherText = (listener) => document.addEventListener(ANOTHER, listener);

/** Looks at every text from now on. */
export function watchTexts() {
  /** @type {string | null} */
  let preset = null;
  let text = "";
  let pasted = false;
  onPastedOver(() => {
    pasted = true;
    setTimeout(() => (pasted = false), PASTED_MS); // what was there already is no other text
  });
  window.addEventListener("dsgui:text", ({ detail }) => {
    const isOther = detail.text !== text; // a preset that was saved is the same
    const another = isOther && (pasted || (preset !== null && detail.preset !== preset));
    typed = !another && isFocused();
    [pasted, preset, text] = [false, detail.preset, detail.text];
    if (another) document.dispatchEvent(new Event(ANOTHER));
    offerToFormat(text);
  });
}

/** Calls `listener` before a text is pasted over the whole of the editor's. @param {() => void} listener */
export function onPastedOver(listener) {
  const pasted = (/** @type {Event} */ { target }) => {
    if (!(target instanceof Element) || !target.closest(`#${EDITOR}`)) return;
    const { doc, selection } = view()?.state ?? {};
    if (doc && selection && selection.main.from === 0 && selection.main.to === doc.length) listener();
  };
  document.addEventListener("paste", pasted, { capture: true });
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const UNIT = "  ";
const FORMAT = "format-json";
const REPAIR = "repair-json";

/**
 * A JSON text with a line for every key; a list of plain values keeps its line, and every value its spelling.
 * @param {string} text
 */
export function formatted(text) {
  const tokens = text.match(TOKEN) ?? [];
  /** @type {boolean[]} whether each bracket that is open has its contents on lines of their own */
  const open = [];
  const line = () => `\n${UNIT.repeat(open.filter(Boolean).length)}`;
  const out = tokens.map((token, place) => {
    if ("{[".includes(token)) {
      open.push(isApart(tokens, place));
      return open.at(-1) ? token + line() : token;
    }
    if ("}]".includes(token)) return open.pop() ? line() + token : token;
    if (token === ",") return open.at(-1) ? token + line() : ", ";
    return token === ":" ? ": " : token;
  });
  return `${out.join("")}\n`;
}

/** Of a bracket: an object that has anything, or a list that has more than plain values. @param {string[]} tokens
 * @param {number} place */
function isApart(tokens, place) {
  if (tokens[place] === "{") return tokens[place + 1] !== "}";
  let next = place + 1;
  while (next < tokens.length && !/^[{}[\]]$/.test(tokens[next])) next += 1;
  return tokens[next] !== "]";
}

/** Whether it would say more on lines of its own. @param {string} text */
function isPacked(text) {
  if (text.trim().includes("\n") || !text.includes(",")) return false;
  try {
    return Boolean(JSON.parse(text));
  } catch {
    return false;
  }
}

/** @param {string} text */
function offerToFormat(text) {
  const there = document.getElementById(FORMAT);
  if (!isPacked(text)) there?.remove();
  else if (!there) place(button(words("form_page", "format"), { id: FORMAT }, format));
}

/** On the editor's edge, as form.css has it. @param {HTMLElement} node */
const place = (node) => document.getElementById(EDITOR)?.append(node);

/** The repair of what is wrong, beside the reason below the editor: on a phone its own is screens away.
 * @param {HTMLElement} findings */
export function offerToRepair(findings) {
  document.getElementById(REPAIR)?.remove();
  const fix = findings.querySelector(".ds-broken > ul > .ds-error > .ds-advice > [data-fix]");
  if (!(fix instanceof HTMLElement)) return;
  const repair = button(fix.textContent, { id: REPAIR }, () => {});
  // The very press, as findings.js takes a second tap for none.
  repair.addEventListener("click", (event) => fix.dispatchEvent(new PointerEvent("click", event)));
  place(repair);
}

/** As somebody's edit, which one step takes back. */
function format() {
  const editor = view();
  if (!editor) return;
  const { length } = editor.state.doc;
  editor.dispatch({
    changes: { from: 0, to: length, insert: formatted(String(editor.state.doc)) },
    userEvent: "input",
  });
  editor.focus();
}
