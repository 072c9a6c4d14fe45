// “After training” on a run's page: what the run left, what can be made of it, the jobs, and old checkpoints to delete.

import { button, el } from "../common/dom.js";
import { size } from "../common/format.js";
import { listed, textOf, words } from "../texts/texts.js";
import { TryBox } from "./try.js";

/** @import { AfterAnswer, JobAnswer, OldAnswer, SavedThing, Trigger } from "../types.d.ts" */

const LOOK_MS = 30_000;
const ASK_MS = 300;
const DELETED_MS = 1000;

/** @param {string} code @param {Record<string, string>} [given] */
const say = (code, given) => words("after_page", code, given);

export class AfterTraining {
  /** @param {string} id @param {Trigger} trigger */
  constructor(id, trigger) {
    this.id = id;
    this.trigger = trigger;
    this.list = el("div", {});
    this.resume = el("p", { class: "ds-remark ds-resume-note", hidden: true });
    this.told = "";
    this.form = el("div", { class: "ds-after-form", hidden: true });
    this.jobs = el("div", {});
    this.box = new TryBox(id, trigger, () => this.close());
    this.summary = el("summary", {}, say("title"));
    this.node = el("details", { class: "ds-after", hidden: true }, this.summary, this.list);
    this.node.append(this.resume, this.form, this.jobs);
    /** @type {string | null} */
    this.seen = null;
    this.shown = "";
    this.looked = 0;
    this.busy = this.live = this.waits = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.asking = undefined;
    this.node.addEventListener("toggle", () => this.node.open && void this.look());
  }

  /** Asks again when the state has changed, while a job goes on, and now and then while the run does.
   * @param {string} state @param {boolean} live */
  async update(state, live) {
    const later = this.busy || (live && Date.now() - this.looked > LOOK_MS);
    this.live = live;
    const due = state !== this.seen || ((this.node.open || this.waits) && later);
    if (!due) return;
    this.seen = state;
    await this.look();
  }

  /** @param {string} what @param {Record<string, string>} [given] */
  address(what, given) {
    const query = given ? `?${new URLSearchParams(given)}` : "";
    return `/dsgui/runs/${encodeURIComponent(this.id)}/after${what}${query}`;
  }

  async look() {
    this.looked = Date.now();
    const answer = await fetch(this.address("")).catch(() => null);
    if (!answer?.ok) {
      this.seen = null;
      return;
    }
    /** @type {AfterAnswer} */
    const told = await answer.json();
    // While it trains there is nothing to do yet but to wait for the first checkpoint.
    this.waits = this.live && !told.things.length && !told.jobs.length;
    const isEmpty = !told.things.length && !told.jobs.length && !told.note;
    this.node.hidden = told.is_job || isEmpty;
    if (this.node.hidden) this.node.after(this.resume);
    else this.node.insertBefore(this.resume, this.form);
    this.busy = told.jobs.some((job) => job.live);
    this.show(told);
  }

  /** Why it can't be resumed, where the list has not said so. @param {string} note */
  showResume(note) {
    this.resume.textContent = note;
    this.resume.hidden = !note || note === this.told;
  }

  /** @param {AfterAnswer} told */
  show(told) {
    this.told = told.note;
    const shown = JSON.stringify(told);
    if (shown === this.shown) return;
    this.shown = shown;
    const parts = told.things.length ? [this.table(told)] : [el("p", { class: "ds-remark" }, say("empty"))];
    if (told.note) parts.push(el("p", { class: "ds-remark" }, told.note));
    const some = told.things.filter((one) => one.kind === "checkpoint").length > 1;
    if (some) {
      parts.push(
        el(
          "p",
          { class: "ds-actions" },
          button(say("clean"), { class: "ds-step", id: "after-clean" }, () => this.clean(told)),
        ),
      );
    }
    this.list.replaceChildren(...parts);
    this.jobs.replaceChildren(...(told.jobs.length ? [el("h4", {}, say("jobs")), this.jobList(told)] : []));
  }

