"""Trying a trained model as values: what is asked of it, what it takes to load, and how far the answer is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dsgui.core.afterwards.jobs import Room
from dsgui.core.errors import PlanError
from dsgui.core.launch.plan import Plan
from dsgui.core.script.words import value_of
from dsgui.core.sizes import size
from dsgui.core.texts.saying import Said, said, wrong

PLACE = "{prompt}"
USUAL_TOKENS, MOST_TOKENS = 64, 1024
MOST_PROMPT = 20_000  # characters
MOST_TEMPLATE = 2000
MOST_ANSWER = 20_000
_MOST_TEMPERATURE, _MOST_SEED = 2.0, (1 << 32) - 1
DEVICES = ("auto", "cpu", "gpu")
_IMPORTS_BYTES = 1 << 30  # torch, transformers and peft, before any tensor
_SPARE = 1.05
_PREFIX = ("--source_prefix",)
# What our recipes put around a text when they are not told otherwise.
_TEMPLATES = {"summarization.py": f"summarize:{PLACE}", "instruction_lora.py": f"{PLACE}\n"}


@dataclass(frozen=True, slots=True)
class Weights:
    """What is loaded: folders, "" for none. `adapter` goes over `model`; `base` stands beside it, to be compared."""

    model: str
    adapter: str = ""
    base: str = ""
    tokenizers: tuple[str, ...] = ()
    size_bytes: int = 0
    device: str = "auto"


@dataclass(frozen=True, slots=True)
class Question:
    """`temperature` 0 is greedy. `beside`: the base model is asked the same."""

    prompt: str
    tokens: int = USUAL_TOKENS
    temperature: float = 0.0
    seed: int = 0
    beside: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Question":
        """From what somebody typed. Raises `PlanError`."""
        template = str(given.get("template") or PLACE)[: MOST_TEMPLATE + 1]
        typed = str(given.get("prompt") or "")
        if not typed.strip():
            raise PlanError(wrong("try.no_prompt"))
        if len(typed) > MOST_PROMPT or len(template) > MOST_TEMPLATE:
            raise PlanError(wrong("try.long_prompt", count=f"{len(typed):,}", most=f"{MOST_PROMPT:,}"))
        if PLACE not in template:
            raise PlanError(wrong("try.template", place=PLACE))
        tokens = int(_number("tokens", given.get("tokens"), USUAL_TOKENS, 1, MOST_TOKENS, whole=True))
        seed = int(_number("seed", given.get("seed"), 0, 0, _MOST_SEED, whole=True))
        temperature = _number("temperature", given.get("temperature"), 0.0, 0, _MOST_TEMPERATURE)
        return cls(template.replace(PLACE, typed), tokens, temperature, seed, bool(given.get("beside")))

    def to_json(self) -> dict[str, Any]:
        sampling = {"tokens": self.tokens, "temperature": self.temperature, "seed": self.seed}
        return {"prompt": self.prompt, "beside": self.beside, **sampling}


@dataclass(frozen=True, slots=True)
class Going:
    """`phase`: "starting", "loading", "generating", "" once it is over; of which model: "trained" or "base". `answers`
    by those names, as far as they are. `loaded`: the process is there and waits for the next question."""

    run_id: str
    source: str
    phase: str = "starting"
    of: str = ""
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    loaded: bool = False
    problem: Said | None = None

    def to_json(self) -> dict[str, Any]:
        facts = str(said("try", "facts", **self.facts)) if self.facts else ""
        told = {"phase": self.phase, "of": self.of, "facts": facts, "loaded": self.loaded}
        problem = str(self.problem) if self.problem else ""
        return {**told, "source": self.source, "answers": dict(self.answers), "problem": problem}


def template_of(plan: Plan) -> str:
    """What a training put around its texts, as far as its arguments or its script say."""
    prefix = value_of(plan.arguments, _PREFIX)
    if prefix is not None:
        return prefix + PLACE
    return _TEMPLATES.get(plan.script.rpartition("/")[2], PLACE) if "/recipes/" in plan.script else PLACE


def needed_bytes(weights: Weights) -> int:
    """Of memory, at its peak."""
    return int(weights.size_bytes * _SPARE) + _IMPORTS_BYTES


def refusal(weights: Weights, room: Room) -> Said | None:
    """Why it isn't loaded: the host's memory, where every model goes first."""
    needed = needed_bytes(weights)
    if room.memory_bytes is None or needed <= room.memory_bytes:
        return None
    return said("try", "no_memory", needed=size(needed), free=size(room.memory_bytes))


def _number(name: str, typed: Any, usual: float, low: float, high: float, *, whole: bool = False) -> float:
    text = str(typed if typed is not None else "").strip()
    try:
        value = (int(text) if whole else float(text)) if text else usual
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise PlanError(
            wrong("try.number", name=said("try", name), typed=text[:20], low=f"{low:g}", high=f"{high:.10g}")
        )
    return value
