// Nodes and ranks per node at a place are as 1 · Configure plans them until somebody says otherwise in one of its
// fields. What was typed is known here at once: the server's answer to what was planned before would replace it.

import { around, withSheet } from "../common/dom.js";
import { tellWhileChecked } from "./checking.js";
import { toConfigure } from "./to_configure.js";

const PATHS = "#script input, #working-dir input, #output-dir input"; // on one line, and cut where that has no room

/** @type {Set<string>} the elements that somebody typed in, and those around them */
const own = new Set();

let followed = false;

/** Whether the choice has followed the framework since this was asked: nobody chose, and all stay in view. */
export function hasFollowed() {
  const was = followed;
  followed = false;
  return was;
}

/** Whether somebody typed in it, or in what is around it. @param {string} id */
export const isOwn = (id) => own.has(id);

/** Gradio's own changes of a field are no `input` of anybody's. */
export function begin() {
  own.clear();
  withSheet("/dsgui/static/site/later.css");
  // What Gradio measures of a text that comes while its page is hidden is one line (static/style.css).
  if (globalThis.CSS?.supports("field-sizing", "content")) document.documentElement.dataset.sizes = "content";
  document.addEventListener("input", ({ target }) => {
    for (let one = target instanceof Element ? target : null; one; one = one.parentElement) if (one.id) own.add(one.id);
  });
  document.addEventListener("click", toConfigure);
  tellWhileChecked();
  document.addEventListener("click", wayOn);
  document.addEventListener("pointerover", ({ target }) => {
    if (target instanceof HTMLInputElement && target.matches(PATHS)) target.title = target.value;
  });
}

/** Another place to train at, or another button: where a clone and a plan lead on. @param {MouseEvent} event */
function wayOn(event) {
  const way = around(event, '#loaded-run :is([data-where], [data-press]), #plan-differs a[href^="#where-"]');
  if (!way) return;
  const { where = /^#where-(.+)/.exec(way.getAttribute("href") ?? "")?.[1], press } = way.dataset;
  if (way.matches("a")) event.preventDefault();
  const named = where ? `#where input[value="${CSS.escape(where)}"]` : `#${CSS.escape(press ?? "")}`;
  /** @type {HTMLElement | null} */ (document.querySelector(named))?.click();
}

/**
 * What trains: no recipe trains a model that was planned, unless somebody chose that recipe.
 * @param {string} script @param {string} id of the choice @param {string | null} model
 */
export const scriptFor = (script, id, model) => (model?.trim() && !own.has(id) ? script : { __type__: "update" });

/**
 * The same once the model's field has changed, if that was somebody's doing and no clone's. Gradio's `input` is told of
 * keys alone, not of what is pasted.
 * @param {string} field the model's @param {Parameters<typeof scriptFor>} given
 */
export const scriptOnceTyped = (field, ...given) => (own.has(field) ? scriptFor(...given) : { __type__: "update" });

/**
 * The recipe that is chosen and its arguments: the first of the framework that 1 · Configure is set to, where the first
 * of another is chosen; not for a clone, nor where somebody chose it or a model is planned, which no recipe trains.
 * @param {Record<string, [name: string, begins: string]>} firsts of each framework, and the arguments they begin with
 * @param {string} id of the choice @param {string} framework @param {string} chosen
 * @param {(string | null)[]} given model and arguments as typed, and of a clone the run that it is of
 */
export function recipeFor(firsts, id, framework, chosen, ...given) {
  const stays = { __type__: "update" };
  const [model, typed, parent] = given.map((one) => (one ?? "").trim());
  const other = Object.values(firsts).find(([name]) => name === chosen);
  const first = firsts[framework];
  if (!first || !other || other === first || own.has(id) || model || parent) return [stays, stays];
  followed = true;
  return [first[0], typed === other[1] ? first[1] : stays];
}

/**
 * What a place's two fields, with these ids, become; what is empty or out of range counts as 1.
 * @param {number} most @param {string[]} ids @param {number | null} nodes @param {number | null} gpus
 */
export function follow(most, ids, nodes, gpus) {
  if (ids.some((id) => own.has(id))) return [{ __type__: "update" }, { __type__: "update" }];
  return [counted(nodes, most), counted(gpus, most)];
}

/** @param {number | null} value @param {number} most */
const counted = (value, most) => Math.min(Math.max(Math.trunc(value || 1), 1), most);
