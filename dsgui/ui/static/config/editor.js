// Gradio's editor for the config, a CodeMirror: its view, and whether all that it holds is about to be pasted over.

export const EDITOR = "config-json";

/**
 * @typedef {{ from: number, to: number }} Range a line, or what is selected
 * @typedef {Range & { text: string }} Line
 * @typedef {{ lines: number, length: number, line(number: number): Line }} Text
 * @typedef {{ doc: Text, selection: { main: Range } }} State
 * @typedef {{ state: State, dispatch(change: object): void, focus(): void }} View what is used of CodeMirror's view
 */

/** As CodeMirror's own `EditorView.findFromDOM` finds it. @returns {View | null} */
export function view() {
  const content = document.querySelector(`#${EDITOR} .cm-content`);
  if (!content) return null;
  const { cmTile, cmView } = /** @type {any} */ (content);
  return cmTile?.root?.view ?? cmView?.rootView?.view ?? cmView?.view ?? null;
}

const isFocused = () => Boolean(document.activeElement?.closest(`#${EDITOR}`));

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
