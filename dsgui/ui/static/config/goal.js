// The start from a goal: what to train, which model, on what; then two or three configs that fit, one press each. Open
// at a browser's first visit, a button above the workspace afterwards.

import { around, button, el, inRow, part, withOptions } from "../common/dom.js";
import { predicted, predictedBeside, gib, roughly } from "../common/format.js";
import { barOf, colourOf, legendOf, limitTold, lineSwatch, partName, swatchOf } from "../memory/memory_bars.js";
import { shortLegend } from "../memory/short_legend.js";
import { listed, setApart, textOf, words } from "../texts/texts.js";

/** @import { GoalAsked, GoalChoice, GoalFound, GoalOffered, GoalProps, MemoryDevice } from "../types.d.ts" */
/** @import { MemoryBar, MemoryPart, Trigger, Watch } from "../types.d.ts" */

const SEEN = "dsgui.goal";
const FRAMEWORKS = ["hf", "native", "own"];
const MOST = 4096;
const MOST_TOKENS = 100_000_000;
const MOST_GIB = 1_000_000;
const OPEN = 0.75; // of a card: how full a host is that nobody described is not known, so none of them looks full
const PATIENCE_MS = 60_000; // an answer takes a second or two

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("goal_page", code, given);

class Goal {
  /** @param {HTMLElement} root @param {GoalProps} props @param {Trigger} trigger */
  constructor(root, props, trigger) {
    this.root = root;
    this.props = props;
    this.trigger = trigger;
    /** What was last asked for. @type {GoalAsked | null} */
    this.asked = null;
    this.turn = 0;
    this.lora = 0; // the rank; asked for by a press where nothing else fits
    /** The timer of an answer. @type {number | undefined} */
    this.waits = undefined;
    const closed = { "data-short": say("open_short"), "aria-expanded": "false" };
    this.opener = button(say("open"), { class: "ds-goal-open", id: "goal-open", ...closed }, () => this.open());
    this.results = el("div", { class: "ds-goal-results", role: "status" });
    this.outdated = el("p", { role: "status" });
    this.what = el("fieldset", { class: "ds-goal-what" }, el("legend", {}, say("what")));
    this.ask = el("div", { class: "ds-goal-ask" });
    this.said = el("span", {});
    this.change = button(say("change"), { class: "ds-goal-second", id: "goal-change" }, () => this.again());
    this.brief = el("div", { class: "ds-goal-brief", hidden: true }, this.said, this.change);
    this.own = el("div", { class: "ds-goal-own" });
    this.examples = el("div", { class: "ds-goal-examples" });
    this.find = button(say("find"), { class: "ds-goal-find", id: "goal-find" }, () => this.look({}));
    this.panel = this.form(/** @type {GoalOffered} */ (JSON.parse(props.offered)));
    root.replaceChildren(this.opener, el("p", { class: "ds-lead" }, say("lead")), this.panel);
    const first = isFirstVisit();
    document.documentElement.classList.toggle("ds-first-visit", first);
    this.toggle(first);
    // The tutorials point at the workspace.
    document.addEventListener("click", (event) => around(event, "[data-learn]") && this.toggle(false));
    remember();
    this.follow();
    this.panel.addEventListener("input", () => this.compare());
  }

