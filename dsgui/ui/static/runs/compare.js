// Several runs laid over each other: their curves, what they used and how fast they were, and where the settings they
// were started with differ.

import { allComparable, curvesApart, figureApart, most } from "../metrics/apart.js";
import { Board } from "../metrics/board.js";
import { seen } from "../metrics/chart.js";
import { around, button, el, inPieces, inRow, part, parted, scrolling, withSheet } from "../common/dom.js";
import { canGroup, GROUPINGS, groupsOf } from "../metrics/groups.js";
import { LIVE_STATES, Follower } from "./follower.js";
import { duration, figure, fixed, gib, perSecond } from "../common/format.js";
import { PARTS, spelled } from "./run_columns.js";
import { stateText, tellState } from "./run_rows.js";
import { baseline, differenceOf } from "./run_prefs.js";
import { TOLD_MS } from "./run_view.js";
import { look } from "../metrics/traces.js";
import { isJudging, outcome, quoted } from "../metrics/outcome.js";
import { IN_A_LINE, middled } from "../metrics/readout.js";
import { textOf, words } from "../texts/texts.js";
import { visits } from "../site/visits.js";

/** @import { Apart } from "../metrics/apart.js" */
/** @import { CompareAnswer, ComparedRun, EvaluationRow, Group, SettingsPart, Told } from "../types.d.ts" */

/** @typedef {{ follower: Follower, name: string, given: string, live: boolean, gone: boolean, noLoss: string }} Run */

const SHEET = "/dsgui/static/runs/compare.css";
const TABLE_EVERY = 5; // polls
const MOST_DIFFERENCES = 6; // shown at first, so that the curves begin on the first screens
const NEARLY = 2; // that many more are shown at once

/** What is only told when all is asked for, though it differs: but for the first of PEAKS that is known. */
const FURTHER = new Set(["run_gpu_mean", "gpu_peak", "gpu_mean", "run_mean", "host_peak"]);
const BEST_LOSS = "best_loss"; // what evaluations logged comes after it
const SPIKE = "loss_spike"; // told where some run has one
/** What is asked of any two runs: told also where it is the same. */
const ALWAYS = new Set(["duration", "speed", "final_loss", BEST_LOSS]);
/** What depends on how far a run came. */
const WHOLE = new Set(["final_loss", BEST_LOSS, "steps", "duration"]);
const CAME_TO_AN_END = new Set(["succeeded", "elsewhere"]); // of others it is not known how far they would have come
/** And the most memory, in the first of these that is known. */
const PEAKS = ["run_gpu_peak", "gpu_peak", "run_peak", "host_peak"];

/** @param {ComparedRun} run */
const fullest = ({ figures: { gpus } }) => gpus.toSorted((a, b) => b.peak_bytes - a.peak_bytes).at(0);
/**
 * A figure of each run, in the order of a report: the code of its name, its value, how it is written, and which is
 * better where one is. One that is not the baseline's is told with how far it is from that.
 * @type {[string, (run: ComparedRun) => Told | null | undefined, (value: any) => string, ("less" | "more")?][]}
 */
const ROWS = [
  ["final_loss", (run) => run.figures.final_loss, fixed, "less"],
  [BEST_LOSS, (run) => run.figures.best_loss, fixed, "less"],
  [SPIKE, (run) => spikeText(run.figures), String],
  ["speed", (run) => run.figures.steps_per_second, perSecond, "more"],
  ["samples_per_second", (run) => run.figures.samples_per_second, fixed, "more"],
  ["tokens_per_second", (run) => run.figures.tokens_per_second, fixed, "more"],
  ["steps", (run) => run.figures.steps, figure],
  ["duration", (run) => run.figures.duration_s, duration],
  ["run_gpu_peak", (run) => run.figures.run_gpu_peak_bytes, gib, "less"],
  ["run_gpu_mean", (run) => run.figures.run_gpu_mean_bytes, gib, "less"],
  ["gpu_peak", (run) => fullest(run)?.peak_bytes, gib, "less"],
  ["gpu_mean", (run) => fullest(run)?.mean_bytes, gib, "less"],
  ["run_peak", (run) => run.figures.run_peak_bytes, gib, "less"],
  ["run_mean", (run) => run.figures.run_mean_bytes, gib, "less"],
  ["host_peak", (run) => run.figures.host_peak_bytes, gib, "less"],
];

/** The highest spike of a run's loss; that it has none, where it has a loss. @param {ComparedRun["figures"]} figures */
function spikeText({ loss_spike: spike, final_loss: loss }) {
  if (!spike) return loss === null ? null : say("no_spike");
  const given = { step: String(spike.step), value: fixed(spike.value), count: String(spike.count) };
  return say(spike.count > 1 ? "spikes_at" : "spike_at", given);
}

