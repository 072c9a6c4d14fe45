"""From a config, what it is checked against and a choice of model to the question that the memory model is asked."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.filling import ACCUMULATION, MICRO, TRAIN, Unknown
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.pointer import lookup
from dsgui.core.config.schema import Schema
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import USUAL_LENGTH, ModelChoice
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.question import Group, Model, Question
from dsgui.core.memory.settings import STAGE
from dsgui.core.texts.saying import Said, said
from dsgui.core.validation.resolve import resolve

# transformers' names of a model's width (each config's attribute_map), the first that is there counts.
_HIDDEN = ("hidden_size", "d_model", "n_embd", "n_embed", "dim")
_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
_SOLVED = (TRAIN, MICRO, ACCUMULATION)


def mend_first(findings: Iterable[Finding]) -> CannotSay | None:
    """Of a config that would be refused nothing is said."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    return CannotSay(said("memory_cannot", "mend", problem=errors[0].says)) if errors else None


def by_arguments(why: CannotSay, choice: ModelChoice) -> CannotSay:
    """Why there is no model; of one that nobody entered, who names it."""
    is_unfound = why.why.code in ("no_size_in_name", "not_found")
    if not (is_unfound and choice.is_by_arguments):
        return why
    return CannotSay(said("memory_cannot", "named_by_arguments", model=choice.named))


def question_for(
    config: Mapping[str, Any],
    context: Context,
    model: Model,
    choice: ModelChoice,
    schema: Schema,
    micro_batch: int | None = None,
) -> Question | CannotSay:
    """`context.arguments` fill what is `"auto"`; the model tells its width. `micro_batch` counts before the config's.
    `schema` is that of all releases."""
    arguments = context.arguments or TrainingArguments()
    if micro_batch:
        arguments = replace(arguments, per_device_train_batch_size=micro_batch)
    # What the script computes is taken to be the Trainer's default, as where nobody said anything of its arguments.
    known = arguments.hidden_size or hidden_size(model.config)
    arguments = replace(arguments, hidden_size=known, unknown=frozenset())
    resolution = resolve(config, replace(context, arguments=arguments), schema)
    given = {pointer: lookup(resolution.config, pointer) for pointer in _SOLVED}
    solved = given | {value.pointer: value.value for value in resolution.values if value.pointer in _SOLVED}
    micro = micro_batch or _whole(solved[MICRO])
    if micro is None:
        return CannotSay(said("memory_cannot", "micro_batch"))
    settled = settle(resolution.config)
    settled |= {pointer[1:]: value for pointer, value in solved.items() if _whole(value)} | {MICRO[1:]: micro}
    group = Group(context.world_size, context.nodes)
    by_decay = context.integration is Integration.HF
    return Question(model, settled, choice.workload(micro), group, context.release, by_decay)


def made_of(question: Question, integration: Integration, *, zero_init: bool = False) -> Made:
    """How the script makes the model: each rank all of it on the host, in the dtype that config.json names. At stage 3
    the HF Trainer has it divided as it grows (transformers/integrations/deepspeed.py: HfDeepSpeedConfig), and a native
    script with `zero_init` does the same."""
    config = question.model.config
    told = str(config.get("dtype") or config.get("torch_dtype") or "").removeprefix("torch.")
    usual = 2 if question.model.guessed else 4  # transformers takes fp32 where config.json names no dtype
    return Made(element=_BYTES.get(told, usual), inside=zero_init or integration is Integration.HF)


def assumed_of(choice: ModelChoice, question: Question, made: Made) -> tuple[Said, ...]:
    """What was taken where nothing was said."""
    length = () if choice.length else (said("memory_told", "usual_length", length=str(USUAL_LENGTH)),)
    whole = lookup(question.config, STAGE) == 3 and not made.inside and question.group.ranks > 1
    return (*length, *((said("memory_told", "made_whole"),) if whole else ()))


def guess_of(model: Model) -> tuple[Said, ...]:
    """Marks a verdict whose model's shape was guessed."""
    if not model.guessed:
        return ()
    code = "planned_as" if model.planned_as else "guessed"
    return (said("memory_told", code, size=model.planned_as or model.name, model=model.name),)


def hidden_size(config: Mapping[str, Any]) -> int | None:
    """The width of a model, which the HF Trainer fills bucket sizes from; of one with several parts its largest, as
    `trainer_config_finalize` does (transformers/integrations/deepspeed.py)."""
    parts = [config, *(part for part in (config.get("text_config"),) if isinstance(part, Mapping))]
    for part in parts:
        for name in _HIDDEN:
            if found := _whole(part.get(name)):
                return found
    several = config.get("hidden_sizes")
    known = [one for one in several if _whole(one)] if isinstance(several, list) else []
    return max(known, default=None)


def settle(config: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is `"auto"` or not known: DeepSpeed's own default is taken there."""
    settled = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            settled[key] = settle(value)
        elif value != "auto" and not isinstance(value, Unknown):
            settled[key] = value
    return settled


def _whole(value: object) -> int | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and value >= 1 and value == int(value)
    return int(value) if usable and isinstance(value, int | float) else None
