#!/usr/bin/env python
"""Writes docs/config-reference.md from the schema: `make docs`. A test fails when the page is not what this makes."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from dsgui.core.config.form import default_text  # noqa: E402
from dsgui.core.config.pointer import dotted, join  # noqa: E402
from dsgui.core.config.schema import Field, Schema, main_branch  # noqa: E402
from dsgui.shell.config.catalog import Catalog  # noqa: E402

PAGE = ROOT / "docs" / "config-reference.md"
HEAD = """# Every key of ds_config.json

Generated from `schemas/ds_config.schema.json` by `make docs`; edit the schema, not this page. It covers DeepSpeed
0.14.5 to 0.19.8; defaults are those of 0.19.8 unless a release is named. “auto: HF” means that the HF Trainer fills in
`"auto"`; `<name>` stands for a name of your choice, `[]` for each entry of a list. In a *strict* block DeepSpeed
refuses unknown keys; in an *open* block it ignores them.
"""
Node = Mapping[str, Any]


def reference(schema: Schema) -> str:
    """The whole page."""
    top = main_branch(schema.document)["properties"]
    plain = {key: node for key, node in top.items() if not _inside(node)}
    parts = [HEAD, "## Top level\n", _table(schema, [(join((key,)), node) for key, node in plain.items()])]
    for key, node in top.items():
        if key not in plain:
            parts.append(f"## {key}\n\n{node['description']} {_strictness(node)}{_life(node)}\n")
            parts.append(_table(schema, list(_leaves(node, join((key,))))))
    return "\n".join(parts)


def keys(schema: Schema) -> Iterator[tuple[str, Node]]:
    """Every key that the schema describes, blocks included, with its schema."""
    for key, node in main_branch(schema.document)["properties"].items():
        yield join((key,)), node
        yield from _below(node, join((key,)))


def _below(node: Node, pointer: str) -> Iterator[tuple[str, Node]]:
    for key, child in _inside(node).items():
        where = pointer + join((key,))
        yield where, child
        yield from _below(child, where)


def _inside(node: Node) -> dict[str, Node]:
    """What stands in a block by key; the one entry of a map with free names is `<name>`, of a list `[]`."""
    main = main_branch(node)
    found = dict(main.get("properties", {}))
    if isinstance(main.get("additionalProperties"), Mapping):
        found["<name>"] = main["additionalProperties"]
    if "properties" in main_branch(main.get("items", {})):
        found["[]"] = main["items"]
    return found


def _leaves(node: Node, pointer: str) -> Iterator[tuple[str, Node]]:
    return ((where, child) for where, child in _below(node, pointer) if not _inside(child))


def _table(schema: Schema, rows: list[tuple[str, Node]]) -> str:
    head = "| key | takes | default | what it does |\n|---|---|---|---|\n"
    return head + "".join(_row(schema, pointer, node) for pointer, node in rows)


def _row(schema: Schema, pointer: str, node: Node) -> str:
    field = schema.field(pointer.replace("<name>", "x").replace("[]", "0"))
    assert field is not None, pointer
    default = f"`{default_text(field)}`" if default_text(field) else ""
    text = f"{node['description']}{_life(node)}{_old_defaults(node)}{_renamed(field)}"
    return f"| `{dotted(pointer)}` | {_cell(_takes(field))} | {_cell(default)} | {_cell(text)} |\n"


def _takes(field: Field) -> str:
    unit = f", in {field.unit}" if field.unit else ""
    auto = {"hf": "; auto: HF", "deepspeed": "; auto: DeepSpeed"}.get(field.auto, "")
    return str(field.expected_itself) + unit + auto


def _strictness(node: Node) -> str:
    return {"pydantic": "*Strict.*", "raw": "*Open.*"}.get(main_branch(node).get("x-model", ""), "")


def _life(node: Node) -> str:
    since = f" Since {node['x-since']}." if "x-since" in node else ""
    return since + (f" **Removed in {node['x-removed']}.**" if "x-removed" in node else "")


def _old_defaults(node: Node) -> str:
    changes = [change for change in node.get("x-before", ()) if "default" in change]
    return "".join(f" Before {c['version']} the default was `{json.dumps(c['default'])}`." for c in changes)


def _renamed(field: Field) -> str:
    return f" New name: `{dotted(field.renamed_to)}`." if field.renamed_to else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(reference(Catalog().schema()), "utf-8")