/**
 * A row of figures; `bare`: why they are told without how far they are from the baseline's.
 * @typedef {{ code?: string, name: string, shown: (value: any) => string, better?: "less" | "more" | "",
 *   values: (Told | null | undefined)[], bare?: string, runs?: ComparedRun[], short?: boolean[] }} Figure `runs`: of
 *   states; `short`: which of the runs did not come as far as the baseline, or came farther
 */

/**
 * @param {Figure} one whether it tells the runs apart: as it is shown, and by so much that the difference is told
 * @param {number} base
 */
function tells({ values, shown }, base) {
  const isFigure = values.every((value) => typeof value === "number" && value > 0);
  if (isFigure) return values.some((value) => differenceOf(value, values[base]));
  return new Set(values.map((value) => (value ? shown(value) : value))).size > 1;
}

/** Whether each run's is written alike. @param {Figure} one */
const isEqual = ({ values, shown }) =>
  values.length > 1 && new Set(values.map((value) => written(value, shown))).size === 1;

/** Whether one run alone has it: that compares nothing. @param {Figure} one */
const isLone = ({ code = "", values }) =>
  !ALWAYS.has(code) && values.filter((value) => value !== null && value !== undefined).length === 1;

/** @param {ComparedRun} run */
const toldState = ({ state, figures }) => stateText(state, figures.final_loss);

/** What is not named by its user. @type {Record<string, string>} */
const KEYS = {
  script: "key_script",
  model: "key_model",
  ranks: "key_ranks",
  devices: "key_devices",
  where: "key_where",
  nodes: "key_nodes",
  launcher: "key_launcher",
  reader: "key_reader",
  directory: "key_directory",
  python: "key_python",
  commit: "key_commit",
  branch: "key_branch",
  uncommitted: "key_uncommitted",
};

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("compare_page", code, given);

/** @param {Node | string} head @param {(Node | string)[]} cells @param {string} [kind] its class */
const row = (head, cells, kind) =>
  el("tr", { class: kind }, el("th", { scope: "row" }, head), ...cells.map((cell) => el("td", {}, cell)));

/**
 * Its columns stand below the key, which names the runs; on a phone below what they tell as well.
 * @param {string} label @param {Run[]} runs @param {HTMLTableRowElement[][]} bodies one of each part
 */
function comparison(label, runs, bodies) {
  const names = runs.map((run) => el("span", { class: "ds-run-of" }, swatchOf(run), shortName(run)));
  /** @type {(Node | string)[]} */
  const heads = [say("key"), ...names];
  const cells = heads.map((head) => el("th", { scope: "col" }, el("span", { class: "ds-unseen" }, head)));
  const made = el(
    "table",
    { class: "ds-table ds-compared", "aria-label": label },
    el("thead", {}, el("tr", {}, ...cells)),
    ...bodies.filter((rows) => rows.length).map((rows) => el("tbody", {}, ...rows)),
  );
  for (const { cells: found } of [...made.tBodies].flatMap(({ rows }) => [...rows])) {
    if (found.length <= runs.length) continue; // the name of a part
    runs.forEach(({ follower }, place) => {
      found[place + 1].dataset.swatch = follower.id;
    });
  }
  return scrolling(label, made);
}

/** Stands for the name of a run in what is told of several: names may hold one another. @param {number} place */
const markOf = (place) => `\ue000${place}\ue001`;
const MARKED = /“\ue000(\d+)\ue001”/;

/**
 * A sentence on two runs as it is; what is told of more, or of each, in a list, where each has its colour.
 * @param {string[]} told with marks for names @param {Run[]} runs
 */
function outcomeNodes(told, runs) {
  if (told.length === 1 && runs.length === 2) return [el("p", {}, sentence(told[0], runs))];
  const items = told.map((one) => el("li", {}, ...coloured(one, runs)));
  return items.length ? [el("ul", {}, ...items)] : [];
}

/** @param {string} text @param {Run[]} runs */
const sentence = (text, runs) => unmarked(text, (place) => quoted(runs[place])).join("");

/**
 * The text, and what stands for each mark.
 * @template T @param {string} text @param {(place: number) => T} of @returns {(string | T)[]}
 */
const unmarked = (text, of) => text.split(MARKED).map((one, place) => (place % 2 ? of(Number(one)) : one));

/** The text, with a run's swatch and name for its mark. @param {string} text @param {Run[]} runs */
function coloured(text, runs) {
  return unmarked(text, (place) =>
    el("span", { class: "ds-outcome-of" }, swatchOf(runs[place]), middled(runs[place].name, IN_A_LINE)),
  );
}

