import assert from "node:assert/strict";
import { test } from "node:test";

import { copyText } from "../../../dsgui/ui/static/common/copying.js";

test("where there is no clipboard the text is selected, and the button says which key copies it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {unknown[]} */
  const selected = [];
  t.mock.getter(globalThis, "navigator", () => ({}));
  Object.assign(globalThis, {
    document: { getSelection: () => ({ selectAllChildren: (/** @type {unknown} */ one) => selected.push(one) }) },
  });
  const shown = /** @type {Element} */ (/** @type {unknown} */ ({ textContent: "deepspeed train.py" }));
  const button = /** @type {HTMLElement} */ (/** @type {unknown} */ ({ textContent: "Copy" }));
  await copyText(button, shown);
  assert.deepEqual(selected, [shown]);
  assert.match(String(button.textContent), /Ctrl\+C/);
  t.mock.timers.tick(3000);
  assert.equal(button.textContent, "Copy");
});

test("the clipboard is given what is shown", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {string[]} */
  const written = [];
  t.mock.getter(globalThis, "navigator", () => ({
    clipboard: { writeText: async (/** @type {string} */ text) => written.push(text) },
  }));
  const button = /** @type {HTMLElement} */ (/** @type {unknown} */ ({ textContent: "Copy" }));
  await copyText(button, /** @type {Element} */ (/** @type {unknown} */ ({ textContent: "a b" })));
  assert.deepEqual(written, ["a b"]);
  assert.equal(button.textContent, "Copied");
});
