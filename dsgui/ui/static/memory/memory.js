// What a training takes, as bars: a stack of parts for a GPU and one for the host, each against what there is. What a
// part is and which keys change it stands below the bar, for who points at it, taps it or comes by with the keyboard.

import { around, button, el, part, parted } from "../common/dom.js";
import { predicted, predictedBeside, predictedPart, gib, separated } from "../common/format.js";
import { barOf, chipOf, colourOf, idOf, keyName, legendOf } from "./memory_bars.js";
import { limitTold, lineSwatch, partName, partsOf, stageOf, swatchOf } from "./memory_bars.js";
import { Details } from "./memory_details.js";
import { focusField } from "./leads.js";
import { offered, whyNone } from "./offers.js";
import { Rehearsal } from "./memory_rehearsal.js";
import { listed, textOf, words } from "../texts/texts.js";
import { onUnanswered } from "../common/unanswered.js";
import { onAnotherText, wasTyped } from "../config/editor.js";
import { heldAt } from "../config/held.js";
import { givenTold, isPlaced, onPlaced, tellWayOut } from "../config/way_out.js";

/** @import { Beyond, MemoryBar, MemoryChange, MemoryDevice, MemoryPart, MemoryProps, Sentence } from "../types.d.ts" */
/** @import { MemoryTold, Trigger, Watch, WayOut } from "../types.d.ts" */

const ALL = "";
const BROKEN = new Set(["mend_json", "blank"]); // of a text that is no JSON, or none
const AS_THE_BARS = new Set(["short_gpu", "short_host", "short_nvme"]); // each bar is headed by it
const NAMED = "#memory-model :is(input, textarea):not(:placeholder-shown)";
const isNamed = () => document.querySelector(NAMED) !== null;
const hasMouse = () => matchMedia("(hover: hover)").matches;

/** What the button is called that applies a change. @param {number} count of what it changes */
const applyName = (count) => words("memory_page", count === 1 ? "apply" : "apply_many", { count: String(count) });

class Memory {
  /** @param {HTMLElement} root @param {MemoryProps} props @param {Trigger} trigger */
  constructor(root, props, trigger) {
    this.root = root;
    this.props = props;
    this.trigger = trigger;
    this.moment = ALL;
    this.chosen = "";
    this.looking = "";
    this.sought = ""; // what was looked for without a press, as no change of the config makes it fit
    this.seeking = ""; // the same until there is an answer
    this.rehearsal = new Rehearsal((name, given) => {
      if (name === "rehearse") this.details.open(); // its charts come there
      trigger(name, given);
    });
    this.details = new Details(() => {
      if (this.moment === ALL) return;
      this.moment = ALL; // of another one nothing would tell any more
      this.show();
    });
    /** What an applied change gave the script, and leaves to it. @type {(Node | string)[]} */
    this.left = [];
    this.known = false; // whether what is shown is of a text that could be read
    this.isNameless = false; // whether it says that no model is named
    this.asked = ""; // what it is about
    this.placed = false; // whether the verdict has what would fit
    onPlaced(() => {
      if (this.placed !== isPlaced()) this.show();
    });
    document.addEventListener("input", (event) => {
      if (this.root.inert && around(event, "#memory-model")) this.show();
    });
    onAnotherText(() => {
      this.known = false; // of this text
      if (this.root.inert) this.show();
    });
    this.unanswered = ""; // what a change was looked for, and the server had no answer
    onUnanswered("change", () => {
      this.unanswered = this.looking;
      this.looking = this.seeking = "";
      this.show();
    });
    root.addEventListener("click", (event) => {
      const where = around(event, "[data-goto]")?.dataset.goto;
      if (where !== undefined) window.dispatchEvent(new CustomEvent("dsgui:goto", { detail: where }));
    });
  }

  /** @returns {MemoryTold | null} */
  told() {
    const { value } = this.props;
    return typeof value === "string" && value ? JSON.parse(value) : null;
  }

