// What a user writes on a run, changed over the cell where it stands: the editor has room that the cell has not. It is
// shown at once, whenever the server writes it.

import { el } from "../common/dom.js";
import { words } from "../texts/texts.js";

/** @import { LabelChange } from "../types.d.ts" */

/** What may be changed in place. @typedef {"name" | "tags" | "note"} Editable */

const CONTROL = 34; // design.css has it: --ds-control
const LEAST = 24; // of a target's height
const LEAST_ROOM = 320; // px that an editor has on a run's page, where the page has them
const ROOM = `min(${LEAST_ROOM}px, 100%)`; // what stands beside a run's tags and its note makes place
/** @type {Partial<Record<Editable, number>>} */
const MOST = { name: 120, note: 2000 }; // characters, as the server takes them
/** @type {Partial<Record<Editable, string>>} */
const LONG = { name: "name_long", note: "note_long" };
const [MOST_TAG, MOST_TAGS] = [40, 20]; // characters of a tag, and tags
const PENDING_MS = 8000; // so long an answer may be from before a change; what isn't written by then was refused
const EDGE = 8; // what floats keeps so far from the window's edges

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("runs_page", code, given);

/** @param {string | undefined} column @returns {column is Editable} */
export const isEditable = (column) => column === "name" || column === "tags" || column === "note";

/**
 * Puts what floats where the window has room for it.
 * @param {HTMLElement} floating @param {number} left @param {number} top
 */
export function placeAt(floating, left, top) {
  const [width, height] = [window.innerWidth - floating.offsetWidth, window.innerHeight - floating.offsetHeight];
  floating.style.left = `${Math.max(Math.min(left, width - EDGE), EDGE)}px`;
  floating.style.top = `${Math.max(Math.min(top, height - EDGE), EDGE)}px`;
}

/**
 * As high as what it stands for: what is above and below stays seen.
 * @param {HTMLElement} floating @param {HTMLElement} cell
 */
function placeOver(floating, cell) {
  const { left, top, width, height } = cell.getBoundingClientRect();
  floating.style.width = `${width}px`;
  floating.style.height = `${Math.max(Math.min(height - 2, CONTROL), LEAST)}px`;
  placeAt(floating, left, top + (height - floating.offsetHeight) / 2);
}

/**
 * Letter on letter, to the end of the line or to what can be done with the run; what is beside it stays seen.
 * @param {HTMLElement} floating @param {HTMLElement} input @param {HTMLElement} line @param {HTMLElement} cell
 */
function placeOnLine(floating, input, line, cell) {
  const { left, top, height } = line.getBoundingClientRect();
  const { paddingLeft, borderLeftWidth } = getComputedStyle(input);
  const before = parseFloat(paddingLeft) + parseFloat(borderLeftWidth);
  const beside = cell.querySelector(".ds-row-menu")?.getBoundingClientRect();
  const isIn = beside && beside.top < top + height && beside.bottom > top;
  const end = isIn ? beside.left : line.getBoundingClientRect().right;
  floating.style.minWidth = "0";
  floating.style.width = `${end - left + before}px`;
  floating.style.height = `${Math.max(height, LEAST)}px`;
  placeAt(floating, left - before, top + (height - floating.offsetHeight) / 2);
}

/**
 * Over a run's title, from the margin on: nothing makes place, so that of a short name it lies on what is beside it.
 * @param {HTMLElement} floating @param {HTMLElement} input @param {HTMLElement} title
 */
function placeOnTitle(floating, input, title) {
  const { left, right, top, height } = title.getBoundingClientRect();
  const edge = title.parentElement?.getBoundingClientRect().right ?? right;
  const { paddingLeft, borderLeftWidth } = getComputedStyle(input);
  const end = right + 2 * (parseFloat(paddingLeft) + parseFloat(borderLeftWidth));
  floating.style.minWidth = "0";
  floating.style.width = `${Math.min(Math.max(end, left + LEAST_ROOM), edge) - left}px`;
  floating.style.height = `${Math.max(height, LEAST)}px`;
  placeAt(floating, left, top + (height - floating.offsetHeight) / 2);
}

