"""Named numbers in a script's own lines: `step=10 loss=2.3`, `Epoch 1, step 5 / 9, loss 3.1`, Megatron's `iteration 10/
100 | lm loss: 6.1E+00`, `loss: 2.31` alone, and the same in Chinese.

Prose, configs and lists of arguments contain numbers, too. A line is read only if its names are those of measured
numbers and it contains little else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dsgui.core.logs.numerals import COUNT, NUMBER, canonical, evaluates, is_loss, own_loss
from dsgui.core.logs.prefixes import launcher_prefix, logger_prefix, rank_in
from dsgui.core.logs.readings import Form, Reading

_LENGTH_LIMIT = 2000
# Other words a line with a step may have, and for each further measured number; one without a step has none.
_MOST_OTHER_WORDS = 2
_WORD = r"[A-Za-z_][\w./@]*+(?>(?:-[A-Za-z]\w*+)*)"
_ITEM = re.compile(
    rf"(?<![\w\-.\"'/])(?P<name>{_WORD}(?:[ ]{_WORD}){{0,4}}(?:[ ]?\([A-Za-z/%. ]{{1,16}}\))?)"
    rf"(?P<mark>\s*+(?:[:=#]|->)\s*+(?:\[\s*+)?|\s++)"
    rf"(?P<number>{NUMBER})(?![\w]|\.\d|-\d|%)(?:\s*+(?:/|of\b)\s*+(?P<total>{COUNT})(?!\.))?",
    re.IGNORECASE,
)
_RATE = re.compile(
    rf"(?<![\w.])(?P<number>{NUMBER})\s?(?P<unit>(?:(?P<samples>samples)|(?P<tokens>tokens|tok)|steps?|its?|iters?)"
    r"/(?:sec(?:ond)?|s))\b(?!/|\s?[:=])",
    re.IGNORECASE,
)
_STEPS = frozenset(
    [
        "step",
        "steps",
        "global_step",
        "iteration",
        "iter",
        "it",
        "iters",
        "global_steps",
        "num_updates",
        "update",
        "batch",
        "optimizer_step",
        "train_step",
    ]
)
_STEP_ENDS = frozenset({"step", "iteration", "iter", "global step"})
_NOT_STEPS = frozenset(
    ["per", "max", "total", "num", "warmup", "save", "log", "logging", "eval", "accumulation", "every", "micro"]
)
_NEUTRAL = frozenset(
    [
        "at",
        "with",
        "and",
        "in",
        "of",
        "train",
        "training",
        "eval",
        "evaluation",
        "validation",
        "valid",
        "val",
        "test",
        "step",
        "steps",
        "loss",
        "epoch",
        "s",
        "ms",
        "sec",
        "secs",
        "min",
        "it",
        "best",
        "time",
        "eta",
        "elapsed",
        "done",
        "finished",
        "completed",
        "end",
        "rank",
        "avg",
        "average",
        "mean",
        "iters",
        "iter",
        "batch",
        "set",
        "complete",
        "history",
        "cv",
        "dev",
        "info",
        "gib",
        "gpu",
        "mem",
        "gb",
        "mb",
        "lr",
        "samples",
        "tokens",
        "data",
        "memory",
        "tps",
        "mfu",
        "tflops",
        "norm",
    ]
)
_OTHER_WORD = re.compile(r"[A-Za-z_]{2,}|[\u4e00-\u9fff]+")
_EVALUATES = re.compile(r"\W*(?:eval|valid|test|val\b)", re.IGNORECASE)
# Before the first loss, not in its name: `| epoch 081 | valid on 'valid' subset | loss 6.8`, `CV epoch 4 loss 28.4`.
_JUDGES = re.compile(r"\b(?:eval(?:uat\w*+)?|val(?:id(?:at\w*+)?)?|dev|cv|test(?:ing)?)\b", re.IGNORECASE)
_TRAINS = re.compile(r"\btrain", re.IGNORECASE)
# `Namespace(step=3, loss=0.5)`, `Config(loss=…`: a value printed by Python, not a measurement.
_CALL = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z_]\w*+\(\s?\w++\s?=")
_ALONE = re.compile(r"\s*(?:[\w./ -]+?)\s?(?:[:=]\s?|\s)\S+(?<!,)\Z")
# An option of a command, an item of a list, a comment.
_BULLET = re.compile(r"\s*(?:--|[-+*#] )")
_PADDED = re.compile(r"\w\s{2,}=|[.]{3}|[\"'`]|\?|,\s*\Z")
# Loops that number their lines otherwise, made plain: PyTorch's examples and tutorials, timm, OpenMMLab, Keras.
_REWRITTEN = (
    (re.compile(r"\bTrain Epoch: (\d{1,9}) \[ *\d+/\d+ \(\d+%\)\]"), r"Epoch \1"),
    (re.compile(r"\bTrain: (\d{1,9}) \[ *(\d{1,15})/(\d{1,15}) +\( *\d{1,3}%\)\]"), r"epoch \1 step \2/\3 "),
    (
        re.compile(
            r"\bEpoch(?:\(train\))?:? *\[(\d{1,9}(?:/\d{1,9})?)\] {0,3}[\[(] *(\d{1,15})/ *(\d{1,15})[\])]",
            re.IGNORECASE,
        ),
        r"epoch \1 step \2/\3 ",
    ),
    (
        re.compile(
            r"\b(epoch|step|iter\w*|batch)(?:\(train\))?[:,]? ?\[ *(\d{1,15}) */ *(\d{1,15}) *\]",
            re.IGNORECASE,
        ),
        r"\1 \2/\3 ",
    ),
    (re.compile(r"\b(epoch|step|iter\w*|batch):? ?\[ *(\d{1,15}) *\]", re.IGNORECASE), r"\1 \2 "),
    (re.compile(r"^\s*\[ *(\d{1,9}), +(\d{1,15})\] "), r"epoch \1 step \2 "),
    (re.compile(r"^\s*(\d{1,15})/(\d{1,15}) \[[=>.]+\]"), r"step \1/\2 "),
    (re.compile(r"\btensor\(([^(),]{1,40})(?:,[^()]*)?\)"), r"\1"),
)
_KERAS = re.compile(r"^\s*+(\d{1,15})/(\d{1,15}) ━+")
_KERAS_LINE = re.compile(r"^\s*+(\d{1,15})/(\d{1,15}) - \d{1,9}m?s - ")
# rich's, as Lightning draws it: `Epoch 0/2 ━━━━━ 10/10 0:00:01 • 0:00:00 12.3it/s train_loss: 0.5`, its
# epochs from 0. Steps are counted on over the epochs, and stay below 1e15.
_RICH = re.compile(
    r"\s*+Epoch (?P<epoch>\d{1,6})/(?P<last>\d{1,6}) +[━╸╺]++ *+(?P<step>\d{1,9})/(?P<total>\d{1,9}) +"
    r"[\d:-]{1,20} • [\d:-]{1,20} *+(?:[\d.]{1,20}it/s)?"
)
# A line of its own at an epoch's beginning.
_EPOCH = re.compile(
    r"[\s=#*+>|-]*+(?:(?:begin(?:ning)?(?: of)?|start(?:ing|ed)?|running|train(?:ing)?)\s++)?epoch\b[\s:#]*+\[?\s*+"
    r"(?P<epoch>\d{1,9})\s*+(?:(?:/|of\b)\s*+(?P<epochs>\d{1,9}))?\s*+\]?"
    r"(?:, total micro batches \d{1,15})?[\s=#*+<|:.-]*+\Z",
    re.IGNORECASE,
)
# ESPnet, WeNet, fairseq of 2018.
_SPEECH = (
    (re.compile(r"\b(\d{1,9})epoch:train:\d{1,15}-(\d{1,15})batch:"), r" epoch \1 step \2 "),
    (re.compile(r"\bTRAIN Batch (\d{1,9})/(\d{1,15}) (?=loss)"), r"TRAIN epoch \1 step \2 "),
    (re.compile(r"\bCV Batch (\d{1,9})/\d{1,15} (?=loss)"), r"CV epoch \1 "),
)
# GPT-NeoX's and Megatron's: `validation results at iteration 100 | lm_loss value: 2.1E+00 |`, `… at the end of training
# for test data | …`, `validation loss at iteration 100 on test set | …`.
_JUDGED = re.compile(
    r"^ ?(?:validation|test|valid) (?:results|loss) at (?:(?P<step>iteration +\d{1,15})|the end of training)"
    r"(?: (?:for|on) (?P<set>val(?:idation)?|test) (?:data|set))? \| ?"
)
_ON_TEST_SET = re.compile(r"test set, ")
_FAIRSEQ = re.compile(r"^(?:\| )?epoch (\d{1,9}):? +(\d{1,15}) / (\d{1,15}) (?=loss)")
_BATCHES = re.compile(r"\| *(\d{1,15})/ *(\d{1,15}) batches \|")
_SAID = re.compile(r"\b(loss|perplexity|accuracy) (?:is|was) (?=[-+.\d]|nan|inf)", re.IGNORECASE)
_NUMBERED = re.compile(r"\b(?:step|iter|epoch|batch)", re.IGNORECASE)
# A sentence about a step that was done before.
_TELLS = re.compile(r"\b(?:resum|restor|load|best|checkpoint|found|from|expect|sav|continu|reach)", re.IGNORECASE)
_WIDE = str.maketrans("：，＝；（）｜", ":,=;()|")
_CHINESE = (
    (re.compile(r"第\s?(\d{1,15}(?:\s?/\s?\d{1,9})?)\s?[轮个](?:epoch)?"), r" epoch \1 "),
    (re.compile(r"第\s?(\d{1,15})\s?[步次](?:迭代)?"), r" step \1 "),
    (re.compile(r"验证集?的?损失(?:值)?"), " eval_loss "),
    (re.compile(r"(?:训练|平均|当前)?的?损失(?:值)?(?:函数值)?"), " loss "),
    (re.compile(r"学习率"), " learning_rate "),
    (re.compile(r"准确率|精度"), " accuracy "),
    (re.compile(r"步数|步骤|迭代次数|迭代|全局步"), " step "),
    (re.compile(r"轮次|轮数|训练轮"), " epoch "),
)


# LeRobot's: `step:1K smpl:8K ep:39 epch:1.24 loss:0.25 grdn:3.1 lr:1.0e-05`, its counts rounded (format_big_number).
_TRACKED = re.compile(r"\bstep:(?P<step>\d{1,6})(?P<unit>[KMBTQ]?) smpl:\d{1,12}[KMBTQ]? ")
_TRACKED_ITEM = re.compile(rf"(?<!\S)(?P<name>[a-z]\w{{0,40}}):(?P<number>{NUMBER})(?!\S)")
_THOUSANDS = "KMBTQ"
_TRACKED_NAMES = {"grdn": "grad_norm", "epch": "epoch"}


@dataclass(slots=True)
class _Found:
    """The items of a line, and the words that belong to none."""

    values: dict[str, float] = field(default_factory=dict)
    step: int | None = None
    total: int | None = None
    epoch: float | None = None
    epochs: int | None = None
    other_words: int = 0
    long_names: int = 0  # of other numbers, `global batch size: 16`
    marked: bool = True  # each value has a `:` or `=` before it
    own: int = 0  # losses that only this script knows, `disc loss: 3.8`
    first_loss: int | None = None  # where its item begins

    def take(self, item: re.Match[str]) -> bool:
        """Whether its number is one of the line's."""
        marked = not item["mark"].isspace()
        words = item["name"].split(" ")
        if "best" in item["name"].lower().split(" "):  # of an evaluation told before
            self.other_words += _count_other(item["name"])
            return False
        for dropped in range(len(words)):
            name = " ".join(words[dropped:])
            if marked and self._is_own(name, item):
                return True
            if self._position(name, words[:dropped], item) or (
                (marked or not dropped or "_" in words[-1]) and self._measured(name, item, marked)
            ):
                self.other_words += _count_other(" ".join(words[:dropped]))
                return True
        # A number of no curve's, `mem=3.2`: something said on purpose where it is marked.
        if not marked:
            self.other_words += _count_other(item["name"])
        elif len(words) > 1:
            self.long_names += 1
        return False

    def _position(self, name: str, before: list[str], item: re.Match[str]) -> bool:
        lowered, digits = name.lower(), item["number"]
        if lowered == "epoch" and not (before and before[-1].lower() in _NOT_STEPS):
            if self.epoch is None:
                self.epoch, self.epochs = float(digits), int(item["total"]) if item["total"] else None
            return True
        if lowered == "steps" and before:  # how many there are, or are left
            return False
        if (lowered not in _STEPS and lowered not in _STEP_ENDS) or (before and before[-1].lower() in _NOT_STEPS):
            return False
        if not digits.isdecimal() or len(digits) > 15:
            return False
        if self.step is None:
            self.step, self.total = int(digits), int(item["total"]) if item["total"] else None
        return True

    def _measured(self, name: str, item: re.Match[str], marked: bool) -> bool:
        curve = canonical(name)
        if curve is None:
            return False
        if curve.startswith("best_"):
            return True
        value = float(item["number"])
        if curve == "accuracy" and item["total"] and int(item["total"]):
            value /= int(item["total"])  # `Accuracy: 9196/10000`
        if curve == "iteration_s":
            curve, value = "iteration_ms", 1000 * value
        self._sets(curve, value, item)
        self.marked = self.marked and marked
        return True

    def _sets(self, curve: str, value: float, item: re.Match[str]) -> None:
        self.values.setdefault(curve, value)
        if self.first_loss is None and is_loss(curve):
            self.first_loss = item.start()

    def _is_own(self, name: str, item: re.Match[str]) -> bool:
        """`Critic Loss: 0.02`, beside the step or the epoch."""
        curve = own_loss(name)
        if curve is None or (self.step is None and self.epoch is None):
            return False
        self._sets(curve, float(item["number"]), item)
        self.own += 1
        return True


