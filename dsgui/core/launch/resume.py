"""What a script's arguments become so that it goes on from a checkpoint, or why no argument of it can do that."""

import posixpath
from collections.abc import Collection, Sequence

from dsgui.core.launch.checkpoint import RESUME, Checkpoint, SavedBy
from dsgui.core.launch.plan import Plan
from dsgui.core.script.resume_options import Resuming
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, said

# Of a parser in another file: options that many have for it, Megatron's among them.
_USUAL_FOLDERS = ("--load_checkpoint_dir", "--load_dir", "--load")

_FROM_NOTHING = ("", "none", "no", "false")


def way_of(told: Resuming, words: Sequence[str], own: Collection[str] = ()) -> Resuming:
    """What the source tells; where that is nothing, the options that the run was started with, but for the file's
    `own`."""
    if told != Resuming(saving=told.saving):
        return told
    if value_of(words, (RESUME,)) is not None:
        return Resuming(checkpoint=RESUME, saving=told.saving)
    others = (option for option in _USUAL_FOLDERS if option not in own)
    folder = next((option for option in others if value_of(words, (option,)) is not None), "")
    return Resuming(folder=folder, saving=told.saving)


def is_resumed(way: Resuming, words: Sequence[str], *, saved: bool) -> bool:
    """Whether a script that is started with these arguments goes on from a checkpoint; `saved`: one lies where it
    saves."""
    if way.from_output and not way.switches:
        return saved
    named = filter(None, (RESUME, way.checkpoint, way.folder))
    given = [value for option in named if (value := value_of(words, (option,))) is not None]
    switched = any(value_of(words, (option,)) is not None for option in way.switches)
    return switched or any(value.lower() not in _FROM_NOTHING for value in given)


def can_load(way: Resuming, one: Checkpoint) -> bool:
    """Whether arguments can make the script load this one: without a tag an engine loads the newest."""
    if one.saved_by is not SavedBy.ENGINE:
        return bool(way.checkpoint)
    return bool(way.checkpoint or (way.tag and (way.folder or way.from_output))) or (
        one.newest and bool(way.folder or way.from_output)
    )


def options_for(way: Resuming, one: Checkpoint, plan: Plan) -> tuple[tuple[str, str | None], ...]:
    """Options and their values ("" without one, None: taken out) that `can_load` told of."""
    changes: dict[str, str | None] = dict.fromkeys(way.not_beside)
    if way.checkpoint:
        changes[way.checkpoint] = one.path
    elif way.folder:
        changes[way.folder] = one.folder
    elif way.from_output and way.saving:
        typed = value_of(plan.arguments, way.saving)
        changes[way.saving[0]] = posixpath.join(plan.working_directory, typed) if typed else one.folder
    if way.tag and not way.checkpoint:
        changes[way.tag] = one.name
    changes |= dict.fromkeys(way.switches, "")
    return tuple(changes.items())


def note_on(way: Resuming, found: Sequence[Checkpoint], problem: str = "") -> Said | None:
    """Why not every checkpoint of a run can be resumed from; None where each can. `problem`: why its script could not
    be read."""
    left = [one for one in found if one.complete and not can_load(way, one)]
    if not left:
        return None
    if len(left) < sum(one.complete for one in found):
        return said("resuming", "newest_only")
    return _none_can_be_loaded(way, left[0], problem)


def _none_can_be_loaded(way: Resuming, one: Checkpoint, problem: str) -> Said:
    if one.saved_by is SavedBy.ENGINE and (way.folder or way.from_output):
        return said("resuming", "newest_is_anothers", checkpoint=one.name)
    if problem:
        return said("resuming", "script_unreadable", checkpoint=one.name, problem=problem)
    if one.saved_by is SavedBy.TRAINER and way.ignores:
        return said("resuming", "option_unused", option=RESUME)
    if way.from_output:
        return said("resuming", "by_itself", checkpoint=one.name)
    if way.loads:
        return said("resuming", "option_unknown", checkpoint=one.name)
    return _in_code(one)


def _in_code(one: Checkpoint) -> Said:
    """What the script would have to call."""
    if one.saved_by is SavedBy.ENGINE:
        return said("resuming", "call_engine", checkpoint=one.name, folder=one.folder)
    if one.saved_by is SavedBy.ACCELERATE:
        return said("resuming", "call_accelerate", checkpoint=one.name, path=one.path)
    return said("resuming", "call_trainer", checkpoint=one.name, path=one.path)


def asked_folder(way: Resuming, plan: Plan) -> tuple[str, str, bool] | None:
    """The option, the absolute path and whether it is a checkpoint's own (else the folder it lies in), where a launch
    names what it goes on from; a tag is part of the path."""
    words = plan.arguments
    for option, own in ((way.checkpoint or RESUME, True), (way.folder, False)):
        if option and (given := value_of(words, (option,))):
            path = posixpath.normpath(posixpath.join(plan.working_directory, given))
            tag = value_of(words, (way.tag,)) if way.tag and not own else None
            return option, posixpath.join(path, tag) if tag else path, own or bool(tag)
    return None