  /** @param {GoalOffered} offered */
  form(offered) {
    for (const name of FRAMEWORKS) this.what.append(choice(name, () => this.follow()));
    this.ask.append(...questions(offered), this.find);
    this.examples.append(
      el("p", { class: "ds-goal-about" }, say("leads_to")),
      ...examples(offered).map((one) => this.example(one)),
    );
    this.hasGpu = offered.usual.has_gpu;
    part(this.ask, "#goal-device").addEventListener("change", () => this.nameCounts());
    this.nameCounts();
    this.ask.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target instanceof HTMLInputElement) this.look({});
    });
    this.own.append(
      button(say("paste"), { class: "ds-goal-find", id: "goal-paste" }, () => this.leave("#config-json .cm-content")),
      button(say("file"), { class: "ds-goal-second", id: "goal-file" }, () =>
        this.leave("#open-path input, #open-path textarea"),
      ),
    );
    const head = el(
      "div",
      { class: "ds-goal-head" },
      el("h2", { tabindex: "-1", id: "goal-title" }, say("title")),
      el("button", { type: "button", class: "ds-goal-second", id: "goal-learn", "data-learn": true }, say("learn")),
      button(say("skip"), { class: "ds-goal-second", id: "goal-skip" }, () => this.leave("#goal-open")),
    );
    return el(
      "section",
      { class: "ds-goal-panel", "aria-labelledby": "goal-title" },
      head,
      this.brief,
      this.what,
      this.ask,
      this.examples,
      this.own,
      this.outdated,
      this.results,
    );
  }

  /** What runs on this machine without a GPU are ranks on its CPU. */
  nameCounts() {
    const device = this.ask.querySelector("#goal-device");
    const onCpu = device instanceof HTMLSelectElement && device.value === THIS_MACHINE && !this.hasGpu;
    part(this.ask, ".ds-goal-gpu > label").textContent = say(onCpu ? "device" : "gpu");
    part(this.ask, ".ds-goal-gpus > label").textContent = say(onCpu ? "cpu_ranks" : "gpus");
  }

  /** @param {Example} one */
  example({ code, values }) {
    return button(say(code), { class: "ds-goal-second", "data-example": code }, () => this.look(values));
  }

  /** That what is planned for a GPU can't run on this machine, before it is used. @param {GoalFound} found */
  elsewhere({ choices }) {
    if (!choices.length || this.hasGpu || !this.asked || this.asked.device === THIS_MACHINE) return [];
    return [el("p", { class: "ds-goal-elsewhere" }, say("elsewhere"))];
  }

  /** The name of the GPU that is chosen. */
  cardName() {
    const device = this.ask.querySelector("#goal-device");
    return device instanceof HTMLSelectElement ? (device.selectedOptions[0]?.text ?? "") : "";
  }

  /** What would fit where nothing did, one press each. @param {GoalFound} found */
  ways({ ways, choices }) {
    const [first, ...others] = offers(ways);
    if (!first) return [];
    const made = (/** @type {Offer} */ one, /** @type {string} */ look) =>
      button(one.name, { class: look }, () => this.look(one.values, one.lora || this.lora));
    // Beside cards that can be used it is the second best.
    const nearest = hasNearest(choices);
    const host = () => button(words("memory_page", "set_host"), { class: "ds-goal-second" }, () => this.again("host"));
    const buttons = [
      ...(nearest ? [] : [host()]),
      made(first, nearest ? "ds-goal-find" : "ds-goal-second"),
      ...others.map((one) => made(one, "ds-goal-second")),
    ];
    return [el("p", { class: "ds-goal-ways" }, ...buttons)];
  }

  framework() {
    const chosen = this.root.querySelector('input[name="goal-framework"]:checked');
    return chosen instanceof HTMLInputElement ? chosen.value : FRAMEWORKS[0];
  }

  follow() {
    const own = this.framework() === "own";
    this.ask.hidden = own;
    this.examples.hidden = own || Boolean(this.results.firstChild);
    this.own.hidden = !own;
    this.results.hidden = own;
    this.compare();
  }

  open() {
    this.toggle(true);
    part(this.panel, "#goal-title").focus();
  }

  /** @param {boolean} open */
  toggle(open) {
    this.panel.hidden = !open;
    this.opener.hidden = open;
    this.opener.setAttribute("aria-expanded", String(open));
  }

  /** On to the workspace. @param {string} focus */
  leave(focus) {
    this.toggle(false);
    const next = document.querySelector(focus);
    if (next instanceof HTMLElement) next.focus();
  }

  /** @param {Record<string, string | number>} values for the fields, by name; @param {number} [lora] */
  look(values, lora = 0) {
    for (const [name, value] of Object.entries(values)) {
      const input = part(this.ask, `#goal-${name}`);
      if (input instanceof HTMLInputElement || input instanceof HTMLSelectElement) input.value = String(value);
    }
    this.nameCounts();
    this.lora = lora;
    const inputs = [...this.ask.querySelectorAll("input")];
    for (const input of inputs) mark(input, problemOf(input));
    const wrong = inputs.find((input) => input.ariaInvalid);
    if (wrong) {
      wrong.focus();
      return;
    }
    this.asked = read(this.root, this.framework(), this.lora);
    this.outdated.textContent = "";
    this.results.inert = true; // they are of what was asked before
    this.find.setAttribute("aria-busy", "true");
    this.find.textContent = say("finding");
    // The answer carries it back: the page is not told a value that is the same again.
    this.trigger("look", { ...this.asked, turn: (this.turn += 1) });
    // Each event that Gradio knows, a failure's too, makes the first page larger.
    window.clearTimeout(this.waits);
    this.waits = window.setTimeout(() => {
      this.rest(el("p", { class: "ds-goal-problem" }, words("memory_page", "unanswered")));
    }, PATIENCE_MS);
  }

  show() {
    const { value } = this.props;
    const found = /** @type {GoalFound | null} */ (value ? JSON.parse(value) : null);
    if (!this.asked || found?.turn !== this.turn) return;
    const input = found.field && this.root.querySelector(`#goal-${found.field}`);
    if (input instanceof HTMLInputElement && found.why) {
      mark(input, found.why.text);
      this.rest();
    } else {
      const parts = { before: this.elsewhere(found), ways: this.ways(found) };
      this.rest(...drawn(found, this.lora, parts, (one) => this.use(one)));
    }
    this.panel.toggleAttribute("data-asked", true);
    this.results.scrollIntoView({ block: "nearest" });
    if (found.choices.length) this.answered(this.asked);
  }

  /** On a phone the questions are then one line, and what was found begins below it. @param {GoalAsked} asked */
  answered({ framework, model, device, gpus, nodes }) {
    const had = this.ask.contains(document.activeElement);
    const [name, count] = [this.cardName(), gpus * nodes];
    const on = device === THIS_MACHINE ? `${name} × ${count}` : `${count} × ${name}`;
    this.said.textContent = [say(framework), model, on].join(" · ");
    this.panel.toggleAttribute("data-answered", true);
    this.brief.hidden = false;
    if (!this.change.checkVisibility()) return;
    if (had) this.change.focus({ preventScroll: true });
    this.brief.scrollIntoView({ block: "start" });
  }

  /** The questions, to be changed. @param {string} [first] which of them */
  again(first = "model") {
    this.panel.removeAttribute("data-answered");
    part(this.panel, `#goal-${first}`).focus();
  }

  /** It can be asked again. @param {HTMLElement[]} shown */
  rest(...shown) {
    window.clearTimeout(this.waits);
    this.find.removeAttribute("aria-busy");
    this.find.textContent = say("find");
    this.results.replaceChildren(...shown);
    this.follow();
  }

  /** What was found is of what was asked, not of what stands there now. */
  compare() {
    if (this.find.ariaBusy) return;
    const now = read(this.root, this.framework(), this.lora);
    const old = Boolean(this.results.firstChild) && JSON.stringify(now) !== JSON.stringify(this.asked);
    this.results.inert = old;
    this.outdated.textContent = old && !this.results.hidden ? say("outdated") : "";
  }

  /** @param {GoalChoice} one */
  use(one) {
    window.dsguiGoal = { asked: /** @type {GoalAsked} */ (this.asked), choice: one };
    this.leave("#goal-open");
    window.scrollTo(0, 0);
    this.trigger("use", {});
  }
}