/** @param {Run} run */
const shortName = ({ name }) => el("span", { class: "ds-two-lines", title: name }, ...nameParts(name));

// Chinese and Japanese break a line between any two characters, but not after what opens nor before what closes.
const WIDE = /(?<=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\uac00-\ud7a3\u3001-\u303f\uff01-\uff65]\p{M}*)(?<![\p{Ps}\p{Pi}])/u;
const HELD =
  /(?![\p{Pe}\p{Pf}、。，．！？：；…—～·・ーっゃゅょぁぃぅぇぉッャュョァィゥェォ々ゝゞヽヾ\uff9e\uff9f!?,:;%])/u;
const NO_PART_OF_ONE = /(?![\p{M}\p{Emoji_Modifier}\u200d\u1160-\u11ff])(?<!\u200d)/u; // of one character that is seen
const BETWEEN = /(?<=[-_])|(?=\.[^.\s]{5})|(?<=[^\s._-]{12})(?=\.)|(?<=\s)(?=\S)|(?<=\S)(?=\s)/u;
const BREAKS = new RegExp(`${NO_PART_OF_ONE.source}(?:${BETWEEN.source}|${WIDE.source}${HELD.source})`, "u");

/**
 * A name in parts between which a line may break: at a space, after a hyphen or an underscore, before a dot that
 * no ending of a file follows, or a long word comes before, and at any Chinese character.
 * @param {string} name
 */
export const namePieces = (name) => name.split(BREAKS);

/** A part that is longer than a line ends in an ellipsis. @param {string} name */
const nameParts = (name) =>
  namePieces(name).map((one) => (one.trim() ? el("span", { class: "ds-name-part" }, one) : one));

/** What all share in one row: what tells them apart stands out. @param {Figure[]} ones @param {number} count */
function equalRow(ones, count) {
  if (!ones.length) return [];
  const parts = ones.map(({ name, values, shown }) =>
    el("span", { class: "ds-equal" }, name, " ", written(values[0], shown)),
  );
  const cell = el("td", { colspan: count }, ...inRow(...parts));
  return [el("tr", { class: "ds-alike" }, el("th", { scope: "row" }, say("equal")), cell)];
}

/** The name of a part above its rows, and what is to be known of them. @param {string} name @param {Run[]} runs */
const partHead = (name, runs, note = "") => {
  const said = note ? [el("p", { class: "ds-remark" }, note)] : [];
  return el("tr", {}, el("th", { scope: "rowgroup", colspan: runs.length + 1 }, el("h3", {}, name), ...said));
};

export class CompareView {
  /**
   * @param {string[]} ids @param {(id: string) => void} open shows one of them @param {string} [base] the baseline
   */
  constructor(ids, open, base = baseline() ?? "") {
    this.id = ""; // it is of none alone
    this.ids = ids;
    this.open = open;
    /** @type {Run[]} */
    this.runs = ids.map((id) => {
      return { follower: new Follower(id), name: id, given: "", live: true, gone: false, noLoss: "" };
    });
    this.polls = 0;
    this.told = "";
    this.show = () => {};
    this.all = false; // whether every difference is shown
    this.allFigures = false; // and every figure
    this.same = false; // whether what is the same is
    /** @type {(by: string) => Group[] | null} of the runs that were told of */
    this.groupsBy = () => null;
    /** @type {Group[] | null} */
    this.groups = null;
    this.grouping = this.makeGrouping();
    this.baseline = base;
    this.unlike = ""; // why the losses are not comparable
    this.title = el("h2", { class: "ds-run-title" }, say("title", { count: String(ids.length) }));
    this.said = el("p", { class: "ds-reason", role: "status" });
    this.outcome = el("div", { class: "ds-outcome", hidden: true });
    this.alike = el("div", {}); // what is said of runs with the same settings
    this.answers = el("div", { class: "ds-answers" });
    this.differences = el("section", { class: "ds-differences", "aria-label": say("differences") });
    this.key = el("ul", { class: "ds-compare-key", "aria-label": say("colours") });
    // The key stays in view beside the values.
    this.table = el("div", { class: "ds-compare-table" }, this.key, this.differences);
    this.strip = el("ul", { class: "ds-compare-strip", "aria-hidden": "true" }); // the same names, beside the charts

    const pointed = (/** @type {Event} */ event) =>
      this.emphasise(around(event, "li")?.querySelector("[data-swatch]")?.getAttribute("data-swatch") ?? "");
    for (const node of [this.key, this.strip]) {
      for (const kind of ["pointerover", "focusin"]) node.addEventListener(kind, pointed);
      for (const kind of ["pointerleave", "focusout"]) node.addEventListener(kind, () => this.emphasise(""));
    }
    this.board = this.makeBoard();
    this.board.legend.after(this.strip);
    this.board.tools.append(el("label", { class: "ds-grouping" }, say("group_by"), this.grouping));
    // On a phone it opens the table, which would stand between what came of it and the curves.
    this.opener = button("", { class: "ds-step ds-compare-open", "aria-expanded": "false", hidden: true }, () =>
      this.openTable(),
    );
    const toCharts = button(say("to_charts"), { class: "ds-step ds-to-charts" }, () => this.showCharts());
    this.report = el("a", { class: "ds-step", download: true, href: this.reported(ids[0]) }, say("report"));
    this.node = el(
      "div",
      { class: "ds-run ds-compare", id: "comparison", "aria-busy": "true" },
      el(
        "div",
        { class: "ds-run-head" },
        this.title,
        el("div", { class: "ds-compare-acts" }, this.opener, toCharts, this.report),
      ),
      this.said,
      this.outcome,
      this.alike,
      this.answers,
      this.table,
      this.board.node,
    );
    this.node.style.setProperty("--runs", String(ids.length));
    this.sheet = withSheet(SHEET);
  }

