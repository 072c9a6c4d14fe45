// The Runs page: the list of runs, and beside it one run, or several compared.

import { Afterwards } from "../afterwards/afterwards.js";
import { notifies } from "../notify/alerts.js";
import { Browser } from "../common/browse.js";
import { CompareView } from "./compare.js";
import { Removal } from "../afterwards/removal.js";
import { around, button, el, messageOf, part, withSheet } from "../common/dom.js";
import { RunKeys } from "./run_keys.js";
import { RunList } from "./run_list.js";
import { RunView } from "./run_view.js";
import { words } from "../texts/texts.js";
import { visits } from "../site/visits.js";

/** @import { Props, Trigger, Watch } from "../types.d.ts" */

const SHEET = "/dsgui/static/runs/cards.css";
const POLL_MS = 1000;
const LIST_MS = 3000;
const ENDED_POLLS = 5; // a run that has ended is still looked at, every fifth time
const MOST_COMPARED = 6;
const LAUNCH_TAB = 1;

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("runs_page", code, given);

class Monitor {
  /** @param {HTMLElement} element @param {Trigger} trigger */
  constructor(element, trigger) {
    this.trigger = trigger;
    void withSheet(SHEET);
    /** @type {RunView | CompareView | null} */
    this.view = null;
    /** @type {RunView | CompareView | null} the one that is asked for its news just now */
    this.polling = null;
    this.alive = false;
    /** @type {Removal | null} of a run of the list */
    this.removing = null;
    this.list = new RunList({
      open: (id) => this.visit(id),
      clone: (id) => this.trigger("again", { run_id: id, kind: "same", checkpoint: "", change: "" }),
      compare: (ids) => this.showCompared(ids),
      all: () => this.showAll(),
      add: () => new Browser("training", (folder) => this.trigger("adopt", { folder })).open(""),
      label: (ids, change) => this.trigger("annotate", { run_ids: ids, change }),
      remove: (id) => (this.removing = new Removal(id, this.trigger, () => this.gone(id))),
      held: () => this.view?.ids ?? [],
      colourOf: (id) => (this.view instanceof CompareView ? this.view.colourOf(id) : ""),
      looked: () => visits().note(),
      trouble: (error) => this.unwell(error),
    });
    const { rows } = this.list;
    rows.addEventListener("pointerover", (event) => this.point(around(event, "[data-run]")?.dataset.run ?? ""));
    rows.addEventListener("pointerleave", () => this.point(""));
    new RunKeys(this.list, {
      open: (id) => this.show(id),
      all: () => this.showAll(),
      shown: () => this.view?.ids ?? [],
    });
    this.detail = el("div", { class: "ds-run-detail" });
    this.root = part(element, ".ds-runs");
    this.root.replaceChildren(this.list.node, this.detail);
    this.trouble = el("p", { class: "ds-trouble", role: "alert", hidden: true });
    this.root.prepend(this.trouble);
    new MutationObserver(() => this.view?.draw(true)).observe(document.body, {
      attributes: true,
      attributeFilter: ["class"],
    });
    matchMedia("(forced-colors: active)").addEventListener("change", () => this.view?.draw(true));
    this.polls = 0;
    this.list.tools.lookAs(visits().look());
    this.alone();
    this.showNamed(visits().names());
    visits().attend({
      names: () => this.names(),
      look: () => this.list.tools.look,
      show: (names, look) => this.showAgain(names, look),
    });
    const seen = () => this.root.offsetWidth > 0 && !document.hidden;
    this.list.refresh().catch((error) => this.unwell(error)); // so that the rows are there when the page is opened
    const listed = this.loop(() => this.refreshList(), LIST_MS, seen);
    // Who asked for notifications wants them most when looking elsewhere.
    this.loop(
      () => this.refreshRun(),
      POLL_MS,
      () => seen() || (this.view !== null && this.alive && notifies()),
    );
    new IntersectionObserver((changes) => changes.at(-1)?.isIntersecting && listed.now()).observe(this.root);
  }

  /**
   * Asks again only after the last answer; a page that nobody sees waits. `now` ends a pause.
   * @param {() => Promise<void>} step @param {number} pause @param {() => boolean} wanted
   */
  loop(step, pause, wanted) {
    const waits = { now: () => {} };
    const run = async () => {
      for (;;) {
        if (wanted()) {
          try {
            await step();
            this.well();
          } catch (error) {
            this.unwell(error);
          }
        }
        await new Promise((resolve) => {
          waits.now = () => resolve(undefined);
          setTimeout(waits.now, pause);
        });
      }
    };
    run();
    return { now: () => waits.now() };
  }

  well() {
    this.trouble.hidden = true;
  }

  /** @param {unknown} error */
  unwell(error) {
    this.trouble.hidden = false;
    this.trouble.textContent = say("no_server", { why: messageOf(error) });
  }

  /** The table of all runs; where there are none yet, how to come by one. */
  showAll() {
    this.view?.close();
    this.view = null;
    this.alone();
    visits().note();
    this.refreshList().catch((error) => this.unwell(error));
  }

  alone() {
    this.root.classList.add("ds-all");
    this.list.layOut(true);
    this.detail.replaceChildren(nothingYet());
  }

