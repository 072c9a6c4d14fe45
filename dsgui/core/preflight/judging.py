"""What dsgui says about a plan and a config, in surroundings that are known: the rows of the checks before a start, and
the question to put to DeepSpeed itself."""

from dataclasses import replace

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.loose_json import tidy
from dsgui.core.errors import DocumentError
from dsgui.core.launch.plan import Plan
from dsgui.core.machine.verdicts import Row
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import of_words
from dsgui.core.memory.fits.fitting import Case, Fitted
from dsgui.core.oracle.answers import Question
from dsgui.core.preflight.filled_by_script import as_filled, filled_by, keys_filled
from dsgui.core.preflight.launch_findings import launch_findings
from dsgui.core.preflight.memory_check import fitted_case, with_memory
from dsgui.core.preflight.preflight import preflight
from dsgui.core.preflight.surroundings import Launch, Surroundings, context_of
from dsgui.core.validation.checker import Checker


def rows_around(plan: Plan, text: str, around: Surroundings, checker: Checker) -> tuple[Row, ...]:
    """The checks before a start."""
    return preflight(with_config(Launch.of(plan, {}), text, around, checker, around.arguments_of(plan)), around)


def with_config(
    launch: Launch, text: str, around: Surroundings, checker: Checker, arguments: TrainingArguments | None = None
) -> Launch:
    """The launch with its config read and checked for its ranks, in the DeepSpeed that is there, and for the HF
    Trainer's `arguments` where they are known."""
    context, here = context_of(launch, around), context_of(launch.unplanned, around)
    launch = replace(as_script_takes(launch, around), devices=context.devices)
    try:
        document = _document(text, context)
    except DocumentError as error:
        return replace(launch, unreadable=str(error))
    filler = filled_by(around, launch)
    by = filler(document.value) if filler else None
    found = launch_findings(
        lambda one: as_filled(checker.findings(document, one, fixes=False), by), context, here, arguments
    )
    launch = replace(found.told_of(launch, document.value), filled=keys_filled(document.value, by))
    return with_memory(launch, around, here, checker.schema, arguments)


def as_script_takes(launch: Launch, around: Surroundings) -> Launch:
    """The launch with what the script's source and its file of arguments tell of it."""
    choice = launch.choice.over(of_words(around.taken(launch.arguments).words_with_file))
    return replace(launch, choice=choice, named=around.names_this(launch))


def memory_of(plan: Plan, text: str, around: Surroundings, checker: Checker) -> Fitted | CannotSay | None:
    """What a plan takes of memory; None where no model is named."""
    return with_config(Launch.of(plan, {}), text, around, checker, around.arguments_of(plan)).memory


def case_of_plan(
    plan: Plan, text: str, around: Surroundings, checker: Checker
) -> tuple[Case, Fitted | CannotSay] | None:
    """What is judged of a plan's memory, and the verdict; None where no model is named, or nothing can be judged."""
    arguments = around.arguments_of(plan)
    launch = with_config(Launch.of(plan, {}), text, around, checker, arguments)
    if not isinstance(launch.memory, Fitted):
        return None
    return fitted_case(launch, around, context_of(launch.unplanned, around), checker.schema, arguments)


def question_of(plan: Plan, text: str, around: Surroundings) -> Question | None:
    """What to ask DeepSpeed about a plan's config; None where another machine's DeepSpeed would read it."""
    launch = Launch.of(plan, {})
    if launch.elsewhere:
        return None
    return Question.of(text, replace(context_of(launch.unplanned, around), arguments=around.arguments_of(plan)))


def _document(text: str, context: Context) -> Document:
    """Native DeepSpeed reads hjson too; the HF Trainer strict JSON alone."""
    try:
        return Document(text)
    except DocumentError:
        if context.integration is Integration.HF:
            raise
        return Document(tidy(text).text)