const THIS_MACHINE = "this"; // as core/launch/planned.py has it

/** @typedef {{ code: string, values: Record<string, string | number> }} Example what is asked for, by field */

/** Goals to begin with, of what is offered here. @param {GoalOffered} offered @returns {Example[]} */
export function examples({ devices, usual }) {
  const known = new Set(devices.map(({ id }) => id));
  return [
    { code: "example_one", values: { model: "7B", device: "rtx4090", gpus: 1, nodes: 1 } },
    { code: "example_many", values: { model: "7B", device: "a100-80", gpus: 8, nodes: 1 } },
    { code: "example_here", values: { model: "Qwen/Qwen2.5-0.5B", device: THIS_MACHINE, gpus: usual.gpus, nodes: 1 } },
  ].filter(({ values }) => known.has(values.device));
}

/** @param {string} name @param {() => void} changed */
function choice(name, changed) {
  const input = el("input", { type: "radio", name: "goal-framework", value: name, checked: name === FRAMEWORKS[0] });
  input.addEventListener("change", changed);
  return el(
    "label",
    { class: "ds-goal-choice" },
    input,
    el("span", {}, el("b", {}, say(name)), el("span", { class: "ds-goal-about" }, say(`${name}_about`))),
  );
}

/** @param {GoalOffered} offered */
function questions({ devices, usual }) {
  const device = el("select", { id: "goal-device" });
  for (const group of new Set(devices.map((one) => one.group))) {
    const cards = devices.filter((one) => one.group === group);
    const options = cards.map((one) => el("option", { value: one.id }, one.title));
    device.append(...(group ? [el("optgroup", { label: group }, ...options)] : options));
  }
  const model = el("input", {
    id: "goal-model",
    type: "text",
    placeholder: "Qwen/Qwen2.5-7B, 7B …",
    autocomplete: "off",
    spellcheck: "false",
  });
  const host = number("goal-host", "", MOST_GIB);
  host.placeholder = say("optional");
  return [
    field("model", model, say("model_hint")),
    field("length", number("goal-length", usual.length, MOST_TOKENS)),
    field("micro", number("goal-micro", 1, MOST)),
    field("gpu", device),
    field("gpus", number("goal-gpus", usual.gpus, MOST)),
    field("nodes", number("goal-nodes", 1, MOST)),
    field("host", host),
  ];
}

