// Elements without HTML text: attributes are set, children appended, so nothing a run printed is ever parsed as markup.

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean | undefined>} attributes true: there, without a value; false: absent
 * @param {...(Node | string)} children
 */
export const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children);
  return node;
};

/**
 * The one element that a selector of ours names.
 * @param {ParentNode} root @param {string} selector @returns {HTMLElement}
 */
export function part(root, selector) {
  const found = root.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`no ${selector} in the page; expected one: reload it`);
  return found;
}

/**
 * The element that a selector names, of those around and including an event's target; null where none is.
 * @param {Event} event @param {string} selector @returns {HTMLElement | null}
 */
export function around(event, selector) {
  const found = event.target instanceof Element ? event.target.closest(selector) : null;
  return found instanceof HTMLElement ? found : null;
}

/**
 * A button that does something.
 * @param {string} text
 * @param {Record<string, string | number | boolean | undefined>} attributes
 * @param {() => void} act
 */
export function button(text, attributes, act) {
  const node = el("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", act);
  return node;
}

/**
 * What scrolls sideways where it has no room, by keyboard as well.
 * @param {string} label @param {(Node | string)[]} children @returns {HTMLDivElement}
 */
export const scrolling = (label, ...children) =>
  el("div", { class: "ds-scroll", tabindex: "0", role: "group", "aria-label": label }, ...children);

/**
 * A field's hint, and a shorter one on a phone, where it would be cut.
 * @param {HTMLInputElement} input @param {string} wide @param {string} narrow
 */
export function hinted(input, wide, narrow) {
  const phone = matchMedia("(max-width: 480px)");
  const tell = () => (input.placeholder = phone.matches ? narrow : wide);
  phone.addEventListener("change", tell);
  tell();
  return input;
}

/** @type {Map<string, Promise<unknown>>} */
const sheets = new Map();

/**
 * Until a sheet that the first page lacks is there, or can't be had.
 * @param {string} href @returns {Promise<unknown>}
 */
export function withSheet(href) {
  let there = sheets.get(href);
  if (!there) {
    const sheet = el("link", { rel: "stylesheet", href });
    there = new Promise((resolve) => {
      for (const event of ["load", "error"]) sheet.addEventListener(event, resolve);
    });
    sheets.set(href, there);
    document.head.append(sheet);
  }
  return there;
}

/** What went wrong, in words. @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** A long key in parts that a line may break after: a dot or an underscore, not a word. @param {string} key */
export const breakable = (key) => key.split(/(?<=[._])/);

/** A key as nodes, between whose parts a line may break. @param {string} key */
export const parted = (key) => breakable(key).flatMap((piece) => [piece, el("wbr")]);

/**
 * A path or a key in pieces that stay whole where a line has room for one: it breaks after a slash, a key after a dot
 * too, and a piece that is longer than a line after an underscore.
 * @param {string} text @param {RegExp} after where a piece ends
 */
export const inPieces = (text, after = /(?<=[./])/) =>
  text.split(after).map((piece) => el("span", { class: "ds-piece" }, ...parted(piece)));

/**
 * A text with its options (--logging_steps) as code, before which a line may end, and not within.
 * @param {string} text @returns {(string | Node)[]}
 */
export function withOptions(text) {
  /** @param {string} one @param {number} place @returns {(string | Node)[]} */
  const shown = (one, place) => (place % 2 ? [el("wbr", {}), el("code", { class: "ds-whole" }, one)] : [one]);
  return text.split(/(--[a-z][\w-]*)/).flatMap(shown);
}

/** How dates are written: as the browser's user does in the page's language, else as that language does. */
export function locale(page = document.documentElement.lang || "en", preferred = navigator.languages) {
  const language = page.split("-")[0];
  return preferred.find((one) => one.split("-")[0] === language) ?? page;
}

/** @param {number} milliseconds @returns {Promise<void>} */
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What stands in a row, with a dot between; what is empty is left out. @param {(Node | string)[]} ones */
export const inRow = (...ones) => ones.filter(Boolean).flatMap((one, place) => (place ? [" · ", one] : [one]));
