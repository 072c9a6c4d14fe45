// Marks beside the JSON editor's line numbers, where something was found, and the way to a line. The editor is Gradio's
// CodeMirror: it draws only the lines in view and uses their elements again, so a mark is set by the number an element
// shows, anew whenever one changes. Only attributes are set, in the gutter, which CodeMirror does not read back; the
// word at which a text breaks off is underlined without any.

import { around } from "../common/dom.js";
import { EDITOR, view } from "./editor.js";
import { words } from "../texts/texts.js";

/** @import { Line } from "./editor.js" */
/** @import { Found } from "../types.d.ts" */

const NUMBERS = ".cm-lineNumbers .cm-gutterElement";
const WRONG = "ds-wrong"; // the highlight's name in config/form.css
const WORD = /^(?:[\w.+-]+|.)/u;
const GRAVITY = ["error", "warning", "note"];

/** @type {Map<number, Found[]>} */
let byLine = new Map();
/** @type {HTMLElement | null} */
let watched = null;

/** @param {Found[]} found */
export function mark(found) {
  byLine = new Map();
  for (const one of found) byLine.set(one.line, [...(byLine.get(one.line) ?? []), one]);
  watch();
  draw();
}

function watch() {
  const editor = document.getElementById(EDITOR);
  if (!editor || editor === watched) return;
  watched = editor;
  new MutationObserver(draw).observe(editor, { subtree: true, childList: true, characterData: true });
  editor.addEventListener("click", (event) => {
    const line = Number(around(event, "[data-mark]")?.textContent);
    const first = gravest(byLine.get(line) ?? []);
    if (first?.column) goToPlace(line, first.column);
    else if (first) window.dispatchEvent(new CustomEvent("dsgui:goto", { detail: first.pointer }));
  });
}

/** @param {Found[]} found @returns {Found | undefined} */
const gravest = (found) =>
  [...found].sort((one, two) => GRAVITY.indexOf(one.severity) - GRAVITY.indexOf(two.severity))[0];

function draw() {
  underline();
  for (const element of watched?.querySelectorAll(NUMBERS) ?? []) {
    const found = byLine.get(Number(element.textContent)) ?? [];
    const worst = gravest(found)?.severity;
    if (worst) {
      element.setAttribute("data-mark", worst);
      element.setAttribute("title", titleOf(found));
    } else if (element.hasAttribute("data-mark")) {
      element.removeAttribute("data-mark");
      element.removeAttribute("title");
    }
  }
}

/** The word at which the text breaks off; none where it is not drawn, or the browser has no highlights. */
function underline() {
  globalThis.CSS.highlights?.delete(WRONG);
  const broken = [...byLine.values()].flat().find(({ column }) => column);
  const editor = view();
  if (!broken?.column || !editor || broken.line > editor.state.doc.lines) return;
  const { from, text } = editor.state.doc.line(broken.line);
  const start = unitsBefore(text, broken.column);
  const [word = ""] = text.slice(start).match(WORD) ?? [];
  const [first, last] = [from + start, from + start + word.length].map((at) => editor.domAtPos(at));
  const range = new Range();
  range.setStart(first.node, first.offset);
  range.setEnd(last.node, last.offset);
  globalThis.CSS.highlights?.set(WRONG, new Highlight(range));
}

/** A letter is one, of however many of JavaScript's units. @param {string} text @param {number} column from 1 */
const unitsBefore = (text, column) => [...text].slice(0, column - 1).join("").length;

/** @param {Found[]} found on one line */
function titleOf(found) {
  const texts = found.map(({ text }) => text);
  const count = String(found.length);
  return [...(found.length > 1 ? [words("form_page", "on_line", { count })] : []), ...texts].join("\n");
}

/** The cursor at the end of a line, in view. @param {number} number */
export const goToLine = (number) => goTo(number, (line) => line.to);

/** The cursor at a place, in view. @param {number} number @param {number} column both from 1 */
export const goToPlace = (number, column) => goTo(number, (line) => line.from + unitsBefore(line.text, column));

/** Without CodeMirror's view, to the editor alone. @param {number} number @param {(line: Line) => number} placeIn */
function goTo(number, placeIn) {
  const editor = document.getElementById(EDITOR);
  const found = view();
  if (found) {
    const { doc } = found.state;
    const line = doc.line(Math.min(Math.max(number, 1), doc.lines));
    found.dispatch({ selection: { anchor: placeIn(line) }, scrollIntoView: true });
    found.focus();
  } else {
    const content = editor?.querySelector(".cm-content");
    if (content instanceof HTMLElement) content.focus();
  }
  editor?.scrollIntoView({ block: "nearest", behavior: "smooth" });
}