  show() {
    const told = this.told();
    const isBroken = BROKEN.has(told?.why?.code ?? "");
    // Of a text that is no JSON nothing is told: what is shown stays, dimmed, as it does in the form.
    // That no model is named holds no more once one is typed.
    const holds = this.known && !(this.isNameless && isNamed());
    this.root.inert = isBroken && holds && (this.root.inert || wasTyped());
    if (!this.root.inert) this.asked = told?.asked ?? "";
    window.dispatchEvent(new CustomEvent("dsgui:memory", { detail: this.asked }));
    if (this.root.inert) return;
    this.known = told !== null && !isBroken;
    this.isNameless = told?.why?.code === "no_model";
    this.placed = isPlaced();
    const focused = document.activeElement?.id ?? "";
    this.root.replaceChildren(...(told?.devices ? this.drawn(told, told.devices) : this.undrawn(told)));
    this.rehearse();
    tellWayOut(told ? this.wayOut(told) : null);
    this.seek(told);
    if (focused && this.root.querySelector(`#${CSS.escape(focused)}`)) document.getElementById(focused)?.focus();
  }

  /** The dry run alone: it goes on while nothing else changes. */
  rehearse() {
    if (this.root.inert) return;
    const { rehearsed } = this.props;
    this.rehearsal.show(this.told(), typeof rehearsed === "string" ? rehearsed : "", this.moment);
  }

  /** Where there is no number. @param {MemoryTold | null} told */
  undrawn(told) {
    const { head: dryRun, found } = this.rehearsal;
    if (!told) return [dryRun, found];
    return [head(told), el("p", { class: "ds-subject" }, told.why?.text ?? "", ...leading(told.goto)), dryRun, found];
  }

  /** @param {MemoryTold} told @param {MemoryDevice[]} devices */
  drawn(told, devices) {
    return [
      head(told),
      ...(told.guess ?? [])
        .filter(({ code }) => code !== "guessed") // of a typed size the head says it
        .map(({ text }) => el("p", { class: "ds-mem-remark" }, text)),
      ...asIf(told.as_if),
      ...devices.map((device) => this.device(device, told)),
      this.legend(devices),
      ...(told.remarks ?? []).map((one) => el("p", { class: "ds-mem-remark" }, one.text)),
      ...told.short.filter(({ code = "" }) => !AS_THE_BARS.has(code)).map(short),
      el("div", { class: "ds-mem-acts" }, this.rehearsal.head, ...this.change(told)),
      this.details.with(
        this.moments(devices),
        el("div", { class: "ds-mem-lists" }, ...devices.map((device) => this.parts(device))),
        el("p", { class: "ds-mem-explained", role: "status" }, ...this.explained(devices)),
        this.rehearsal.about,
        notes(told),
        this.rehearsal.found,
      ),
    ];
  }

  /** @param {MemoryDevice} device @param {MemoryTold} told */
  device(device, told) {
    const beside = told.formula?.devices?.find((one) => one.device === device.device);
    const bar = barOf(device, this.moment, beside);
    const name = textOf("memory_places", device.device);
    // Of the only one the head above says whether it fits.
    const isOnly = told.devices?.length === 1;
    const peak = needOf(barOf(device, ""), isOnly ? "" : device.fit);
    const needs = this.moment ? words("memory_page", "at_peak", { need: peak }) : peak;
    const when = whenOf(device, this.moment, bar);
    const track = el("div", { class: "ds-mem-track" });
    for (const one of bar.segments) {
      const attributes = this.segment(device, one.part);
      const segment = this.pointing(
        button("", attributes, () => {
          this.details.open();
          this.point(one.id);
        }),
        one.id,
      );
      segment.style.width = `${one.width}%`;
      segment.style.background = colourOf(one.part.part);
      track.append(segment);
    }
    return el(
      "section",
      { class: "ds-mem-device", "data-device": device.device, "data-fit": device.fit },
      el(
        "p",
        { class: "ds-mem-name" },
        el("span", {}, el("b", {}, deviceName(device, told)), " ", el("span", { class: "ds-mem-beside" }, when)),
        el("span", { class: "ds-mem-need" }, needs),
      ),
      bar.line === null
        ? unknown(device)
        : el(
            "div",
            {
              class: "ds-mem-bar",
              role: "group",
              "aria-label": words("memory_page", "bar", { name, need: listed([needs, when]) }),
            },
            track,
            lineOf(device, bar),
          ),
      ...(beside ? formulas(barOf(beside, this.moment, device)) : []),
    );
  }