def read_named(text: str) -> Reading | None:
    """What a script's own line says, or None."""
    if len(text) > _LENGTH_LIMIT:
        return None
    torchrun_rank, bare = launcher_prefix(text)
    bulleted = bool(_BULLET.match(bare))
    level, bare = logger_prefix(bare)
    if level not in ("", "INFO", "DEBUG"):
        return None
    rank, bare = rank_in(bare)
    rank = torchrun_rank if rank is None else rank
    bare = _plain(bare)
    if _CALL.search(bare):
        return None
    if drawn := _RICH.match(bare):
        return _rich(drawn, bare, rank)
    found = _items(bare)
    if bulleted or not (_fits_with_step(found, bare) if found.step is not None else _fits_alone(found, bare)):
        return None
    kind, values = _kind(bare, found)
    return Reading(Form.PLAIN, values, found.step, found.epoch, found.total, rank, kind, found.epochs)


def read_tracked(text: str) -> Reading | None:
    """LeRobot's line: its step is of the whole training, and its epoch a fraction."""
    match = _TRACKED.search(text) if len(text) <= _LENGTH_LIMIT else None
    if not match:
        return None
    step = int(match["step"]) * 1000 ** (_THOUSANDS.find(match["unit"]) + 1 if match["unit"] else 0)
    values: dict[str, float] = {}
    for item in _TRACKED_ITEM.finditer(text, match.end()):
        name = _TRACKED_NAMES.get(item["name"]) or canonical(item["name"])
        if name:
            values.setdefault(name, float(item["number"]))
    epoch = values.pop("epoch", None)
    return Reading(Form.DICT, values, step, epoch, rank=launcher_prefix(text)[0]) if values else None


