"""`dsgui after RUN try`: an answer of the trained model, beside the base model's."""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from dsgui.commands.after.doing import opened
from dsgui.commands.run_options import DONE, FAILED
from dsgui.core.afterwards.trying import DEVICES, PLACE, USUAL_TOKENS
from dsgui.core.texts.saying import words
from dsgui.runs.trying import TryIt
from dsgui.shell.runs.store import Store

_ASK_S = 0.2
_ASKED = ("source", "base", "template", "prompt", "tokens", "temperature", "seed", "device")


def add_try(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", default="", metavar="SAVED", help=words("options", "try_source"))
    parser.add_argument("--prompt", required=True, metavar="TEXT", help=words("options", "try_prompt"))
    parser.add_argument("--template", default="", metavar="TEXT", help=words("options", "try_template", place=PLACE))
    parser.add_argument("--base", default="", metavar="MODEL", help=words("options", "try_base"))
    parser.add_argument("--no-base", action="store_true", help=words("options", "try_no_base"))
    parser.add_argument(
        "--max-new-tokens", dest="tokens", default=str(USUAL_TOKENS), metavar="N", help=words("options", "try_tokens")
    )
    parser.add_argument("--temperature", default="0", metavar="T", help=words("options", "try_temperature"))
    parser.add_argument("--seed", default="0", metavar="N", help=words("options", "try_seed"))
    parser.add_argument("--device", default=DEVICES[0], choices=DEVICES, help=words("options", "try_device"))


def tried(options: argparse.Namespace) -> int:
    """Prints the answer; waits for it. Raises `DsguiError`."""
    runs, after, run_id = opened(options)
    box = TryIt(Store(options.runs_dir), runs, after, os.environ)
    given = {name: getattr(options, name) for name in _ASKED}
    about = box.about(run_id, given)
    print(words("try", "takes", name=about["name"], memory=about["memory"], free=about["free"]), file=sys.stderr)
    given["template"] = given["template"] or about["template"]
    given["beside"] = about["has_base"] and not options.no_base
    try:
        box.begin(run_id, given)
        return _print(_awaited(box, run_id))
    finally:
        box.close()


def _awaited(box: TryIt, run_id: str) -> Mapping[str, Any]:
    told, shown = box.progress(run_id), ""
    while told["phase"]:
        if told["facts"] != shown:
            shown = told["facts"]
            print(shown, file=sys.stderr, flush=True)
        time.sleep(_ASK_S)
        told = box.progress(run_id)
    return told


def _print(told: Mapping[str, Any]) -> int:
    """Each answer under its name, where there are two."""
    answers = told["answers"]
    for of, answer in answers.items():
        if len(answers) > 1:
            print(f"--- {words('try', of)}")
        print(answer["text"])
    if told["problem"]:
        print(told["problem"], file=sys.stderr)
    return FAILED if told["problem"] else DONE
