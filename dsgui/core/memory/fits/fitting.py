"""The whole way from a config and a choice of model to a verdict: for the page, the command line and the checks before
a start alike."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Finding
from dsgui.core.config.schema import Schema
from dsgui.core.memory import instant
from dsgui.core.memory.answer import Answer, CannotSay, Source
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.fits.inquiry import assumed_of, by_arguments, guess_of, made_of, mend_first, question_for
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Verdict, judge
from dsgui.core.memory.question import Group, Model, Question
from dsgui.core.texts.saying import Said, said

Answerer = Callable[[Question, Made], Answer | CannotSay]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A verdict with what it is about. `instead_of`: the model that the script's arguments name, where another is
    planned with."""

    question: Question
    answer: Answer
    room: Room
    verdict: Verdict
    instead_of: str = ""

    @property
    def is_asked(self) -> bool:
        return self.answer.source is Source.DRY_RUN

    @property
    def guesses(self) -> tuple[Said, ...]:
        """What marks the verdict: a shape that was guessed, a model that isn't the run's."""
        model = self.question.model
        other = said("memory_told", "instead_of", model=model.name, named=self.instead_of)
        return (*guess_of(model), *((other,) if self.instead_of else ()))


@dataclass(frozen=True, slots=True)
class Case:
    """`config` with its `findings` in `context`, the model as it was read, and how much of it. `micro_batch` counts
    before the config's."""

    config: Mapping[str, Any]
    context: Context
    findings: Iterable[Finding]
    model: Model | CannotSay
    choice: ModelChoice
    micro_batch: int | None = None

    def question(self, schema: Schema) -> Question | CannotSay:
        """`schema` is that of all releases."""
        if isinstance(self.model, CannotSay):
            return by_arguments(self.model, self.choice)
        refused = mend_first(self.findings)
        return refused or question_for(
            self.config, self.context, self.model, self.choice, schema, micro_batch=self.micro_batch
        )

    def made(self, question: Question) -> Made:
        """How its script makes the model."""
        return made_of(question, self.context.integration, zero_init=self.choice.zero_init)


def fit(
    case: Case, schema: Schema, room: Callable[[Group], Room], answer: Answerer = instant.answer
) -> Fitted | CannotSay:
    """`room` makes what there is for a group of ranks. A number is given whole or not at all."""
    question = case.question(schema)
    if isinstance(question, CannotSay):
        return question
    made = case.made(question)
    try:
        answered = answer(question, made)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # A config.json may hold anything: no number, rather than one made of half of it.
        return CannotSay(said("memory_cannot", "not_reckoned", model=question.model.name, problem=_words(error)))
    if isinstance(answered, CannotSay):
        return answered
    if case.context.integration is Integration.NATIVE:
        answered = answered.without_arguments()
    answered = replace(answered, assumed=(*assumed_of(case.choice, question, made), *answered.assumed))
    here = room(question.group)
    verdict = judge(answered, here.of_config(question.config))
    return Fitted(question, answered, here, verdict, case.choice.instead_of)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]