  /** @param {MemoryDevice} device @param {MemoryPart} one */
  segment(device, one) {
    const label = listed([partName(one), range(one)]);
    return {
      class: "ds-mem-part",
      id: idOf(device.device, one),
      "data-place": one.place,
      "data-code": one.part,
      title: label,
      "aria-label": label,
    };
  }

  /** From a bar that is too full to one that is not. @param {MemoryTold} told */
  change(told) {
    const found = this.foundFor(told);
    if (told.as_if) return []; // the text is another
    const stage = stageOf(told, found, this.looking);
    const unanswered = this.unanswered !== "" && this.unanswered === told.asked;
    const texts = unanswered && !this.placed ? [words("memory_page", "unanswered")] : this.left;
    const left = texts.map((text) => el("p", { class: "ds-mem-change", role: "status" }, text));
    if (stage === "nothing" || this.placed) return left;
    if (stage === "found" && found) return howTo(found, this.others(told, found), () => this.apply(found));
    const looking = stage === "looking";
    const name = looking ? words("memory_page", "looking") : words("memory_page", "find");
    const attributes = {
      class: "ds-mem-do",
      id: "ds-mem-find",
      "aria-disabled": String(looking),
      "aria-busy": looking,
    };
    return [
      ...left,
      el(
        "p",
        { class: "ds-mem-change" },
        button(name, attributes, () => this.find(told)),
      ),
    ];
  }

  /** The same for where the verdict stands. @param {MemoryTold} told @returns {WayOut | null} */
  wayOut(told) {
    const found = this.foundFor(told);
    const stage = stageOf(told, found, this.looking);
    if (told.as_if || stage === "nothing") return null;
    const press = () => this.find(told);
    if (stage !== "found" || !found) {
      const looking = stage === "looking";
      const text = this.unanswered && this.unanswered === told.asked ? words("memory_page", "unanswered") : "";
      const name = words("memory_page", looking ? "looking" : "find");
      return { text, steps: [], other: "", leads: [], name, looking, press };
    }
    const name = countOf(found) ? applyName(countOf(found)) : "";
    const apply = () => this.apply(found);
    const way = { text: saidOf(found), steps: stepsOf(found), other: found.other?.text ?? "" };
    return { ...way, leads: this.others(told, found), name, looking: false, press: apply };
  }

  /** What would fit where no change does. @param {MemoryTold} told @param {MemoryChange} found */
  others(told, found) {
    const seeking = told.never !== undefined && this.found()?.asked !== told.asked && this.seeking === told.asked;
    return offered(found, seeking, (one) => this.apply(one));
  }

  /** That no change helps is known at once, and what does is looked for. @param {MemoryTold | null} told */
  seek(told) {
    const { never, asked = "" } = told ?? {};
    if (!never || this.sought === asked || this.found()?.asked === asked) return;
    this.sought = this.seeking = asked;
    this.trigger("find", { asked });
    this.show();
  }

  /** What was found, or is known without looking for it. @param {MemoryTold} told @returns {MemoryChange | null} */
  foundFor({ never, asked = "" }) {
    const found = this.found();
    return never && found?.asked !== asked ? { asked, ...never } : found;
  }

  /** @returns {MemoryChange | null} */
  found() {
    const { found } = this.props;
    return typeof found === "string" && found ? JSON.parse(found) : null;
  }

  /** @param {MemoryTold} told */
  find(told) {
    if (this.looking === told.asked) return;
    this.looking = told.asked ?? "";
    this.unanswered = "";
    this.left = [];
    this.show();
    this.trigger("find", { asked: this.looking });
  }

  /** @param {MemoryChange | Beyond} found */
  apply(found) {
    this.looking = "";
    this.left = ofScript(found);
    const { changes = [], given = [], fields = {} } = found;
    this.trigger("apply", { changes, ticks: ticksOf(found), given, fields });
  }

  /** Every moment with what it takes; one of them is shown. @param {MemoryDevice[]} devices */
  moments(devices) {
    const named = [...new Set(devices.flatMap((device) => device.moments.map((one) => one.moment)))];
    const buttons = [ALL, ...named].map((moment) => {
      const pressed = this.moment === moment;
      const label = moment === ALL ? words("memory_page", "peak") : textOf("memory_moments", moment);
      const attributes = {
        class: "ds-mem-moment",
        id: `ds-moment-${moment || "all"}`,
        "aria-pressed": String(pressed),
      };
      return button(label, attributes, () => {
        this.moment = moment;
        this.show();
      });
    });
    return el(
      "div",
      { class: "ds-mem-moments", role: "group", "aria-label": words("memory_page", "moment") },
      words("memory_page", "at"),
      ...buttons,
    );
  }

