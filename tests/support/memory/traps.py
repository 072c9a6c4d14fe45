"""What the dry run of each release says of the examples of `core/rules/memory_traps.py`, with the trap and without it.

`python -m tests.support.memory.traps` asks every release that lies in `.overlays/` (`make matrix` installs them) and
writes `tests/answers/memory_traps.json`, from which the findings are held to DeepSpeed without it."""

import json
import os
import sys
from pathlib import Path

from differential.examples import examples
from differential.oracle import installed, overlay
from dsgui.core.config.context import RELEASES
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.inquiry import settle
from dsgui.core.memory.question import Group, Model, Question, Workload
from dsgui.core.rules.memory_traps import RULES
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.memory.asking import Worker

ANSWERS = Path(__file__).parents[2] / "answers" / "memory_traps.json"
MODEL = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_hidden_layers": 1,
    "intermediate_size": 688,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 1024,
    "tie_word_embeddings": False,
}
_TWICE = {"gradient_accumulation_steps": 2, "zero_optimization": {"reduce_bucket_size": 1 << 20}}


def trapped():
    """The invalid examples of these rules."""
    ids = {rule.id for rule in RULES}
    return [example for example in examples() if not example.valid and example.rule in ids]


def asked_of(example):
    """The releases that are asked: all that it claims for the first of a rule, of the others the newest."""
    is_first = next(one for one in trapped() if one.rule == example.rule).name == example.name
    return example.releases if is_first else example.releases[-1:]


def mended(example, checker):
    """The config once the finding's own fix is applied."""
    found = checker.findings(example.document, example.context(example.releases[-1]))
    finding = next(one for one in found if one.rule == example.rule)
    return finding.fix.apply(example.document).value


def question(config, release):
    """Of one of four ranks: two micro batches, and a bucket that is small beside the model unless the config says."""
    settled = settle(config)
    zero = _TWICE["zero_optimization"] | settled["zero_optimization"]
    asked = settled | {"gradient_accumulation_steps": 2, "zero_optimization": zero}
    return Question(Model("tiny", MODEL), asked, Workload(1, 64), Group(4), release)


def peaks(worker, config, release):
    """The most bytes of each device at each moment."""
    found = worker.ask(question(config, release))
    if isinstance(found, CannotSay):
        raise AssertionError(str(found.why))
    return {f"{peak.device.value} {peak.moment.value}": peak.count for peak in found.peaks}


def answers_of(worker, example, checker, release):
    """With the trap, and without it."""
    return [peaks(worker, config, release) for config in (example.document.value, mended(example, checker))]


def ask(release, checker):
    """All that one release says, into the table."""
    with Worker(sys.executable) as worker:
        asked = [one for one in trapped() if release in asked_of(one)]
        found = {one.name: (one.key, answers_of(worker, one, checker, release)) for one in asked}
    table = json.loads(ANSWERS.read_text("utf-8")) if ANSWERS.exists() else {}
    for name, (key, answers) in found.items():
        kept = table.get(name, {})
        others = kept.get("answers", {}) if kept.get("asked") == key else {}
        table[name] = {
            "asked": key,
            "answers": {one: (others | {release: answers})[one] for one in RELEASES if one in {*others, release}},
        }
    names = [one.name for one in trapped()]
    ANSWERS.write_text(json.dumps({name: table[name] for name in names if name in table}, indent=1) + "\n", "utf-8")


def main():
    checker = Checker(Catalog().schema())
    for release in sys.argv[1:] or RELEASES:
        if release != installed():
            os.environ["PYTHONPATH"] = str(overlay(release))
        ask(release, checker)
        os.environ.pop("PYTHONPATH", None)
        print(release, flush=True)


if __name__ == "__main__":
    main()
