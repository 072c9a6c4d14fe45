"""A folder of real configs held against the real DeepSpeed: row by row, what it said and what the rules say.

A folder may have a `verdicts.tsv` (file, version, mode, world_size, verdict, stage, exception, message, hf_args).
Without one, `ask_all` puts the files to the DeepSpeed that is installed. A mode is who reads the file and how far it
goes: parse, init (deepspeed.initialize and steps), hf-parse, hf-init.
"""

import contextlib
import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from differential.oracle import OracleError, Question, ask, installed
from dsgui.cli import main
from dsgui.commands.validate import FAILED, NOT_CHECKED, PASSED
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.pointer import MISSING, lookup

Told = dict[str, Any]  # one finding, as `validate --format json` prints it
TABLE = "verdicts.tsv"
WORLD_SIZES = (1, 2, 8)
_ONLY_ON_CUDA = re.compile("only supported for CUDA|only supports NVIDIA CUDA")
# What a mode that only parses lets pass and the same reader's `deepspeed.initialize` may still refuse.
_GOES_FURTHER = {"parse": "init", "hf-parse": "hf-init"}
# Key → the Trainer's argument that must equal it (transformers/integrations/deepspeed.py: trainer_config_process).
_ARGUMENTS: dict[str, str] = {
    "/train_micro_batch_size_per_gpu": "per_device_train_batch_size",
    "/gradient_accumulation_steps": "gradient_accumulation_steps",
    "/gradient_clipping": "max_grad_norm",
    "/optimizer/params/lr": "learning_rate",
    "/optimizer/params/betas/0": "adam_beta1",
    "/optimizer/params/betas/1": "adam_beta2",
    "/optimizer/params/eps": "adam_epsilon",
    "/optimizer/params/weight_decay": "weight_decay",
    "/scheduler/params/warmup_max_lr": "learning_rate",
    "/scheduler/params/warmup_num_steps": "warmup_steps",
    "/scheduler/params/total_num_steps": "max_steps",
}


@dataclass(frozen=True)
class Row:
    """One verdict of the real DeepSpeed. `verdict`: ok · reject · anything else says nothing about the config."""

    file: str
    version: str
    mode: str
    world_size: int
    verdict: str
    message: str = ""

    @property
    def judged(self) -> bool:
        return self.verdict in ("ok", "reject")

    @property
    def refused(self) -> bool:
        return self.verdict == "reject"

    @property
    def hf(self) -> bool:
        return self.mode.startswith("hf")

    @property
    def context(self) -> Context:
        integration = Integration.HF if self.hf else Integration.NATIVE
        return Context(integration, gpus_per_node=self.world_size, deepspeed_version=self.version)


class Corpus:
    """A folder and its verdicts. What dsgui says of a file is what `python -m dsgui validate` prints."""

    def __init__(self, folder: Path, rows: Sequence[Row] | None = None) -> None:
        self.folder = folder
        self._rows = rows
        self._told: dict[Context, dict[str, list[Told]]] = {}

    @cached_property
    def rows(self) -> list[Row]:
        """The verdicts given, or those of the table in the folder."""
        if self._rows is not None:
            return list(self._rows)
        with (self.folder / TABLE).open(encoding="utf-8", newline="") as table:
            return [_row(entry) for entry in csv.DictReader(table, delimiter="\t")]

    @property
    def files(self) -> list[str]:
        """The configs that there are verdicts for."""
        return sorted({row.file for row in self.rows})

    def of(self, file: str) -> list[Row]:
        return self._by_file.get(file, [])

    @cached_property
    def _by_file(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.file, []).append(row)
        return found

    def text(self, file: str) -> str:
        return (self.folder / file).read_bytes().decode("utf-8")

    def findings(self, row: Row) -> list[Told] | None:
        """What the command says in the circumstances of `row`; None where it can't read the file at all."""
        if row.context not in self._told:
            paths = [self.folder / name for name in self.files]
            self._told[row.context] = {path.name: told for path, told in validated(paths, row.context).items()}
        return self._told[row.context].get(row.file)

    def errors(self, row: Row) -> list[str]:
        found = self.findings(row)
        return ["the text can't be read"] if found is None else _errors(found)

    def false_error(self, row: Row) -> list[str]:
        """The errors of a config that DeepSpeed accepts, also when it goes further than this mode did."""
        if not row.judged or row.refused or self._refused_later(row):
            return []
        return self.errors(row)

    def missed(self, row: Row) -> bool:
        """Whether DeepSpeed refuses the config and the command lets it pass."""
        return row.refused and not self.errors(row)

    def reason(self, row: Row) -> str:
        """Why the rules can't find what was missed; "" where there is no reason."""
        rules = {finding["rule"] for finding in self.findings(row) or ()}
        if "DS054" in rules and not row.hf:
            return "depends on the optimizer that the script passes: said in a warning or note (DS054)"
        if "mismatch TrainingArguments" in row.message and "DS013" in rules:
            return "depends on the Trainer's arguments: those that are needed are listed (DS013)"
        if _ONLY_ON_CUDA.search(row.message):
            return "depends on the machine: it was judged on one without CUDA, and no device was named to the rules"
        return ""

    def _refused_later(self, row: Row) -> bool:
        further = _GOES_FURTHER.get(row.mode)
        return any(other.mode == further and other.refused for other in self.of(row.file))


