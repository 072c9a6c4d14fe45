// A run in the list: as a card, or as a row of the table whose name, tags and note are changed in place.

import { button, el, locale, part } from "../common/dom.js";
import { duration, fixed, gib } from "../common/format.js";
import { allChanges, began, dateOf, moreChanged, mostChanged, stepOf } from "./run_columns.js";
import { differenceOf } from "./run_prefs.js";
import { textOf, words } from "../texts/texts.js";

/** @import { RunSummary } from "../types.d.ts" */
/** @import { Column } from "./run_columns.js" */
/** @import { Editable } from "./run_editing.js" */

const TAGS_ROOM = 14; // what a narrow column has room for, in letters
const CHIP = 3; // what a tag takes beside its letters

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("runs_page", code, given);

/** @param {HTMLElement} entry @returns {HTMLInputElement} */
export function boxOf(entry) {
  const box = part(entry, ".ds-run-choose");
  if (!(box instanceof HTMLInputElement)) throw new Error("a row of the list has no box");
  return box;
}

const chooser = () => el("input", { type: "checkbox", class: "ds-run-choose", title: say("choose_title") });

/** @param {HTMLElement} node @param {RunSummary} run */
function showState(node, run) {
  const isOdd = tellState(node, run.state, run.loss);
  node.classList.toggle("ds-has-problem", isOdd || (Boolean(run.problem) && run.state !== "foreign")); // which says it
}

/** @param {string} state @param {number | string | null} [loss] */
const isOddEnd = (state, loss) => state === "succeeded" && !Number.isFinite(Number(loss ?? 0));

/** @param {string} state @param {number | string | null} [loss] the last one */
export const stateText = (state, loss) =>
  isOddEnd(state, loss) ? say("loss_is", { loss: String(loss).replace("Infinity", "∞") }) : textOf("states", state);

/**
 * How a run ended; of one that ended well what its loss did, where that didn't.
 * @param {HTMLElement} node @param {string} state @param {number | string | null} [loss] its last one
 * @returns {boolean} whether it didn't
 */
export function tellState(node, state, loss) {
  const isOdd = isOddEnd(state, loss);
  node.textContent = stateText(state, loss);
  if (isOdd) node.title = say("odd_state");
  else node.removeAttribute("title"); // what is around it has one
  node.dataset.state = state;
  node.toggleAttribute("data-odd", isOdd);
  node.classList.toggle("ds-has-problem", isOdd);
  return isOdd;
}

/** @param {RunSummary} run */
function titleOf(run) {
  const script = (run.script || "").split("/").pop();
  const begun = began(run).toLocaleString(locale());
  const told = [begun, run.devices, run.model, run.preset, script, run.run_id, run.why, run.problem];
  return [run.name, told.filter(Boolean).join(" · "), run.note, ...allChanges(run)].filter(Boolean).join("\n");
}

/** A run's own page, for another tab. @param {string} id */
export const addressOf = (id) => `?run=${encodeURIComponent(id)}`;

/** @param {string} id */
export function card(id) {
  return el(
    "div",
    { class: "ds-run-entry ds-card", "data-run": id },
    el("label", { class: "ds-run-tick" }, chooser()), // a finger hits it
    el(
      "a",
      { class: "ds-run-row", href: addressOf(id) },
      el("span", { class: "ds-run-name" }),
      el("span", { class: "ds-state" }),
      el("span", { class: "ds-run-sub" }),
      el("span", { class: "ds-run-sub ds-run-what" }),
      el("span", { class: "ds-run-sub ds-run-more" }),
    ),
    pencil("name"),
    menuButton(),
  );
}

/** What can be done with a run. */
const menuButton = () => el("button", { type: "button", class: "ds-row-menu", "aria-haspopup": "menu" }, "⋯");

/** @param {HTMLElement} entry @param {RunSummary} run */
function nameMenu(entry, run) {
  const label = say("row_menu", { name: run.name || run.run_id });
  const node = part(entry, ".ds-row-menu");
  if (node.title !== label) Object.assign(node, { title: label, ariaLabel: label });
}

/** How far it came, in as few letters as a card has room for: of what is done no total. @param {RunSummary} run */
const wholeOf = (run) => (run.step === run.total ? String(run.step) : stepOf(run));

/**
 * What of its loss was no number: the last value, and the first with its step. Of the same kind they are said once.
 * @param {RunSummary} run
 */
