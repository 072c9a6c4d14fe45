"""What each `dsgui after RUN …` does."""

import argparse
import sys

from dsgui.commands.logs import follow
from dsgui.commands.run_options import DONE, called, find_run, open_store
from dsgui.core.afterwards.pruning import Rule
from dsgui.core.sizes import file_size
from dsgui.core.texts.saying import listed as side_by_side
from dsgui.core.texts.saying import words
from dsgui.runs.afterwards import AfterTraining
from dsgui.runs.archive import Archive
from dsgui.runs.runs import Runs

_KINDS = {
    "checkpoint": "kind_checkpoint",
    "adapter": "kind_adapter",
    "model": "kind_model",
    "unfinished": "kind_unfinished",
}
_WHYS = {
    "": "goes",
    "newest": "why_newest",
    "being_written": "why_being_written",
    "last": "why_last",
    "best": "why_best",
    "every": "why_every",
    "in_use": "why_in_use",
}
_JOB = ("verb", "source", "dtype", "shard", "base", "to")


def listed(options: argparse.Namespace) -> int:
    """What the run left, one line each."""
    _, after, run_id = opened(options)
    told = after.told(run_id)
    things = told["things"]
    if not things:
        print(told["note"] or words("after", "nothing_left", run=run_id))
        return DONE
    heads = ("head_name", "head_kind", "head_step", "head_size", "head_can")
    rows = [tuple(words("after", head) for head in heads)]
    for one in things:
        kind = words("after", _KINDS[one["kind"]]) + ("" if one["complete"] else f", {words('after', 'incomplete')}")
        verbs = str(side_by_side(one["verbs"]))
        rows.append((one["name"], kind, str(one["step"] or ""), file_size(one["size_bytes"]), verbs))
    _print_table(rows)
    return DONE


def start(options: argparse.Namespace) -> int:
    """Starts a job; says what it takes. Raises `DsguiError`."""
    runs, after, run_id = opened(options)
    given = {name: getattr(options, name, "") for name in _JOB}
    told = after.asked(run_id, given)
    takes = {"disk": told["disk"], "memory": told["memory"]}
    print(words("after", "takes", **takes) if told["disk"] else words("after", "takes_unknown"), file=sys.stderr)
    print(words("after", "trust"), file=sys.stderr)
    for problem in filter(None, (told["refusal"], told["warning"])):
        print(problem, file=sys.stderr)
    if options.dry_run:
        print(told["to"])
        return DONE
    job = after.start(run_id, given)
    name = {"run": job, "name": runs.summary(job).name}
    print(words("after", "started", dsgui=called(), **name), file=sys.stderr)
    print(job, flush=True)
    return follow(runs, job, options.runs_dir) if options.follow else DONE


def clean(options: argparse.Namespace) -> int:
    """The dry list; with --yes they go. Raises `DsguiError`."""
    _, after, run_id = opened(options)
    rule = Rule.of(options.keep_last, options.keep_every, not options.no_keep_best)
    told = after.old_told(run_id, rule)
    found, unfinished = told["checkpoints"], told["unfinished"]
    _print_table([(one["name"], file_size(one["size_bytes"]), words("after", _WHYS[one["why"]])) for one in found])
    if told["count"] == 0:
        print(words("after", "none_goes"))
    elif not options.yes:
        counts = {"count": str(told["count"]), "all": str(len(found)), "freed": file_size(told["freed_bytes"])}
        print(words("after", "would_go", **counts))
    if unfinished and not options.yes:
        parts = side_by_side(f"{one['path']} ({file_size(one['size_bytes'])})" for one in unfinished)
        print(words("after", "unfinished_would_go", parts=parts))
    if options.yes and (seen := [one["path"] for one in (*found, *unfinished) if not one.get("why")]):
        print(words("after", "gone", names=side_by_side(after.delete_old(run_id, rule, seen))))
    return DONE


DOES = {"list": listed, "clean": clean}


def opened(options: argparse.Namespace) -> tuple[Runs, AfterTraining, str]:
    store, runs = open_store(options)
    return runs, AfterTraining(store, runs, Archive(store, runs)), find_run(runs, options.run)


def _print_table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())
