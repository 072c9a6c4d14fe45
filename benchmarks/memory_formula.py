"""The instant answer against the dry run: the 27 cases of the matrix and random ones; `make bench-memory`.

Each question goes to both. Compared are the largest peak of the GPU and of the host, and the peak of each moment. What
one of the two can't say is counted by itself. The dry runs are forked children of one worker that has DeepSpeed
imported; with `--answers FILE` they are kept, so that a bench that was cut off goes on where it was, and one after a
change of the formula takes seconds."""

import argparse
import contextlib
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.memory_questions import MI, autocast_cases, cases, family_cases, muon_cases, nvme_cases
from dsgui.core.config.context import LATEST_KNOWN
from dsgui.core.memory.answer import Answer, CannotSay, Device, Moment
from dsgui.core.memory.instant import answer
from dsgui.core.memory.question import Question
from dsgui.shell.memory.asking import LIMIT_S, Worker, as_json

LEAST = MI  # bytes: below, a peak is not compared
DEVICES = (Device.GPU, Device.HOST)
KINDS = {"nvme": nvme_cases, "muon": muon_cases, "autocast": autocast_cases, "families": family_cases}
Peaks = dict[str, dict[str, int]]  # device → moment → bytes


@dataclass(frozen=True, slots=True)
class Row:
    """Bytes of both at the fullest instant of a moment, or of all of them ("peak")."""

    case: str
    config: dict[str, Any]
    device: Device
    moment: str
    formula: int
    dry_run: int

    @property
    def difference(self) -> float:
        return self.formula / self.dry_run - 1


@dataclass(slots=True)
class Kept:
    """Dry runs by their question: from `file` as far as it has them, else asked."""

    python: str
    file: Path | None
    limit_s: float = LIMIT_S
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    worker: Worker | None = None

    def __post_init__(self) -> None:
        if self.file and self.file.exists():
            for line in self.file.read_text("utf-8").splitlines():
                row = json.loads(line)
                self.known[row["question"]] = row

    def of(self, question: Question) -> dict[str, Any]:
        """`{"peaks": …}` or `{"cannot": …}`."""
        key = json.dumps(as_json(question), sort_keys=True)
        if key not in self.known:
            self.known[key] = {"question": key, **self._asked(question)}
            if self.file:
                with self.file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(self.known[key]) + "\n")
        return self.known[key]

    def _asked(self, question: Question) -> dict[str, Any]:
        if self.worker is None:
            self.worker = self.stack.enter_context(Worker(self.python))
        found = self.worker.ask(question, limit_s=self.limit_s)
        return {"cannot": str(found.why)} if isinstance(found, CannotSay) else {"peaks": peaks_of(found)}


def peaks_of(found: Answer) -> Peaks:
    return {
        device: {peak.moment.value: peak.count for peak in found.of(device)} | {"peak": most(found, device)}
        for device in DEVICES
    }


def most(found: Answer, device: Device) -> int:
    """Bytes at its fullest moment."""
    peak = found.worst(device)
    return peak.count if peak else 0


def compared(case: str, question: Question, kept: Kept, silent: Counter[str]) -> Iterator[Row]:
    """Both answers; what one of them can't say is counted in `silent`."""
    formula, real = answer(question), kept.of(question)
    if isinstance(formula, CannotSay) and real.get("cannot") == str(formula.why):
        silent[f"both: {formula.why}"] += 1
        return
    if isinstance(formula, CannotSay):
        silent[f"formula: {formula.why}"] += 1
    if "cannot" in real:
        silent[f"dry run: {real['cannot']}"] += 1
    if isinstance(formula, CannotSay) or "cannot" in real:
        return
    ours = peaks_of(formula)
    for device in DEVICES:
        for moment, count in real["peaks"][device].items():
            if count >= LEAST:
                yield Row(case, dict(question.config), device, moment, ours[device].get(moment, 0), count)


def told(rows: list[Row], worst: int) -> Iterator[str]:
    """Markdown: medians and worst by device and moment, and the worst rows."""
    yield "| peaks of | compared | median | within 1 % | within 5 % | worst |"
    yield "|---|---|---|---|---|---|"
    for device in DEVICES:
        for moment in ("peak", *(moment.value for moment in Moment)):
            yield from line_of([row for row in rows if (row.device, row.moment) == (device, moment)], device, moment)
    for device in DEVICES:
        off = sorted((row for row in rows if row.device is device), key=lambda row: -abs(row.difference))
        for kind in ("peak", "moment"):
            yield f"\nThe worst of the {device} ({'largest peak' if kind == 'peak' else 'any moment'}):\n"
            yield "| difference | formula, MiB | dry run, MiB | moment | case | config |\n|---|---|---|---|---|---|"
            yield from map(as_line, [row for row in off if (row.moment == "peak") is (kind == "peak")][:worst])


def line_of(rows: list[Row], device: Device, moment: str) -> Iterator[str]:
    if not rows:
        return
    off = sorted(abs(row.difference) for row in rows)
    shares = [sum(value <= limit for value in off) / len(off) for limit in (0.01, 0.05)]
    name = f"**{device}**" if moment == "peak" else f"{device}, {moment}"
    yield (
        f"| {name} | {len(off)} | {statistics.median(off):.3%} | {shares[0]:.1%} | {shares[1]:.1%} | {off[-1]:.2%} |"
    )


def as_line(row: Row) -> str:
    return (
        f"| {row.difference:+.2%} | {row.formula / MI:.1f} | {row.dry_run / MI:.1f} | {row.moment} | {row.case} "
        f"| `{json.dumps(row.config)}` |"
    )


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=240, help="random cases beside the matrix")
    parser.add_argument("--first", type=int, default=0, help="number of the first random case; then without the matrix")
    kinds = parser.add_mutually_exclusive_group()
    told = (("nvme", "offload to NVMe"), ("muon", "Muon"), ("autocast", "torch_autocast"), ("families", "other models"))
    for name, what in told:
        kinds.add_argument(
            f"--{name}", dest="kind", action="store_const", const=name, help=f"random cases with {what}; no matrix"
        )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worst", type=int, default=10, help="rows to print")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds of a dry run")
    parser.add_argument("--answers", type=Path, help="keeps the dry runs; delete it when the dry run has changed")
    return parser.parse_args()


def main() -> None:
    """Ask, and print."""
    given, began, silent = options(), time.monotonic(), Counter[str]()
    every, rows = KINDS.get(given.kind, cases)(given.cases, given.seed, given.first), list[Row]()
    kept = Kept(given.python, given.answers, given.limit)
    with kept.stack:
        for number, (case, question) in enumerate(every, 1):
            found = list(compared(case, question, kept, silent))
            rows += found
            most_off = " ".join(f"{row.device} {row.difference:+.2%}" for row in found if row.moment == "peak")
            print(f"{number}/{len(every)} {case}: {most_off}", file=sys.stderr, flush=True)
    print(f"{len(every)} cases, DeepSpeed {LATEST_KNOWN}, {time.monotonic() - began:.0f} s\n")
    print("\n".join(told(rows, given.worst)))
    print(f"\nNot said, and so not compared: {sum(silent.values())}")
    print("\n".join(f"- {count} × {why}" for why, count in silent.most_common()))


if __name__ == "__main__":
    main()
