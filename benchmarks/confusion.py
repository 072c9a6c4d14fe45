"""Rules against the real DeepSpeed over a folder of configs, as a confusion matrix.

    python -m benchmarks.confusion --corpus FOLDER [--versions 0.19.8 …]

The folder's verdicts.tsv is used where there is one; without it the installed DeepSpeed is asked (both readers; 1, 2
and 8 ranks; up to deepspeed.initialize), which takes a second or so a question. Each exception is listed with its
reason.
“Found, refused later” is what a mode that only parses lets pass and the same reader refuses at deepspeed.initialize.
Exit code 1: a config that DeepSpeed accepts gets an error, or a refusal is missed without a reason.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from differential.corpus import TABLE, Corpus, Row, ask_all

_COLUMNS = (
    "refused, found",
    "accepted, silent",
    "found, refused later",
    "false error",
    "missed",
    "missed, with reason",
    "not judged",
)


def outcome(corpus: Corpus, row: Row) -> str:
    """The column that a verdict counts in."""
    if not row.judged:
        return "not judged"
    if not row.refused:
        if corpus.false_error(row):
            return "false error"
        return "found, refused later" if corpus.errors(row) else "accepted, silent"
    if not corpus.missed(row):
        return "refused, found"
    return "missed, with reason" if corpus.reason(row) else "missed"


def table(corpus: Corpus, rows: Sequence[Row]) -> list[str]:
    """Lines of Markdown: a line for each release, mode and number of ranks, and one for all."""
    counts: dict[tuple[str, str, int], Counter[str]] = {}
    for row in rows:
        counts.setdefault((row.version, row.mode, row.world_size), Counter())[outcome(corpus, row)] += 1
    total: Counter[str] = sum(counts.values(), Counter())
    lines = [f"| DeepSpeed | mode | ranks | {' | '.join(_COLUMNS)} |", "|---|---|---|" + "---|" * len(_COLUMNS)]
    lines += [_line(key, counts[key]) for key in sorted(counts)]
    return [*lines, _line(("all", "", ""), total)]


def _line(key: tuple[object, ...], count: Counter[str]) -> str:
    return f"| {' | '.join(str(part) for part in key)} | {' | '.join(str(count[column]) for column in _COLUMNS)} |"


def exceptions(corpus: Corpus, rows: Sequence[Row]) -> list[str]:
    """Lines for each false error and each refusal that was missed, one for a file, mode and message."""
    told: dict[tuple[str, str, str, str], list[str]] = {}
    for row in rows:
        kind = outcome(corpus, row)
        if kind in ("false error", "missed", "missed, with reason"):
            why = "; ".join(corpus.false_error(row)) or corpus.reason(row) or "no reason is known"
            said = f"DeepSpeed: {row.message[:160] or 'accepts it'}".replace("\n", " ")
            told.setdefault((kind, row.file, said, why), []).append(f"{row.version} {row.mode} on {row.world_size}")
    return [
        f"- **{kind}**: {file} ({', '.join(dict.fromkeys(where))})\n  {said}\n  dsgui: {why}"
        for (kind, file, said, why), where in sorted(told.items())
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the matrix and the exceptions."""
    parser = argparse.ArgumentParser(description="Rules against the real DeepSpeed over a folder of configs.")
    parser.add_argument(
        "--corpus", type=Path, required=True, metavar="FOLDER", help="configs, perhaps with verdicts.tsv"
    )
    parser.add_argument("--versions", nargs="+", metavar="RELEASE", help="only these releases")
    options = parser.parse_args(arguments)
    if not options.corpus.is_dir():
        parser.error(f"{options.corpus} is no folder")
    known = (options.corpus / TABLE).is_file()
    asked = None if known else [row for v in options.versions or [""] for row in ask_all(options.corpus, v)]
    corpus = Corpus(options.corpus, asked)
    rows = [row for row in corpus.rows if not options.versions or row.version in options.versions]
    print("\n".join([*table(corpus, rows), "", *exceptions(corpus, rows)]))
    return 1 if any(outcome(corpus, row) in ("false error", "missed") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
