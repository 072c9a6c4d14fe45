// The command as it will run. It breaks at its blanks, and in a path after a slash: a word that is cut in two, or an
// option apart from its hyphens, reads as two; what is longer than a line all the same is scrolled to.

import { copyText } from "../common/copying.js";
import { button, el, part } from "../common/dom.js";
import { words } from "../texts/texts.js";
import { followNames } from "./cloned_name.js";
import { dressCards } from "./recipe_cards.js";

/** @import { Props, Trigger, Watch } from "../types.d.ts" */

/**
 * Words and blanks of a line, in turn; its indent belongs to its first word, and the backslash at its end to the last.
 * @param {string} text
 */
export const pieces = (text) => text.match(/(?:^[^\S\n]+)?\S+(?: \\(?=\n|$))?|\s+/g) ?? /** @type {string[]} */ ([]);

/** The lines of a text, each with its end. @param {string} text */
export const lines = (text) => text.match(/[^\n]*\n|[^\n]+/g) ?? /** @type {string[]} */ ([]);

/** Each line by itself: what of it does not fit goes on further in than any line begins. @param {string} text */
export const wholeWords = (text) => lines(text).map((line) => el("span", { class: "ds-line" }, ...wordsOf(line)));

/** @param {string} line @returns {(Node | string)[]} */
const wordsOf = (line) => pieces(line).flatMap((piece) => (piece.trim() ? beside(segments(piece)) : piece));

/** A word up to and with each of its slashes. @param {string} word */
export const segments = (word) => word.match(/\/*[^/]+\/*|\/+/g) ?? /** @type {string[]} */ ([]);

/** @param {string[]} parts @returns {(Node | string)[]} */
const beside = (parts) => parts.flatMap((one, place) => [...(place ? [el("wbr", {})] : []), el("span", {}, one)]);

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} _ @param {Watch} watch */
export function mount(element, props, _, watch) {
  const root = part(element, ".ds-launch-command");
  const line = el("pre", { class: "ds-command ds-words", tabindex: "0", role: "region" });
  const copy = button(words("tools_page", "copy"), { class: "ds-copy" }, () => copyText(copy, line));
  const title = el("span", {});
  root.replaceChildren(el("div", { class: "ds-command-head" }, title, copy), line);
  const show = () => {
    const text = String(props.value ?? "");
    title.textContent = words("launch_page", text.startsWith("#!") ? "job_script" : "command");
    line.setAttribute("aria-label", title.textContent);
    line.replaceChildren(...wholeWords(text));
    root.hidden = !text;
  };
  watch("value", show);
  show();
  const more = () => {
    line.classList.toggle("ds-goes-down", line.scrollTop + line.clientHeight < line.scrollHeight - 1);
  };
  line.addEventListener("scroll", more, { passive: true });
  new ResizeObserver(more).observe(line);
  followNames();
  dressCards();
}