def read_epoch(text: str) -> Reading | None:
    """A line that only announces an epoch: `Epoch 2/5`."""
    if len(text) > _LENGTH_LIMIT:
        return None
    match = _EPOCH.match(logger_prefix(launcher_prefix(text)[1])[1])
    if not match:
        return None
    return Reading(Form.EPOCH, {}, epoch=float(match["epoch"]), epochs=int(match["epochs"] or 0) or None)


def _rich(drawn: re.Match[str], text: str, rank: int | None) -> Reading | None:
    """What one of rich's bars says. Into a pipe, only the very last is drawn: its step is counted from the beginning of
    the training."""
    values = _items(text[drawn.end() :]).values
    epoch, last, step, total = (int(drawn[name]) for name in ("epoch", "last", "step", "total"))
    if not values:
        return None
    return Reading(Form.PLAIN, values, epoch * total + step, float(epoch), (last + 1) * total, rank)


def _plain(text: str) -> str:
    if not text.isascii():
        text = text.translate(_WIDE)
        for pattern, words in _CHINESE:
            text = pattern.sub(words, text)
        text = _KERAS.sub(r"step \1/\2 ", text)
    if "epoch:train:" in text or " Batch " in text:
        for pattern, words in _SPEECH:
            text = pattern.sub(words, text)
    if text.startswith(("| epoch ", "epoch ")) and "num_updates" not in text:
        text = _FAIRSEQ.sub(r"epoch \1 step \2/\3 ", text)
    if "/step - " in text:
        text = _KERAS_LINE.sub(r"step \1/\2 - ", text)
    if "[" in text or "tensor(" in text:
        for pattern, words in _REWRITTEN:
            text = pattern.sub(words, text)
    if text.startswith(("valid", "test", " valid", " test")):
        text = _JUDGED.sub(_judged, text)
    if " batches |" in text:
        text = _BATCHES.sub(r"| step \1/\2 |", text)
    return _SAID.sub(r"\1 ", text) if _NUMBERED.search(text) else text