/** @param {string} id @param {number | string} value @param {number} most */
const number = (id, value, most) => el("input", { id, type: "number", min: 1, max: most, step: 1, value });

/** @param {string} code @param {HTMLElement} input @param {string} [hint] */
function field(code, input, hint = "") {
  const about = hint ? [el("small", { class: "ds-goal-about", id: `${input.id}-about` }, hint)] : [];
  const problem = el("small", { class: "ds-goal-problem", role: "alert", id: `${input.id}-problem` });
  input.addEventListener("input", () => mark(input, ""));
  const label = el("label", { for: input.id }, say(code));
  const made = el("div", { class: `ds-goal-field ds-goal-${code}` }, label, input, ...about, problem);
  mark(input, "");
  return made;
}

/** @param {HTMLElement} input @param {string} problem "" where there is none */
function mark(input, problem) {
  const place = input.parentElement?.querySelector(".ds-goal-problem");
  if (!place) return;
  place.textContent = problem;
  input.ariaInvalid = problem ? "true" : null;
  const about = input.parentElement?.querySelector(".ds-goal-about");
  const described = [about?.id, problem && place.id].filter(Boolean).join(" ");
  if (described) input.setAttribute("aria-describedby", described);
  else input.removeAttribute("aria-describedby");
}

/** @param {{ type: string, id: string, value: string, max: string }} input */
export function problemOf({ type, id, value, max }) {
  if (type === "text") return value.trim() ? "" : say("enter_model");
  if (id === "goal-host" && value === "") return "";
  if (!(Number(value) >= 1)) return say("at_least");
  return Number(value) > Number(max) ? say("at_most", { most: max }) : "";
}

/** @typedef {{ name: string, values: Record<string, string | number>, lora: number }} Offer lora: its rank, or 0 */

/** What is asked for next, of what was found to fit. @param {GoalFound["ways"]} ways @returns {Offer[]} */
export function offers(ways) {
  const { gpus: more, lora = 0 } = ways ?? {};
  /** @type {Offer[]} */
  const found = [];
  if (more) {
    const { device, title, gpus, nodes } = more;
    const [, called, memory] = /^(.+) (\d+ GB.*)$/.exec(title) ?? ["", title, ""]; // each is called by both
    const given = { nodes: String(nodes), count: String(gpus), card: called, memory };
    const name = say(nodes > 1 ? "try_nodes" : "try_gpus", given);
    found.push({ name, values: { device, gpus, nodes }, lora: 0 });
  }
  if (lora) found.push({ name: say("try_lora"), values: {}, lora });
  return found;
}