  /** @param {AfterAnswer} told */
  table({ things }) {
    const rows = things.map((one) =>
      el(
        "tr",
        { "data-name": one.name },
        el(
          "th",
          { scope: "row", title: one.path },
          one.name,
          " ",
          el("span", { class: "ds-remark" }, this.kindOf(one)),
        ),
        el("td", {}, one.step ? String(one.step) : ""),
        el("td", {}, size(one.size_bytes)),
        el(
          "td",
          { class: "ds-actions" },
          ...(one.tries ? [button(say("try"), { class: "ds-step", "data-verb": "try" }, () => this.try(one))] : []),
          ...one.verbs.map((verb) =>
            button(say(verb), { class: "ds-step", "data-verb": verb }, () => this.ask(one, verb)),
          ),
          ...(one.kind === "unfinished"
            ? [button(say("delete_unfinished"), { class: "ds-step ds-delete" }, () => this.discard(one))]
            : []),
        ),
      ),
    );
    const head = ["head_name", "head_step", "head_size"].map((code) => el("th", { scope: "col" }, say(code)));
    return el(
      "div",
      { class: "ds-after-scroll" },
      el(
        "table",
        { class: "ds-after-table" },
        el("thead", {}, el("tr", {}, ...head, el("td", {}))),
        el("tbody", {}, ...rows),
      ),
    );
  }

  /** @param {SavedThing} one */
  kindOf(one) {
    return one.complete ? say(`kind_${one.kind}`) : listed([say(`kind_${one.kind}`), say("incomplete")]);
  }

  /** @param {AfterAnswer} told */
  jobList({ jobs }) {
    return el(
      "ul",
      { class: "ds-after-jobs" },
      ...jobs.map((job) =>
        el(
          "li",
          { "data-run": job.run_id },
          el("span", { class: "ds-state", "data-state": job.state }, textOf("states", job.state)),
          el("span", {}, job.name),
          el("span", { class: "ds-remark" }, job.doing),
          el("a", { class: "ds-step", href: `?run=${encodeURIComponent(job.run_id)}` }, say("open_job")),
          ...(job.live
            ? [button(say("stop_job"), { class: "ds-step" }, () => this.trigger("stop", { run_id: job.run_id }))]
            : []),
        ),
      ),
    );
  }

  /** @param {SavedThing} one what is left of a job's result */
  discard(one) {
    const told = say("discard", { size: size(one.size_bytes) });
    const confirm = button(told, { class: "ds-stop", id: "after-discard" }, () =>
      this.prune({ last: "1", every: "0", best: true, seen: [one.path] }),
    );
    const cancel = button(say("cancel"), { class: "ds-step" }, () => this.close());
    this.form.hidden = false;
    this.form.replaceChildren(
      el("ul", { class: "ds-after-old" }, el("li", { "data-goes": true }, `${one.name} · ${say(`kind_${one.kind}`)}`)),
      el("p", { class: "ds-actions" }, confirm, cancel),
    );
    this.form.scrollIntoView({ block: "nearest" });
  }

  /** What goes by this rule, of what was seen.
   * @param {{ last: string, every: string, best: boolean, seen: string[] }} asked */
  prune(asked) {
    this.trigger("prune", { run_id: this.id, ...asked });
    this.close();
    setTimeout(() => void this.look(), DELETED_MS);
  }

  close() {
    this.form.hidden = true;
    this.form.replaceChildren();
  }

  /** @param {SavedThing} one */
  try(one) {
    this.form.hidden = false;
    this.form.replaceChildren(this.box.node);
    this.box.show(one);
  }

  // -- a job ----------------------------------------------------------------------------------------------------------

  /** @param {SavedThing} one @param {string} verb */
  ask(one, verb) {
    const fields = this.fields(one, verb);
    const takes = el("p", { class: "ds-remark", role: "status" });
    const start = button(say("start"), { class: "ds-step", id: "after-start", disabled: true }, () => {
      this.trigger("work", { run_id: this.id, given: given() });
      this.close();
      this.busy = true;
    });
    const given = () => {
      const typed = Object.fromEntries(fields.map(({ name, input }) => [name, input.value]));
      return { verb, source: one.path, ...typed };
    };
    const tell = () => void this.tell(given(), takes, start);
    const later = () => {
      clearTimeout(this.asking);
      start.disabled = true;
      this.asking = setTimeout(tell, ASK_MS);
    };
    for (const { input } of fields) input.addEventListener("input", later);
    this.form.hidden = false;
    this.form.replaceChildren(
      el("h4", {}, say(`ask_${verb}`, { name: one.name })),
      el("p", { class: "ds-remark" }, say(`about_${verb}`)),
      el("div", { class: "ds-after-fields" }, ...fields.map(({ name, input }) => el("label", {}, say(name), input))),
      takes,
      ...(verb === "merge" ? [] : [el("p", { class: "ds-remark" }, say("trust"))]),
      el(
        "p",
        { class: "ds-actions" },
        start,
        button(say("cancel"), { class: "ds-step" }, () => this.close()),
      ),
    );
    tell();
    this.form.scrollIntoView({ block: "nearest" });
  }

