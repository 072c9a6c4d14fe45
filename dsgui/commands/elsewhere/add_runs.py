"""`dsgui runs add FOLDER`: trainings that dsgui did not start, added to the list, or read again."""

import argparse
import json
import os
import sys
from collections.abc import Iterator

from dsgui.commands.run_options import DONE, open_store
from dsgui.core.access.secrets import Masker, secret_values
from dsgui.core.adopted.record import called
from dsgui.core.texts.saying import listed, words
from dsgui.runs.adoption import Added, Adoption, Answer


def add(options: argparse.Namespace, folder: str) -> int:
    """Prints what was found, and the ids on standard output. Raises `RunError` and `PlanError`."""
    store, runs = open_store(options)
    hidden = secret_values(os.environ)
    answer = Adoption(store, masker=lambda: Masker(hidden)).add(folder, options.name or "")
    if options.format == "json":
        print(runs.masked(json.dumps(answer.to_json(), indent=2, ensure_ascii=False)))
        return DONE
    sys.stdout.write(runs.masked("\n".join(lines(answer)) + "\n"))
    return DONE


def lines(answer: Answer) -> Iterator[str]:
    """What was found, one training after the other, and what was not understood."""
    yield words("adopted", "in_folder", folder=answer.source)
    for one in answer.added:
        kinds = listed([called(kind) for kind in one.kinds])
        told = words("adopted", "found", name=one.name, kinds=kinds)
        yield "  " + words("commands", "line", file=told, line=words("adopted", _outcome(one), run=one.run_id))
        yield from (f"    {note}" for note in one.notes)
    yield from (f"  {note}" for note in answer.notes)


def _outcome(one: Added) -> str:
    if not one.run_id:
        return "not_added"
    return "added_one" if not one.again else "read_again" if one.changed else "unchanged"
