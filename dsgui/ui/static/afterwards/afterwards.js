// What comes after a run: why it failed and what to do, the same again, resume, delete, and where it came from.

import { button, el, inPieces, locale, pause, withOptions } from "../common/dom.js";
import { saveText } from "../common/kept.js";
import { wholeWords } from "../launch/command_line.js";
import { Removal } from "./removal.js";
import { words } from "../texts/texts.js";

/** @import { AboutAnswer, Checkpoint, Diagnosis, Estimate, Predicted } from "../types.d.ts" */
/** @import { Judged, Provenance } from "../types.d.ts" */
/** @import { Trigger } from "../types.d.ts" */

const DIRECTORY = "#working-dir :is(textarea, input)"; // on Launch
const SHOWN_TRIES = 100;
const SHOWN_MS = 100;
const READ_TRIES = 60;
const READ_MS = 500;
const ARROW = "\u00a0→\u00a0"; // no line ends beside it
const QUICK_MS = 400; // an answer that comes sooner needs no place held for it
const CONFIG = "ds_config.json";
const OF_NORM = ["no_norm_since", "zero_loss_since", "zero_loss_after"]; // the codes of its titles
const MASK = "••••••••"; // `core/access/secrets.py`
const PHONE = "(max-width: 760px)";
const JUDGED_TRIES = 3;
const JUDGED_MS = 3000;

/** Parts of one run's page; `update` is called with every poll and asks the server when the state has changed. */
export class Afterwards {
  /** @param {string} id @param {Trigger} trigger @param {() => void} onGone @param {() => void} onRead */
  constructor(id, trigger, onGone, onRead = () => {}) {
    this.id = id;
    this.trigger = trigger;
    this.onGone = onGone;
    this.onRead = onRead;
    /** At the quoted line, or the first error. @type {(quoted: string) => void} */
    this.seeOutput = () => {};
    /** The prediction came, after `update` had resolved. */
    this.onPredicted = () => {};
    /** @type {HTMLElement | null} stands before the button that deletes */
    this.archive = null;
    this.resumeNote = ""; // why it can't be resumed
    /** @type {import("../types.d.ts").Spike | null} of its loss */
    this.spike = null;
    /** @type {import("../types.d.ts").Adopted | null} of a training that dsgui did not start */
    this.adopted = null;
    this.diagnosis = el("section", {
      class: "ds-diagnosis",
      "aria-label": words("afterwards_page", "diagnosis"),
      hidden: true,
    });
    this.actions = el("div", { class: "ds-actions" });
    this.place = el("div", { class: "ds-remedies" }); // of what may help
    this.others = el("div", { class: "ds-others" }); // what else may help, below it
    /** @type {HTMLElement} */
    this.note = el("p", {}); // in its place, while that is checked
    this.asked = el("div", {}); // below the actions: what they ask, what speaks against one
    this.about = el("div", { class: "ds-provenance" });
    this.removal = new Removal(id, trigger, onGone);
    /** @type {string | null} */
    this.seen = null;
    /** @type {Estimate | null} */
    this.estimate = null;
    /** @type {Predicted | null} */
    this.predicted = null;
    this.failed = ""; // the code of its diagnosis
    this.isOfNorm = false; // and whether it is about the gradient norm
    this.isNote = false; // it did not fail: what is told is no reason for its end
    this.problem = ""; // and what is said elsewhere that it says
    this.quotesOutput = false; // the end of what it printed, above the charts
  }