  /** @param {string} id */
  show(id) {
    if (!id || this.view?.id === id) return;
    const afterwards = new Afterwards(
      id,
      this.trigger,
      () => this.gone(id),
      () => this.showAnew(id),
    );
    /** @param {string} what @returns {(run: string) => void} */
    const ask = (what) => (run) => this.trigger(what, { run_id: run });
    /** @param {import("../types.d.ts").LabelChange} change */
    const label = (change) => this.list.label([id], change);
    this.open(new RunView(id, ask("stop"), ask("save"), afterwards, this.trigger, label, this.list.pending));
  }

  /** As its user asked: from its top, however far down the page before was. @param {string} id */
  visit(id) {
    if (!id || this.view?.id === id) return;
    this.show(id);
    window.scrollTo(0, 0);
  }

  /** Its files are others now: what the page has of it counts no more. @param {string} id */
  showAnew(id) {
    if (this.view?.id !== id) return;
    this.view.close();
    this.view = null;
    this.show(id);
  }

  /** A run's row is pointed at: of several that are compared it is seen before the others. @param {string} id */
  point(id) {
    if (this.view instanceof CompareView) this.view.emphasise(id);
  }

  /** @param {string[]} ids @param {string} [base] the baseline; else the one that is pinned */
  showCompared(ids, base) {
    if (!ids.length) return;
    const compared = ids.slice(0, MOST_COMPARED);
    this.list.take(compared);
    this.open(new CompareView(compared, (id) => this.show(id), base));
  }

  /** What is shown, as the address names it. */
  names() {
    const { id = "", ids = [] } = this.view ?? {};
    const base = this.view instanceof CompareView ? this.view.namedBase() : null;
    return { run: id || null, compare: (!id && ids.join(",")) || null, baseline: base };
  }

  /**
   * Back returns to the table as it was looked at.
   * @param {import("../site/visits.js").Names} names @param {import("../site/visits.js").Look} [look]
   */
  showAgain(names, look) {
    if (look && !names.run && !names.compare && this.list.tools.lookAs(look)) this.list.restart();
    this.showNamed(names);
  }

  /** What the address names is shown. @param {import("../site/visits.js").Names} names */
  showNamed({ run, compare, baseline }) {
    if (compare && compare !== this.names().compare) this.showCompared(compare.split(","), baseline ?? "");
    else if (compare && this.view instanceof CompareView) this.view.tellAgainst(baseline ?? "");
    if (run) this.show(run);
    if (!run && !compare && this.view) this.showAll();
  }

  /** @param {RunView | CompareView} view */
  open(view) {
    this.view?.close();
    this.view = view;
    this.alive = true;
    this.detail.replaceChildren(view.node);
    this.root.classList.remove("ds-all");
    if (this.list.alone) this.list.layOut(false);
    visits().note();
    this.list.mark();
    this.list.refresh(view.id).catch((error) => this.unwell(error));
    this.refreshRun().catch((error) => this.unwell(error));
  }

  /** A run was deleted: those that are left are shown. @param {string} id */
  async gone(id) {
    this.list.drop(id);
    if (this.view?.id === id) {
      this.view.close();
      this.view = null;
      this.alone();
      visits().write(false);
    }
    await this.refreshList();
  }

  async refreshRun() {
    const { view, removing } = this;
    if (!view || (view instanceof RunView && view.afterwards.removal.deleting)) return;
    if (removing?.deleting && removing.id === view.id) return;
    this.polls += 1;
    if (!this.alive && this.polls % ENDED_POLLS) {
      view.draw();
      return;
    }
    if (this.polling === view) return; // one question at a time, or a cursor would be used twice
    this.polling = view;
    const before = stateOf(view);
    let alive;
    try {
      alive = await view.poll();
    } finally {
      if (this.polling === view) this.polling = null;
    }
    if (view !== this.view) return;
    const isOther = before !== "" && stateOf(view) !== before; // the list says the same as the page
    if ((this.alive && !alive) || isOther) await this.refreshList();
    this.alive = alive;
  }

  async refreshList() {
    await this.list.refresh();
    const none = this.detail.querySelector(".ds-empty");
    const some = this.list.told.total > 0 || this.list.told.archived > 0;
    if (none instanceof HTMLElement) none.hidden = some;
    this.root.classList.toggle("ds-none", !some);
  }
}

/** @param {RunView | CompareView} view */
const stateOf = (view) => (view instanceof RunView ? view.lastState : "");

/** Where there is no run: how to come by one. */
function nothingYet() {
  const launch = button(say("empty_launch"), { class: "ds-goal-find" }, () => {
    const tab = [...document.querySelectorAll("#pages > .tab-wrapper [role=tab]")][LAUNCH_TAB];
    if (tab instanceof HTMLElement) tab.click();
  });
  const texts = ["empty", "empty_elsewhere"].map((code) => el("p", {}, say(code)));
  return el("section", { class: "ds-empty", hidden: true }, el("h2", {}, say("empty_title")), ...texts, launch);
}

/** @param {HTMLElement} element @param {Props<string>} props @param {Trigger} trigger @param {Watch} watch */
export function mount(element, props, trigger, watch) {
  const monitor = new Monitor(element, trigger);
  const opened = () => {
    monitor.visit(props.value);
    if (props.value) monitor.list.refresh(props.value).catch((error) => monitor.unwell(error));
  };
  watch("value", opened);
  opened();
}