  /** What the bars' colours are; each part of a bar tells its name itself. @param {MemoryDevice[]} devices */
  legend(devices) {
    const drawn = devices.filter(({ capacity }) => capacity !== null);
    const items = legendOf(drawn, this.moment).map((one) => el("li", {}, swatchOf(one), partName(one)));
    const limit = drawn.slice(0, 1).map(() => el("li", {}, lineSwatch(), words("memory_page", "limit")));
    return el("ul", { class: "ds-mem-legend", "aria-hidden": "true" }, ...items, ...limit);
  }

  /** The parts of a device, the largest first. @param {MemoryDevice} device */
  parts(device) {
    const items = partsOf(device, this.moment).map(({ part: one, id }) => {
      const entry = this.pointing(
        button("", { class: "ds-mem-entry", id: `${id}-entry` }, () => this.point(id)),
        id,
      );
      entry.append(swatchOf(one), el("span", {}, partName(one)), el("span", { class: "ds-mem-gib" }, range(one)));
      return el("li", { "data-part": id, class: id === this.chosen ? "ds-mem-pointed" : undefined }, entry);
    });
    const name = textOf("memory_places", device.device);
    const limit = device.capacity === null ? [] : [limitOf(device.capacity)];
    const list = el("ul", { class: "ds-mem-parts", "aria-label": name }, ...items, ...limit);
    return el("div", {}, el("b", {}, name), list);
  }

  /** Mouse, touch and keyboard alike. @param {HTMLElement} node @param {string} id */
  pointing(node, id) {
    node.addEventListener("mouseenter", () => this.point(id));
    node.addEventListener("focus", () => this.point(id));
    return node;
  }

  /** Nothing else moves: who points at one part after another would lose the place. @param {string} id */
  point(id) {
    this.chosen = id;
    for (const entry of this.root.querySelectorAll("[data-part]")) {
      entry.classList.toggle("ds-mem-pointed", entry.getAttribute("data-part") === id);
    }
    part(this.root, ".ds-mem-explained").replaceChildren(...this.explained(this.told()?.devices ?? []));
  }

  /** What the chosen part is, and the keys that change it. @param {MemoryDevice[]} devices */
  explained(devices) {
    const every = devices.flatMap((device) => partsOf(device, this.moment));
    const found = every.find(({ id }) => id === this.chosen);
    return found ? explained(found.part) : [words("memory_page", hasMouse() ? "hint" : "hint_touch")];
  }
}

/** @param {MemoryTold} told */
function head(told) {
  const { fit, text } = chipOf(told);
  const chip = el("span", { class: "ds-mem-chip", "data-fit": fit, role: "status" }, text);
  const about = told.about ? [el("span", { class: "ds-mem-about" }, told.about)] : [];
  return el("p", { class: "ds-mem-head" }, el("b", {}, words("memory_page", "memory")), chip, ...about);
}

/** A way to the error that a number waits for. @param {string | undefined} pointer */
const leading = (pointer) => (pointer ? [" ", whereButton(pointer, words("memory_page", "show_error"))] : []);

const semicolon = () => words("lists", "semicolon", { first: "", then: "" });

const MOST_FIXED = 2; // are named at once
let asIfOpen = false;

/** What was taken as fixed; of many how many there are, and each on a press. @param {MemoryTold["as_if"]} repairs */
function asIf(repairs) {
  if (!repairs) return [];
  const links = repairs.map(({ pointer, text }) => whereButton(pointer, text));
  if (links.length > MOST_FIXED) return [foldedFixes(links)];
  const named = links.flatMap((link, place) => [...(place ? [semicolon()] : []), link]);
  return [el("p", { class: "ds-mem-as-if" }, el("b", {}, words("memory_page", "as_if")), " ", ...named)];
}

/** @param {HTMLElement[]} links */
function foldedFixes(links) {
  const count = String(links.length);
  const fold = el("details", { class: "ds-mem-as-if", open: asIfOpen });
  fold.append(
    el("summary", {}, words("memory_page", "as_if_many", { count })),
    el("ul", {}, ...links.map((link) => el("li", {}, link))),
  );
  fold.addEventListener("toggle", () => (asIfOpen = fold.open));
  return fold;
}