  /** @param {string} told @param {boolean} live @param {string} reason what its card says beside the state */
  async update(told, live, reason = "") {
    const state = `${told} ${reason}`;
    if (state === this.seen) return;
    this.seen = state;
    const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}/about`).catch(() => null);
    if (!answer?.ok) {
      this.seen = null;
      return;
    }
    /** @type {AboutAnswer} */
    const about = await answer.json();
    this.estimate = about.estimate;
    this.spike = about.loss_spike;
    this.adopted = about.adopted ?? null;
    const asked = about.checking ? this.judged(state) : null;
    const quick = asked && (await Promise.race([asked, pause(QUICK_MS).then(() => null)]));
    if (this.seen !== state) return;
    const whole = quick ? { ...about, ...quick, checking: false } : about;
    this.predicted = whole.predicted ?? null;
    this.failed = whole.diagnosis?.signature ?? "";
    this.isOfNorm = OF_NORM.includes(whole.diagnosis?.said?.title.code ?? "");
    this.isNote = told === "succeeded" || told === "stopped" || told === "elsewhere";
    this.problem = whole.diagnosis?.problem ?? "";
    this.showDiagnosis(whole);
    this.showActions(whole, live);
    this.showAbout(whole);
    if (asked && !quick) void asked.then((late) => this.seen === state && this.fill(about, late));
  }

  /**
   * What the checks before a start say of its changes; null where nobody answered, or the run is not known, or its page
   * was left. @param {string} state
   */
  async judged(state) {
    for (let tries = 0; tries < JUDGED_TRIES; tries += 1) {
      if (tries) await pause(JUDGED_MS);
      if (this.seen !== state || (tries && !this.diagnosis.isConnected)) return null;
      const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}/judged`).catch(() => null);
      /** @type {Judged | null} */
      const told = answer?.ok ? await answer.json().catch(() => null) : null;
      if (told) return told;
      if (answer && answer.status >= 400 && answer.status < 500) return null;
    }
    return null;
  }

  /**
   * What comes late takes the place that was held for it, so that nothing else moves; it grows with what has no room
   * in it. @param {AboutAnswer} about @param {Judged | null} late
   */
  fill(about, late) {
    if (late?.predicted) {
      this.predicted = late.predicted;
      this.onPredicted();
    }
    if (!about.diagnosis) return;
    const { place } = this;
    const box = place.getBoundingClientRect();
    if (box.height) {
      place.style.minHeight = `${box.height}px`;
      window.addEventListener("resize", () => place.removeAttribute("style"), { once: true });
    }
    const found = late?.diagnosis;
    if (found) {
      const [done, see] = [this.remedies(found), place.querySelector("#see-output")];
      if (see) done[0]?.append(see);
      place.replaceChildren(...(done.length || !see ? done : [see]));
      this.others.replaceChildren(...this.advised(found), ...notOffered(found, false));
    } else this.note.textContent = words("afterwards_page", "no_server");
  }

  /**
   * Not "path": Gradio refuses any event with a key of that name that points outside its uploads.
   * @param {"same" | "repair" | "resume" | "directory" | "config"} kind
   */
  again(kind, checkpoint = "", key = "") {
    this.trigger("again", { run_id: this.id, kind, checkpoint, change: key });
  }

  /** A clone, at the field of its working directory. */
  setDirectory() {
    this.again("directory");
    void focusWhenShown(DIRECTORY);
  }

  /**
   * One sentence; with a button, where a clone's page has the field for it.
   * @param {string} sentence @param {boolean} onLaunch
   */
  advice(sentence, onLaunch) {
    if (!onLaunch) return el("li", {}, sentence);
    const label = words("afterwards_page", "clone_directory");
    const go = button(label, { class: "ds-step", id: "set-directory" }, () => this.setDirectory());
    return el("li", {}, `${sentence} `, go);
  }

  /** Of a run that was lost. @param {{ path: string, name: string }} checkpoint */
  resumeButton({ path, name }) {
    const text = words("afterwards_page", "resume_at", { name });
    return button(text, { class: "ds-fix", id: "resume-lost" }, () => this.again("resume", path));
  }

  /** What can be done, the likeliest first; a clone is among the actions of every run. @param {Diagnosis} found */
  remedies(found) {
    const { checked, resume } = found;
    const isOne = found.remedies.length === 1 && !found.away; // what was checked of it stands beside it
    const beside = isOne && checked ? [el("span", { class: "ds-remark" }, checked)] : [];
    const rows = found.remedies.length ? likeliest(this.repairs(found, false, beside)) : [];
    /** @type {HTMLElement[]} */
    const parts = resume ? [this.resumeButton(resume)] : [];
    if (found.ends) parts.push(el("span", { class: "ds-ends" }, found.ends));
    const last = parts.length ? [el("p", { class: "ds-remedy" }, ...parts)] : [];
    if (!rows.length && !last.length) return [];
    const below = checked && !isOne ? [el("p", { class: "ds-remark" }, checked)] : [];
    return [...rows, ...last, ...(rows.length && found.away ? [el("p", {}, found.away)] : []), ...below];
  }

  /**
   * A button for each change, the likeliest first, with what it sets: as it was, and as it will be.
   * @param {Diagnosis} found @param {boolean} [checking] @param {HTMLElement[]} [beside] the first of them
   */
  repairs({ remedies }, checking = false, beside = []) {
    return remedies.map(({ key, label, button: text, fits, does }, place) => {
      const id = checking || place ? "" : "open-repaired";
      const kind = place ? "ds-step" : "ds-fix";
      const about = { title: label, "data-change": key };
      const look = { class: kind, id, disabled: checking, ...about };
      const node = button(text, look, () => this.again("repair", "", key));
      const said = (/** @type {string} */ one) => text.toLowerCase().includes(one.toLowerCase());
      const change = does || said(label) || fits ? "" : words("afterwards_page", "change", { label });
      const told = [does && !said(does) ? does : "", change, fits];
      const lines = told.flatMap((one) => (one ? [el("span", {}, ...withOptions(one.replaceAll(" → ", ARROW)))] : []));
      if (!place) lines.push(...beside);
      return el("p", { class: "ds-remedy" }, node, el("span", { class: "ds-does" }, ...lines));
    });
  }

  /** What may help beside the buttons, without what one of them does. @param {Diagnosis} found */
  advised(found) {
    const offered = found.offered ?? [];
    const left = [...found.advice.entries()].filter(([at]) => at !== found.in_output && !offered.includes(at));
    const items = left.map(([at, sentence]) => this.advice(sentence, at === found.on_launch));
    if (!items.length) return [];
    const title = found.remedies.length ? [el("h4", {}, words("afterwards_page", "other_ways"))] : [];
    return [...title, el("ul", {}, ...items)];
  }

  /**
   * The likeliest change while it is being checked, in the room that the answer will take: of a run that died of memory
   * that is mostly one change, by which it fits. @param {Diagnosis} found
   */
  checking(found) {
    const isOfMemory = Boolean(found.cause?.length);
    const remedies = isOfMemory ? found.remedies.slice(0, 1) : found.remedies;
    const any = remedies.length;
    const checked = words("afterwards_page", any ? "checking_change" : "looking_for_change");
    const clone = () =>
      button(words("afterwards_page", "clone_changed"), { class: "ds-fix", disabled: true }, () => {});
    const isBeside = any === 1;
    this.note = isBeside ? el("span", { class: "ds-remark" }, checked) : el("p", { class: "ds-checked" }, checked);
    if (isBeside) return this.repairs({ ...found, remedies }, true, [this.note]);
    const rows = any ? this.repairs({ ...found, remedies }, true) : [el("p", { class: "ds-remedy" }, clone())];
    return [...rows, this.note];
  }

  /** @param {Diagnosis} found */
  outputLink(found) {
    if (typeof found.in_output !== "number") return [];
    const see = words("afterwards_page", "see_output");
    const show = () => this.seeOutput(lastLine(found.quote ?? ""));
    return [button(see, { class: "ds-step", id: "see-output" }, show)];
  }

  /** What happened, and where, is there at once; what may help may come later. @param {AboutAnswer} about */
  showDiagnosis(about) {
    const { diagnosis: found } = about;
    this.diagnosis.hidden = !found;
    this.diagnosis.setAttribute("data-signature", found?.signature ?? "");
    this.quotesOutput = Boolean(found?.facts && found.quote);
    this.diagnosis.setAttribute("data-note", String(this.isNote));
    if (!found) {
      this.diagnosis.replaceChildren();
      return;
    }
    if (found.facts) {
      this.diagnosis.replaceChildren(...this.factParts(found, found.facts, about));
      return;
    }
    const rank = found.rank === null ? "" : words("afterwards_page", "first_rank", { rank: String(found.rank) });
    /** @type {HTMLElement[]} */
    const parts = [
      el("h3", {}, found.title),
      ...(found.traceback && !found.quote ? [el("code", { class: "ds-raised" }, raisedIn(found.traceback))] : []),
      el("p", {}, inARow([rank, found.meaning])),
      ...(found.quote ? [quoteNode(found)] : []),
      ...(found.cause?.length ? [el("p", { class: "ds-cause" }, ...withOptions(inARow(found.cause)))] : []),
    ];
    this.others = el("div", { class: "ds-others" }, ...this.advised(found));
    const isHeld = Boolean(about.checking && (found.remedy || found.cause?.length));
    const isOffered = isHeld || found.remedies.length > 0 || found.resume !== undefined;
    if (!isOffered) parts.push(this.others); // it is what to do
    const done = isHeld ? this.checking(found) : this.remedies(found);
    this.place = el("div", { class: "ds-remedies", "aria-live": "polite" }, ...done);
    const see = this.outputLink(found);
    if (!isHeld && done[0]) done[0].append(...see);
    parts.push(this.place);
    if (see.length && (isHeld || !done[0])) parts.push(el("p", { class: "ds-remedy" }, ...see));
    if (isOffered) parts.push(this.others);
    if (!isHeld) this.others.append(...notOffered(found, !found.remedy));
    const evidence = found.traceback || (found.quote ? "" : found.evidence);
    if (evidence) {
      parts.push(
        el(
          "details",
          { open: !found.traceback },
          el("summary", {}, words("afterwards_page", found.traceback ? "traceback" : "error_output")),
          el("pre", { class: "ds-log ds-traceback", tabindex: "0" }, evidence),
        ),
      );
    }
    this.diagnosis.replaceChildren(...parts);
    const box = this.diagnosis.querySelector("details > pre");
    const toEnd = () => {
      if (box) box.scrollTop = box.scrollHeight; // what was raised stands at its end
    };
    box?.parentElement?.addEventListener("toggle", toEnd);
    requestAnimationFrame(toEnd);
  }

  /**
   * Of a run that was lost or damaged: what is known, what to do first, and where things lie.
   * @param {Diagnosis} found @param {NonNullable<Diagnosis["facts"]>} facts @param {AboutAnswer} about
   */
  factParts(found, facts, about) {
    const done = this.remedies(found);
    if (about.damaged && about.config) done.push(this.configActions(about, "ds-fix"));
    const see = this.outputLink(found);
    if (done[0]) done[0].append(...see);
    else if (see.length) done.push(el("p", { class: "ds-remedy" }, ...see));
    const rows = facts.map(({ name, value, is_path: isPath }) => {
      const pieces = value.includes(" ") ? wholeWords(value) : inPieces(value, /(?<=\/)/);
      const shown = isPath ? [el("code", {}, ...pieces)] : [value];
      return el("div", {}, el("dt", {}, name), el("dd", {}, ...shown));
    });
    const last = [el("h4", {}, words("afterwards_page", "last_output")), quoteNode(found)];
    return [
      el("h3", {}, found.title),
      el("p", {}, found.meaning),
      el("div", { class: "ds-remedies" }, ...done),
      el("dl", { class: "ds-known" }, ...rows),
      ...(about.damaged && about.config ? [configNode(words("afterwards_page", "as_launched"), about.config)] : []),
      ...(found.quote ? last : []),
    ];
  }

  /**
   * A run's config as a file, and in the editor where nothing else of the run can be had.
   * @param {AboutAnswer} about @param {string} look of the button
   */
  configActions({ config, opens_config: opens }, look) {
    const open = button(words("afterwards_page", "open_config"), { class: look, id: "open-config" }, () => {
      this.again("config");
    });
    const isMasked = config.includes(MASK);
    const name = words("afterwards_page", isMasked ? "save_config_masked" : "save_config");
    const file = isMasked ? `masked-${CONFIG}` : CONFIG; // no run starts with what stands for a secret
    const keep = button(name, { class: "ds-step", id: "save-config" }, () => saveText(config, file));
    return el("p", { class: "ds-remedy" }, ...(opens ? [open] : []), keep);
  }

  /** What one sends to others is asked for more often than what is in the fold of files. */
  reportLink() {
    const href = `/dsgui/report?${new URLSearchParams({ runs: this.id })}`;
    const title = words("runs_page", "report_title");
    return el("a", { class: "ds-step", id: "report-run", href, download: true, title }, words("runs_page", "report"));
  }

  /** @param {AboutAnswer} about @param {boolean} live */
  showActions({ checkpoints, resume_note: note, damaged, is_job: isJob }, live) {
    /** @type {HTMLElement[]} */
    const parts = [];
    const problem = el("span", { class: "ds-remark ds-misfit" });
    if (this.adopted) parts.push(this.rereadButton(this.adopted.read_at));
    else if (!damaged && !isJob) {
      parts.push(
        button(words("afterwards_page", "clone"), { class: "ds-step", id: "clone-run" }, () => this.again("same")),
      );
    }
    const isOffered = this.diagnosis.querySelector("#resume-lost") && checkpoints.filter(isWhole).length === 1;
    if (checkpoints.length && !isOffered) parts.push(this.resumeParts(checkpoints, problem));
    if (!damaged || this.adopted) parts.push(this.reportLink()); // of a plan that can't be read there is none
    if (!live) {
      if (this.archive) parts.push(this.archive);
      const ask = words("afterwards_page", this.adopted ? "forget_ask" : "delete_ask");
      const remove = () => this.removal.ask(Boolean(this.adopted));
      parts.push(button(ask, { class: "ds-step ds-delete", id: "delete-run" }, remove));
    }
    this.removal.close();
    this.resumeNote = live || this.adopted ? "" : note;
    const said = this.adopted?.notes.join(" ") ?? "";
    this.actions.replaceChildren(...parts);
    this.asked.replaceChildren(
      problem,
      el("p", { class: "ds-remark", hidden: live || !said }, said),
      this.removal.question,
    );
  }

  /** @param {number | null} before when it was read last */
  rereadButton(before) {
    const again = button(words("afterwards_page", "read_again"), { class: "ds-step", id: "read-again" }, async () => {
      again.disabled = true;
      again.textContent = words("afterwards_page", "reading");
      this.trigger("reread", { run_id: this.id });
      if (await this.isRead(before)) this.onRead();
      again.textContent = words("afterwards_page", "read_again");
      again.disabled = false; // why not was said by a message
    });
    return again;
  }

  /** @param {number | null} before */
  async isRead(before) {
    for (let tries = 0; tries < READ_TRIES; tries += 1) {
      await pause(READ_MS);
      const answer = await fetch(`/dsgui/runs/${encodeURIComponent(this.id)}/about`).catch(() => null);
      /** @type {AboutAnswer | null} */
      const about = answer?.ok ? await answer.json() : null;
      if (about?.adopted && about.adopted.read_at !== before) return true;
    }
    return false;
  }

  /** @param {Checkpoint[]} checkpoints @param {HTMLElement} problem with the one that is chosen */
  resumeParts(checkpoints, problem) {
    const chosen = el(
      "select",
      { class: "ds-step", "aria-label": words("afterwards_page", "checkpoint"), id: "checkpoint" },
      ...checkpoints.map((one) =>
        el(
          "option",
          { value: one.path, disabled: !one.complete },
          one.complete ? one.name : words("afterwards_page", "incomplete", { name: one.name }),
        ),
      ),
    );
    const whole = checkpoints.find((one) => one.complete);
    if (whole) chosen.value = whole.path;
    const tell = () => {
      problem.textContent = checkpoints.find((one) => one.path === chosen.value)?.problem || "";
    };
    chosen.addEventListener("change", tell);
    tell();
    const resume = button(
      words("afterwards_page", "resume"),
      { class: "ds-step", id: "resume-run", disabled: !whole },
      () => this.again("resume", chosen.value),
    );
    return el("span", { class: "ds-resume" }, resume, chosen);
  }

  /** @returns {[string, string][]} */
  adoptedFacts() {
    if (!this.adopted) return [];
    const { folder, kinds, read_at: readAt, settings } = this.adopted;
    return [
      [words("afterwards_page", "elsewhere_folder"), folder],
      [words("afterwards_page", "elsewhere_kinds"), kinds.join(" · ")],
      [words("afterwards_page", "elsewhere_read"), readAt ? new Date(readAt * 1000).toLocaleString(locale()) : ""],
      [words("afterwards_page", "elsewhere_settings"), settings],
    ];
  }

  /** @param {AboutAnswer} about */
  showAbout(about) {
    const { provenance, config, script, parent } = about;
    const { python, versions = {}, git } = provenance;
    const installed = [
      python && `Python ${python}`,
      ...Object.entries(versions).map(([name, version]) => `${name} ${version}`),
    ];
    /** @type {[string, string | null | undefined][]} */
    const facts = [
      ...this.adoptedFacts(),
      [words("afterwards_page", "clone_of"), parent],
      [words("afterwards_page", "script"), script],
      [words("afterwards_page", "commit"), commitOf(git)],
      [words("afterwards_page", "installed"), installed.filter(Boolean).join(" · ")],
    ];
    this.about.replaceChildren(
      el("dl", {}, ...facts.flatMap(([name, value]) => (value ? [el("dt", {}, name), el("dd", {}, value)] : []))),
    );
    if (!config || about.damaged) return; // of a damaged one its card has it
    const title = words("afterwards_page", this.adopted ? "elsewhere_config" : "as_launched");
    this.about.append(configNode(title, config, this.configActions(about, "ds-step")));
  }
}

