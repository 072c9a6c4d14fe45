"""Which of a diagnosis's changes to offer: none that leads back to settings an earlier run of the chain failed with,
none that the checks object to, and none that DeepSpeed itself refuses. Advice that goes in circles is worse than
none."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dsgui.core.config.document import Document
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.diagnosis.diagnosis import Diagnosis
from dsgui.core.diagnosis.remedies import MICRO, MICRO_OPTION, Remedy
from dsgui.core.errors import DocumentError
from dsgui.core.runs.changed import Difference, in_config, in_environment, in_words
from dsgui.core.runs.clone import changed_config, changed_environment, changed_words
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, listed, said

_SETS_DIRECTORY = "or_working_directory"
_SEES_OUTPUT = "see_output"
_QUOTES = "last_line"  # the code of a meaning that is a line of the output
# The changes whose labels are things, not what to do.
_THINGS = frozenset(
    {
        *("checkpoint_activations", "clip_gradients", "expandable_segments", "fp32", "instead", "another_port"),
        *("micro_batch_1_without_auto", "offload_states", "train_batch"),
    }
)
_AS_WRITTEN = frozenset({"offload_parameters", "python_path", "stage", "without_overlap"})  # they begin with a name
# What a change does that an advice asks for, by the change's code: beside the button the sentence would say it again.
_OFFERED: Mapping[str, frozenset[str]] = {
    "add_zero_block": frozenset({"zero_block"}),
    "allow_optimizer": frozenset({"allow_untested_optimizer"}),
    "bf16_for_fp16": frozenset({"instead"}),
    "bf16_or_fp32": frozenset({"instead", "fp32"}),
    "fp16_or_fp32": frozenset({"instead", "fp32"}),
    "free_port": frozenset({"another_port"}),
    "gradient_checkpointing": frozenset({"checkpoint_activations"}),
    "no_loader_workers": frozenset({"no_loader_workers"}),
    "offload_optimizer": frozenset({"offload_states"}),
    "or_keep_optimizer": frozenset({"keep_client_optimizer"}),
    "partition_or_offload": frozenset({"offload_parameters", "offload_states", "stage"}),
    "python_path": frozenset({"python_path"}),
    "remove_deepspeed": frozenset({"without_second"}),
    "set_keys_to_auto": frozenset({"to_auto"}),
    "set_train_batch": frozenset({"derived_train_batch", "train_batch"}),
    "smaller_micro_batch": frozenset({"smaller_micro_batch"}),
    "use_cpu": frozenset({"use_cpu", "use_cpu_and"}),
    "use_numbers": frozenset({"micro_batch_1_without_auto", "without_auto"}),
    "without_tf32": frozenset({"without_tf32"}),
}
_MICRO_BATCH = frozenset({MICRO, MICRO_OPTION})
_TOLD_BY = 80  # characters at the beginning of a message that tell it from others


@dataclass(frozen=True, slots=True)
class Tried:
    """Settings that a run had, or would have: its config's text and the script's arguments. `failed` is what its
    diagnosis said, None where it did not fail, and `remedies` what that proposed."""

    run_id: str
    config_text: str
    arguments: tuple[str, ...]
    failed: Said | None = None
    remedies: tuple[Remedy, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def changed(self, remedy: Remedy) -> "Tried":
        text, _ = changed_config(self.config_text, remedy)
        words, _ = changed_words(self.arguments, remedy)
        return Tried(self.run_id, text, words, environment=changed_environment(self.environment, remedy)[0])

    def values_at(self, remedies: Sequence[Remedy]) -> list[Any]:
        """What these settings have where the remedies make their changes; a block that is off counts as absent."""
        config = _value(self.config_text)
        pointers = [change.pointer for one in remedies if one.fix for change in one.fix.changes]
        held = (lookup(config, pointer) for pointer in pointers)
        given = [value_of(self.arguments, (option,)) for one in remedies for option, _ in one.options]
        variables = [self.environment.get(name) for one in remedies for name, _ in one.variables]
        return [*(None if value is MISSING or value is False else value for value in held), *given, *variables]


# What stands in the way of some settings, each objection under a name that stays the same while it does.
Objections = Callable[[Tried], Iterable[tuple[str, str]]]
# How DeepSpeed itself refuses some settings; "" where it does not, or was not asked.
Refusal = Callable[[Tried], str]


@dataclass(frozen=True, slots=True)
class Offer:
    """The diagnosis with the changes that may help, and in `set_aside` why others are not offered. `cause`: of one that
    died of memory, what took it; `checked` of its changes: for which machine, or that they were not; `does` by the keys
    of its changes: what each sets, as it was and as it will be; `away`: where a clone goes that can't train here."""

    diagnosis: Diagnosis
    set_aside: tuple[Said, ...] = ()
    cause: tuple[Said, ...] = ()
    checked: Said | None = None
    does: Mapping[str, str] = field(default_factory=dict)
    away: Said | None = None

    def to_json(self) -> dict[str, Any]:
        found = self.diagnosis
        remedies = [_told(one) | {"does": self.does.get(one.key, "")} for one in found.remedies]
        remedy = remedies[0] if remedies else None
        told = {"set_aside": list(map(str, self.set_aside)), "cause": list(map(str, self.cause))}
        checked = {"checked": str(self.checked or ""), "away": str(self.away or ""), "offered": self._offered()}
        places = {"on_launch": self._advised(_SETS_DIRECTORY), "in_output": self._advised(_SEES_OUTPUT)}
        changes = {"remedy": remedy, "remedies": remedies, "ends": self.ends}
        return found.to_json() | changes | self._quoted | places | told | checked

    def _advised(self, code: str) -> int | None:
        """The place of an advice that the page has a button for: to set the working directory, which a clone's page has
        a field for; to see the output."""
        return next((at for at, one in enumerate(self.diagnosis.advice) if one.code == code), None)

    def _offered(self) -> list[int]:
        """The places of the advice that one of the changes follows."""
        codes = {str(one.label.code) for one in self.diagnosis.remedies}
        codes |= {"smaller_micro_batch"} if any(map(_lessens_micro_batch, self.diagnosis.remedies)) else set()
        return [at for at, one in enumerate(self.diagnosis.advice) if not codes.isdisjoint(_OFFERED.get(one.code, ()))]

    @property
    def _quoted(self) -> dict[str, str]:
        """What the page sets apart as a line of the output, and what is said before it."""
        found = self.diagnosis
        if found.meaning.code != _QUOTES:
            return {}
        line = found.evidence or str(dict(found.meaning.given).get("line", ""))  # an older dsgui kept no evidence of it
        return {"meaning": str(said("diagnosis_meanings", "last_line_is")), "quote": line}

    @property
    def ends(self) -> str:
        """What to say where there were changes and none is left; "" elsewhere."""
        return str(said("set_aside", "nothing_left")) if self.set_aside and not self.diagnosis.remedies else ""