function oddOf({ loss, odd_loss: odd }) {
  const [last, value] = [loss, odd?.value].map((one) => (typeof one === "string" ? one.replace("Infinity", "∞") : ""));
  const first = odd && odd.step !== null ? say("odd_at", { value, step: String(odd.step) }) : value;
  return last === value ? { last: last && first, first: "" } : { last, first };
}

/** @param {HTMLElement} entry @param {RunSummary} run */
export function fillCard(entry, run) {
  const row = part(entry, ".ds-run-row");
  const names = ["name", "sub", "what", "more"];
  const [name, sub, what, more] = names.map((one) => part(row, `:scope > .ds-run-${one}`));
  const odd = oddOf(run);
  const isLogged = run.loss !== null && run.loss !== undefined;
  const last = isLogged ? say("loss_is", { loss: odd.last || fixed(run.loss) }) : "";
  name.textContent = run.name || run.run_id;
  showState(part(row, ":scope > .ds-state"), run);
  const begun = run.total || typeof run.step === "number";
  const told = run.why ? [run.why] : [last, odd.first];
  const steps = [begun ? say("step_is", { step: wholeOf(run) }) : "", ...told].filter(Boolean);
  const did = run.doing || steps.join(" · ");
  sub.textContent = [did, duration(run.duration_s)].filter((one) => one && one !== "–").join(" · ") || "–";
  const changes = mostChanged(run);
  const about = changes ? [] : [run.devices, run.model, run.preset].filter((one) => one && one !== "–");
  const [date, rest] = [dateOf(run).replace(/^–$/, ""), changes || about.join(" · ")];
  what.replaceChildren(
    el("span", { class: "ds-run-date" }, [date, rest].every(Boolean) ? `${date} · ` : date), // alone it has that below
    el("span", {}, rest || (date ? "" : "–")),
    ...moreNode(run),
  );
  const { gpu_bytes: ofGpu, host_bytes: ofHost } = run.peak ?? {};
  const peak = ofGpu
    ? say("gpu_peak_is", { memory: gib(ofGpu) })
    : ofHost
      ? say("host_peak_is", { memory: gib(ofHost) })
      : "";
  const [best, tags] = [run.best_loss ?? null, run.tags.map((tag) => `#${tag}`)];
  const lowest = best === null ? "" : say("best_is", { loss: fixed(best) });
  // Beside a run the line above has the date.
  more.textContent = [date, lowest, peak, ...tags, run.note].filter(Boolean).join(" · ") || "–";
  row.title = titleOf(run);
  nameMenu(entry, run);
  entry.classList.toggle("ds-archived", run.archived);
}

/** @param {string} id @param {Column[]} columns */
export function tableRow(id, columns) {
  /** @param {string} name @param {...Node} children */
  const cell = (name, ...children) => el("span", { class: "ds-cell", "data-column": name, role: "cell" }, ...children);
  const names = [el("span", { class: "ds-run-name" }), el("span", { class: "ds-run-why" })];
  const open = el("a", { class: "ds-run-row", href: addressOf(id) }, ...names);
  return el(
    "div",
    { class: "ds-run-entry ds-table-row", "data-run": id, role: "row" },
    cell("choose", chooser()),
    cell("name", open, pencil("name"), menuButton()),
    ...columns.map(({ id: name, isFigure }) => {
      const made = cell(name);
      made.classList.toggle("ds-figure", Boolean(isFigure));
      return made;
    }),
  );
}

/** @param {Editable} what */
function pencil(what) {
  const label = say(`edit_${what}`);
  return el(
    "button",
    { type: "button", class: "ds-pencil", "data-edit": what, tabindex: "-1", title: label, "aria-label": label },
    "✎",
  );
}

/** @param {HTMLElement} entry @param {RunSummary} run @param {Column[]} columns @param {RunSummary | null} base */
export function fillRow(entry, run, columns, base) {
  const row = part(entry, ".ds-run-row");
  part(row, ".ds-run-name").textContent = run.name || run.run_id;
  part(row, ".ds-run-why").textContent = run.why ?? "";
  row.title = titleOf(run);
  nameMenu(entry, run);
  entry.classList.toggle("ds-archived", run.archived);
  for (const column of columns) {
    const cell = part(entry, `[data-column="${column.id}"]`);
    if (!cell.querySelector(".ds-edit")) fillCell(cell, run, column, base);
  }
}

