"""What is known of a run of which the plan or the state can't be read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.diagnosis.fact_card import Fact, fact_card
from dsgui.core.texts.saying import Said, listed, said

DAMAGED, FOREIGN = "damaged", "foreign"


@dataclass(frozen=True, slots=True)
class DamagedRun:
    """`told` says what is wrong with which file; `is_plan`: that is its plan, else its state. `kept` are the names of
    the files that can be read still, in its `folder`. `foreign` says what another version of dsgui wrote in it
    that this one does not know: then the file is sound. `problem` is what is said of all that elsewhere. Of a plan that
    can't be read `state` says how the run ended, and `command` what it ran, "" where neither is known."""

    told: str
    file: str
    is_plan: bool
    kept: Sequence[str]
    folder: str
    foreign: Said | None = None
    problem: str = ""
    state: Said | str = ""
    command: str = ""

    def to_json(self) -> dict[str, Any]:
        state = [Fact(_said("damaged_state_name"), self.state)] if self.state else []
        command = [Fact(_said("damaged_command_name"), self.command, is_path=True)] if self.command else []
        kept = [Fact(_said("damaged_kept_name"), listed(self.kept))] if self.kept else []
        facts = [*state, *command, *kept, Fact(_said("damaged_folder_name"), self.folder, is_path=True)]
        return self._card(facts) | {"problem": self.problem}

    def _card(self, facts: Sequence[Fact]) -> dict[str, Any]:
        if self.foreign:
            lost = [_said("another_plan_lost")] if self.is_plan else []
            told = (self.foreign, _said("another_first"), *lost)
            return fact_card(FOREIGN, _said("another_title", file=self.file), told, facts)
        what = _said("damaged_plan") if self.is_plan else _said("damaged_state")
        title, first = _said("damaged_title", file=self.file), _said("damaged_first", file=self.file)
        return fact_card(DAMAGED, title, (self.told, what, first), facts)


def _said(code: str, /, **given: str) -> Said:
    return said("reasons", code, **given)
