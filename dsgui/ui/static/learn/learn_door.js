// The way into the tutorials. All that the first page has of them: what is behind the door is loaded when it is opened.

import { around, messageOf } from "../common/dom.js";
import { onUnanswered } from "../common/unanswered.js";

/** @import { Props, Trigger, Watch } from "../types.d.ts" */
/** @import { Drawer } from "./learn.js" */

const OPEN = "dsgui.learn"; // for as long as this tab of the browser lives, the language's switch included

/** @param {HTMLElement} element @param {Props<string>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  /** @type {Drawer | null} */
  let drawer = null;
  const open = async () => {
    try {
      const behind = await import("./learn.js");
      drawer ??= new behind.Drawer(trigger);
      await drawer.open();
    } catch (error) {
      window.dispatchEvent(new ErrorEvent("error", { message: messageOf(error) }));
    }
  };
  const { dataset } = document.documentElement; // a press before there was a door: site/early_press.js
  const early = dataset.pressed === "learn";
  if (early) delete dataset.pressed;
  // Gradio draws the header anew.
  document.addEventListener("click", (event) => {
    if (!around(event, "[data-learn]")) return;
    delete dataset.pressed;
    void open();
  });
  watch("value", () => drawer?.told(props.value));
  onUnanswered("learn", () => drawer?.told(""));
  if (early || sessionStorage.getItem(OPEN)) void open();
}
