"""A card of what is known of a run, in the shape in which the page is told why a run failed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dsgui.core.texts.saying import Said, in_row


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of a card; `is_path`: it is where something lies."""

    name: Said
    value: Said | str
    is_path: bool = False


def fact_card(
    signature: str,
    title: Said,
    meaning: Iterable[Said | str],
    facts: Iterable[Fact],
    *,
    quote: str = "",
    in_output: int | None = None,
    resume: dict[str, str] | None = None,
) -> dict[str, Any]:
    rows = [{"name": str(one.name), "value": str(one.value), "is_path": one.is_path} for one in facts]
    texts = {"quote": quote, "traceback": "", "evidence": "", "ends": ""}
    lists: dict[str, Any] = {name: [] for name in ("advice", "remedies", "set_aside", "cause", "offered")}
    told = {"signature": signature, "title": str(title), "meaning": in_row(map(str, meaning)), "facts": rows}
    return told | texts | lists | {"rank": None, "in_output": in_output, "resume": resume}
