"""Cloning: a run's plan as the launch request that would produce it, with what should differ this time."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from dsgui.core.config.document import Document
from dsgui.core.config.pointer import dotted
from dsgui.core.diagnosis.remedies import Remedy
from dsgui.core.errors import DocumentError
from dsgui.core.launch.plan import LaunchRequest, Plan
from dsgui.core.script.words import with_option
from dsgui.core.texts.saying import listed, said


@dataclass(frozen=True, slots=True)
class Clone:
    """`request` includes the config; `notes` say what differs from the original run, `in_config` whether its config
    does."""

    request: LaunchRequest
    notes: tuple[str, ...] = ()
    in_config: bool = False


def clone(plan: Plan, config_text: str, remedy: Remedy | None = None) -> Clone:
    """The request of `plan`, changed by `remedy`; it names the original run. The port is chosen again, since the old
    one may be taken."""
    text, notes = changed_config(config_text, remedy)
    words, more = changed_words(plan.arguments, remedy)
    environment, named = changed_environment(plan.environment, remedy)
    # The run's own folder is a new one for each run.
    own_folder = plan.working_directory == plan.run_directory
    changed = {
        "arguments": shlex.join(words),
        "environment": environment,
        "master_port": None,
        "working_directory": "" if own_folder else plan.working_directory,
        "parent": plan.run_id,
    }
    request = LaunchRequest(**(plan.spec() | changed), config_text=text)
    return Clone(request, (*notes, *more, *named, *_missing_secrets(plan)), text != config_text)


def _missing_secrets(plan: Plan) -> tuple[str, ...]:
    if not plan.secret_names:
        return ()
    return (str(said("cloning", "not_stored", names=listed(plan.secret_names))),)


def changed_config(text: str, remedy: Remedy | None) -> tuple[str, tuple[str, ...]]:
    """The config with the remedy's fix, and what that changed. A config that can't be read stays unchanged."""
    if remedy is None or remedy.fix is None:
        return text, ()
    try:
        changed = remedy.fix.apply(Document(text)).text
    except DocumentError as error:
        return text, (str(said("cloning", "config_unchanged", why=str(error))),)
    return changed, tuple(
        str(said("cloning", "removed", key=dotted(one.pointer)))
        if one.literal is None
        else str(said("cloning", "set", key=dotted(one.pointer), value=one.literal))
        for one in remedy.fix.changes
    )


def changed_words(words: tuple[str, ...], remedy: Remedy | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The script's arguments with the remedy's options, and what that changed."""
    notes = []
    for option, value in remedy.options if remedy else ():
        changed = with_option(words, option, value)
        if changed != words:
            notes.append(str(said("cloning", "removed", key=option)) if value is None else f"{option} {value}".strip())
        words = changed
    return words, tuple(notes)


def changed_environment(
    variables: Mapping[str, str], remedy: Remedy | None
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The run's variables with the remedy's, and what that changed."""
    new = {name: value for name, value in (remedy.variables if remedy else ()) if variables.get(name) != value}
    return {**variables, **new}, tuple(f"{name}={value}" for name, value in new.items())