  makeBoard() {
    const sources = () => {
      const kept = this.runs.filter((run) => !run.gone);
      const base = kept[this.base(kept)];
      return this.runs.map((run) => {
        const { name, follower, live, noLoss } = run;
        return { name, curves: follower.curves, live, noLoss, base: run === base };
      });
    };
    /** @type {import("../metrics/board.js").BoardOptions["refine"]} */
    const refine = async (axis, low, high) => {
      const wanted = () => this.board.looksAt(axis, low, high);
      await Promise.all(this.runs.map(({ follower }) => follower.refine(axis, low, high, wanted)));
      this.board.update();
    };
    return new Board(sources, { kept: "dsgui.compared", refine, groups: () => this.groups, unlike: () => this.unlike });
  }

  openTable() {
    const open = this.table.toggleAttribute("data-open");
    this.opener.setAttribute("aria-expanded", String(open));
  }

  /** For whom the settings are too long a way to the curves. */
  showCharts() {
    const [first] = this.board.axes;
    this.board.node.scrollIntoView();
    first.node.focus({ preventScroll: true });
  }

  async poll() {
    for (const run of this.runs) if (run.live || this.polls % TABLE_EVERY === 0) await this.ask(run);
    this.polls += 1;
    this.name();
    this.board.update();
    const told = this.polls % TABLE_EVERY === 1 ? this.tell() : Promise.resolve();
    // Shown at once, with the table; whoever waits too long for that, or in vain, sees the charts before it.
    const shown = () => this.node.removeAttribute("aria-busy");
    if (this.node.hasAttribute("aria-busy")) setTimeout(shown, TOLD_MS);
    await Promise.all([told, this.sheet]).finally(shown);
    return this.runs.some((run) => run.live);
  }

  /** @param {Run} run */
  async ask(run) {
    const { id } = run.follower;
    const delta = await run.follower.poll();
    if (delta === null) {
      this.said.textContent = say("gone", { run: id });
      run.live = false;
      run.gone = true;
      return;
    }
    run.given = delta.name;
    run.live = LIVE_STATES.has(delta.state) || Boolean(delta.growth?.growing);
    run.noLoss = delta.no_loss?.text || "";
  }

  /** By names that tell them apart. */
  name() {
    for (const run of this.runs) {
      const { given, follower } = run;
      const twice = this.runs.some((other) => other !== run && other.given === given);
      run.name = given && twice ? `${given} (${follower.id.slice(-4)})` : given || follower.id;
    }
  }