/**
 * Beside what is written, up to what can be pressed there; where that has no room, above a title, and in a card below
 * the name: over what is told of the same run.
 * @param {HTMLElement} told @param {HTMLElement} over @param {HTMLElement} cell
 */
function placeRefusal(told, over, cell) {
  const { left, right, top, bottom, height } = over.getBoundingClientRect();
  const menu = cell.querySelector(".ds-row-menu")?.getBoundingClientRect();
  const actions = cell.closest(".ds-run-head")?.querySelector(".ds-actions")?.getBoundingClientRect();
  const from = Math.max(right, cell.matches(".ds-card") ? 0 : (menu?.right ?? 0)) + EDGE;
  const end = actions && actions.top < bottom && actions.bottom > top ? actions.left : window.innerWidth;
  told.style.maxWidth = "";
  const whole = told.offsetWidth;
  told.style.maxWidth = `${Math.max(end - from - EDGE, 0)}px`;
  const isBeside = told.offsetHeight <= CONTROL && told.scrollWidth <= told.clientWidth;
  if (!isBeside) told.style.maxWidth = "";
  const most = window.innerWidth - EDGE - left - whole; // or the window would cut it
  told.style.left = `${isBeside ? from - left : Math.min(0, most)}px`;
  const below = cell.matches(".ds-run-title") ? -told.offsetHeight - 1 : height;
  told.style.top = `${isBeside ? (height - told.offsetHeight) / 2 : below}px`;
}

/**
 * The line that is edited, where it is all that is edited: a name, and of a card its tags and its note.
 * @param {HTMLElement} cell @param {Editable} what @returns {HTMLElement | null}
 */
function lineOf(cell, what) {
  if (what === "name") return cell.querySelector(".ds-run-name") ?? cell;
  return cell.matches(".ds-card") ? cell.querySelector(".ds-run-more") : null;
}

/** In the same letters. @param {HTMLElement} input @param {HTMLElement} line */
function writeAs(input, line) {
  const { fontSize, fontWeight, fontStyle, lineHeight } = getComputedStyle(line);
  Object.assign(input.style, { fontSize, fontWeight, fontStyle, lineHeight });
}

/** What is written on a run. @typedef {{ name: string, tags: string[], note: string }} Written */

/** @param {Editable} what @param {Written} run */
const textOf = (what, run) => (what === "tags" ? run.tags.join(", ") : run[what]);

/** @param {Editable} what @param {string} text @returns {LabelChange} */
const changeOf = (what, text) =>
  what === "tags" ? { tags: text.split(",").map((tag) => tag.trim()) } : { [what]: text };

/** Why the server would refuse it. @param {Editable} what @param {string} written */
export function refusalOf(what, written) {
  const [count, most, code] = [[...written.trim()].length, MOST[what], LONG[what]];
  if (most && code) return count > most ? say(code, { count: String(count), most: String(most) }) : "";
  const tags = [...new Set(changeOf(what, written).tags)].filter(Boolean);
  const folded = tags.map((tag) => tag.toLowerCase());
  const again = folded.findIndex((tag, place) => folded.indexOf(tag) < place);
  if (again >= 0) return say("tag_twice", { tag: tags[again], other: tags[folded.indexOf(folded[again])] });
  const long = tags.find((tag) => [...tag].length > MOST_TAG);
  if (long) return say("tag_long", { count: String([...long].length), most: String(MOST_TAG) });
  return tags.length > MOST_TAGS ? say("tags_many", { count: String(tags.length), most: String(MOST_TAGS) }) : "";
}

/**
 * Enter keeps, Escape leaves it; both give the focus to what is `back` then. Looking elsewhere keeps. What would be
 * refused stays open and says why, and what was pressed meanwhile is not done: the page might go, and the text with it.
 * @param {HTMLElement} cell @param {Editable} what @param {Written} run @param {(change: LabelChange) => void} keep
 * @param {() => HTMLElement} back
 */