/** What the cards are, in a sentence. @param {GoalFound} found */
export function sentence({ choices, ways }) {
  if (hasNearest(choices)) {
    return say(["none_would_fit", "none_fit"][offers(ways).length] ?? "none_fit_ways");
  }
  if (offers(ways).length) return say("large_hosts");
  const onGpus = choices.some(({ verdict }) => hasGpu(verdict));
  if (choices.length > 1) return say(onGpus ? "some_fit" : "some_fit_host");
  return say(onGpus ? "one_fits" : "one_fits_host");
}

/** Whether the cards are what comes nearest, as nothing fits. @param {GoalChoice[]} choices */
const hasNearest = (choices) => choices.some(({ role }) => role === "nearest");

/** @param {GoalChoice["verdict"]} verdict */
const hasGpu = ({ devices }) => devices.some(({ device }) => device === "gpu");

/** @param {ParentNode} root @param {string} framework @param {number} lora @returns {GoalAsked} */
function read(root, framework, lora) {
  const text = (/** @type {string} */ id) => {
    const input = root.querySelector(`#goal-${id}`);
    return input instanceof HTMLInputElement || input instanceof HTMLSelectElement ? input.value.trim() : "";
  };
  const count = (/** @type {string} */ id) => Math.max(1, Math.round(Number(text(id))) || 1);
  return {
    framework,
    model: text("model"),
    device: text("device"),
    gpus: count("gpus"),
    nodes: count("nodes"),
    length: count("length"),
    micro_batch: count("micro"),
    host: text("host") ? count("host") : 0,
    lora,
  };
}

/**
 * @param {GoalFound} found @param {number} lora @param {{ before: HTMLElement[], ways: HTMLElement[] }} parts what
 *   is said before all else, and what is offered where nothing surely fits
 * @param {(one: GoalChoice) => void} use @returns {HTMLElement[]}
 */
function drawn(found, lora, { before, ways }, use) {
  if (found.why) return [el("p", { class: "ds-goal-said" }, found.why.text)];
  const fullest = fullestHost(found.choices);
  const cards = found.choices.map((one, index) => card(one, index, { use, fullest }));
  const guess = (found.choices[0]?.verdict.guess ?? []).map(({ text }) => el("p", {}, text));
  return [
    el("p", { class: "ds-goal-said" }, sentence(found)),
    ...(lora ? [el("p", {}, say("with_lora", { rank: String(lora) }))] : []),
    ...ways,
    el("div", { class: "ds-goal-about" }, ...before),
    el("div", { class: "ds-goal-cards" }, ...cards),
    legend(found.choices),
    el("div", { class: "ds-goal-about ds-goal-guess" }, ...guess),
  ];
}

/** The bars of the hosts are as long as the longest of them. @param {GoalChoice[]} choices */
export function fullestHost(choices) {
  const hosts = choices.flatMap(({ verdict }) => verdict.devices.filter(({ device }) => device === "host"));
  return hosts.toSorted((a, b) => barOf(b, "").bytes - barOf(a, "").bytes)[0];
}

/** Each part once; the small ones on a press. @param {GoalChoice[]} choices */
function legend(choices) {
  const described = choices.flatMap(({ verdict }) => verdict.devices);
  const parts = legendOf(described, "");
  const items = parts.map((one) => el("li", {}, swatchOf(one), partName(one)));
  const widths = widthsOf(parts, choices);
  const limited = described.map((device) => barOf(device, "")).filter(({ line }) => line !== null);
  if (limited.length) {
    items.push(el("li", {}, lineSwatch(), words("memory_page", "limit")));
    widths.push(Infinity);
  }
  return el("div", { class: "ds-zs-legend" }, shortLegend(items, widths));
}

const OF_OTHERS = 1000; // times less than any part that can be seen in the first card

/**
 * How much of a bar each part has at most: in the first card, which most readers take, before all others.
 * @param {MemoryPart[]} parts @param {GoalChoice[]} choices
 */
