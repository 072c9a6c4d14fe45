"""The HF Trainer's dict lines and JSON lines: numbers under quoted names, nested at most one level deep."""

import re

from dsgui.core.logs.numerals import NUMBER, evaluates, is_loss, spelled
from dsgui.core.logs.prefixes import launcher_prefix, logger_prefix, rank_in
from dsgui.core.logs.readings import Form, Reading

_TOKEN = re.compile(
    rf"(?P<quote>['\"])(?P<name>[\w./@ ()-]{{1,100}})(?P=quote)\s*:\s*"
    rf"(?:(?P<open>\{{)|(?P<mark>['\"]?)(?P<number>{NUMBER})(?P=mark)\s*(?=[,}}]))"
    r"|(?P<text>\"(?>(?:[^\"\\]|\\.)*)\"|'(?>(?:[^'\\]|\\.)*)')|(?P<brace>[{}])",
    re.IGNORECASE,
)
_BROKEN = re.compile(r"\{['\"](?:loss|eval_loss|train_runtime)['\"]\s*:")
# accelerate's examples: `epoch 0: {'accuracy': 0.68, 'f1': 0.81}`.
_OF_EPOCH = re.compile(r"[\s=#*>|-]*+epoch[\s:#=]{1,4}(\d{1,9})\s{0,4}[:,|>-]{0,3}\s*+\Z", re.IGNORECASE)
_NUMPY = re.compile(rf"\bnp\.float\d\d\(({NUMBER})\)", re.IGNORECASE)
# ms-swift's.
_OF_STEPS = re.compile(r"['\"]global_step/max_steps['\"]: ['\"](\d{1,15})/(\d{1,15})['\"]")
# A whole history in one line, such as the Trainer's state, which ms-swift appends to its log.
_HISTORY = re.compile(r"['\"]\s{0,4}:\s{0,4}\[\s{0,4}\{['\"]")
_STEPS = ("step", "global_step", "iteration", "iter", "num_updates", "current_steps")
# ms-swift adds them to every line.
_OF_STEPS_ALONE = ("memory(GiB)", "train_speed(iter/s)", "train_speed(s/it)")
_MOST_DEPTH = 2
_MOST_VALUES = 200


def read_dicts(text: str) -> list[Reading]:
    """Every logged dict in the line; other dicts, such as a config's, don't count."""
    if ("{'" not in text and '{"' not in text) or _HISTORY.search(text):
        return []
    if "np.float" in text:
        text = _NUMPY.sub(r"\1", text)
    epoch = _epoch_before(text) if "poch" in text else None
    found = [one for values in _dicts(text) if (one := _reading(values, epoch))]
    if found:
        rank = _rank(text)
        for one in found:
            one.rank = rank if one.rank is None else one.rank
        if "/max_steps" in text and len(found) == 1 and (counted := _OF_STEPS.search(text)):
            found[0].step, found[0].total = int(counted[1]), int(counted[2])
    return found


def is_broken(text: str) -> bool:
    """Whether a logged dict begins here but could not be read."""
    return bool(_BROKEN.search(text))


def _epoch_before(text: str) -> float | None:
    """The epoch before the first dict, if nothing else is there."""
    before = logger_prefix(launcher_prefix(text[: text.index("{")])[1])[1]
    match = _OF_EPOCH.match(before)
    return float(match[1]) if match else None


def _rank(text: str) -> int | None:
    before = text[: text.index("{")]
    rank, rest = launcher_prefix(before)
    return rank if rank is not None else rank_in(rest)[0]


def _dicts(text: str) -> list[dict[str, float]]:
    """The numbers of each outermost `{…}` that is closed and no deeper than two."""
    found: list[dict[str, float]] = []
    current: dict[str, float] = {}
    depth, deepest = 0, 0
    for match in _TOKEN.finditer(text):
        if match["brace"] == "{" or match["open"]:
            current = current if depth else {}
            depth += 1
            deepest = max(deepest, depth) if depth > 1 else 1
        elif match["brace"] and depth:
            depth -= 1
            if not depth and deepest <= _MOST_DEPTH:
                found.append(current)
        elif match["number"] and depth and len(current) < _MOST_VALUES:
            current.setdefault(match["name"], float(match["number"]))
    return found


def _reading(values: dict[str, float], epoch_before: float | None) -> Reading | None:
    """Values after an epoch were measured, whatever their names are; unless there is a loss among them, in an
    evaluation."""
    epoch, step = values.pop("epoch", epoch_before), _pop_step(values)
    rank = values.pop("rank", None)
    total = _whole(values.pop("total_steps", None)) if step is not None else None
    if values.pop("percentage", None) is not None:
        _of_llama_factory(values)
    kind = _kind(values) or ("eval" if values and epoch_before is not None else None)
    if kind is None:
        return None
    measured = (
        values if kind == "train" else {name: value for name, value in values.items() if name not in _OF_STEPS_ALONE}
    )
    named = {spelled(name): value for name, value in measured.items()}
    if kind == "train" and "train_tokens_per_second" in named:
        named["tokens_per_second"] = named.pop("train_tokens_per_second")
    return Reading(Form.DICT, named, step, epoch, total, _whole(rank), kind)


def _of_llama_factory(values: dict[str, float]) -> None:
    """Its tokens a second are called throughput; they are 0 where it counts none (llamafactory/train/callbacks.py)."""
    speed, tokens = values.pop("throughput", None), values.pop("total_tokens", None)
    if speed and tokens:
        values |= {"tokens_per_second": speed, "total_tokens": tokens}


def _kind(values: dict[str, float]) -> str | None:
    if "train_runtime" in values and "loss" not in values:  # with include_num_input_tokens_seen each line has it
        return "final"
    if any(name.startswith("eval_") for name in values) or "test_runtime" in values:
        return "eval"
    losses = [name for name in values if is_loss(name) or name.startswith("loss/")]
    if not losses:
        return None
    return "eval" if all(map(evaluates, losses)) else "train"


def _pop_step(values: dict[str, float]) -> int | None:
    for name in _STEPS:
        if name in values and (step := _whole(values[name])) is not None:
            del values[name]
            return step
    return None


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None and 0 <= value < 1e15 and value == int(value) else None