/** @param {Checkpoint} checkpoint */
const isWhole = ({ complete }) => complete;

/** @param {Diagnosis} found */
const quoteNode = ({ quote = "" }) => el("pre", { class: "ds-log", tabindex: "0" }, quote);

/** @param {string} text */
const lastLine = (text) => text.slice(text.lastIndexOf("\n") + 1);

/** To be read. @param {string} title @param {string} config @param {HTMLElement[]} actions */
const configNode = (title, config, ...actions) =>
  el("details", {}, el("summary", {}, title), el("pre", { class: "ds-command", tabindex: "0" }, config), ...actions);

/** The line of a traceback that says what was raised. @param {string} traceback */
function raisedIn(traceback) {
  return traceback.split("\n").findLast((line) => /^\S/.test(line)) ?? "";
}

/** The changes that something speaks against. @param {Diagnosis} found @param {boolean} open */
function notOffered(found, open) {
  if (!found.set_aside.length) return [];
  const reasons = found.set_aside.map((sentence) => el("li", {}, sentence));
  const summary = el("summary", {}, words("afterwards_page", "not_offered"));
  return [el("details", { class: "ds-checked", open }, summary, el("ul", { class: "ds-set-aside" }, ...reasons))];
}

/** Sentences; in Chinese a full stop has its own room. @param {string[]} sentences */
function inARow(sentences) {
  return sentences.filter(Boolean).join(locale().startsWith("zh") ? "" : " ");
}

