"""Trials are offered where they can say something; where not, the ladder says why."""

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.launch.plan import Place
from dsgui.core.machine.hardware import Hardware, card_named
from dsgui.ui.config.context_bar import UNSEEN, Launched
from dsgui.ui.config.ladder import untried

CPU, A100 = Hardware("this", "CPU", "cpu"), card_named("a100-80")


class Elsewhere(Place):
    """Any that is not this machine."""


@pytest.mark.parametrize(
    ("fits", "card", "launched", "has_gpus", "why"),
    [
        (["does_not_fit", "fits"], A100, UNSEEN, True, ""),
        (["does_not_fit", "fits"], CPU, UNSEEN, False, ""),
        (["does_not_fit"], A100, UNSEEN, True, "No trials: none of these configs fits."),
        (["does_not_fit", "tight"], A100, UNSEEN, True, "No trials: none of these configs is sure to fit."),
        (["cannot_say"], A100, UNSEEN, True, "No trials: none of these configs is sure to fit."),
        ([], A100, UNSEEN, True, "No trials: none of these configs fits."),
        (["fits"], A100, UNSEEN, False, "No trials: they are planned for GPUs, and this machine has none."),
        (["fits"], A100, Launched(Elsewhere()), False, ""),
    ],
)
def test_it_says_why_nothing_is_tried(fits, card, launched, has_gpus, why):
    assert untried(fits, Context(Integration.HF, hardware=(card,)), launched, has_gpus) == why
