// Several runs laid over each other: their curves, what they used and how fast they were, and where the settings they
// were started with differ.

import { Board } from "../metrics/board.js";
import { seen } from "../metrics/chart.js";
import { button, el, parted, scrolling } from "../common/dom.js";
import { canGroup, GROUPINGS, groupsOf } from "../metrics/groups.js";
import { LIVE_STATES, Follower } from "./follower.js";
import { duration, figure, gib, perSecond } from "../common/format.js";
import { PARTS, spelled } from "./run_columns.js";
import { baseline, differenceOf } from "./run_prefs.js";
import { TOLD_MS } from "./run_view.js";
import { look } from "../metrics/traces.js";
import { textOf, words } from "../texts/texts.js";

/** @import { CompareAnswer, ComparedRun, Group, SettingsPart, Told } from "../types.d.ts" */

/** @typedef {{ follower: Follower, name: string, given: string, live: boolean, gone: boolean, noLoss: string }} Run */

const TABLE_EVERY = 5; // polls

/** @param {ComparedRun} run */
const fullest = ({ figures: { gpus } }) => gpus.toSorted((a, b) => b.peak_bytes - a.peak_bytes).at(0);
/**
 * A figure of each run: the code of its name, its value, how it is written, and which is better where one is. One that
 * is not the baseline's is told with how far it is from that.
 * @type {[string, (run: ComparedRun) => Told | null | undefined, (value: any) => string, ("less" | "more")?][]}
 */
const ROWS = [
  ["steps", (run) => run.figures.steps, figure],
  ["duration", (run) => run.figures.duration_s, duration],
  ["speed", (run) => run.figures.steps_per_second, perSecond, "more"],
  ["samples_per_second", (run) => run.figures.samples_per_second, figure, "more"],
  ["tokens_per_second", (run) => run.figures.tokens_per_second, figure, "more"],
  ["final_loss", (run) => run.figures.final_loss, figure, "less"],
  ["best_loss", (run) => run.figures.best_loss, figure, "less"],
  ["gpu_peak", (run) => fullest(run)?.peak_bytes, gib],
  ["gpu_mean", (run) => fullest(run)?.mean_bytes, gib],
  ["run_peak", (run) => run.figures.run_peak_bytes, gib],
  ["run_mean", (run) => run.figures.run_mean_bytes, gib],
  ["host_peak", (run) => run.figures.host_peak_bytes, gib],
];