export function widthsOf(parts, choices) {
  const fullest = fullestHost(choices);
  const [first, ...others] = choices.map(({ verdict }) =>
    verdict.devices.flatMap((one) => barOf(one, "", one.device === "host" ? fullest : one).segments),
  );
  return parts.map((one) => {
    const isIt = (/** @type {MemoryBar["segments"][number]} */ { part: other }) => partName(other) === partName(one);
    const most = (/** @type {MemoryBar["segments"]} */ all) =>
      Math.max(0, ...all.filter(isIt).map(({ width }) => width));
    const width = most(first) || most(others.flat()) / OF_OTHERS;
    return one.place === "pinned" ? width / 2 : width; // its colour is another's
  });
}

/** @param {GoalChoice} one @param {number} index */
function card(one, index, /** @type {{ use: (one: GoalChoice) => void, fullest: MemoryDevice }} */ { use, fullest }) {
  const isShort = one.role === "nearest"; // how fast it were and what it left says nothing then
  const [speed, left] = isShort ? ["", ""] : [tradeOff(one, index), room(one)];
  const facts = [one.checkpointing ? say("checkpointing") : "", left].filter(Boolean);
  const [before, after] = say("launch_with", { words: "\n" }).split("\n");
  const options = el("span", { class: "ds-goal-options" }, ...withOptions(one.words));
  const label = el("span", { class: "ds-goal-label" }, before);
  const large = one.verdict.host_asked;
  const [role, host] = headOf(one, large);
  const given = one.words ? [el("p", { class: "ds-goal-words" }, label, options, after)] : [];
  return el(
    "article",
    {
      class: "ds-goal-card",
      "data-preset": one.preset,
      "data-fit": one.verdict.fit,
      "data-role": one.role,
    },
    el(
      "p",
      { class: "ds-goal-role" },
      ...inRow(role, speed, host && el("span", { class: "ds-goal-host-asked" }, host)),
    ),
    el("h3", {}, one.title.replace(/ ?[(（]HF Trainer[)）]$/, "")), // as was asked for
    ...(hasGpu(one.verdict) ? [el("p", { class: "ds-goal-about" }, one.purpose)] : []), // it speaks of GPUs
    ...one.verdict.devices.map((device) => bar(device, device.device === "host" ? fullest : device)),
    el("ul", { class: "ds-goal-facts" }, ...facts.map((text) => el("li", {}, text))),
    ...given,
    button(say(one.role === "nearest" ? "use_anyway" : "use"), { class: "ds-goal-find" }, () => use(one)),
  );
}

/**
 * What a card is headed with, and what its host is asked for, "" for nothing.
 * @param {GoalChoice} one @param {number} large bytes of the host, or 0 @returns {[string, string]}
 */
export function headOf(one, large) {
  if (one.role === "nearest") return [shortOf(one).join(" · "), ""];
  if (!large) return [say(roleOf(one)), ""];
  const host = say(one.role === "only" ? "fits_gpus" : "large_host", { size: roughly(large) });
  return [one.role === "only" ? "" : say(roleOf(one)), host];
}

/** @type {Record<string, string>} */
const OF_HOST = { leanest: "leanest_host", roomier: "roomier_host" };

/** Without GPUs it is the host's memory that is least, or free. @param {GoalChoice} one */
export const roleOf = ({ role, verdict }) => (hasGpu(verdict) ? role : (OF_HOST[role] ?? role));

/** @param {GoalChoice} one @param {number} index */
function tradeOff(one, index) {
  if (index === 0) return "";
  return one.slower < 1.05 ? say("same_speed") : say("slower", { times: one.slower.toFixed(1) });
}

/** @param {GoalChoice} one */
function room({ verdict, micro_batch: micro }) {
  const gpu = verdict.devices.find(({ device }) => device === "gpu");
  if (!gpu || gpu.capacity === null) return "";
  const left = gpu.capacity - barOf(gpu, "").bytes;
  if (left < 0) return "";
  const said = say("room_left", { gib: predicted(left) });
  return micro ? setApart([said, say("larger_fits", { micro: String(micro) })]) : said;
}

/** What it lacks, device by device. @param {GoalChoice} one */
export function shortOf({ verdict }) {
  return verdict.devices.flatMap((device) => {
    const { bytes, capacity } = barOf(device, "");
    if (capacity === null || bytes <= capacity) return [];
    return [say(`short_${device.device}`, { gib: roughly(bytes - capacity) })];
  });
}

