// A word about what was just done, with a button that takes it back while it stands there.

import { button, el } from "./dom.js";

const STANDS_MS = 10_000;

export class Toast {
  constructor() {
    this.node = el("div", { class: "ds-toast", role: "status" });
    this.ending = 0;
  }

  wait() {
    clearTimeout(this.ending);
    this.ending = window.setTimeout(() => {
      if (this.node.matches(":hover, :focus-within")) this.wait();
      else this.node.replaceChildren();
    }, STANDS_MS);
  }

  /**
   * Whoever pressed a button that is gone now has the focus on the one that takes it back.
   * @param {string} text @param {string} back @param {() => void} act
   */
  show(text, back, act) {
    const undo = button(back, { class: "ds-step" }, () => {
      this.node.replaceChildren();
      act();
    });
    this.node.replaceChildren(el("span", {}, text), undo);
    const focused = document.activeElement;
    if (focused === document.body || !focused?.getClientRects().length) undo.focus({ preventScroll: true });
    this.wait();
  }
}
