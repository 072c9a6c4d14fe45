// The bar that stays in view: preset and whether it was changed, what the checks say, whether it fits. A press on the
// verdict goes to the findings, one on the fit to the memory bars.

import { around, button, el, part } from "../common/dom.js";
import { roughly } from "../common/format.js";
import { save } from "../common/kept.js";
import { focusField } from "../memory/leads.js";
import { fitOf } from "../memory/memory_bars.js";
import { tellOwn } from "./own_config.js";
import { words } from "../texts/texts.js";
import { isPlaced } from "./way_out.js";

/** @import { Props, Standing, Trigger, Watch } from "../types.d.ts" */

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("configure_page", code, given);

class Bar {
  /** @param {HTMLElement} root @param {Props<unknown>} props @param {Trigger} trigger */
  constructor(root, props, trigger) {
    this.root = root;
    this.props = props;
    this.trigger = trigger;
    document.addEventListener("click", (event) => around(event, "#context-fold") && toggleContext());
  }

  show() {
    const { value } = this.props;
    if (typeof value !== "string" || !value) return;
    /** @type {Standing} */
    const told = JSON.parse(value);
    const focused = document.activeElement?.id ?? "";
    const chips = el("div", { class: "ds-standing-chips" }, ...missing(told), verdict(told), ...fit(told));
    const ways = el("div", { class: "ds-standing-ways" }, editor(), download(told));
    this.root.replaceChildren(name(told), chips, ways, ...this.plan(told));
    const fold = document.getElementById("context-fold");
    if (fold) fold.textContent = told.against;
    nameCount(told.counts);
    const again = focused ? this.root.querySelector(`#${CSS.escape(focused)}`) : null;
    if (again instanceof HTMLElement) again.focus();
    // What the chosen preset is for is not said of a config that was pasted or imported over it.
    tellOwn(told.own ? titleOf(told) : "");
  }

  /** @param {Standing} told */
  plan({ plan }) {
    if (!plan) return [];
    const [one, many] = plan.card ? ["made_for_card_one", "made_for_card_many"] : ["made_for_one", "made_for_many"];
    const code = plan.ranks === 1 ? one : many;
    const text = say(code, { ranks: String(plan.ranks), card: plan.card });
    const press = button(say("plan_for_that"), { class: "ds-fix", id: "plan-for-that" }, () =>
      this.trigger("plan", plan),
    );
    return [el("p", { class: "ds-standing-plan", role: "status" }, el("span", {}, text), press)];
  }
}

const isNarrow = () => matchMedia("(max-width: 480px)").matches;

const COUNTS = [
  ["error_one", "error_many"],
  ["warning_one", "warning_many"],
  ["note_one", "note_many"],
];

/** @param {number} count @param {string[]} codes for one, and for several */
const numbered = (count, [one, many]) => say(count === 1 ? one : many, { count: String(count) });

/** @param {Standing} told */
const titleOf = (told) => told.name || say("own_config");

/** @param {Standing} told */
function name(told) {
  const title = titleOf(told);
  const mark = told.modified ? [" ", el("span", { class: "ds-standing-modified" }, say("modified"))] : [];
  return el("p", { class: "ds-standing-name" }, el("b", { title }, title), ...mark);
}

/** @param {Standing} told */
function missing({ lacks }) {
  if (!lacks) return [];
  const attributes = { class: "ds-standing-chip", "data-kind": "warning", id: "standing-missing" };
  const open = () => {
    const path = document.querySelector("#open-path input, #open-path textarea");
    if (path instanceof HTMLElement) path.focus();
  };
  return [button(say("config_missing", { file: lacks }), attributes, open)];
}

