"""`memory --ask`: the dry run in a target environment, beside the formula; how far it is goes to stderr."""

import argparse
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dsgui.commands.asking import release_of
from dsgui.commands.model_memory import judged
from dsgui.commands.validate import check, given_arguments
from dsgui.core.errors import TargetError
from dsgui.core.memory.answer import Answer, CannotSay, Moment
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.fits.asked import Asked, with_keys
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.memory_report import word
from dsgui.core.memory.question import Question
from dsgui.core.texts.saying import as_told, said, words
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.memory.asking import LIMIT_S, dry_run
from dsgui.shell.memory.rehearsal import STEPS

_OF_A_STEP = (Moment.FORWARD, Moment.BACKWARD, Moment.STEP)
__all__ = ["LIMIT_S", "ask"]


def ask(options: argparse.Namespace) -> Asked:
    """Both verdicts on the file that the options name. Raises `DsguiError`."""
    checker, arguments = Checker(Catalog().schema()), given_arguments(options)
    try:
        release, missing = release_of(options.python), None
    except TargetError as error:
        release, missing = "", CannotSay(as_told(str(error)))
    checked = check(options.file, checker, options, arguments, release)
    formula = judged(checked, checker, options, arguments)
    if missing:
        return Asked(formula, missing)
    rehearsal = DryRun(options.python, release, options.ask_timeout, formula)
    return Asked(formula, judged(checked, checker, options, arguments, rehearsal.answer))


@dataclass(frozen=True, slots=True)
class DryRun:
    """One, of the environment of `python`, which has `release`."""

    python: str
    release: str
    limit_s: float
    formula: Fitted | CannotSay

    def answer(self, question: Question, made: Made) -> Answer | CannotSay:
        if question.release != self.release:
            given = {"release": question.release, "installed": self.release, "python": self.python}
            return CannotSay(said("memory_notes", "not_installed", **given))
        with interrupted() as cancelled:
            real = dry_run(question, self.python, made=made, progress=show, cancelled=cancelled, limit_s=self.limit_s)
        if isinstance(real, CannotSay) or isinstance(self.formula, CannotSay):
            return real
        return with_keys(real, self.formula.answer)


def show(phase: str, step: int) -> None:
    """A line for each phase."""
    if phase == "end":
        return
    told = word("memory_moments", phase) if phase in list(Moment) else words("commands", "dry_model")
    if phase in _OF_A_STEP:
        line = words("commands", "dry_step", step=str(step + 1), steps=str(STEPS), phase=told)
    else:
        line = words("commands", "dry_phase", phase=told)
    print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def interrupted() -> Iterator[Callable[[], bool]]:
    """Asks whether Ctrl-C was pressed, which ends nothing meanwhile; pressed again it does what it did before."""
    pressed = threading.Event()

    def note(*_: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