/** @param {string} pointer @param {string} text */
const whereButton = (pointer, text) => el("button", { type: "button", class: "ds-where", "data-goto": pointer }, text);

/** What is too small, or what may be. @param {Sentence} one */
const short = ({ code = "", text }) =>
  el("p", { class: "ds-mem-short", "data-fit": code.startsWith("short") ? "does_not_fit" : "tight" }, text);

/** The panel's boxes that say what the script does. @param {MemoryChange | Beyond} found @returns {string[]} */
function ticksOf(found) {
  return [...(found.checkpointing ? ["checkpointing"] : []), ...(found.zero_init ? ["zero_init"] : [])];
}

/** Where the device ends. @param {MemoryDevice} device @param {MemoryBar} bar */
function lineOf({ device }, { capacity, line }) {
  const mark = el("span", { class: "ds-mem-line", "aria-hidden": "true", title: limitTold(device, capacity) });
  mark.style.left = `${line}%`;
  return mark;
}

/** Instead of a bar, which without an end would be as full for any need. @param {MemoryDevice} device */
function unknown({ device }) {
  const isHost = device === "host";
  const tell = button(words("memory_page", "set_host"), { class: "ds-mem-do", id: "ds-mem-host" }, () =>
    focusField("host"),
  );
  const text = words("memory_page", isHost ? "host_unknown" : "size_unknown");
  return el("p", { class: "ds-mem-unknown" }, text, ...(isHost ? [" ", tell] : []));
}

/** The formula's bar, below that of the dry run. @param {MemoryBar} bar */
function formulas(bar) {
  const track = el("div", { class: "ds-mem-track ds-mem-formula", "aria-hidden": "true" });
  for (const { part: one, width } of bar.segments) {
    const title = listed([partName(one), range(one)]);
    const told = { "data-place": one.place, "data-code": one.part, title };
    const segment = el("span", { class: "ds-mem-part", ...told });
    segment.style.width = `${width}%`;
    segment.style.background = colourOf(one.part);
    track.append(segment);
  }
  const text = `${textOf("memory_rehearsal", "formula")}: ${predicted(bar.bytes)}`;
  return [...(bar.line === null ? [] : [track]), el("p", { class: "ds-mem-beside" }, text)];
}

/** @param {MemoryChange} found */
const saidOf = (found) =>
  whyNone(found) || (stepsOf(found).length ? found.brief : found.text) || words("memory_page", "fits_as_is");

/** What a press gives the script, and what is left to it.
 * @param {MemoryChange | Beyond} found @returns {(Node | string)[]} */
const ofScript = ({ given = [], script = [] }) => [
  ...(given.length ? [givenTold(given)] : []),
  ...script.map(({ text }) => text),
];

/** What to change, one by one, each from what it is now. @param {MemoryChange} found */
const stepsOf = (found) => [
  ...(found.changes ?? []).map(({ pointer, value }) => step(keyName(pointer), heldAt(pointer), JSON.stringify(value))),
  ...ticksAlone(found).map((tick) => step(words("memory_page", `tick_${tick}`), say("off"), say("on"))),
  ...(found.given ?? []).map((one) => argument(one)),
  ...(found.script ?? []).map(({ text }) => text),
];

/** @param {string} one of the script's */
function argument(one) {
  const [before, after] = words("memory_page", "argument", { argument: "\n" }).split("\n");
  return el("span", { class: "ds-change" }, before, el("code", { class: "ds-whole" }, one), after);
}

/** The boxes that no argument of the script stands for. @param {MemoryChange} found */
const ticksAlone = (found) =>
  ticksOf(found).filter((tick) => !(found.given ?? []).some((one) => one.startsWith(`--gradient_${tick}`)));

/** How many things a press changes. @param {MemoryChange} found */
const countOf = (found) => (found.changes?.length ?? 0) + (found.given?.length ?? 0) + ticksAlone(found).length;

/** @param {string} code */
const say = (code) => words("form_page", code);

/** @param {string} name @param {string} before @param {string} after */
const step = (name, before, after) =>
  el(
    "span",
    { class: "ds-change" },
    el("code", {}, ...parted(name)),
    ": ",
    el("span", { class: "ds-change-before" }, separated(before)),
    " → ",
    el("code", {}, separated(after)),
  );

