"""What the reader has done that no run tells: answers, comparisons that were looked at, pictures that were found."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dsgui.core.decoding import sequence, text, whole

_MOST_STEPS, _MOST_CHOICES, _MOST_RUNS = 200, 20, 20


@dataclass(frozen=True, slots=True)
class Progress:
    """`answers`: the choice last made, by step; `compared`: the runs that were shown side by side; `found`: the steps
    whose picture was found."""

    answers: Mapping[str, int] = field(default_factory=dict)
    compared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    found: frozenset[str] = frozenset()

    def answered(self, step: str, choice: int) -> "Progress":
        return replace(self, answers={**self.answers, step: choice})

    def having_compared(self, step: str, runs: tuple[str, ...]) -> "Progress":
        return replace(self, compared={**self.compared, step: runs})

    def having_found(self, step: str) -> "Progress":
        return replace(self, found=self.found | {step})

    def without(self, steps: frozenset[str]) -> "Progress":
        """As if these steps had never been taken."""
        return Progress(
            {step: choice for step, choice in self.answers.items() if step not in steps},
            {step: runs for step, runs in self.compared.items() if step not in steps},
            self.found - steps,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "answers": dict(self.answers),
            "compared": {step: list(runs) for step, runs in self.compared.items()},
            "found": sorted(self.found),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Progress":
        """Raises ValueError, TypeError or AttributeError for what `to_json` did not write."""
        answers = dict(value.get("answers", {}))
        compared = dict(value.get("compared", {}))
        if len(answers) + len(compared) > _MOST_STEPS:
            raise ValueError("steps")
        return cls(
            {text(step): whole(choice, 0, _MOST_CHOICES) for step, choice in answers.items()},
            {text(step): tuple(map(text, sequence(runs, _MOST_RUNS))) for step, runs in compared.items()},
            frozenset(map(text, sequence(value.get("found", []), _MOST_STEPS))),
        )