  async tell() {
    const kept = this.runs.filter((run) => !run.gone);
    if (!kept.length) return;
    const query = new URLSearchParams({ runs: kept.map((run) => run.follower.id).join(",") });
    const answer = await fetch(`/dsgui/compare?${query}`);
    if (!answer.ok) throw new Error(words("runs_page", "answered", { status: String(answer.status) }));
    /** @type {CompareAnswer} */
    const { runs, sections, answers, evaluations, why_unlike: note } = await answer.json();
    const curves = kept.map(({ follower }) => follower.curves);
    const alike = sections.every(({ differ }) => !differ.length); // else that is what the results come from
    const apart = kept.map((_, base) => (alike ? curvesApart(curves, base) : []));
    const whole = kept.map((_, base) => alike && allComparable(curves, base));
    this.unlike = note;
    const key = JSON.stringify([runs, sections, answers, evaluations, note, apart, whole]);
    if (key === this.told) return;
    this.told = key;
    this.groupsBy = (by) => placedAmong(groupsOf(by, runs, sections), kept, this.runs);
    this.show = () => {
      const base = this.base(kept);
      this.report.href = this.reported(kept[base].follower.id);
      this.key.replaceChildren(...kept.map((run, place) => this.head(run, place === base)));
      this.strip.replaceChildren(...kept.map((run) => stripItem(run)));
      const marks = kept.map((_, place) => ({ name: markOf(place) }));
      const told = alike ? [] : outcome(marks, runs, evaluations, base, Boolean(note));
      this.outcome.hidden = !told.length;
      this.outcome.replaceChildren(...outcomeNodes(told, kept), ...(note ? [el("p", {}, note)] : []));
      const figures = {
        ...this.figures(base, runs, evaluations, note),
        note: told.length ? "" : note, // once
        apart: apart[base],
        whole: whole[base],
      };
      const count = sections.reduce((sum, { differ }) => sum + differ.length, 0) + figures.telling.length;
      this.opener.hidden = false;
      this.opener.textContent = count ? say("what_differs", { count: String(count) }) : say("all_told");
      this.differences.replaceChildren(...this.differencesNodes(kept, sections, figures));
      this.colour();
    };
    for (const option of this.grouping.options) option.disabled = !canGroup(option.value, runs);
    this.answers.replaceChildren(...answers.map(({ question, sentences }) => answerNode(question, sentences)));
    this.group();
  }

  makeGrouping() {
    const made = el("select", {}, ...GROUPINGS.map((by) => el("option", { value: by }, say(`by_${by}`))));
    made.addEventListener("change", () => this.group());
    return made;
  }

  /** Draws the runs as the groups that were chosen. */
  group() {
    this.groups = this.groupsBy(this.grouping.value);
    this.show();
    this.board.update();
  }

  /** Has the curves of a run, or of its group, seen before all others; "" of none. @param {string} id */
  emphasise(id) {
    const place = this.ids.indexOf(id);
    const drawn = this.groups ? this.groups.findIndex(({ members }) => members.includes(place)) : place;
    this.board.emphasise(place < 0 || drawn < 0 ? null : drawn);
  }

  /** The colour of a run's curves: of its first group where it is in one; "" of one that is not compared.
   * @param {string} id
   */
  colourOf(id) {
    const place = this.ids.indexOf(id);
    if (place < 0) return "";
    return seen(look(this.groups ? this.groups.findIndex(({ members }) => members.includes(place)) : place).colour);
  }

  /** The swatch at each name of a run is as its curves are. */
  colour() {
    for (const swatch of this.node.querySelectorAll("[data-swatch]")) {
      if (!(swatch instanceof HTMLElement)) continue;
      swatch.style.setProperty("--swatch", this.colourOf(swatch.dataset.swatch ?? ""));
    }
  }

  /** The others are told against this run from now on; "" is the first. @param {string} id */
  tellAgainst(id) {
    if (id === this.baseline) return;
    this.baseline = id;
    this.show();
    this.board.update();
  }

  /** The baseline, as the address names it: not the first, which it is anyway. */
  namedBase() {
    return this.ids.indexOf(this.baseline) > 0 ? this.baseline : null;
  }

  /** Which of the runs the others are told against: the chosen one, else the first. @param {Run[]} kept */
  base(kept) {
    return Math.max(
      kept.findIndex(({ follower }) => follower.id === this.baseline),
      0,
    );
  }

  /** The report's address, which tells the figures against the same run. @param {string} base */
  reported(base) {
    return `/dsgui/report?${new URLSearchParams({ runs: this.ids.join(","), baseline: base })}`;
  }

