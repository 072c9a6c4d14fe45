"""How numbers are spelled in a training's output, and how it names the curves."""

import re

# ASCII: a dotless ı counts as an i of "inf" otherwise, when case is ignored, and float() knows better. No part can give
# back what it took, so no text makes it slow.
NUMBER = r"(?a:[-+]?(?:nan|inf(?:inity)?|(?:\d++\.?+\d*+|\.\d++)(?>(?:e[-+]?\d++)?)))"
COUNT = r"\d{1,15}(?!\d)"

# The field's own terms, for the spellings met in print.
_SPELLINGS = {
    "lr": "learning_rate",
    "learning rate": "learning_rate",
    "grad norm": "grad_norm",
    "gradnorm": "grad_norm",
    "gnorm": "grad_norm",
    "gradient norm": "grad_norm",
    "loss scale": "loss_scale",
    "lossscale": "loss_scale",
    "loss train": "loss",
    "loss val": "eval_loss",
    "acc": "accuracy",
    "ppl": "perplexity",
    "loss ppl": "perplexity",
    "lm loss ppl": "perplexity",
    "lm_loss_ppl": "perplexity",
    "lm-loss": "loss",
    "samples/s": "samples_per_second",
    "samples/sec": "samples_per_second",
    "samples/second": "samples_per_second",
    "samples per second": "samples_per_second",
    "samples_per_sec": "samples_per_second",
    "tokens/s": "tokens_per_second",
    "tokens/sec": "tokens_per_second",
    "tokens/second": "tokens_per_second",
    "tokens per second": "tokens_per_second",
    "tokens_per_sec": "tokens_per_second",
    "tok/s": "tokens_per_second",
    "tok/sec": "tokens_per_second",
    "tokens/s/gpu": "tokens_per_second_per_gpu",
    "tokens/sec/gpu": "tokens_per_second_per_gpu",
    "samples/s/gpu": "samples_per_second_per_gpu",
    "samples/sec/gpu": "samples_per_second_per_gpu",
    **dict.fromkeys(
        (f"{unit}/{second}" for unit in ("steps", "step", "it", "iter", "iters") for second in ("s", "sec", "second")),
        "steps_per_second",
    ),
    **dict.fromkeys(("s/it", "s/iter", "s/step", "sec/it", "sec/iter", "sec/step"), "iteration_s"),
    **dict.fromkeys(("ms/it", "ms/iter", "ms/step"), "iteration_ms"),
    **dict.fromkeys(("iter time (s)", "iteration time (s)", "step time (s)"), "iteration_s"),
    **dict.fromkeys(("iter time (ms)", "iteration time (ms)", "step time (ms)"), "iteration_ms"),
    "throughput (token/sec/gpu)": "tokens_per_second_per_gpu",
    "tokens per gpu per second (tgs)": "tokens_per_second_per_gpu",
    "throughput per gpu (tflop/s/gpu)": "tflops_per_gpu",
    # Of a whole step, in which DeepSpeed's `step_ms` is the optimizer's part.
    "elapsed time per iteration (ms)": "iteration_ms",
    "elapsed time per iteration (s)": "iteration_s",
    "number of skipped iterations": "skipped_iterations",
    "number of nan iterations": "nan_iterations",
}
# In a whole line these words before "loss" say only which of a script's losses it is; "lm loss" is Megatron's.
_QUALIFIERS = frozenset(
    [
        "train",
        "training",
        "lm",
        "avg",
        "average",
        "mean",
        "total",
        "tot",
        "running",
        "current",
        "batch",
        "step",
        "final",
        "epoch",
        "with",
        "and",
        "the",
        "value",
    ]
)
_OF_EVALUATION = frozenset(["eval", "evaluation", "val", "valid", "validation", "dev", "cv"])
_NOT_OWN = frozenset(["test", "best", "tot", "no", "stop", "packet", "weight", "in", "of", "per"])
_LOSS = re.compile(r"[\w./-]*loss(?:_epoch)?\Z")
_METRIC = re.compile(
    r"(?:[\w./-]*[_/])?(?:accuracy|acc|perplexity|ppl|grad_norm|loss_scale|learning_rate|lr|rewards?|kl|bleu|chrf|"
    r"rouge\w*|wer|cer|auc|mae|mse|rmse|mfu|entropy|f\d|acc@\d{1,3}|(?:samples|tokens|steps)_per_second)\Z"
)


def canonical(name: str) -> str | None:
    """The curve a printed name stands for, or None if it names no measured number."""
    lowered = " ".join(name.lower().split()).replace("avg. ", "avg ")
    if lowered.endswith("loss_step"):  # Lightning's, beside train_loss_epoch
        lowered = lowered.removesuffix("_step")
    lowered = lowered.removesuffix(" value")
    if known := _SPELLINGS.get(lowered):
        return known
    words = lowered.split(" ")
    if len(words) > 1:
        if words[-1] == "loss":
            return _qualified(words[:-1])
        if "_" in words[-1] and is_loss(words[-1]):
            return None  # the name is the last word: `info cv_loss`
        lowered = "_".join(words)
    return lowered if _LOSS.match(lowered) or _METRIC.match(lowered) else None


def _qualified(words: list[str]) -> str | None:
    if all(word in _QUALIFIERS for word in words):
        return "loss"
    if all(word in _OF_EVALUATION or word in _QUALIFIERS for word in words):
        return "eval_loss"
    return "test_loss" if words == ["test"] else f"{words[0]}_loss" if len(words) == 1 and "_" in words[0] else None


def own_loss(name: str) -> str | None:
    """The curve of a loss with one word of its own before it, `Critic Loss`; None if the word only says which data it
    is for."""
    word, _, rest = name.lower().partition(" ")
    if rest != "loss" or not word.isalnum() or word.isdecimal() or word in _QUALIFIERS or word in _OF_EVALUATION:
        return None
    return None if word in _NOT_OWN else f"{word}_loss"


def spelled(name: str) -> str:
    """A key of a logged dict, as the field's standard term."""
    return _SPELLINGS.get(name, name)


def is_loss(name: str) -> bool:
    """`loss`, `eval_loss`, `lm_loss`; not `loss_scale`."""
    return name.endswith("loss")


def evaluates(name: str) -> bool:
    """Whether a curve of this name was measured on held-out data."""
    return name.startswith(("eval", "val", "test", "dev_", "cv_", "holdout_"))