def _errors(findings: Iterable[Told]) -> list[str]:
    return [f"{finding['rule']} {finding['message']}" for finding in findings if finding["severity"] == "error"]


def validated(paths: Sequence[Path], context: Context) -> dict[Path, list[Told]]:
    """The findings of `python -m dsgui validate` for each file that it can read; its exit code is held to them."""
    options = ["--integration", context.integration.value, "--target-version", context.release, "--format", "json"]
    ranks = ["--gpus", str(context.gpus_per_node), "--nodes", str(context.nodes)]
    printed, unread = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(unread):
        code = main(["validate", *map(str, paths), *options, *ranks])
    entries = json.loads(printed.getvalue() or "[]")
    expected = NOT_CHECKED if len(entries) < len(paths) else FAILED if not all(e["ok"] for e in entries) else PASSED
    if code != expected:
        raise OracleError(f"validate ended with {code}, not {expected}: {unread.getvalue()}")
    return {Path(entry["file"]): entry["findings"] for entry in entries}


def _row(entry: dict[str, str]) -> Row:
    message = ": ".join(part for part in (entry.get("exception", ""), entry["message"]) if part)
    return Row(entry["file"], entry["version"], entry["mode"], int(entry["world_size"]), entry["verdict"], message)


# ------------------------------------------------------------------------------------------------ asking for verdicts
def ask_all(folder: Path, release: str = "") -> list[Row]:
    """Verdicts of DeepSpeed `release` (the installed one) for every config of a folder: both readers, 1, 2 and 8 ranks,
    up to deepspeed.initialize."""
    cases = [
        (path, mode, size)
        for path in sorted(folder.glob("*.json"))
        for mode in ("init", "hf-init")
        for size in WORLD_SIZES
    ]
    answers = ask([_question(*case) for case in cases], release)
    return [
        Row(path.name, release or installed(), mode, size, answer.verdict, f"{answer.stage}: {answer.message}")
        for (path, mode, size), answer in zip(cases, answers, strict=True)
    ]


def _question(path: Path, mode: str, world_size: int) -> Question:
    text = path.read_text("utf-8")
    hf = mode == "hf-init"
    given = matching_arguments(text, world_size) if hf else {}
    return Question(text, "hf" if hf else "native", world_size, training_arguments=given, until="initialize")


def matching_arguments(text: str, world_size: int) -> dict[str, Any]:
    """Arguments of the HF Trainer that equal what the file says, so that only the file itself can be at fault."""
    try:
        config = json.loads(text)
    except ValueError:
        return {}
    given: dict[str, Any] = {"per_device_train_batch_size": 1, "max_steps": 100}
    for pointer, argument in _ARGUMENTS.items():
        value = lookup(config, pointer)
        if isinstance(value, int | float) and not isinstance(value, bool):
            given[argument] = value
    train = lookup(config, "/train_batch_size")
    each = world_size * given.get("gradient_accumulation_steps", 1)
    if (
        isinstance(train, int)
        and lookup(config, "/train_micro_batch_size_per_gpu") in ("auto", MISSING)
        and train >= each
    ):
        given["per_device_train_batch_size"] = train // each
    elif isinstance(train, int) and lookup(config, "/gradient_accumulation_steps") == "auto":
        given["gradient_accumulation_steps"] = max(1, int(train // (given["per_device_train_batch_size"] * world_size)))
    return given | _precision(config)


def _precision(config: Any) -> dict[str, bool]:
    fp16, bf16 = (lookup(config, f"/{block}/enabled") for block in ("fp16", "bf16"))
    if fp16 in (1, 1.0):  # true among them: the Trainer compares, and they are equal
        return {"fp16": True}
    return {"bf16": True} if bf16 in (1, "auto") else {"fp16": True} if fp16 == "auto" else {}
