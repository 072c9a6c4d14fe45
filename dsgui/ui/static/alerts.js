// What needs a look now: NaN, a stall, memory near its limit, a drop in speed; on the page, and as a notification of the
// browser where that is allowed.

import { el } from "./dom.js";

export const notifies = () => "Notification" in window && Notification.permission === "granted";

export class Alerts {
  constructor(name) {
    this.name = name;
    this.active = new Map();
    this.begun = false; // what was there when the page was opened is shown, not announced
    this.list = el("ul", { class: "ds-alerts", role: "alert", hidden: true, "aria-label": "Alerts" });
    this.ask = el("button", { type: "button", class: "ds-step", hidden: true }, "Notify me");
    this.ask.title = "A notification of this browser when something needs a look, or the run ends";
    this.ask.addEventListener("click", async () => {
      await Notification.requestPermission();
      this.offer();
    });
    this.offer();
  }

  // Where the browser can and has not been asked.
  offer() {
    this.ask.hidden = !(window.isSecureContext && "Notification" in window && Notification.permission === "default");
  }

  take(events) {
    for (const event of events) {
      if (event.kind === "alert") {
        this.active.set(event.subject || event.text, event);
        if (this.begun) this.notify(event.text);
      }
      if (event.kind === "calm") this.active.delete(event.subject);
    }
    this.begun = true;
  }

  // An ended run has nothing that needs a look now, but for what it never recovered from.
  show(live) {
    const shown = [...this.active.values()].filter((event) => live || /NaN|infinit/.test(event.text));
    this.list.hidden = !shown.length;
    const texts = shown.map((event) => (event.step === null ? event.text : `${event.text} (step ${event.step})`));
    if (JSON.stringify(texts) === this.shown) return;
    this.shown = JSON.stringify(texts);
    this.list.replaceChildren(...texts.map((text) => el("li", {}, text)));
  }

  notify(text) {
    if (!notifies()) return;
    try {
      new Notification(`dsgui: ${this.name()}`, { body: text, tag: text });
    } catch {
      /* some browsers only allow a worker to */
    }
  }
}
