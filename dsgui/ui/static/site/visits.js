// What the page shows, in the browser's history: Back returns to what was shown before.

/** What the address names: a run, or several. @typedef {{ run: string | null, compare: string | null }} Names */

const TABS = ["configure", "launch", "runs", "machine"]; // as the address names them
const RUNS = TABS.indexOf("runs");
const TAB = "#pages > .tab-wrapper [role=tab]";

/** @returns {HTMLElement[]} */
const tabs = () => [...document.querySelectorAll(TAB)].filter((one) => one instanceof HTMLElement);
const selected = () => tabs().findIndex((tab) => tab.getAttribute("aria-selected") === "true");

/** @param {URL} url @returns {Names} */
export const namesIn = ({ searchParams }) => ({ run: searchParams.get("run"), compare: searchParams.get("compare") });

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

/** A run is named where it is seen. @param {string} address @param {Names} names @param {number} tab */
export function addressOf(address, names, tab = RUNS) {
  const url = new URL(address);
  const seen = tab === RUNS ? names : { run: null, compare: null };
  const page = tab > 0 && !(seen.run || seen.compare) ? TABS[tab] : null;
  for (const [name, value] of Object.entries({ ...seen, tab: page })) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

class Visits {
  constructor() {
    let asked = namesIn(new URL(window.location.href));
    /** What the Runs page shows; until it is there, what it will show: another tab's address no longer names it. */
    this.names = () => asked;
    /** @type {(names: Names) => void} */
    this.show = (names) => {
      asked = names;
    };
    /** @type {number | null} the tab that the address or Back asked for, until it is there */
    this.awaited = tabToCome(new URL(window.location.href), selected());
    this.noting = 0;
    const pages = document.querySelector("#pages > .tab-wrapper");
    const watch = { subtree: true, attributeFilter: ["aria-selected"] };
    if (pages) new MutationObserver(() => this.note()).observe(pages, watch);
    window.addEventListener("popstate", () => this.back());
    this.note();
  }

  /** The Runs page is there. @param {() => Names} names what it shows @param {(names: Names) => void} show */
  attend(names, show) {
    Object.assign(this, { names, show });
  }

  /** What is shown has changed; a tab and a run that change together are one step. */
  note() {
    clearTimeout(this.noting);
    this.noting = window.setTimeout(() => this.write(navigator.userActivation?.hasBeenActive ?? true));
  }

  /** As a step of its own, or in place of the last: for what the page opened by itself. @param {boolean} asStep */
  write(asStep) {
    clearTimeout(this.noting);
    const tab = selected();
    if (this.awaited !== null) {
      if (tab !== this.awaited) return;
      this.awaited = null;
    }
    const address = addressOf(window.location.href, this.names(), tab);
    if (address === window.location.href && tab === window.history.state?.tab) return;
    if (asStep && window.history.state) window.history.pushState({ tab }, "", address);
    else window.history.replaceState({ tab }, "", address);
  }

  back() {
    const tab = window.history.state?.tab;
    const asked = tab === selected() ? undefined : tabs()[tab];
    this.awaited = asked ? tab : null;
    asked?.click();
    if (tab === RUNS) this.show(namesIn(new URL(window.location.href)));
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