def _told(remedy: Remedy) -> dict[str, str]:
    """`fits`: of a change that was made to fit, how it would; in `label` that stands behind what it is."""
    fits = said("set_aside", "fits", needs=dict(remedy.label.given)["needs"]) if _was_sought(remedy) else ""
    return {"key": remedy.key, "label": str(remedy.label), "button": str(_button(remedy)), "fits": str(fits)}


def _lessens_micro_batch(remedy: Remedy) -> bool:
    changes = remedy.fix.changes if remedy.fix else ()
    return not _MICRO_BATCH.isdisjoint((*(one.pointer for one in changes), *(option for option, _ in remedy.options)))


def told_of(now: Tried, found: Diagnosis) -> dict[str, str]:
    """What each change sets, by its key; "" where only the clone can say."""
    return {one.key: str(listed(each.told for each in _differences(now, now.changed(one)))) for one in found.remedies}


def _differences(now: Tried, after: Tried) -> list[Difference]:
    words, environment = in_words(now.arguments, after.arguments), in_environment(now.environment, after.environment)
    try:
        return [*in_config(now.config_text, after.config_text), *words, *environment]
    except DocumentError:
        return [*words, *environment]


def _was_sought(remedy: Remedy) -> bool:
    return remedy.label.code == "cheapest"


