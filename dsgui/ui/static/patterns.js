// Where each curve of a run came from, and the patterns that a user adds for lines that dsgui does not know.

import { el } from "./dom.js";

const ASK_AFTER_MS = 300;
const KINDS = { train: "training", eval: "evaluation", final: "at the end", sample: "machine" };

export class Patterns {
  constructor(id, trigger, curves) {
    Object.assign(this, { id, trigger, curves });
    this.rows = el("tbody", {});
    this.text = el("input", {
      type: "text",
      class: "ds-run-search",
      id: "pattern",
      spellcheck: "false",
      placeholder: "iter {step} of {total} * train={loss}",
      "aria-label": "Pattern of a line",
      maxlength: "300",
    });
    this.add = el("button", { type: "button", class: "ds-step", id: "add-pattern", disabled: true }, "Add");
    this.said = el("p", { class: "ds-remark", role: "status" });
    this.preview = el("pre", { class: "ds-found", hidden: true, "aria-label": "What the pattern finds" });
    this.known = el("ul", { class: "ds-patterns" });
    this.node = el(
      "details",
      { class: "ds-sources" },
      el("summary", {}, "Curves and where they come from"),
      el(
        "div",
        { class: "ds-scroll" },
        el(
          "table",
          { class: "ds-table" },
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              ...["Curve", "Of", "Source", "Points", "Last"].map((title) => el("th", { scope: "col" }, title)),
            ),
          ),
          this.rows,
        ),
      ),
      el("h3", {}, "Lines in another form"),
      el(
        "p",
        { class: "ds-remark" },
        "Write the line as the script prints it, with a name in braces for each number: {step}, {epoch} and {rank} say where, every other name becomes a curve. * stands for any text.",
      ),
      el("div", { class: "ds-log-tools" }, this.text, this.add),
      this.said,
      this.preview,
      this.known,
    );
    this.text.addEventListener("input", () => {
      this.add.disabled = true;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(), ASK_AFTER_MS);
    });
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !this.add.disabled) this.add.click();
    });
    this.add.addEventListener("click", () => {
      this.trigger("pattern", { run_id: this.id, template: this.text.value });
      this.add.disabled = true;
      this.added(this.text.value.trim());
    });
    this.node.addEventListener("toggle", async () => {
      this.update();
      const answer = this.node.open ? await fetch(this.address("")).catch(() => null) : null;
      if (answer?.ok) this.list((await answer.json()).kept);
    });
  }

  // The table, only while it is looked at.
  update() {
    if (!this.node.open) return;
    const curves = [...this.curves().each].filter((curve) => curve.count);
    this.rows.replaceChildren(
      ...curves.map((curve) => {
        const name = `${curve.node ? `${curve.node}: ` : ""}${curve.name}${curve.rank ? ` (rank ${curve.rank})` : ""}`;
        const { lastValue: value } = curve;
        const last =
          typeof value === "number" && Number.isFinite(value) ? Number(value.toPrecision(5)).toString() : String(value);
        return el(
          "tr",
          {},
          ...[name, KINDS[curve.kind] || curve.kind, curve.source, String(curve.count), last].map((text) =>
            el("td", {}, text),
          ),
        );
      }),
    );
  }

  // It is there when the server says so; what it refuses, it says itself.
  async added(template) {
    for (let tries = 0; tries < 20; tries += 1) {
      await new Promise((resolve) => {
        setTimeout(resolve, 250);
      });
      const answer = await fetch(this.address("")).catch(() => null);
      if (!answer?.ok) continue;
      const { kept } = await answer.json();
      this.list(kept);
      if (kept.includes(template)) {
        this.said.textContent = "Added: its curves appear above, from the lines printed so far too.";
        return;
      }
    }
  }

  address(template) {
    return `/dsgui/runs/${encodeURIComponent(this.id)}/pattern?${new URLSearchParams({ template })}`;
  }
  list(kept) {
    this.known.replaceChildren(...kept.map((template) => el("li", {}, el("code", {}, template))));
  }

  async look() {
    const template = this.text.value.trim();
    this.preview.hidden = true;
    this.said.textContent = "";
    if (!template) return;
    const answer = await fetch(this.address(template)).catch(() => null);
    if (this.text.value.trim() !== template) return;
    if (!answer?.ok) {
      this.said.textContent =
        answer?.status === 422 ? "The pattern is too long." : "The server did not answer; try again.";
      return;
    }
    const { problem, matches, kept } = await answer.json();
    this.list(kept);
    this.said.textContent =
      problem ||
      (matches.length ? "It finds:" : "It is a pattern, and no line of the last part of the output fits it yet.");
    this.add.disabled = Boolean(problem);
    this.preview.hidden = !matches.length;
    this.preview.textContent = matches.map((match) => `${match.line}\n    → ${match.found}`).join("\n");
  }
}
