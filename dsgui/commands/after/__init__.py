"""`dsgui after`: what a run left, and jobs on it: consolidate, merge, convert, try, delete old checkpoints."""

import argparse
from pathlib import Path

from dsgui.commands.after import doing
from dsgui.commands.after.trying import add_try, tried
from dsgui.commands.run_options import add_run
from dsgui.core.texts.saying import words

# What can be done, and the code of its help.
_VERBS = {
    "list": "after_list",
    "consolidate": "after_consolidate",
    "merge": "after_merge",
    "universal": "after_universal",
    "try": "after_try",
    "clean": "after_clean",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `after`."""
    add_run(parser)
    verbs = parser.add_subparsers(dest="verb", metavar="WHAT", required=True)
    form = parser.formatter_class
    for verb, told in _VERBS.items():
        one = verbs.add_parser(verb, help=words("options", told), allow_abbrev=False, formatter_class=form)
        # Behind the verb, too; left out there, what stands before it holds.
        one.add_argument("--runs-dir", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        one.set_defaults(after=_DOES.get(verb, doing.start))
        _OPTIONS.get(verb, _add_job)(one)


def run(options: argparse.Namespace) -> int:
    """Raises `DsguiError`."""
    done: int = options.after(options)
    return done


def _add_job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", default="", metavar="SAVED", help=words("options", "after_source"))
    parser.add_argument("--dry-run", action="store_true", help=words("options", "after_dry_run"))
    parser.add_argument("-f", "--follow", action="store_true", help=words("options", "after_follow"))
    if parser.prog.endswith("universal"):
        return
    parser.add_argument("--to", default="", metavar="DIR", help=words("options", "after_to"))
    parser.add_argument("--dtype", default="", metavar="TYPE", help=words("options", "after_dtype"))
    parser.add_argument(
        "--max-shard-size", dest="shard", default="5GB", metavar="SIZE", help=words("options", "after_shard")
    )
    if parser.prog.endswith("merge"):
        parser.add_argument("--base", default="", metavar="MODEL", help=words("options", "after_base"))


def _add_clean(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep-last", default="2", metavar="N", help=words("options", "after_keep_last"))
    parser.add_argument("--keep-every", default="0", metavar="K", help=words("options", "after_keep_every"))
    parser.add_argument("--no-keep-best", action="store_true", help=words("options", "after_no_keep_best"))
    parser.add_argument("--yes", action="store_true", help=words("options", "after_yes"))


_OPTIONS = {"list": lambda parser: None, "clean": _add_clean, "try": add_try}
_DOES = {**doing.DOES, "try": tried}