  /**
   * The rows of figures that are shown, of those that tell the runs apart but say little, and of those that don't; and
   * the figures that tell.
   * @param {number} base @param {ComparedRun[]} runs @param {EvaluationRow[]} evaluations
   * @param {string} unlike why neither a loss nor a speed is better, where what was trained is another
   */
  figures(base, runs, evaluations, unlike) {
    /** @type {Figure} */
    const states = { code: "state", name: say("state"), shown: String, values: runs.map(toldState), runs };
    const isWhole = runs.map(({ state }) => CAME_TO_AN_END.has(state));
    const { steps } = runs[base].figures;
    const isAsFar = runs.map(({ figures }) => steps !== null && figures.steps === steps);
    const short = runs.map((_, place) => !isAsFar[place] && !(isWhole[place] && isWhole[base]));
    const told = ROWS.flatMap(([code, value, shown, usual]) => {
      if (code === SPIKE && !runs.some((run) => run.figures.loss_spike)) return [];
      // Of another training more or less says nothing, but of what it takes; a spike is told of each alone.
      const bare = shown === gib || code === SPIKE ? "" : unlike;
      /** @type {Figure} */
      const one = { code, name: say(code), shown, better: unlike || bare ? "" : usual, bare, values: runs.map(value) };
      if (WHOLE.has(code)) one.short = short;
      if (code !== BEST_LOSS) return [one];
      /** @type {Figure[]} */
      const scores = evaluations.map((found) => ({ ...found, shown: fixed, bare: found.better ? "" : unlike, short }));
      return [one, ...scores];
    });
    const known = told.filter(({ values }) => values.some((value) => value !== null && value !== undefined));
    const all = [states, ...known];
    const apart = all.filter((one) => tells(one, base));
    const telling = apart.filter((one) => !FURTHER.has(one.code ?? "") && !(runs.length > 2 && isLone(one)));
    const first = apart.length <= telling.length + NEARLY ? apart : telling;
    const peak = PEAKS.find((code) => known.some((one) => one.code === code));
    /** @param {Figure} one the loss of an evaluation, too: the sentence above speaks of it */
    const isAlways = (one) =>
      ALWAYS.has(one.code ?? "") || one.code === peak || (!one.code && isJudging(one) && !isLone(one));
    const shown = all.filter((one) => first.includes(one) || isAlways(one));
    // One that is bare says why it tells nothing.
    const equal = shown.filter((one) => !apart.includes(one) && !one.bare && isEqual(one));
    const inOne = equal.length > 1 ? equal : [];
    /** @param {Figure[]} ones */
    const rows = (ones) =>
      ones.map((one) => row(one.name, figuresOf(one, base), apart.includes(one) ? undefined : "ds-alike"));
    return {
      shown: rows(shown.filter((one) => !inOne.includes(one))),
      equal: equalRow(inOne, runs.length),
      further: rows(apart.filter((one) => !shown.includes(one))),
      same: rows(all.filter((one) => !apart.includes(one) && !shown.includes(one))),
      telling: apart,
    };
  }

  /**
   * Shows every figure that differs, or those that answer which run is better.
   * @param {number} count of the others @returns {HTMLElement[]}
   */
  further(count) {
    if (!count) return [];
    const text = this.allFigures ? say("fewer_figures") : say("all_figures", { count: String(count) });
    const about = { class: "ds-step ds-figures-all", "aria-expanded": String(this.allFigures) };
    const act = () => {
      this.allFigures = !this.allFigures;
      this.show();
      part(this.differences, "button.ds-figures-all").focus();
    };
    return [button(text, about, act)];
  }

  /**
   * One table: the settings that differ, then the figures. What is the same is folded below it.
   * @param {Run[]} runs @param {SettingsPart[]} sections
   * @param {ReturnType<CompareView["figures"]> & { note: string, apart: Apart[], whole: boolean }} figures with what is
   *   to be known of all of them, where curves are apart, and whether all could be compared
   */
  differencesNodes(runs, sections, figures) {
    const apart = sections.filter(({ differ }) => differ.length);
    const notes = unknownNotes(runs, sections);
    if (sections.some(({ uncertain }) => uncertain)) notes.push(say("uncertain"));
    const alike = apart.length ? [] : [sameSettings(sections), resultsText(runs, this.base(runs), figures)];
    this.alike.replaceChildren(...alike.filter(Boolean).map((text) => el("p", { class: "ds-alike-told" }, text)));
    const below = notes.map((text) => el("p", { class: "ds-remark" }, text));
    const { bodies, more } = this.apartRows(runs, apart);
    const shown = [...figures.shown, ...(this.allFigures ? figures.further : []), ...figures.equal];
    if (shown.length) bodies.push([partHead(say("results"), runs, figures.note), ...shown]);
    const buttons = [...more, ...this.further(figures.further.length)];
    const said = buttons.length ? [el("div", { class: "ds-actions" }, ...buttons)] : [];
    const tables = bodies.length ? [comparison(say("differences"), runs, bodies)] : [];
    const foot = [...said, ...this.sameNode(runs, sections, figures.same), ...below];
    return [...tables, ...(foot.length ? [el("div", { class: "ds-compare-foot" }, ...foot)] : [])];
  }