def _judged(match: re.Match[str]) -> str:
    return f"{'test set,' if match['set'] == 'test' else 'valid'} {match['step'] or ''} | "


def _items(text: str) -> _Found:
    found, rest, end, taken = _Found(), [], 0, set[int]()
    rates = {rate.start("unit"): rate for rate in _RATE.finditer(text)}
    for item in _ITEM.finditer(text):
        rate = rates.get(item.start("name"))
        # In `1.5 steps/s 12 samples/s` the unit is of the number before it.
        of_rate = rate is not None and item["mark"].isspace() and rate.start("number") not in taken
        if not of_rate and found.take(item):
            taken.add(item.start("number"))
        rest.append(text[end : item.start()])
        end = item.end()
    rest.append(text[end:])
    left = " ".join(rest)
    for rate in rates.values():
        if rate.start("number") in taken:
            continue  # in `loss 2.3 tokens/s 99` it is the loss
        unit = "tokens" if rate["tokens"] else "samples" if rate["samples"] else "steps"
        found.values.setdefault(f"{unit}_per_second", float(rate["number"]))
        left = left.replace(rate[0], "").replace(rate["unit"], "")
    found.other_words += _count_other(left)
    return found


def _count_other(text: str) -> int:
    words = map(str.lower, _OTHER_WORD.findall(text))
    return sum(word not in _NEUTRAL and not word.startswith("loss_") for word in words)