/** Beside what there is, which is known. @param {MemoryDevice} device */
export function needOf(device) {
  const { bytes, capacity } = barOf(device, "");
  if (capacity !== null) return `${predictedBeside(bytes, capacity)} / ${gib(capacity, 1)}`;
  return device.device === "host" ? say("needs_host", { size: predicted(bytes) }) : predicted(bytes);
}

/** @param {MemoryDevice} device @param {MemoryDevice} beside */
function bar(device, beside) {
  const found = barOf(device, "", beside);
  const name = textOf("memory_places", device.device);
  const need = needOf(device);
  const track = el("div", { class: "ds-mem-track" });
  const share = device.device === "host" && found.capacity === null ? OPEN : 1;
  for (const { part: one, width } of found.segments) {
    const title = listed([partName(one), predicted(one.bytes)]);
    const segment = el("span", { class: "ds-mem-part", "data-place": one.place, "data-code": one.part, title });
    segment.style.width = `${width * share}%`;
    segment.style.background = colourOf(one.part);
    track.append(segment);
  }
  const limit = limitTold(device.device, found.capacity);
  const line = el("span", { class: "ds-mem-line", "aria-hidden": "true", title: limit });
  if (found.line !== null) line.style.left = `${found.line}%`;
  const moment = textOf("memory_when", device.worst);
  const peak = words("memory_page", "peak_when", { moment });
  const when = device.device === "gpu" ? [el("span", { class: "ds-goal-when" }, " ", peak)] : [];
  const label = `${name}: ${listed([need, textOf("memory_fits", found.fit)])}`;
  return el(
    "div",
    { class: "ds-mem-device", "data-device": device.device, "data-fit": found.fit },
    el(
      "p",
      { class: "ds-goal-need" },
      el("span", {}, el("b", {}, name), ...when),
      el("span", { class: "ds-mem-need" }, need),
    ),
    el("div", { class: "ds-mem-bar", role: "img", "aria-label": label }, track, ...(found.line === null ? [] : [line])),
  );
}

function isFirstVisit() {
  try {
    return localStorage.getItem(SEEN) === null;
  } catch {
    return false;
  }
}

function remember() {
  try {
    localStorage.setItem(SEEN, "1");
  } catch {
    /* a browser that keeps nothing */
  }
}

/**
 * What the chosen config brings: text, form, preset; framework, GPUs, nodes, device; model, length, checkpointing,
 * the host's memory; and the script's arguments, `typed` with what the config needs.
 * @param {unknown} whole @param {string | null} typed
 */
export function used(whole, typed) {
  const { asked, choice: one } = /** @type {{ asked: GoalAsked, choice: GoalChoice }} */ (window.dsguiGoal);
  const context = [asked.framework, asked.gpus, asked.nodes, asked.device];
  return [
    one.text,
    whole,
    one.preset,
    ...context,
    asked.model,
    String(asked.length),
    one.checkpointing,
    asked.host ? String(asked.host) : "",
    asked.lora ? String(asked.lora) : "",
    merged(typed ?? "", one.words),
  ];
}

/**
 * The arguments typed, with those options set as `needed` has them.
 * @param {string} typed @param {string} needed
 */
export function merged(typed, needed) {
  const wanted = needed.split(/\s+/).filter(Boolean);
  const options = new Set(wanted.filter((word) => word.startsWith("--")));
  /** @type {string[]} */
  const kept = [];
  let dropped = false;
  for (const word of typed.split(/\s+/).filter(Boolean)) {
    if (word.startsWith("--")) dropped = options.has(word.split("=")[0]) || isOtherPrecision(word, options);
    if (!dropped) kept.push(word);
  }
  return [...kept, ...wanted].join(" ");
}

const PRECISIONS = ["--fp16", "--bf16"];

/** @param {string} word @param {Set<string>} options */
const isOtherPrecision = (word, options) => PRECISIONS.includes(word) && PRECISIONS.some((one) => options.has(one));

/** @param {HTMLElement} element @param {GoalProps} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  const goal = new Goal(part(element, ".ds-goal"), props, trigger);
  watch("value", () => goal.show());
}
