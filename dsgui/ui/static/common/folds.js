// What somebody opened or closed stays so when the markup around it comes anew.

/** @param {ParentNode} root @returns {[string, HTMLDetailsElement][]} by what it is of, and its place among these */
function named(root) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  return [...root.querySelectorAll("details")].map((fold) => {
    const of = `${fold.className} ${fold.dataset.fold ?? ""}`;
    const place = counts.get(of) ?? 0;
    counts.set(of, place + 1);
    return [`${of} ${place}`, fold];
  });
}

export class Folds {
  /** @param {ParentNode} root */
  constructor(root) {
    this.root = root;
    /** @type {Map<string, boolean>} */
    this.chosen = new Map();
    /** @type {WeakMap<Element, boolean>} how each came */
    this.came = new WeakMap();
  }

  /** @param {() => void} replace puts other markup into the root */
  keep(replace) {
    for (const [name, fold] of named(this.root)) {
      if (fold.open !== this.came.get(fold)) this.chosen.set(name, fold.open);
    }
    replace();
    for (const [name, fold] of named(this.root)) {
      fold.open = this.chosen.get(name) ?? fold.open;
      this.came.set(fold, fold.open);
    }
  }
}
