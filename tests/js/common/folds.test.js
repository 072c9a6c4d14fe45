import assert from "node:assert/strict";
import { test } from "node:test";

import { Folds } from "../../../dsgui/ui/static/common/folds.js";

/** @param {string} className @param {boolean} open @param {string} of */
const fold = (className, open = false, of = "") =>
  /** @type {HTMLDetailsElement} */ (/** @type {unknown} */ ({ className, open, dataset: of ? { fold: of } : {} }));

test("a fold that somebody opened or closed stays so when its markup comes anew", () => {
  /** @type {HTMLDetailsElement[]} */
  let shown = [];
  const folds = new Folds(/** @type {any} */ ({ querySelectorAll: () => shown }));
  /** @param {...HTMLDetailsElement} anew */
  const show = (...anew) => {
    folds.keep(() => (shown = anew));
    return shown.map(({ open }) => open);
  };
  assert.deepEqual(show(fold("passed"), fold("more", true)), [false, true]);
  assert.deepEqual(show(fold("passed"), fold("more", false)), [false, false]); // nobody touched them
  shown[0].open = true;
  assert.deepEqual(show(fold("passed"), fold("more")), [true, false]);
  assert.deepEqual(show(), []);
  assert.deepEqual(show(fold("passed"), fold("passed")), [true, false]);
  shown[0].open = false;
  assert.deepEqual(show(fold("passed", true)), [false]);
});

test("what was opened of one finding is not opened of the next that takes its place", () => {
  /** @type {HTMLDetailsElement[]} */
  let shown = [fold("rule", true, "DS001 /a"), fold("rule", false, "DS002 /b")];
  const folds = new Folds(/** @type {any} */ ({ querySelectorAll: () => shown }));
  folds.keep(() => (shown = [fold("rule", false, "DS003 /c"), fold("rule", false, "DS002 /b")]));
  assert.deepEqual(
    shown.map(({ open }) => open),
    [false, false],
  );
  folds.keep(() => (shown = [fold("rule", false, "DS003 /c"), fold("rule", false, "DS001 /a")]));
  assert.deepEqual(
    shown.map(({ open }) => open),
    [false, true],
  );
});
