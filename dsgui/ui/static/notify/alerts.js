// What needs a look now: NaN, a stall, memory near its limit, a drop in speed; on the page, and as a notification of
// the browser where that is allowed.

import { button, el } from "../common/dom.js";
import { lasts, told, words } from "../texts/texts.js";

/** @import { RunEvent } from "../types.d.ts" */

const LOSS = /^(?!eval_)\w*loss\b/;
const NORM = /^grad_norm\b/;

export const notifies = () => "Notification" in window && Notification.permission === "granted";

export class Alerts {
  /** @param {() => string | null} name */
  constructor(name) {
    this.name = name;
    /** @type {Map<string, RunEvent>} */
    this.active = new Map();
    this.begun = false; // what was there when the page was opened is shown, not announced
    this.shown = "";
    this.list = el("ul", {
      class: "ds-alerts",
      role: "alert",
      hidden: true,
      "aria-label": words("charts_page", "alerts"),
    });
    const title = words("charts_page", "notify_hint");
    this.ask = button(words("charts_page", "notify"), { class: "ds-step", hidden: true, title }, async () => {
      await Notification.requestPermission();
      this.offer();
    });
    this.offer();
  }

  /** Where the browser can and has not been asked. */
  offer() {
    const may = window.isSecureContext && "Notification" in window;
    this.ask.hidden = !(may && Notification.permission === "default");
  }

  /** @param {RunEvent[]} events */
  take(events) {
    for (const event of events) {
      const about = event.subject || told(event);
      if (event.kind === "calm") this.active.delete(about);
      if (event.kind !== "alert") continue;
      this.active.set(about, event);
      if (this.begun) this.notify(told(event));
    }
    this.begun = true;
  }

  /**
   * An ended run has nothing that needs a look now, but for what it never recovered from, where that is not told
   * already. @param {boolean} live @param {boolean} [isLossTold] @param {boolean} [isNormTold]
   */
  show(live, isLossTold = false, isNormTold = false) {
    const active = [...this.active.values()];
    const loss = active.some((event) => lasts(event) && LOSS.test(event.subject ?? ""));
    const norm = loss || isNormTold; // it is NaN with its loss
    const isTold = (/** @type {RunEvent} */ { subject = "" }) =>
      isLossTold && (LOSS.test(subject) || (norm && NORM.test(subject)));
    const shown = active.filter((event) => live || (lasts(event) && !isTold(event)));
    this.list.hidden = !shown.length;
    const texts = shown.map(worded);
    if (JSON.stringify(texts) === this.shown) return;
    this.shown = JSON.stringify(texts);
    this.list.replaceChildren(...texts.map((text) => el("li", {}, text)));
  }

  /** @param {string} text */
  notify(text) {
    if (!notifies()) return;
    try {
      new Notification(`dsgui: ${this.name()}`, { body: text, tag: text });
    } catch {
      /* some browsers only allow a worker to */
    }
  }
}

/** @param {RunEvent} event */
function worded(event) {
  const text = told(event);
  return event.step === null ? text : words("charts_page", "at_step", { text, step: String(event.step) });
}