  /** Those that tell most, and a button for all. @param {Run[]} runs @param {SettingsPart[]} apart */
  apartRows(runs, apart) {
    const count = apart.reduce((sum, { differ }) => sum + differ.length, 0);
    const isMore = count > MOST_DIFFERENCES + NEARLY;
    const left = isMore && !this.all ? MOST_DIFFERENCES : count;
    const bodies = apart.map((section) => {
      const settings = section.differ.filter(({ place = 0 }) => place < left);
      return settings.length ? sectionRows(section, settings, runs) : [];
    });
    if (!isMore) return { bodies, more: [] };
    const text = this.all ? say("fewer") : say("all", { count: String(count) });
    const about = { class: "ds-step ds-all-differences", "aria-expanded": String(this.all) };
    const act = () => {
      this.all = !this.all;
      this.show();
      part(this.differences, "button.ds-all-differences").focus();
    };
    return { bodies, more: [button(text, about, act)] };
  }

  /** @param {Run[]} runs @param {SettingsPart[]} sections @param {HTMLTableRowElement[]} figures */
  sameNode(runs, sections, figures) {
    const same = sections.filter((section) => section.same.length);
    const count = same.reduce((sum, section) => sum + section.same.length, figures.length);
    if (!count) return [];
    const summary = el("summary", {}, say("same", { count: String(count) }));
    const bodies = same.map((one) => sectionRows(one, one.same, runs));
    if (figures.length) bodies.push([partHead(say("results"), runs), ...figures]);
    const told = comparison(summary.textContent ?? "", runs, bodies);
    const fold = el("details", { class: "ds-same", open: this.same }, summary, told);
    fold.addEventListener("toggle", () => {
      this.same = fold.open;
    });
    return [fold];
  }

  /** @param {Run} run @param {boolean} isBase */
  head(run, isBase) {
    const { id } = run.follower;
    const about = { class: "ds-link ds-two-lines", title: run.name, "aria-label": run.name };
    const open = button("", about, () => this.open(id));
    open.append(...nameParts(run.name));
    const pinned = { class: "ds-base", "data-pin": id, "aria-pressed": String(isBase) };
    const pin = button(isBase ? say("baseline") : say("make_baseline"), pinned, () => {
      this.tellAgainst(id);
      visits().note();
      part(this.key, `[data-pin="${id}"]`).focus();
    });
    return el("li", {}, el("div", { class: "ds-run-of" }, swatchOf(run), open), pin);
  }

  draw(force = false) {
    if (force) this.show(); // other colours on another ground
    this.board.draw(force);
  }

  close() {
    this.board.close();
  }
}

/** @param {Run} run */
const swatchOf = ({ follower }) => el("span", { class: "ds-swatch", "data-swatch": follower.id });

/** What tells runs apart is often at the end of their names. @param {Run} run */
const stripItem = (run) =>
  el("li", { class: "ds-run-of", title: run.name }, swatchOf(run), middled(run.name, IN_A_LINE));

/**
 * The groups of the runs that are still there, by their places among all.
 * @param {Group[] | null} groups @param {Run[]} kept @param {Run[]} all
 */
const placedAmong = (groups, kept, all) =>
  groups && groups.map(({ name, members }) => ({ name, members: members.map((place) => all.indexOf(kept[place])) }));

/** @param {string} question @param {string[]} sentences */
function answerNode(question, sentences) {
  return el("section", { class: "ds-answer" }, el("h3", {}, question), ...sentences.map((text) => el("p", {}, text)));
}

/**
 * The values of a row; those that are numbers also with how far they are from the baseline's, and whether that is
 * better, where one is.
 * @param {Figure} one @param {number} base
 */
function figuresOf({ code, values, shown, better, bare, runs, short }, base) {
  return values.map((value, place) => {
    const why = bare || (short?.[place] ? say("not_as_far") : "");
    const away = place === base || why ? "" : differenceOf(value, values[base]);
    const title = place === base ? undefined : why || undefined;
    const cell = el("span", { title }, written(value, shown));
    if (code === "state") {
      cell.className = "ds-state";
      if (runs) tellState(cell, runs[place].state, runs[place].figures.final_loss);
    }
    if (away) cell.append(" ", awayNode(away, better));
    return cell;
  });
}

/** @param {Told | null | undefined} value @param {(value: any) => string} shown */
const written = (value, shown) => (value === null || value === undefined ? "–" : shown(value));

/** @param {string} away @param {"less" | "more" | ""} [better] */
function awayNode(away, better) {
  if (!better) return el("span", { class: "ds-share" }, away);
  const verdict = away.startsWith("−") === (better === "less") ? "better" : "worse";
  const [before, after] = say(verdict, { difference: "\n" }).split("\n");
  return el("span", { class: "ds-share", "data-verdict": verdict }, before, away, el("span", {}, after));
}

/** Of runs whose settings don't differ: which of them are known to be the same. @param {SettingsPart[]} sections */
function sameSettings(sections) {
  const known = sections.filter(({ unknown, same, uncertain }) => !unknown.length && same.length && !uncertain);
  const parts = known.map(({ code }) => inside(say(PARTS[code] ?? code)));
  return parts.length ? say("none", { parts: severally(parts) }) : "";
}

