"""`validate --ask`: the real DeepSpeed of a target environment beside dsgui's own findings."""

import argparse
import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dsgui.core.config import accelerate_yaml
from dsgui.core.config.schema import Schema
from dsgui.core.errors import TargetError
from dsgui.core.oracle.agreement import merge, remarks
from dsgui.core.oracle.answers import Question, Verdict
from dsgui.core.texts.saying import set_apart, words, wrong
from dsgui.core.validation.check_report import Checked
from dsgui.shell.machine import target
from dsgui.shell.oracle.oracle import LIMIT_S, Oracle

_VERSIONS_TIMEOUT_S = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of asking."""
    parser.add_argument("--ask", action="store_true", help=words("options", "ask"))
    add_target(parser, LIMIT_S, words("options", "ask_timeout"))


def add_target(parser: argparse._ActionsContainer, limit_s: float, about_limit: str) -> None:
    """Whose DeepSpeed is asked, and for how long it may think."""
    parser.add_argument("--python", default=sys.executable, help=words("options", "ask_python"))
    parser.add_argument("--ask-timeout", type=_seconds, default=limit_s, metavar="S", help=about_limit)


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 1 <= float(text) <= 86_400:
            return float(text)
    raise argparse.ArgumentTypeError(wrong("options.no_seconds", text=text))


@dataclass(frozen=True, slots=True)
class Asker:
    """DeepSpeed, ready to be asked; `release` is the one that answers."""

    oracle: Oracle
    release: str
    schema: Schema

    def ask(self, checked: Checked, path: Path) -> Checked:
        """The same file with DeepSpeed's answer merged in. Raises `TargetError` when it gave none."""
        context = checked.context
        if context.release != self.release:
            given = {"path": str(path), "asked": context.release, "installed": self.release}
            raise TargetError(wrong("target.other_release", **given))
        answer = self.oracle.ask(Question.of(_text(path, checked), context))
        if answer.verdict is Verdict.NOT_TRIED:
            given = {"path": str(path), "release": self.release, "why": str(set_apart(answer.not_tried))}
            raise TargetError(wrong("target.not_asked", **given))
        merged = merge(checked.findings, answer, checked.document, context, self.schema.fields)
        told = (words("oracle", "asked", summary=answer.summary), *remarks(answer, merged))
        return replace(
            checked,
            findings=merged.findings,
            asked=told,
        )


@contextlib.contextmanager
def asker(options: argparse.Namespace, schema: Schema) -> Iterator[Asker | None]:
    """None where nothing is to be asked. Raises `TargetError`."""
    if not options.ask:
        yield None
        return
    release = release_of(options.python)
    oracle = Oracle(options.python, options.ask_timeout)
    try:
        yield Asker(oracle, release, schema)
    finally:
        oracle.close()


def release_of(python: str) -> str:
    """The DeepSpeed of an environment. Raises `TargetError` where it has none."""
    versions = target.ask(python, "versions", _VERSIONS_TIMEOUT_S).get("versions", {})
    release = str(versions.get("deepspeed", ""))
    if not release:
        raise TargetError(wrong("target.no_deepspeed", python=python))
    return release


def _text(path: Path, checked: Checked) -> str:
    """The file as it is, comments and all; of a YAML of accelerate's, the config in it."""
    text = path.expanduser().read_bytes().decode("utf-8", "replace")
    is_json = text.lstrip("\ufeff \t\r\n").startswith("{") or not accelerate_yaml.is_one(text)
    return text if is_json else checked.document.text
