"""Trials: short runs of one script with several configs, beside what was estimated of them."""

import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dsgui.core.launch.plan import LaunchRequest, Plan, WhenBusy
from dsgui.core.launch.plan_json import place_to_json
from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import RunSummary
from dsgui.core.script.words import value_of, with_option
from dsgui.core.texts.saying import Said, said

TAG = "trial"
STEPS = 20
MINUTES = 30  # a run that tells of no step ends, too
_OUTPUT = "--output_dir"


def trial_of(request: LaunchRequest, config_text: str, added: Iterable[str], name: str, key: str) -> LaunchRequest:
    """The run of `request` with another config, stopped early, once what it trains on is free."""
    return replace(
        request,
        name=name,
        config_text=config_text,
        arguments=_with(request.arguments, tuple(added)),
        when_busy=WhenBusy.WAIT,
        stop_after_steps=STEPS,
        stop_after_minutes=MINUTES,
        trial=f"{key}.{circumstances(request)}",
        parent="",
        notify="",
        preset="",
    )


def apart(plan: Plan) -> Plan:
    """Writing into the run's own folder where its arguments name one for the training's results: a trial that comes to
    the end of a short training would save over them."""
    if value_of(plan.arguments, (_OUTPUT,)) is None:
        return plan
    return replace(plan, arguments=with_option(plan.arguments, _OUTPUT, f"{plan.run_directory}/output"))


def circumstances(request: LaunchRequest) -> str:
    """The same for runs that differ in nothing but their config."""
    asked = {
        "script": request.script,
        "arguments": request.arguments,
        "devices": [request.ranks, request.gpu_indices, place_to_json(request.place)],
        "environment": dict(request.environment),
        "python": request.target_python,
        "folder": request.working_directory,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:12]


def newest(runs: Iterable[RunSummary], keys: Iterable[str], about: str) -> Mapping[str, RunSummary]:
    """The last trial of each step, of those in these circumstances; `runs` newest first."""
    wanted, found = {f"{key}.{about}": key for key in keys}, dict[str, RunSummary]()
    for run in runs:
        if run.trial in wanted:
            found.setdefault(wanted[run.trial], run)
    return found


def as_json(run: RunSummary) -> dict[str, Any]:
    """What was measured: bytes, and seconds a step; None for what was not."""
    peak = run.peak or {}
    return {
        "run": run.run_id,
        "live": run.state.live,
        "says": str(outcome(run)),
        "failed": run.state in (RunState.FAILED, RunState.LOST, RunState.DAMAGED, RunState.FOREIGN),
        "step_s": run.step_s,
        "gpu": peak.get("gpu_bytes"),
        "host": peak.get("host_bytes"),
    }


def outcome(run: RunSummary) -> Said:
    """How it stands, in a few words."""
    state = said("states", run.state.value)
    if run.step is None:
        return state
    if run.state is RunState.STOPPED and run.step >= STEPS:
        return said("memory_page", "trial_done", steps=str(STEPS))
    return said("memory_page", "trial_at", state=state, step=str(run.step))


def _with(arguments: str | tuple[str, ...], added: tuple[str, ...]) -> tuple[str, ...]:
    """Options that are there already are set anew. Raises ValueError where the arguments can't be read."""
    words = tuple(shlex.split(arguments)) if isinstance(arguments, str) else arguments
    for place, word in enumerate(added):
        if word.startswith("--"):
            value = added[place + 1] if place + 1 < len(added) and not added[place + 1].startswith("--") else ""
            words = with_option(words, word, value)
    return words