/** What to change, in words and key by key.
 * @param {MemoryChange} found @param {HTMLElement[]} others @param {() => void} apply */
function howTo(found, others, apply) {
  const text = el("p", { class: "ds-mem-change", role: "status" }, saidOf(found));
  const items = stepsOf(found).map((one) => el("li", {}, one));
  const list = items.length ? [el("ul", { class: "ds-mem-edits" }, ...items)] : [];
  const attributes = { class: "ds-mem-do", id: "ds-mem-apply" };
  const count = countOf(found);
  const press = count ? [button(applyName(count), attributes, apply)] : [];
  const other = found.other ? [el("p", { class: "ds-mem-change" }, found.other.text)] : [];
  return [text, ...others, ...list, ...press, ...other];
}

/** @param {MemoryTold} told */
function notes(told) {
  if (!told.notes.length) return "";
  const items = told.notes.map((one) => el("li", {}, one.text));
  const count =
    items.length === 1
      ? words("memory_page", "assumption")
      : words("memory_page", "assumptions", { count: String(items.length) });
  return el("details", { class: "ds-mem-notes" }, el("summary", {}, count), el("ul", {}, ...items));
}

/** @param {MemoryPart} one */
function explained(one) {
  const keys = (one.keys ?? []).map((pointer) =>
    pointer.startsWith("/")
      ? el("button", { type: "button", class: "ds-where", "data-goto": pointer }, keyName(pointer))
      : el("code", { class: "ds-option" }, pointer),
  );
  const changed = keys.length
    ? [el("span", { class: "ds-mem-keys" }, words("memory_page", "changed_by"), " ", ...spaced(keys))]
    : [];
  return [
    el("b", {}, words("memory_page", "about", { part: partName(one) })),
    " ",
    textOf("memory_about", one.part),
    " ",
    ...changed,
  ];
}

/** @param {MemoryDevice} device @param {MemoryTold} told */
function deviceName(device, told) {
  const place = textOf("memory_places", device.device);
  const isEach = device.device === "gpu" && told.ranks > 1;
  const name = isEach ? words("memory_page", "each_of", { name: place, count: String(told.ranks) }) : place;
  if (told.source !== "dry_run") return name;
  return words("memory_page", "source", { name, source: textOf("memory_sources", told.source) });
}

/** At its fullest moment, which the verdict is about. @param {MemoryBar} bar @param {string} fit "" where it is said */
function needOf({ bytes, capacity }, fit) {
  if (capacity === null) return words("memory_page", "needed", { bytes: predicted(bytes) });
  const need = words("memory_page", "of", { bytes: predictedBeside(bytes, capacity), total: gib(capacity, 1) });
  if (!fit) return need;
  return words("memory_page", "with_fit", { need, fit: textOf("memory_fits", fit) });
}

/** Which moment a bar shows: its fullest, or the one that is looked at, with what that takes.
 * @param {MemoryDevice} device @param {string} moment @param {MemoryBar} bar */
function whenOf(device, moment, bar) {
  if (!moment) return words("memory_page", "peak_when", { moment: textOf("memory_when", device.worst) });
  return words("memory_page", "bytes_when", { bytes: predicted(bar.bytes), moment: textOf("memory_when", moment) });
}

/** What the line across a bar is. @param {number} capacity */
function limitOf(capacity) {
  const name = el("span", {}, words("memory_page", "limit"));
  const size = el("span", { class: "ds-mem-gib" }, gib(capacity, 1));
  return el("li", { class: "ds-mem-entry ds-mem-limit" }, lineSwatch(), name, size);
}

/** @param {HTMLElement[]} nodes */
const spaced = (nodes) => nodes.flatMap((node, index) => (index ? [", ", node] : [node]));

/** @param {MemoryPart} one */
const range = ({ bytes, least, most }) => predictedPart(bytes, least, most);

/**
 * @param {HTMLElement} element @param {MemoryProps} props @param {Trigger} trigger @param {Watch} watch
 */
export function mount(element, props, trigger, watch) {
  const memory = new Memory(part(element, ".ds-memory"), props, trigger);
  for (const name of ["value", "found"]) watch(name, () => memory.show());
  watch("rehearsed", () => memory.rehearse());
  memory.show();
}
