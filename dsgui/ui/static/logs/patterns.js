// Where each curve of a run came from, and the patterns that a user adds for lines that dsgui does not know.

import { button, el, scrolling } from "../common/dom.js";
import { figure, gib } from "../common/format.js";
import { textOf, words } from "../texts/texts.js";

/** @import { PatternAnswer, Trigger } from "../types.d.ts" */
/** @import { Curve, Curves } from "../metrics/curves.js" */

const ASK_AFTER_MS = 300;
const TRIES = 20;
const TRY_MS = 250;
const GROUPED = 1e4; // from here on digits stand in groups
const COLUMNS = ["curve", "of", "source", "points", "last"];

/** Files have names of their own. @type {Record<string, () => string>} */
const SOURCES = {
  output: () => words("charts_page", "source_output"),
  telemetry: () => words("charts_page", "source_telemetry"),
};

/** A clock and what never changes are no curves. @param {Pick<Curve, "name" | "kind">} curve */
export const isListed = ({ name, kind }) => kind !== "sample" || (name !== "time_s" && !name.endsWith("total_bytes"));

/** @param {Pick<Curve, "name" | "kind" | "lastValue">} curve */
export function lastOf({ name, kind, lastValue }) {
  if (kind === "sample" && name.endsWith("_bytes")) return gib(lastValue);
  const text = figure(lastValue, 5);
  return Number.isFinite(lastValue) && Math.abs(lastValue) >= GROUPED ? Number(text).toLocaleString("en-US") : text;
}

/** What the table says of a curve, in its columns. @param {Curve} curve */
function cells(curve) {
  const own = `${curve.node ? `${curve.node}: ` : ""}${curve.name}`;
  const name = curve.rank ? words("afterwards_page", "named_rank", { name: own, rank: String(curve.rank) }) : own;
  return [
    name,
    textOf("afterwards_page", `kind_${curve.kind}`, curve.kind),
    SOURCES[curve.source]?.() ?? curve.source,
    curve.count.toLocaleString("en-US"),
    lastOf(curve),
  ];
}

export class Patterns {
  /** @param {string} id @param {Trigger} trigger @param {() => Curves} curves */
  constructor(id, trigger, curves) {
    this.id = id;
    this.trigger = trigger;
    this.curves = curves;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.rows = el("tbody", {});
    const hints = {
      placeholder: "iter {step} of {total} * train={loss}",
      "aria-label": words("afterwards_page", "pattern"),
    };
    const limits = { spellcheck: "false", maxlength: 300 };
    this.text = el("input", { type: "text", class: "ds-run-search", id: "pattern", ...limits, ...hints });
    this.add = button(words("afterwards_page", "add"), { class: "ds-step", id: "add-pattern", disabled: true }, () =>
      this.send(),
    );
    this.said = el("p", { class: "ds-remark", role: "status" });
    this.preview = el("pre", { class: "ds-found", hidden: true, "aria-label": words("afterwards_page", "finds") });
    this.known = el("ul", { class: "ds-patterns" });
    const heads = COLUMNS.map((one) => el("th", { scope: "col" }, words("afterwards_page", `head_${one}`)));
    const table = el("table", { class: "ds-table" }, el("thead", {}, el("tr", {}, ...heads)), this.rows);
    this.node = el(
      "details",
      { class: "ds-sources" },
      el("summary", {}, words("afterwards_page", "sources")),
      scrolling(words("afterwards_page", "sources"), table),
      el("h3", {}, words("afterwards_page", "custom")),
      el("p", { class: "ds-remark" }, words("afterwards_page", "how")),
      el("div", { class: "ds-log-tools" }, this.text, this.add),
      this.said,
      this.preview,
      this.known,
    );
    this.listen();
  }

  listen() {
    this.text.addEventListener("input", () => {
      this.add.disabled = true;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(), ASK_AFTER_MS);
    });
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !this.add.disabled) this.add.click();
    });
    this.node.addEventListener("toggle", async () => {
      this.update();
      const answer = this.node.open ? await this.ask("") : null;
      if (answer) this.list(answer.kept);
    });
  }

  send() {
    this.trigger("pattern", { run_id: this.id, template: this.text.value });
    this.add.disabled = true;
    this.added(this.text.value.trim());
  }

  /** The table, only while it is looked at. */
  update() {
    if (!this.node.open) return;
    const curves = [...this.curves().each].filter((curve) => curve.count && isListed(curve));
    const rows = curves.map((curve) => el("tr", {}, ...cells(curve).map((text) => el("td", {}, text))));
    this.rows.replaceChildren(...rows);
  }

  /** It is there when the server says so; what it refuses, it says itself. @param {string} template */
  async added(template) {
    for (let tries = 0; tries < TRIES; tries += 1) {
      await new Promise((resolve) => {
        setTimeout(resolve, TRY_MS);
      });
      const answer = await this.ask("");
      if (!answer) continue;
      this.list(answer.kept);
      if (!answer.kept.includes(template)) continue;
      this.said.textContent = words("afterwards_page", "added");
      return;
    }
  }

  /** @param {string} template */
  fetch(template) {
    const query = new URLSearchParams({ template });
    return fetch(`/dsgui/runs/${encodeURIComponent(this.id)}/pattern?${query}`).catch(() => null);
  }

  /** @param {string} template @returns {Promise<PatternAnswer | null>} */
  async ask(template) {
    const answer = await this.fetch(template);
    return answer?.ok ? answer.json() : null;
  }

  /** @param {string[]} kept */
  list(kept) {
    this.known.replaceChildren(...kept.map((template) => el("li", {}, el("code", {}, template))));
  }

  async look() {
    const template = this.text.value.trim();
    this.preview.hidden = true;
    this.said.textContent = "";
    if (!template) return;
    const answer = await this.fetch(template);
    if (this.text.value.trim() !== template) return;
    if (!answer?.ok) {
      const long = answer?.status === 422;
      this.said.textContent = words("afterwards_page", long ? "too_long" : "no_answer");
      return;
    }
    this.tell(await answer.json());
  }

  /** @param {PatternAnswer} answer */
  tell({ problem, matches, kept }) {
    const fits = words("afterwards_page", matches.length ? "matches" : "no_match");
    this.list(kept);
    this.said.textContent = problem || fits;
    this.add.disabled = Boolean(problem);
    this.preview.hidden = !matches.length;
    this.preview.textContent = matches.map((match) => `${match.line}\n    → ${match.found}`).join("\n");
  }
}