def _fits_with_step(found: _Found, text: str) -> bool:
    """A learning rate or a loss scale alone may just as well be a setting."""
    measured = any(name not in ("learning_rate", "loss_scale") for name in found.values)
    most = _MOST_OTHER_WORDS * (1 if _TELLS.search(text) else len(found.values))
    return measured and found.other_words <= most


def _fits_alone(found: _Found, text: str) -> bool:
    others = found.other_words or (found.long_names and found.epoch is None)
    if not any(map(is_loss, found.values)) or others or _PADDED.search(text):
        return False
    return found.marked or found.epoch is not None or bool(_ALONE.match(text))


def _kind(text: str, found: _Found) -> tuple[str, dict[str, float]]:
    values = found.values
    judged = [name for name in values if is_loss(name)] or list(values)
    if all(map(evaluates, judged)):
        return "eval", values
    if _ON_TEST_SET.match(text):
        return "eval", {f"test_{name.removeprefix('lm_')}": value for name, value in values.items()}
    before = text[: found.first_loss or 0]
    if _EVALUATES.match(text) or (_JUDGES.search(before) and not _TRAINS.search(before)):
        return "eval", as_evaluation(values)
    return "train", values


def as_evaluation(values: Mapping[str, float]) -> dict[str, float]:
    """With the names of an evaluation's curves."""
    return {"eval_loss" if name in ("loss", "lm_loss") else name: value for name, value in values.items()}