/** What is not named by its user. @type {Record<string, string>} */
const KEYS = {
  script: "key_script",
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

/** @param {(Node | string)[]} heads @param {HTMLTableRowElement[]} rows */
const table = (heads, rows) =>
  el("table", { class: "ds-table" }, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
/** @param {Node | string} head @param {(Node | string)[]} cells */
const row = (head, cells) => el("tr", {}, el("th", { scope: "row" }, head), ...cells.map((cell) => el("td", {}, cell)));

export class CompareView {
  /** @param {string[]} ids @param {(id: string) => void} open shows one of them */
  constructor(ids, open) {
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
    /** @type {(by: string) => Group[] | null} of the runs that were told of */
    this.groupsBy = () => null;
    /** @type {Group[] | null} */
    this.groups = null;
    this.grouping = this.makeGrouping();
    this.baseline = baseline() ?? "";
    this.title = el("h2", { class: "ds-run-title" }, say("title", { count: String(ids.length) }));
    this.said = el("p", { class: "ds-reason", role: "status" });
    this.table = scrolling(say("title", { count: String(ids.length) }));
    this.answers = el("div", { class: "ds-answers" });
    this.differences = el("section", { class: "ds-differences", "aria-label": say("differences") });
    this.board = this.makeBoard();
    this.board.tools.append(el("label", { class: "ds-grouping" }, say("group_by"), this.grouping));
    this.report = el("a", { class: "ds-step", download: true, href: this.reported(ids[0]) }, say("report"));
    const overview = el("div", { class: "ds-overview" }, this.table, this.differences);
    overview.style.setProperty("--runs", String(ids.length));
    this.node = el(
      "div",
      { class: "ds-run ds-compare", "aria-busy": "true" },
      el("div", { class: "ds-run-head" }, this.title, this.report),
      this.said,
      this.answers,
      overview,
      this.board.node,
    );
  }

  makeBoard() {
    const sources = () =>
      this.runs.map(({ name, follower, live, noLoss }) => ({ name, curves: follower.curves, live, noLoss }));
    /** @type {import("../metrics/board.js").BoardOptions["refine"]} */
    const refine = async (axis, low, high) => {
      const wanted = () => this.board.looksAt(axis, low, high);
      await Promise.all(this.runs.map(({ follower }) => follower.refine(axis, low, high, wanted)));
      this.board.update();
    };
    return new Board(sources, { kept: "dsgui.compared", refine, groups: () => this.groups });
  }

  async poll() {
    for (const run of this.runs) if (run.live || this.polls % TABLE_EVERY === 0) await this.ask(run);
    this.polls += 1;
    this.board.update();
    const told = this.polls % TABLE_EVERY === 1 ? this.tell() : Promise.resolve();
    // Shown at once, with the table; whoever waits too long for that, or in vain, sees the charts before it.
    const shown = () => this.node.removeAttribute("aria-busy");
    if (this.node.hasAttribute("aria-busy")) setTimeout(shown, TOLD_MS);
    await told.finally(shown);
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
    const twice = this.runs.some((other) => other !== run && other.given === delta.name);
    run.name = twice ? `${delta.name} (${id.slice(-4)})` : delta.name || id;
    run.given = delta.name;
    run.live = LIVE_STATES.has(delta.state) || Boolean(delta.growth?.growing);
    run.noLoss = delta.no_loss?.text || "";
  }

  async tell() {
    const kept = this.runs.filter((run) => !run.gone);
    if (!kept.length) return;
    const query = new URLSearchParams({ runs: kept.map((run) => run.follower.id).join(",") });
    const answer = await fetch(`/dsgui/compare?${query}`);
    if (!answer.ok) throw new Error(words("runs_page", "answered", { status: String(answer.status) }));
    /** @type {CompareAnswer} */
    const { runs, sections, answers } = await answer.json();
    const key = JSON.stringify([runs, sections, answers]);
    if (key === this.told) return;
    this.told = key;
    this.groupsBy = (by) => placedAmong(groupsOf(by, runs, sections), kept, this.runs);
    this.show = () => {
      this.table.replaceChildren(this.figures(kept, runs));
      this.colour();
    };
    for (const option of this.grouping.options) option.disabled = !canGroup(option.value, runs);
    this.answers.replaceChildren(...answers.map(({ question, sentences }) => answerNode(question, sentences)));
    this.differences.replaceChildren(el("h3", {}, say("differences")), ...differencesNodes(kept, sections));
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
      if (swatch instanceof HTMLElement) swatch.style.background = this.colourOf(swatch.dataset.swatch ?? "");
    }
  }

  /** Which of the runs the others are told against: the pinned one, else the first. @param {Run[]} kept */
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

  /** @param {Run[]} kept @param {ComparedRun[]} runs */
  figures(kept, runs) {
    const base = this.base(kept);
    this.report.href = this.reported(kept[base].follower.id);
    const heads = kept.map((run, place) => this.head(run, place === base));
    const states = row(
      say("state"),
      runs.map(({ state }) => textOf("states", state)),
    );
    const told = ROWS.map(([code, value, shown, better]) => ({ code, shown, better, values: runs.map(value) }));
    const rows = told.filter(({ values }) => values.some((value) => value !== null && value !== undefined));
    return table(
      [el("td"), ...heads],
      [
        states,
        ...rows.map(({ code, shown, better, values }) => row(say(code), figuresOf(values, base, shown, better))),
      ],
    );
  }

  /** @param {Run} run @param {boolean} isBase */
  head(run, isBase) {
    const open = button(run.name, { class: "ds-link ds-two-lines", title: run.name }, () => this.open(run.follower.id));
    const pin = button(isBase ? say("baseline") : say("make_baseline"), { class: "ds-base" }, () => {
      this.baseline = run.follower.id;
      this.show();
    });
    pin.setAttribute("aria-pressed", String(isBase));
    return el("th", { scope: "col" }, el("div", { class: "ds-run-of" }, swatchOf(run), open), pin);
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
 * @param {(Told | null | undefined)[]} values @param {number} base
 * @param {(value: any) => string} shown @param {"less" | "more"} [better]
 */
function figuresOf(values, base, shown, better) {
  return values.map((value, place) => {
    const away = place === base ? "" : differenceOf(value, values[base]);
    const cell = el("span", {}, value === null || value === undefined ? "–" : shown(value));
    if (away) cell.append(" ", awayNode(away, better));
    return cell;
  });
}

/** @param {string} away @param {"less" | "more"} [better] */
function awayNode(away, better) {
  if (!better) return el("span", { class: "ds-share" }, away);
  const verdict = away.startsWith("+") === (better === "more") ? "better" : "worse";
  return el("span", { class: "ds-share", "data-verdict": verdict }, say(verdict, { difference: away }));
}

/** @param {Run[]} runs @param {SettingsPart[]} sections */
function differencesNodes(runs, sections) {
  const apart = sections.filter(({ differ }) => differ.length);
  const notes = unknownNotes(runs, sections);
  if (sections.some(({ uncertain }) => uncertain)) notes.push(say("uncertain"));
  const none = apart.length ? [] : [el("p", { class: "ds-remark" }, say(notes.length ? "none_known" : "none"))];
  const tables = apart.map((one) => sectionNode(one, one.differ, runs));
  const remarks = notes.map((text) => el("p", { class: "ds-remark" }, text));
  const same = sections.filter((section) => section.same.length);
  const count = same.reduce((sum, section) => sum + section.same.length, 0);
  const fold = el(
    "details",
    { class: "ds-same" },
    el("summary", {}, say("same", { count: String(count) })),
    ...same.map((one) => sectionNode(one, one.same, runs)),
  );
  return [...none, ...tables, ...remarks, ...(count ? [fold] : [])];
}

/** What is known of no run is told in one sentence. @param {Run[]} runs @param {SettingsPart[]} sections */
function unknownNotes(runs, sections) {
  const several = new Intl.ListFormat(document.documentElement.lang || "en");
  const partOf = (/** @type {SettingsPart} */ { code }) => say(PARTS[code] ?? code);
  const lacking = sections.filter(({ unknown }) => unknown.length);
  const of = lacking.filter(({ unknown }) => unknown.length < runs.length);
  const notes = of.map((section) => {
    const names = several.format(section.unknown.map((place) => `“${runs[place].name}”`));
    return say("unknown", { part: partOf(section), runs: names });
  });
  const ofNone = lacking.filter((section) => !of.includes(section)).map(partOf);
  return ofNone.length ? [...notes, say("unknown_all", { parts: several.format(ofNone) })] : notes;
}

/** @param {SettingsPart} section @param {SettingsPart["differ"]} settings @param {Run[]} runs */
function sectionNode({ code, unknown }, settings, runs) {
  const named = runs.map((run) => {
    const name = el("div", { class: "ds-two-lines", title: run.name }, run.name);
    return el("div", { class: "ds-run-of" }, swatchOf(run), name);
  });
  const heads = [say("key"), ...named].map((head) => el("th", { scope: "col" }, head));
  const coded = code === "launch" || code === "code";
  const rows = settings.map(({ key, values }) => {
    const found = values.map((value, place) => valueNode(value, unknown.includes(place)));
    const name = coded ? textOf("compare_page", KEYS[key] ?? "", key) : el("code", {}, ...parted(spelled(code, key)));
    return row(name, found);
  });
  const part = say(PARTS[code] ?? code);
  return scrolling(part, el("h4", {}, part), table(heads, rows));
}

/** @param {string | null} value @param {boolean} unknown */
function valueNode(value, unknown) {
  if (unknown) return el("span", { class: "ds-share" }, say("not_known"));
  if (value === null) return el("span", { class: "ds-share" }, say("not_set"));
  return value === "" ? say("set") : el("code", {}, value);
}
