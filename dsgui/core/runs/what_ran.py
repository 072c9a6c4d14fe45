"""What a run trained with, in the few words by which people tell runs apart: ZeRO, offload, precision, batch sizes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dsgui.core.config.arguments import from_words, given
from dsgui.core.config.batch_size import data_parallel_size, solve
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.filling import ACCUMULATION, ARGUMENTS, MICRO, TRAIN, fill
from dsgui.core.config.pointer import lookup
from dsgui.core.memory.settings import Offload, settings_of
from dsgui.core.texts.saying import Said, said

_STAGE = "/zero_optimization/stage"
_PRECISIONS = ("/fp16/enabled", "/bf16/enabled")


def what_ran(config: Mapping[str, Any], words: Sequence[str] | None, ranks: int) -> tuple[Said, ...]:
    """As DeepSpeed got the config: `words` are the script's, where it is known that the HF Trainer takes its arguments
    from them. What hangs on a default is left out, since a script may have another, as is what stayed “auto” or breaks
    the identity of the batch sizes."""
    context = Context(Integration.NATIVE if words is None else Integration.HF, gpus_per_node=ranks)
    arguments = None if words is None else from_words(words)
    final = fill(config, arguments, context).config if arguments else config
    typed = given(arguments) if arguments else {}
    stage, settings = lookup(final, _STAGE), settings_of(final)
    is_stage = isinstance(stage, int) and not isinstance(stage, bool) and 0 <= stage <= 3
    unsaid = settings.autocast or lookup(config, "/amp/enabled") is True
    is_32 = arguments is None and not unsaid and not any(lookup(config, one) == "auto" for one in _PRECISIONS)
    sized = all(_is_known(config, typed, one) for one in (MICRO, ACCUMULATION))
    return (
        *([said("ran", "stage", stage=str(stage))] if is_stage else []),
        *_offloaded(settings.optimizer_at, settings.params_at),
        *([said("ran", "precision", precision=settings.precision)] if is_32 or settings.precision != "fp32" else []),
        *(_batch(final, context) if arguments is None or sized else []),
    )


def _is_known(config: Mapping[str, Any], typed: Mapping[str, Any], pointer: str) -> bool:
    """Whether the config or the command line says it."""
    return _count(config, pointer) is not None or any(name in typed for name in ARGUMENTS[pointer])


def _offloaded(optimizer: Offload, parameters: Offload) -> Iterator[Said]:
    if optimizer.is_on:
        yield said("ran", "optimizer_nvme" if optimizer.is_nvme else "optimizer_cpu")
    if parameters.is_on:
        yield said("ran", "parameters_nvme" if parameters.is_nvme else "parameters_cpu")


def _batch(config: Mapping[str, Any], context: Context) -> Iterator[Said]:
    """The identity as it held; a factor of 1 is not told."""
    train, micro, steps = (_count(config, pointer) for pointer in (TRAIN, MICRO, ACCUMULATION))
    solved = solve(train, micro, steps, data_parallel_size(config, context))
    if solved is None or not solved.holds or not isinstance(solved.world_size, int):
        return
    product, each = str(solved.train), str(solved.micro)
    steps_of, ranks_of = str(solved.accumulation), str(solved.world_size)
    if product == each:
        yield said("ran", "batch", train=product)
    elif solved.accumulation == 1:
        yield said("ran", "batch_ranks", train=product, micro=each, ranks=ranks_of)
    elif solved.world_size == 1:
        yield said("ran", "batch_steps", train=product, micro=each, steps=steps_of)
    else:
        yield said("ran", "batch_all", train=product, micro=each, steps=steps_of, ranks=ranks_of)


def _count(config: Mapping[str, Any], pointer: str) -> int | None:
    held = lookup(config, pointer)
    return held if isinstance(held, int) and not isinstance(held, bool) and held > 0 else None