/** @param {HTMLElement} cell @param {RunSummary} run @param {Column} column @param {RunSummary | null} base */
function fillCell(cell, run, column, base) {
  const text = column.text(run);
  const held = base && column.value?.(base);
  const odd = [run.odd_loss, typeof run.loss];
  const key = JSON.stringify([text, run.tags, run.problem, run.differs.length, run.base, odd, held]);
  if (cell.dataset.told === key) return; // so that nothing changes under the pointer
  cell.dataset.told = key;
  cell.title = text;
  if (column.id === "state") {
    cell.replaceChildren(el("span", { class: "ds-state" }));
    showState(part(cell, ".ds-state"), run);
  } else if (column.id === "tags") {
    cell.replaceChildren(el("span", { class: "ds-tags" }, ...chipsOf(run.tags)), pencil("tags"));
  } else if (column.id === "note") cell.replaceChildren(el("span", { class: "ds-note-text" }, text), pencil("note"));
  else if (column.id === "differs") cell.replaceChildren(text ? changesButton(run) : unchanged(run));
  else if (column.id === "final_loss" && (run.odd_loss || typeof run.loss === "string")) {
    cell.replaceChildren(...oddNodes(run, text));
  } else cell.replaceChildren(text, ...shareNode(run, column, base));
}

/** As many as there is room for, one at least, and how many more there are. @param {string[]} tags */
function chipsOf(tags) {
  let room = TAGS_ROOM;
  const fitting = tags.filter((tag, place) => (room -= tag.length + CHIP) >= 0 || !place);
  const more = tags.slice(fitting.length);
  const chips = fitting.map((tag) =>
    el("button", { type: "button", class: "ds-tag", "data-tag": tag, tabindex: "-1" }, tag),
  );
  return more.length ? [...chips, el("span", { class: "ds-more-tags" }, `+${more.length}`)] : chips;
}

/** @param {RunSummary} run */
function changesButton(run) {
  const title = [changedFrom(run), ...allChanges(run)].join("\n");
  const what = el("span", { class: "ds-cut" }, el("span", {}, mostChanged(run)), ...moreNode(run));
  const parts = [what, el("span", { class: "ds-share" }, fromOf(run))];
  return el("button", { type: "button", class: "ds-changes-of", title }, ...parts);
}

/** How much more differs: it is not cut off with the rest. @param {RunSummary} run */
function moreNode(run) {
  const more = moreChanged(run);
  return more ? [el("span", { class: "ds-more-changes" }, more)] : [];
}

/** Nothing differs, or there is no run before it: a pointer tells which. @param {RunSummary} run */
const unchanged = (run) =>
  el("span", { title: run.differs_from ? say("unchanged", { run: run.base || run.differs_from }) : undefined }, "–");

/** @param {RunSummary} run */
const fromOf = (run) => say("versus", { run: run.base || run.differs_from });

/** @param {RunSummary} run */
const changedFrom = ({ base, differs_from: id }) =>
  say("differs_from", { run: base && base !== id ? `${base} (${id})` : id });

/** The last loss, and in red what of it was no number. @param {RunSummary} run @param {string} text of the last */
function oddNodes(run, text) {
  const { last, first } = oddOf(run);
  const red = [last, first].filter(Boolean);
  const nodes = red.map((one) => el("span", { class: "ds-share", "data-verdict": "worse" }, one));
  return [last ? "" : text, ...nodes.flatMap((one) => [" ", one])];
}

/** @param {RunSummary} run @param {Column} column @param {RunSummary | null} base @returns {(Node | string)[]} */
function shareNode(run, column, base) {
  const share = base && base.run_id !== run.run_id ? differenceOf(column.value?.(run), column.value?.(base)) : "";
  return share ? [" ", el("span", { class: "ds-share" }, share)] : [];
}

/** All that differs, beside the cell that says it in short. @param {RunSummary} run @param {() => void} compare */
export function changesPopover(run, compare) {
  const node = el(
    "div",
    { class: "ds-popover", popover: "auto", role: "dialog", "aria-label": say("differs_title") },
    el("p", {}, changedFrom(run)),
    el("ul", {}, ...allChanges(run).map((line) => el("li", {}, line))),
    button(say("compare_both"), { class: "ds-step" }, () => {
      node.hidePopover();
      compare();
    }),
  );
  node.addEventListener("toggle", (event) => {
    if (event instanceof ToggleEvent && event.newState === "closed") node.remove();
  });
  return node;
}