  /** @param {SavedThing} one @param {string} verb
   * @returns {{ name: string, input: HTMLInputElement | HTMLSelectElement }[]} */
  fields(one, verb) {
    if (verb === "universal") return [];
    const same = verb === "merge" ? [["same", say("dtype_same")]] : [];
    const types = [...same, ["fp32", "fp32"], ["bf16", "bf16"]];
    const dtype = el("select", { id: "after-dtype" }, ...types.map(([value, text]) => el("option", { value }, text)));
    const shard = el("input", { type: "text", id: "after-shard", value: "5GB", size: 6 });
    const to = el("input", { type: "text", id: "after-to", value: one.to[verb] ?? "", size: 48 });
    dtype.addEventListener("input", () => {
      to.value = to.value.replace(/-(fp32|bf16)$/, `-${dtype.value}`);
    });
    const base = el("input", { type: "text", id: "after-base", value: one.base, size: 48 });
    const named = verb === "merge" ? [{ name: "base", input: base }] : [];
    return [...named, { name: "dtype", input: dtype }, { name: "shard", input: shard }, { name: "to", input: to }];
  }

  /** @param {Record<string, string>} given @param {HTMLElement} takes @param {HTMLButtonElement} start */
  async tell(given, takes, start) {
    const answer = await fetch(this.address("/job", given)).catch(() => null);
    /** @type {JobAnswer & { problem?: string }} */
    const told = await answer?.json().catch(() => null);
    if (!answer?.ok || !told || told.problem) {
      takes.replaceChildren(el("strong", { class: "ds-misfit" }, told?.problem || say("no_server")));
      start.disabled = true;
      return;
    }
    const { disk, memory, free_disk, free_memory } = told;
    const needs = disk ? say("takes", { disk, memory, free_disk, free_memory }) : say("takes_unknown");
    takes.replaceChildren(needs);
    for (const problem of [told.refusal, told.warning].filter(Boolean)) {
      takes.append(" ", el("strong", { class: "ds-misfit" }, problem));
    }
    start.disabled = Boolean(told.refusal);
  }

  // -- old checkpoints ------------------------------------------------------------------------------------------------

  /** @param {AfterAnswer} told */
  clean({ has_best: hasBest }) {
    const last = el("input", { type: "number", min: "0", value: "2", id: "after-last" });
    const every = el("input", { type: "number", min: "0", value: "0", id: "after-every" });
    const best = el("input", { type: "checkbox", id: "after-best", checked: hasBest, disabled: !hasBest });
    const dry = el("div", {});
    const rule = () => ({ last: last.value, every: every.value, best: String(best.checked) });
    const tell = () => void this.dry(rule(), dry);
    const later = () => {
      clearTimeout(this.asking);
      dry.replaceChildren();
      this.asking = setTimeout(tell, ASK_MS);
    };
    for (const input of [last, every, best]) input.addEventListener("input", later);
    this.form.hidden = false;
    this.form.replaceChildren(
      el(
        "div",
        { class: "ds-after-fields" },
        el("label", {}, say("keep_last"), last),
        el("label", {}, say("keep_every"), every),
        el("label", { class: "ds-check" }, best, say("keep_best")),
      ),
      dry,
    );
    tell();
  }

  /** @param {{ last: string, every: string, best: string }} rule @param {HTMLElement} dry */
  async dry(rule, dry) {
    const answer = await fetch(this.address("/old", rule)).catch(() => null);
    /** @type {OldAnswer & { problem?: string }} */
    const told = await answer?.json().catch(() => null);
    const cancel = button(say("cancel"), { class: "ds-step" }, () => this.close());
    if (!answer?.ok || !told || told.problem) {
      dry.replaceChildren(el("p", { class: "ds-misfit" }, told?.problem || say("no_server")), cancel);
      return;
    }
    const goes = told.checkpoints.filter((one) => !one.why);
    const rows = told.checkpoints.map((one) =>
      el(
        "li",
        { "data-goes": !one.why },
        `${one.name} · ${size(one.size_bytes)} · ${say(one.why ? `why_${one.why}` : "goes")}`,
      ),
    );
    const freed = { count: String(told.count), size: size(told.freed_bytes) };
    const confirm = button(
      say(goes.length === 1 ? "delete_one" : "delete", freed),
      { class: "ds-stop", id: "after-delete" },
      () => this.prune({ ...rule, best: rule.best === "true", seen: goes.map((one) => one.path) }),
    );
    const none = el("p", { class: "ds-remark" }, say("none_goes"));
    dry.replaceChildren(
      el("ul", { class: "ds-after-old" }, ...rows),
      ...(goes.length ? [] : [none]),
      el("p", { class: "ds-actions" }, ...(goes.length ? [confirm] : []), cancel),
    );
  }
}