/** @param {Standing} told */
function verdict(told) {
  const { broken, blank, errors, warnings, notes } = told;
  const passing = told.fit === "does_not_fit" ? "plain" : "ok"; // what passes and doesn't fit is not green
  const kind = blank ? "blank" : broken || errors ? "error" : warnings ? "warning" : passing;
  const counts = [errors, warnings, notes].flatMap((count, place) => (count ? [numbered(count, COUNTS[place])] : []));
  const [worst, ...rest] = broken ? [say(blank ? "blank" : "broken")] : counts.length ? counts : [say("passes")];
  const attributes = {
    class: "ds-standing-chip",
    "data-kind": kind,
    id: "standing-verdict",
    title: say("to_findings"),
  };
  const chip = button(worst, attributes, () => goTo("findings"));
  chip.append(...rest.map((text) => el("span", { class: "ds-standing-more" }, ` · ${text}`)));
  const few = !broken && errors && warnings ? ` ▲ ${warnings}` : "";
  if (few) chip.append(el("span", { class: "ds-standing-few", "aria-hidden": "true" }, few));
  if (counts.length > 1) chip.ariaLabel = counts.join(" · "); // on a phone the others are in short, or not there
  return chip;
}

/** Where it is told how much is missing: in one column with what would mend it, else beside that. */
const wayOut = () => (matchMedia("(max-width: 820px)").matches && isPlaced() ? "findings" : "memory-panel");

/** @param {Standing} told */
function fit(told) {
  if (told.nameless) {
    const attributes = { class: "ds-standing-chip", id: "standing-model", title: say("to_model") };
    return [button(say("nameless"), attributes, () => focusField("model"))];
  }
  if (!told.fit || told.fit === "cannot_say") return [];
  const { fit: found, text: whole } = fitOf(told);
  const asks = found !== told.fit && isNarrow(); // in a word where there is no room for more
  const text = asks ? say("fit_if_host", { size: roughly(told.host_asked ?? 0) }) : whole;
  const attributes = { class: "ds-standing-chip", "data-kind": found, id: "standing-fit", title: say("to_memory") };
  const [before, after] = told.guessed ? say("fit_guessed", { fit: "\n" }).split("\n") : [];
  const more = after ? [el("span", { class: "ds-standing-more" }, after)] : []; // too wide for a narrow screen
  const chip = button("", attributes, () => (found === told.fit ? goTo(wayOut()) : focusField("host")));
  chip.append(el("span", {}, before ?? "", text, ...more));
  return [chip];
}

/** On a phone, where it is below the form. */
const editor = () =>
  button(say("edit_json"), { class: "ds-step", id: "standing-json", title: say("to_json") }, () => goTo("config-json"));

/** The number beside the device is of what is planned for. @param {Standing["counts"]} code */
function nameCount(code) {
  const label = document.querySelector('#gpus [data-testid="block-info"]');
  if (!label || !code || label.textContent === say(code)) return;
  label.textContent = say(code);
  document.querySelector("#gpus input")?.setAttribute("aria-label", say(code));
}

/** On a narrow screen what the config is checked against is one line, which opens the fields it is chosen in. */
function toggleContext() {
  const open = document.querySelector(".ds-context")?.toggleAttribute("data-open") ?? false;
  document.getElementById("context-fold")?.setAttribute("aria-expanded", String(open));
}

/** As it is; converted it is below the editor. @param {Standing} told */
function download({ broken, blank }) {
  const why = broken ? say(blank ? "blank" : "broken") : undefined;
  const attributes = { class: "ds-step", id: "standing-download", title: why };
  const last = () => window.dsguiTexts?.at(-1);
  const press = () => (broken ? goTo("findings") : save(last()?.text ?? "", last()?.preset ?? ""));
  return button(say("download"), attributes, press);
}

/** @param {string} id */
function goTo(id) {
  const place = document.getElementById(id);
  if (!place) return;
  place.tabIndex = -1;
  place.scrollIntoView({ block: "start", behavior: "smooth" });
  place.focus({ preventScroll: true });
}

/** @param {HTMLElement} element @param {Props<unknown>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  const bar = new Bar(part(element, ".ds-standing"), props, trigger);
  watch("value", () => bar.show());
  bar.show();
}