export function editOver(cell, what, run, keep, back) {
  const [label, text] = [say(`edit_${what}`), textOf(what, run)];
  const about = { value: text, "aria-label": label, placeholder: say(`hint_${what}`) };
  const input = el("input", { class: "ds-edit", ...about });
  const told = el("p", { class: "ds-edit-refused", id: "edit-refused", role: "alert", hidden: true });
  const over = el("div", { class: "ds-edit-over", popover: "manual" }, input, told);
  const line = lineOf(cell, what);
  const isTitle = cell.matches(".ds-run-title");
  const onLine = line && (() => (isTitle ? placeOnTitle(over, input, cell) : placeOnLine(over, input, line, cell)));
  const on = onLine ?? (() => placeOver(over, cell));
  const place = () => {
    if (!over.isConnected) return end(false, false);
    on();
    return told.hidden || placeRefusal(told, over, cell);
  };
  let done = false;
  /** @param {boolean} kept @param {boolean} byKey */
  const end = (kept, byKey) => {
    if (done) return;
    done = true;
    window.removeEventListener("scroll", place, true);
    window.removeEventListener("resize", place);
    window.removeEventListener("click", hold, true);
    over.remove();
    cell.style.minWidth = "";
    if (kept && input.value.trim() !== text) keep(changeOf(what, input.value.trim()));
    if (byKey) back().focus({ preventScroll: true });
  };
  const isRefused = (isTried = true) => {
    const why = refusalOf(what, input.value);
    told.hidden = !why || !isTried;
    input.setAttribute("aria-invalid", String(!told.hidden));
    if (told.hidden) return Boolean(why);
    told.textContent = why;
    input.setAttribute("aria-describedby", told.id);
    placeRefusal(told, over, cell);
    input.focus({ preventScroll: true });
    return true;
  };
  /** @param {Event} event */
  const hold = (event) => {
    if (event.composedPath().includes(over)) return;
    if (!over.isConnected) end(false, false);
    else if (isRefused()) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  input.addEventListener("input", () => isRefused(what !== "tags")); // half a tag may be like another
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault(); // or it would press what has the focus afterwards
    if (event.key === "Escape" || !isRefused()) end(event.key === "Enter", true);
  });
  input.addEventListener("blur", () => {
    if (!refusalOf(what, input.value)) end(true, false);
    else setTimeout(() => over.isConnected && isRefused()); // once the focus is where it goes
  });
  window.addEventListener("click", hold, true);
  window.addEventListener("scroll", place, true);
  window.addEventListener("resize", place);
  cell.append(over);
  if (line) writeAs(input, line);
  if (!isTitle && !cell.closest(".ds-run-entry")) cell.style.minWidth = ROOM;
  over.showPopover();
  place();
  input.focus();
  input.select();
}

/** As it will be. @template {Written} T @param {T} run @param {LabelChange} change @returns {T} */
export function changedRun(run, { add_tags: added = [], name, ...rest }) {
  const tags = [...new Set([...(rest.tags ?? run.tags), ...added])].filter(Boolean);
  return { ...run, ...rest, ...(name ? { name } : {}), tags };
}

/** What was written on runs a moment ago: it stands over what an answer from before has, in the list and on a page. */
export class Pending {
  /** @param {() => number} clock */
  constructor(clock = () => performance.now()) {
    this.clock = clock;
    /** @type {Map<string, { changes: LabelChange[], until: number }>} */
    this.runs = new Map();
  }

  /** @param {string[]} ids @param {LabelChange} change */
  add(ids, change) {
    const until = this.clock() + PENDING_MS;
    for (const id of ids) {
      const before = this.runs.get(id)?.changes ?? [];
      const kept = "name" in change ? before.map((one) => ({ ...one, name: "" })) : before; // "" is the launched one's
      this.runs.set(id, { changes: [...kept, change], until });
    }
  }

  /** A run as the server told it, with that. @template {Written} T @param {string} id @param {T} told */
  over(id, told) {
    const pending = this.runs.get(id);
    if (!pending) return told;
    if (this.clock() < pending.until) return pending.changes.reduce((one, change) => changedRun(one, change), told);
    this.runs.delete(id);
    return told;
  }
}
