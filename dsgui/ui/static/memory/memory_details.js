// What stands below the memory bars: the parts by moment, the assumptions, a dry run's charts. Folded, so that the JSON
// begins near the verdict; open where the JSON has a column of its own. The browser keeps what somebody chose.

import { el } from "../common/dom.js";
import { words } from "../texts/texts.js";

const KEPT = "dsgui.memory-details";
const BESIDE = "(min-width: 1700px)"; // as in styles/configure.css

function chosen() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** @param {boolean} isOpen */
function keep(isOpen) {
  try {
    localStorage.setItem(KEPT, isOpen ? "open" : "closed");
  } catch {
    /* a browser that keeps nothing */
  }
}

export class Details {
  /** @param {() => void} closed */
  constructor(closed) {
    const kept = chosen();
    this.isOpen = kept ? kept === "open" : matchMedia(BESIDE).matches;
    this.content = el("div");
    const summary = el("summary", { id: "ds-mem-details" }, words("memory_page", "details"));
    this.node = el("details", { class: "ds-mem-details", open: this.isOpen }, summary, this.content);
    this.node.addEventListener("toggle", () => {
      if (this.node.open === this.isOpen) return; // as it came
      this.isOpen = this.node.open;
      keep(this.isOpen);
      if (!this.isOpen) closed();
    });
  }

  open() {
    this.node.open = true;
  }

  /** @param {(Node | string)[]} nodes @returns {HTMLDetailsElement} */
  with(...nodes) {
    this.content.replaceChildren(...nodes);
    return this.node;
  }
}