def _button(remedy: Remedy) -> Said:
    """What the page's button for a change says: which one it is, in few words."""
    label = remedy.label
    if label.code == "smaller_micro_batch":
        return said("set_aside", "button_micro_batch", micro=dict(label.given)["micro"])
    if label.code == "learning_rate":
        return said("set_aside", "button_learning_rate", value=dict(label.given)["value"])
    if label.code in _AS_WRITTEN:
        return said("set_aside", "button_with_name", change=label)
    if _was_sought(remedy):
        moves = str(dict(label.given)["moves"])
        is_name = any(map(str.isupper, moves.partition(" ")[0][1:]))  # “ZeRO stage 3”
        return said("set_aside", "button_with_name", change=moves if is_name else moves[:1].lower() + moves[1:])
    return said("set_aside", "button_with" if label.code in _THINGS else "button", change=label)


def offer(
    found: Diagnosis,
    now: Tried,
    earlier: Sequence[Tried],
    objections: Objections,
    refusal: Refusal = lambda tried: "",
) -> Offer:
    """`earlier` are the runs that this one was cloned from, its parent first. DeepSpeed is asked last, and only until
    there is a change to offer: that takes a while."""
    before = dict(objections(now)) if found.remedies else {}
    kept: list[Remedy] = []
    aside: list[Said] = []
    for remedy in found.remedies:
        why = _why_not(remedy, now, earlier, before, objections)
        why = why or (None if kept else _refused(remedy, now, found, refusal))
        if why:
            aside.append(why)
        else:
            kept.append(remedy)
    offered = replace(found, remedies=tuple(kept))
    return Offer(offered, tuple(aside), does=told_of(now, offered))


def _why_not(
    remedy: Remedy, now: Tried, earlier: Sequence[Tried], before: dict[str, str], objections: Objections
) -> Said | None:
    if remedy.is_empty:
        return None  # the same again is all there is to do
    after = now.changed(remedy)
    if (after.config_text, after.arguments, after.environment) == (now.config_text, now.arguments, now.environment):
        return said("set_aside", "had", change=remedy.label)
    if (failed := _failed_so(remedy, after, earlier)) is not None and failed.failed:
        return said("set_aside", "failed", change=remedy.label, run=failed.run_id, why=failed.failed)
    objection = next((message for name, message in objections(after) if name not in before), None)
    return None if objection is None else said("set_aside", "checks", change=remedy.label, message=objection)


def _refused(remedy: Remedy, now: Tried, found: Diagnosis, refusal: Refusal) -> Said | None:
    """What it refuses about the settings as they were is held against a change only where the run failed of that."""
    after = now.changed(remedy)
    message = refusal(after) if after.config_text != now.config_text else ""
    if not message or (not _is_failure(message, found) and message == refusal(now)):
        return None
    return said("set_aside", "deepspeed", change=remedy.label, message=message)


def _is_failure(message: str, found: Diagnosis) -> bool:
    beginning = " ".join(found.evidence.split())[:_TOLD_BY]
    return bool(beginning) and message.startswith(beginning)


def _failed_so(remedy: Remedy, after: Tried, earlier: Sequence[Tried]) -> Tried | None:
    """The nearest run that failed with what the remedy would bring back. What its own diagnosis proposed to change is
    looked at too; all else may have been edited meanwhile."""
    for one in earlier:
        places = (remedy, *one.remedies)
        if one.failed and one.values_at(places) == after.values_at(places):
            return one
    return None


def _value(text: str) -> Any:
    try:
        return Document(text).value
    except DocumentError:
        return MISSING
