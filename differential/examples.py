"""The examples of tests/examples: one config a file, what it shows of its rule, and the real DeepSpeed's verdicts.

    tests/examples/{valid,invalid}/<rule>/<name>.json
      config               the config; or "text", where the point is how it is written
      reader, world_size   who reads it, over how many ranks
      deepspeed_versions   {"since": …, "until": …}: the releases it claims (until: the first one it does not)
      severity             of the finding, in an invalid one: "error" where nothing is said
      stage                where DeepSpeed stops at it: "trainer" (the HF Trainer, before DeepSpeed), "parse",
                           "initialize" or "step". A warning or note has none, unless it depends on the script
      script, training_arguments, until    see `differential/oracle.py`
      hardware, torch_version              what it is checked for: an id of dsgui's table of cards, or "cpu"
      missing_ops                          DeepSpeed's operators that can't be loaded there
      arguments                            the HF Trainer's, known to the rules: a mapping or a command line. Such an
                                           example is put to the real Trainer by
                                           tests/real_deepspeed/test_trainer_examples.py
      unverified           why no DeepSpeed here can judge it; then there is another example of the rule that can be

The verdicts lie beside them in verdicts.json, each with a hash of what was asked.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from differential.oracle import ROOT, Answer, Question
from dsgui.core.config.arguments import TrainingArguments, from_mapping, read_arguments
from dsgui.core.config.context import LATEST_KNOWN, RELEASES, Context, Integration, version_tuple
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.machine.hardware import CARDS, Hardware
from dsgui.core.validation.checker import Checker
from dsgui.core.validation.written import read

FOLDER = ROOT / "tests" / "examples"
VERDICTS = FOLDER / "verdicts.json"
_ASKED = ("reader", "world_size", "script", "training_arguments", "until")
_HARDWARE = {**{card.id: card for card in CARDS}, "cpu": Hardware("cpu", "CPU", "cpu", bf16=True, fp16=False)}


@dataclass(frozen=True)
class Example:
    """One file."""

    path: Path
    content: Mapping[str, Any]

    @property
    def name(self) -> str:
        """`invalid/DS010/1.json`."""
        return self.path.relative_to(FOLDER).as_posix()

    @property
    def valid(self) -> bool:
        return self.path.parts[-3] == "valid"

    @property
    def rule(self) -> str:
        return self.path.parts[-2]

    @property
    def severity(self) -> Severity:
        return Severity(self.content.get("severity", "error"))

    @property
    def stage(self) -> str:
        return str(self.content.get("stage", ""))

    @property
    def is_for_the_trainer(self) -> bool:
        """Whether the Trainer's arguments are known."""
        return "arguments" in self.content

    @property
    def arguments(self) -> TrainingArguments | None:
        given = self.content.get("arguments")
        if given is None:
            return None
        return from_mapping(given) if isinstance(given, dict) else read_arguments(given)

    @cached_property
    def text(self) -> str:
        written = self.content.get("text")
        return written if isinstance(written, str) else json.dumps(self.content["config"], indent=2)

    @cached_property
    def document(self) -> Document:
        return Document(read(self.text).text)

    def findings(self, checker: Checker, release: str) -> list[Finding]:
        """What the rules say of it as a file."""
        return checker.findings(self.document, self.context(release), self.text)

    @property
    def question(self) -> Question:
        return Question(self.text, **{key: self.content[key] for key in _ASKED if key in self.content})

    @property
    def key(self) -> str:
        """A hash of everything that the real answer depends on."""
        return hashlib.sha256(json.dumps(asdict(self.question), sort_keys=True).encode()).hexdigest()[:16]

    def claims(self, release: str) -> bool:
        """Whether it is about DeepSpeed `release`."""
        if self.is_for_the_trainer:
            return release == LATEST_KNOWN
        span = self.content.get("deepspeed_versions", {})
        since, until, this = span.get("since", ""), span.get("until", ""), version_tuple(release)
        return version_tuple(since) <= this and not (until and this >= version_tuple(until))

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases it claims, of those that are asked."""
        return tuple(release for release in RELEASES if self.claims(release))

    def context(self, release: str) -> Context:
        """The circumstances, for the rules."""
        device = self.content.get("hardware", "")
        return Context(
            Integration(self.content.get("reader", "native")),
            gpus_per_node=self.content.get("world_size", 1),
            deepspeed_version=release,
            torch_version=self.content.get("torch_version", ""),
            hardware=(_HARDWARE[device],) if device else (),
            missing_ops=frozenset(self.content.get("missing_ops", ())),
            arguments=self.arguments,
        )


def examples() -> list[Example]:
    """All of them, in the order of their names."""
    return [Example(path, json.loads(path.read_text("utf-8"))) for path in sorted(FOLDER.glob("*/*/*.json"))]


class Verdicts:
    """The committed table: example → hash → release → answer."""

    def __init__(self, path: Path = VERDICTS) -> None:
        self._path = path
        self._table: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def of(self, example: Example, release: str) -> Answer | None:
        """What `release` said of the example as it stands now; None when it was not asked since it changed."""
        entry = self._table.get(example.name, {})
        answer = entry.get("answers", {}).get(release) if entry.get("asked") == example.key else None
        return Answer(*answer) if answer else None

    def add(self, example: Example, release: str, answer: Answer) -> None:
        """Notes an answer; what was asked before the example changed goes."""
        entry = self._table.get(example.name, {})
        if entry.get("asked") != example.key:
            entry = self._table[example.name] = {"asked": example.key, "answers": {}}
        entry["answers"][release] = [answer.verdict, answer.stage, answer.message[:200]]

    def write(self, names: set[str]) -> None:
        """Writes the table of the examples in `names`, a line an answer."""
        lines = []
        for name in sorted(names & self._table.keys()):
            entry = self._table[name]
            answers = ",\n".join(
                f"  {json.dumps(r)}: {json.dumps(entry['answers'][r])}"
                for r in sorted(entry["answers"], key=version_tuple)
            )
            lines.append(f'{json.dumps(name)}: {{"asked": "{entry["asked"]}", "answers": {{\n{answers}\n}}}}')
        self._path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
