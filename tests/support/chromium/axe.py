"""axe-core, put into a page as it is; what it finds there, in words. node_modules has it (scripts/setup_node.sh)."""

from functools import cache
from pathlib import Path

AXE = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"
# Of each violation: the rule, what is wrong, and the parts of the page. The editor's inside is left out: axe-core sees
# neither that what is edited can have the focus nor the filter that darkens it, which has a test of its own.
_RUN = """async (within) => (await axe.run({ include: [within], exclude: [".cm-scroller"] })).violations.map((one) =>
  `${one.id}: ${one.help}\\n` + one.nodes.map((node) => `    ${node.target.join(" ")}\\n      ` +
    node.failureSummary.split("\\n").slice(1).map((line) => line.trim()).join(" · ")).join("\\n"))"""


@cache
def _source() -> str:
    if not AXE.is_file():
        raise FileNotFoundError(f"{AXE}: not installed; run: sh scripts/setup_node.sh")
    return AXE.read_text("utf-8")


def violations(page, within="html"):
    """What axe-core finds wrong in the page as it stands, or in a part of it: a text for each rule."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source() + "; undefined")
    return page.evaluate(_RUN, within)
