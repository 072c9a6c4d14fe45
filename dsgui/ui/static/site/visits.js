// What the page shows, in the browser's history: Back returns to what was shown before.

/**
 * What the address names: a run, or several, and which of these the others are told against if it isn't the first.
 * @typedef {{ run: string | null, compare: string | null, baseline?: string | null }} Names
 */
/**
 * How the table of runs is looked at: what is searched, their state, and a column, with `-` before it from its greatest
 * down.
 * @typedef {{ q: string, state: string, sort: string }} Look
 */

const TABS = ["configure", "launch", "runs", "machine"]; // as the address names them
const RUNS = TABS.indexOf("runs");
const NO_LOOK = { q: "", state: "", sort: "" };
const TAB = "#pages > .tab-wrapper [role=tab]";

/** @returns {HTMLElement[]} */
const tabs = () => [...document.querySelectorAll(TAB)].filter((one) => one instanceof HTMLElement);
const selected = () => tabs().findIndex((tab) => tab.getAttribute("aria-selected") === "true");

/** @param {URL} url @returns {Names} */
export const namesIn = ({ searchParams }) => {
  const [run, compare, baseline] = ["run", "compare", "baseline"].map((name) => searchParams.get(name));
  return { run, compare, baseline };
};

/** @param {URL} url @returns {Look} */
export const lookIn = ({ searchParams }) => {
  const [q = "", state = "", sort = ""] = ["q", "state", "sort"].map((name) => searchParams.get(name) ?? "");
  return { q, state, sort };
};

/**
 * The tab that the address opens: a run is on the page of runs.
 * @param {URL} url
 */
export function tabIn({ searchParams }) {
  const named = searchParams.get("run") || searchParams.get("compare");
  return named ? RUNS : Math.max(TABS.indexOf(searchParams.get("tab") ?? ""), 0);
}

/**
 * The tab that is still to come: the one that the address opens, where it names one. Without, whoever was quicker than
 * this page and chose a tab has chosen.
 * @param {URL} url @param {number} shown @returns {number | null}
 */
export function tabToCome(url, shown) {
  const named = ["run", "compare", "tab"].some((name) => url.searchParams.get(name));
  return named && tabIn(url) !== shown ? tabIn(url) : null;
}

/**
 * A run is named where it is seen, and how the table is looked at where that is.
 * @param {string} address @param {Names} names @param {number} tab @param {Look} [look]
 */
export function addressOf(address, names, tab = RUNS, look = NO_LOOK) {
  const url = new URL(address);
  const seen = { baseline: null, ...(tab === RUNS ? names : { run: null, compare: null }) };
  const isNamed = Boolean(seen.run || seen.compare);
  const page = tab > 0 && !isNamed ? TABS[tab] : null;
  const looked = tab === RUNS && !isNamed ? look : NO_LOOK;
  for (const [name, value] of Object.entries({ ...seen, tab: page, ...looked })) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  return url.href;
}

/** Whether two addresses differ by more than how the table is looked at. @param {string} one @param {string} other */
export function isStep(one, other) {
  const [from, to] = [one, other].map((address) => {
    const url = new URL(address);
    return addressOf(address, namesIn(url), tabIn(url));
  });
  return from !== to;
}

class Visits {
  constructor() {
    const url = new URL(window.location.href);
    let [asked, looked] = [namesIn(url), lookIn(url)];
    /** What the Runs page shows; until it is there, what it will show: another tab's address no longer names it. */
    this.names = () => asked;
    this.look = () => looked;
    /** @type {(names: Names, look?: Look) => void} */
    this.show = (names, look = looked) => {
      [asked, looked] = [names, look];
    };
    /** @type {number | null} the tab that the address or Back asked for, until it is there */
    this.awaited = tabToCome(url, selected());
    this.noting = 0;
    const pages = document.querySelector("#pages > .tab-wrapper");
    const watch = { subtree: true, attributeFilter: ["aria-selected"] };
    if (pages) new MutationObserver(() => this.note()).observe(pages, watch);
    window.addEventListener("popstate", () => this.back());
    this.note();
  }

  /**
   * The Runs page is there. `names` is what it shows, `look` how its table is looked at.
   * @param {{ names: () => Names, look: () => Look, show: (names: Names, look?: Look) => void }} page
   */
  attend({ names, look, show }) {
    Object.assign(this, { names, look, show });
  }

  /** What is shown has changed; a tab and a run that change together are one step. */
  note() {
    clearTimeout(this.noting);
    this.noting = window.setTimeout(() => this.write(navigator.userActivation?.hasBeenActive ?? true));
  }

  /**
   * As a step of its own, or in place of the last: for what the page opened by itself, and for a search.
   * @param {boolean} asStep
   */
  write(asStep) {
    clearTimeout(this.noting);
    const tab = selected();
    if (this.awaited !== null) {
      if (tab !== this.awaited) return;
      this.awaited = null;
    }
    const { href } = window.location;
    const address = addressOf(href, this.names(), tab, this.look());
    const isOther = tab !== window.history.state?.tab;
    if (address === href && !isOther) return;
    const isNew = asStep && window.history.state && (isOther || isStep(href, address));
    window.history[isNew ? "pushState" : "replaceState"]({ tab }, "", address);
  }

  back() {
    const tab = window.history.state?.tab;
    const asked = tab === selected() ? undefined : tabs()[tab];
    this.awaited = asked ? tab : null;
    asked?.click();
    const url = new URL(window.location.href);
    if (tab === RUNS) this.show(namesIn(url), lookIn(url));
  }
}

/** @type {Visits | null} */
let only = null;
/** The page's one. */
export function visits() {
  only ??= new Visits();
  return only;
}

/** When the page opens: what it shows first is what Back returns to in the end. */
export function begin() {
  visits();
}
