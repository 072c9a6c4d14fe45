// What the config holds, for who tells what a change makes of it: the form has it from the server.

import { words } from "../texts/texts.js";

/** @type {Record<string, string>} by pointer, as the form has them */
let held = {};

/** @param {Record<string, string>} values */
export const tellHeld = (values) => (held = values);

/** A key's value; of a block those in it. @param {string} pointer */
export function heldAt(pointer) {
  if (held[pointer]) return held[pointer];
  const within = Object.entries(held).filter(([one]) => one.startsWith(`${pointer}/`));
  const pairs = within.map(([one, value]) => `${one.slice(pointer.length + 1).replaceAll("/", ".")}: ${value}`);
  return pairs.length ? `{${pairs.join(", ")}}` : words("form_page", "not_set");
}