/** @param {string} selector of what another page has, once that is there */
async function focusWhenShown(selector) {
  for (let tries = 0; tries < SHOWN_TRIES; tries += 1) {
    const found = document.querySelector(selector);
    if (found instanceof HTMLElement && found.checkVisibility()) {
      found.scrollIntoView({ block: "center" });
      found.focus();
      return;
    }
    await pause(SHOWN_MS);
  }
}

/** Commit, branch, and whether there were changes. @param {Provenance["git"]} git */
function commitOf(git) {
  if (!git?.commit) return "";
  const short = git.commit.slice(0, 12);
  const isNamed = git.branch && git.branch !== "HEAD";
  const commit = isNamed ? words("afterwards_page", "on_branch", { commit: short, branch: git.branch ?? "" }) : short;
  if (git.dirty === true) return words("afterwards_page", "dirty", { commit });
  return git.dirty === false ? words("afterwards_page", "clean", { commit }) : commit;
}

/** On a phone the others are a press away, so that the curves are not. @param {HTMLElement[]} rows */
function likeliest([first, ...others]) {
  if (others.length < 2 || !matchMedia(PHONE).matches) return [first, ...others];
  const summary = el("summary", {}, words("afterwards_page", "other_changes", { count: String(others.length) }));
  return [first, el("details", { class: "ds-other-changes" }, summary, ...others)];
}
