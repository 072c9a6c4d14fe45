"""Blocks that DeepSpeed no longer has: what the releases that still read them insist on."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dsgui.core.config.context import Context
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import join, lookup
from dsgui.core.rules.base import (
    ACCUMULATION,
    ELASTICITY_REMOVED_IN,
    MICRO,
    TRAIN,
    Config,
    Rule,
    elastic,
    enabled,
    found,
)
from dsgui.core.texts.saying import listed

COMPRESSION_REMOVED_IN = "0.19.7"
# What each group of a technique must say, beside `different_groups` and `params` themselves.
_REQUIRED = {
    "weight_quantization": ("start_bits", "target_bits"),
    "activation_quantization": ("bits",),
    "sparse_pruning": ("dense_ratio",),
    "row_pruning": ("dense_ratio",),
    "head_pruning": ("dense_ratio",),
    "channel_pruning": ("dense_ratio",),
}


def _elasticity(config: Config, context: Context) -> Iterator[Finding]:
    if not elastic(config, context):
        return
    block = config["elasticity"]
    for key in ("max_train_batch_size", "micro_batch_sizes"):
        if key not in block:
            yield found(
                Severity.ERROR,
                f"/elasticity/{key}",
                "DS067.missing",
                key=key,
            )
    given = [pointer for pointer in (TRAIN, MICRO, ACCUMULATION) if pointer[1:] in config]
    if given and not block.get("ignore_non_elastic_batch_info", False):
        names = listed(pointer[1:] for pointer in given)
        yield found(
            Severity.ERROR,
            given[0],
            "DS067.batch_sizes",
            fix=Fix.of("remove", *(Change(pointer, None) for pointer in given), key=names),
            key=given[0][1:],
            names=names,
        )


def _compression(config: Config, context: Context) -> Iterator[Finding]:
    block = config.get("compression_training")
    if context.at_least(COMPRESSION_REMOVED_IN) or not isinstance(block, Mapping):
        return
    for technique, required in _REQUIRED.items():
        if isinstance(block.get(technique), Mapping):
            yield from _technique(("compression_training", technique), block[technique], required)
    yield from _quantized_at_the_step(config, context)


def _quantized_at_the_step(config: Config, context: Context) -> Iterator[Finding]:
    pointer = "/compression_training/weight_quantization/shared_parameters"
    shared = lookup(config, pointer)
    if not isinstance(shared, Mapping) or not shared.get("enabled") or enabled(config, "fp16", context):
        return
    if not shared.get("quantize_weight_in_forward"):
        yield found(
            Severity.ERROR,
            f"{pointer}/quantize_weight_in_forward",
            "DS068.step",
            fix=Fix.of("switch_this_on", Change(f"{pointer}/quantize_weight_in_forward", "true")),
        )


def _technique(path: tuple[str, ...], block: Mapping[str, Any], required: tuple[str, ...]) -> Iterator[Finding]:
    shared, groups = block.get("shared_parameters", {}), block.get("different_groups")
    if groups is None:
        yield _missing((*path, "different_groups"), "DS068.groups")
        return
    if (
        path[-1] == "head_pruning"
        and isinstance(shared, Mapping)
        and shared.get("enabled")
        and "num_heads" not in shared
    ):
        yield _missing((*path, "shared_parameters", "num_heads"), "DS068.heads")
    for name, group in groups.items() if isinstance(groups, Mapping) else ():
        parameters = group.get("params") if isinstance(group, Mapping) else None
        if not isinstance(parameters, Mapping):
            yield _missing((*path, "different_groups", name, "params"), "DS068.parameters")
            continue
        yield from _patterns((*path, "different_groups", name, "modules"), group.get("modules", "*"))
        for key in required:
            if key not in parameters:
                yield _missing((*path, "different_groups", name, "params", key), "DS068.parameter", path[-1])


def _patterns(path: tuple[str, ...], modules: Any) -> Iterator[Finding]:
    """Each is searched for in the modules' names, the default “*” too (deepspeed/compression/compress.py)."""
    for pattern in modules if isinstance(modules, list | str) else ():
        if isinstance(pattern, str) and not _is_expression(pattern):
            yield found(
                Severity.ERROR,
                join(path),
                "DS068.pattern",
                fix=Fix.of("write_text", Change(join(path), '[".*"]'), value=".*"),
                key=".".join(path),
                pattern=pattern,
            )


def _is_expression(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _missing(path: tuple[str, ...], code: str, technique: str = "") -> Finding:
    return found(Severity.ERROR, join(path), code, advice="DS068.give", key=".".join(path), technique=technique)


RULES = (
    Rule(
        "DS067",
        "deepspeed/elasticity/config.py: ElasticityConfig",
        _elasticity,
        until=ELASTICITY_REMOVED_IN,
    ),
    Rule(
        "DS068",
        "deepspeed/compression/config.py: get_compression_config",
        _compression,
        until=COMPRESSION_REMOVED_IN,
    ),
)
