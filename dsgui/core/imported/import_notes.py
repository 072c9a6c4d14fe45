"""What an import is told as: what was taken, what is still needed, what was not understood; and the page's fields."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dsgui.core.config.arguments import EVERY_NAME, TrainingArguments, given
from dsgui.core.imported.outline import MOST_SHOWN, Outline, shown
from dsgui.core.launch.plan import AS_SCRIPT_READS
from dsgui.core.launch.run_fields import OWN_SCRIPT
from dsgui.core.texts.saying import Said, listed, said

_VALUE = re.compile(r"([A-Z][A-Z0-9_]{0,60})=.*", re.DOTALL)
_LONGEST_IN_FRONT = 300
_OTHERS = frozenset({"hidden_size", "total_steps", "warmup_ratio"})


def notes_of(outline: Outline, script_found: bool) -> tuple[Said, ...]:
    """In the order in which they matter; where the config comes from is told by whoever looked for it."""
    return (*_asked(outline, script_found), *_taken(outline), *_left(outline))


def _asked(outline: Outline, script_found: bool) -> Iterator[Said]:
    tool = outline.tool
    if not script_found and tool and outline.script in ("", *tool.scripts):
        yield said("imported", "needs_script", file=next(iter(outline.scripts), tool.family), tool=tool.name)
    elif not script_found:
        yield said("imported", "needs_own_script", file=outline.script)
    if tool and tool.by_file and not outline.words:
        yield said("imported", "needs_file", tool=tool.name)


def _taken(outline: Outline) -> Iterator[Said]:
    if outline.trainer:
        theirs = {trainers: name for name, trainers in outline.renamed.items() if name != trainers}
        values = given(outline.trainer)
        if values:
            told = (_argument(name, value, theirs.get(name, "")) for name, value in values.items())
            yield said("imported", "arguments", arguments=listed(told))
        yield from _unknown(outline.trainer, outline)
    if outline.hostfile:
        yield said("imported", "hostfile" if outline.nodes else "needs_hostfile", file=outline.hostfile)
    if outline.hostfile and outline.ranks and not outline.nodes:
        yield said("imported", "ranks_alone", ranks=str(outline.ranks))
    elif outline.ranks:
        yield said("imported", "ranks", ranks=str(outline.ranks), nodes=str(outline.nodes or 1))
    elif outline.nodes:
        yield said("imported", "nodes", nodes=str(outline.nodes))
    if (outline.nodes or 1) > 1:
        yield said("imported", "choose_nodes")


def _argument(name: str, value: Any, theirs: str) -> str:
    return f"{name} {shown(value)} ({theirs})" if theirs else f"{name} {shown(value)}"


def _unknown(trainer: TrainingArguments, outline: Outline) -> Iterator[Said]:
    names = sorted(trainer.unknown - _OTHERS)
    if not names or outline.tool is None:
        return
    if trainer.unknown - trainer.given >= EVERY_NAME - trainer.given:
        yield said("imported", "defaults_unknown", tool=outline.tool.name)
    else:
        yield said("imported", "computed", tool=outline.tool.name, names=listed(names))


def _left(outline: Outline) -> Iterator[Said]:
    if outline.cut:
        yield said("imported", "cut", option=shown(outline.cut))
    if outline.depends:
        yield said("imported", "depends", what=_first(outline.depends))
    if outline.in_front:
        yield said("imported", "in_front", what=_in_front(outline.in_front))
    if outline.passed and outline.tool:
        yield said("imported", "passed", tool=outline.tool.name, names=_first(outline.passed))
    if outline.unread:
        yield said("imported", "unread", what=_first(outline.unread))


def _in_front(words: Sequence[str]) -> str:
    """Without the values of variables, which may be secrets."""
    text = " ".join(_VALUE.sub(r"\1=…", word) for word in words)
    return text if len(text) <= _LONGEST_IN_FRONT else text[: _LONGEST_IN_FRONT - 1] + "…"


def _first(names: Sequence[str]) -> str | Said:
    more = len(names) - MOST_SHOWN
    every = listed(shown(name) for name in names[:MOST_SHOWN])
    return said("imported", "and_more", names=every, count=str(more)) if more > 0 else every


def fields_of(outline: Outline, script: str) -> Mapping[str, Any]:
    """The Launch page's fields; `script` is where it was found, else ""."""
    values: dict[str, Any] = {
        "what": OWN_SCRIPT,
        "script": script,
        "arguments": shlex.join(outline.words),
        "reader": outline.reader or AS_SCRIPT_READS,
        "environment": "\n".join(outline.environment),
        "port": outline.port if outline.port.isdecimal() else "",
        "name": "",
        "output": "",
        "parent": "",
        **outline.fields,
    }
    values |= {"started_by": outline.started_by} if outline.started_by else {}
    values |= {"gpus": list(outline.gpus)} if outline.gpus else {}
    values |= {"ranks": outline.ranks, "planned_gpus": outline.ranks} if outline.ranks else {}
    return values | ({"planned_nodes": outline.nodes} if outline.nodes else {})