/**
 * Whether the results of runs with the same settings are the same too; else where they are furthest apart.
 * @param {Run[]} runs @param {number} base @param {{ telling: Figure[], apart: Apart[], whole: boolean }} figures
 */
function resultsText(runs, base, { telling, apart, whole }) {
  const numbers = telling.filter(({ code }) => code !== "state" && code !== SPIKE);
  const found = most([...numbers.flatMap(({ name, values }) => figureApart(name, values, base)), ...apart]);
  if (!found) {
    const names = telling.map(({ name }) => inside(name));
    if (names.length) return say("results_apart", { names: severally(names) });
    return whole ? say("results_same") : "";
  }
  const { name, step, place, value, base: other } = found;
  const shown = telling.find((one) => one.name === name)?.shown ?? figure;
  const what = step === undefined ? inside(name) : say("at_step", { name, step: String(step) });
  const [run, baseName] = [runs[place].name, runs[base].name];
  return say("results_differ", { name: what, value: shown(value), run, other: shown(other), base: baseName });
}

/** A name within a sentence: an abbreviation stays. @param {string} name */
const inside = (name) => (/^\p{Lu}\p{Lu}/u.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1));

/** @param {string[]} texts */
const severally = (texts) => new Intl.ListFormat(document.documentElement.lang || "en").format(texts);

/**
 * What is known of no run is told in one sentence, and so is what is not known of the same runs.
 * @param {Run[]} runs @param {SettingsPart[]} sections
 */
function unknownNotes(runs, sections) {
  const partOf = (/** @type {SettingsPart} */ { code }) => say(PARTS[code] ?? code);
  const named = (/** @type {number[]} */ places) => severally(places.map((place) => `“${runs[place].name}”`));
  const lacking = sections.filter(({ unknown }) => unknown.length);
  const of = [...new Set(lacking.map(({ unknown }) => unknown.join()))];
  const notes = of
    .map((places) => lacking.filter(({ unknown }) => unknown.join() === places))
    .filter(([{ unknown }]) => unknown.length < runs.length)
    .map((parts) => say("unknown", { runs: named(parts[0].unknown), parts: severally(parts.map(partOf)) }));
  const ofNone = lacking.filter(({ unknown }) => unknown.length === runs.length).map(partOf);
  if (ofNone.length) notes.push(say("unknown_all", { parts: severally(ofNone) }));
  const empty = sections.flatMap((section) => emptyIn(section));
  return empty.length ? [...notes, say("empty_config", { runs: named(empty) })] : notes;
}

/** The places of the runs whose config sets nothing, while another's does. @param {SettingsPart} section */
function emptyIn({ code, unknown, differ, same }) {
  if (code !== "config" || !differ.length || same.length) return [];
  return differ[0].values.flatMap((_, place) =>
    !unknown.includes(place) && differ.every(({ values }) => values[place] === null) ? [place] : [],
  );
}

/**
 * The part's name and its settings; what a run has none of is told in a sentence, and not in each row.
 * @param {SettingsPart} section @param {SettingsPart["differ"]} settings @param {Run[]} runs
 */
function sectionRows(section, settings, runs) {
  const { code, unknown } = section;
  const none = [...unknown, ...emptyIn(section)];
  const coded = ["training", "launch", "code"].includes(code);
  const rows = settings.map(({ key, values }) => {
    const paths = values.filter((value) => value?.includes("/"));
    const named = new Set(paths.map(lastOf)).size === new Set(paths).size; // the file's name alone tells them apart
    const found = values.map((value, place) => (none.includes(place) ? "–" : valueNode(value, named)));
    const name = coded ? textOf("compare_page", KEYS[key] ?? "", key) : el("code", {}, ...inPieces(spelled(code, key)));
    return row(name, found);
  });
  return [partHead(say(PARTS[code] ?? code), runs), ...rows];
}

/** @param {string | null} path */
const lastOf = (path) => path?.slice(path.lastIndexOf("/") + 1) ?? "";

/**
 * @param {string | null} value @param {boolean} named whether a path's last part tells it: a phone has no room for all
 */
function valueNode(value, named = false) {
  if (value === null) return el("span", { class: "ds-unset" }, say("not_set"));
  if (!value.includes("/")) return value === "" ? say("set") : el("code", {}, ...parted(value));
  const pieces = inPieces(value, /(?<=\/)/);
  if (!named) return el("code", {}, ...pieces);
  const folder = el("span", { class: "ds-folder" }, ...pieces.slice(0, -1));
  return el("code", { title: value }, folder, ...pieces.slice(-1));
}
