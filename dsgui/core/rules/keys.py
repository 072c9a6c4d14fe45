"""Findings about each key's name: unknown, not in this DeepSpeed release, or an old name of another key.

Types and ranges are `values.py`'s; what keys mean together is for the rules.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dsgui.core.config.context import Context, Integration, version_tuple
from dsgui.core.config.conversion import meant_literal, truth
from dsgui.core.config.document import json_text
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import MISSING, child, dotted, join, lookup, split
from dsgui.core.config.schema import Schema, child_of, main_branch
from dsgui.core.rules.base import found, one_of, removal
from dsgui.core.texts.saying import as_told

Node = Mapping[str, Any]
_CONFIG_MODEL = "deepspeed/runtime/config_utils.py: DeepSpeedConfigModel"
_RAW_READER = "deepspeed/runtime/config.py: DeepSpeedConfig"
# What an optimizer or scheduler class takes is judged by its type, in the rules; amp has a rule of its own.
_JUDGED_ELSEWHERE = ("/optimizer/params", "/scheduler/params", "/amp")
_IGNORED_OLD_NAME = "/cpu_offload_use_pin_memory"
_COMMENT_MARKS = ("_", "//", "#", "$", "comment")


@dataclass(frozen=True, slots=True)
class Place:
    """One key of the config: where it stands, what it holds, and what each schema says of it (None: nothing)."""

    pointer: str
    value: Any
    here: Node | None  # in the release that is checked against
    ever: Node | None  # in any release
    parent: Node  # the block around it, in this release
    siblings: tuple[str, ...]

    @property
    def key(self) -> str:
        return split(self.pointer)[-1]

    @property
    def strict(self) -> bool:
        """Whether DeepSpeed refuses unknown keys of the block around it."""
        return self.parent.get("x-model") == "pydantic"

    @property
    def is_dropped(self) -> bool:
        """Whether DeepSpeed's model never sees the key: “auto” is taken out before (DeepSpeedConfigModel.__init__)."""
        return self.strict and self.value == "auto"


def key_findings(schema: Schema, config: Mapping[str, Any], context: Context) -> Iterator[Finding]:
    """One finding a key at most, of the outermost key where a whole block is meant."""
    view = schema.at(context.release)
    for place in _places(view.document, schema.document, config, ""):
        yield from _of(place, view, config, context)


def _places(here: Node, ever: Node, value: Mapping[str, Any], pointer: str) -> Iterator[Place]:
    """Every key that there may be something to say about: those that the release has under this name are passed by."""
    block = main_branch(here)
    for key, value_here in value.items():
        now, always = child_of(here, key), child_of(ever, key)
        usual = now is not None and always is not None and not now.get("deprecated")
        if usual and not isinstance(value_here, dict | list):
            continue  # most keys end here: a keystroke walks all of them
        where = child(pointer, key)
        if where in _JUDGED_ELSEWHERE:
            continue
        inside = _inside(where, now, always, value_here) if now is not None and always is not None else ()
        if usual:
            yield from inside
        else:  # of an old block only what its new name would not take either
            yield from (place for place in inside if place.here is None)
            yield Place(where, value_here, now, always, block, tuple(value))


def _inside(pointer: str, here: Node, ever: Node, value: Any) -> Iterator[Place]:
    if isinstance(value, dict) and ({"properties", "additionalProperties"} & main_branch(here).keys()):
        yield from _places(here, ever, value, pointer)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            node, always = child_of(here, str(index)), child_of(ever, str(index))
            if isinstance(item, dict) and node is not None and always is not None:
                yield from _places(node, always, item, f"{pointer}/{index}")


def _of(place: Place, view: Schema, config: Mapping[str, Any], context: Context) -> Iterator[Finding]:
    if place.here is not None:
        if place.here.get("x-renamed-to"):
            yield _old_name(place, place.here["x-renamed-to"], config, context)
    elif place.ever is not None:
        yield _not_in_release(place, place.ever, config, context)
    elif not _is_comment(place):
        yield _misplaced(place, view, config) or _unknown(place)


def _is_comment(place: Place) -> bool:
    """A raw block carries a note such as `"_comment": "…"` without harm."""
    return not place.strict and place.key.lower().startswith(_COMMENT_MARKS)


# ------------------------------------------------------------------------------------------------------ unknown keys
_MOST_HOMES = 3  # a key that more blocks have, such as enabled, says nothing about where it belongs
_BF16 = ("/bf16", "/bfloat16")
_TELLING = {"betas", "eps", "hysteresis", "lr", "stage", "zenflow"}  # single words that other programs hardly use
# And names of several words that any program may use.
_GENERIC = {
    *("api_key", "block_size", "buffer_size", "comm_backend", "debug_log", "experiment_name", "exps_dir", "group_dim"),
    *("group_size", "hidden_size", "job_name", "kernel_inject", "max_batch_size", "max_tokens", "max_value"),
    *("metric_path", "metrics_path", "min_batch_size", "min_value", "model_info", "model_type", "mp_size", "num_bits"),
    *("num_epochs", "num_layers", "num_params", "num_workers", "output_file", "output_path", "results_dir"),
    *("schedule_config", "schedule_type", "strict_mode", "top_k"),
}
# What is read under another name: tensor_parallel.tp.tp_size switches nothing on, it must only agree with the size that
# does (engine.py: autotp_size).
_MEANT = {
    "/tp_size": "/tensor_parallel/autotp_size",
    "/tensor_parallel/tp_size": "/tensor_parallel/autotp_size",
    "/hybrid_engine/tp_size": "/hybrid_engine/inference_tp_size",
}
_NOT_DEEPSPEEDS = "/inference/"  # transformers looks at it; no config of a training is read from there
# Apex' and MS-AMP's, and those of deepspeed.init_inference, of which no block is meant where they are misplaced.
_SAYS_NOTHING = {"opt_level", "enable_cuda_graph", "max_out_tokens", "tp_size"}
_SAME_WORDS = {frozenset(("device", "gpu")), frozenset(("optimiser", "optimizer"))}
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def _homes(place: Place, view: Schema) -> tuple[str, ...]:
    """Where else the key may have been meant to stand: in the same block of the top level, or else in the one that has
    a name as specific as that."""
    meant = _MEANT.get(place.pointer, "")
    if meant and split(meant)[:-1] != split(place.pointer)[:-1] and _could_be_at(meant, place, view):
        return (meant,)
    homes = tuple(home for home in view.homes(place.key) if not home.startswith(_NOT_DEEPSPEEDS))
    if place.key in _SAYS_NOTHING or not 0 < len(homes) <= _MOST_HOMES:
        return ()
    every, homes = homes, tuple(home for home in homes if _could_be_at(home, place, view))
    if not homes and len(every) == 1 and _names_it(every[0], place):
        return every
    beside = tuple(home for home in homes if split(home)[0] == split(place.pointer)[0])
    if beside:
        return beside
    return homes if len({split(home)[0] for home in homes}) == 1 and _is_telling(homes[0]) else ()


def _could_be_at(home: str, place: Place, view: Schema) -> bool:
    node = view.node(home)
    if _is_inside(home, place) or node is None or (isinstance(place.value, bool) and _is_block(node)):
        return False
    return _could_hold(node, place.value)


def _is_inside(home: str, place: Place) -> bool:
    """fp16.fp16 is not meant for fp16."""
    return place.pointer.startswith(f"{home}/")


def _names_it(home: str, place: Place) -> bool:
    """Whether the name alone tells that it is meant, whatever it holds: `loss_scale: "dynamic"` at the top level. What
    is wrong with the value is said once it stands in its place; what only switches on may be anybody's."""
    return _says_whose(place.key) and not _is_inside(home, place) and not isinstance(place.value, bool)


def _is_telling(home: str) -> bool:
    """Whether the name alone says which block it belongs to: verbose, seed and type do not."""
    *around, key = split(home)
    return not around or _says_whose(key)


def _says_whose(key: str) -> bool:
    return key in _TELLING or ("_" in key and key not in _GENERIC)


def _misplaced(place: Place, view: Schema, config: Mapping[str, Any]) -> Finding | None:
    """The finding of a key that other blocks have; None where it may as well be a misspelling or a key of nobody."""
    homes = _homes(place, view)
    if not homes:
        return None
    fits = all(_could_be_at(home, place, view) for home in homes)
    twin = nearest(place.key, tuple(main_branch(place.parent).get("properties", {})))
    return None if twin and _folded(twin) == _folded(place.key) else _of_another_block(place, homes, config, fits=fits)


def _of_another_block(place: Place, homes: tuple[str, ...], config: Mapping[str, Any], *, fits: bool) -> Finding:
    parent = join(split(place.pointer)[:-1])
    refused, advice, fix = place.strict and not place.is_dropped, "move_it", _move(place, homes, config, fits=fits)
    if parent in _BF16 and all(home.startswith("/fp16/") for home in homes):
        advice, fix = "DS008.no_scale", removal(place.pointer)
    return found(
        Severity.ERROR if refused else Severity.WARNING,
        place.pointer,
        "DS008.refused" if refused else "DS008.ignored" if parent else "DS008.at_top",
        advice=advice,
        fix=fix,
        source=_source(place),
        key=dotted(place.pointer),
        block=dotted(parent),
        homes=one_of([dotted(home) for home in homes]),
    )


def _source(place: Place) -> str:
    return _CONFIG_MODEL if place.strict else _RAW_READER


def _move(place: Place, homes: tuple[str, ...], config: Mapping[str, Any], *, fits: bool) -> Fix | None:
    """Only where there is one place to go, its value `fits` that, and nothing stands there or in its way."""
    block = lookup(config, join(split(homes[0])[:-1])) if len(split(homes[0])) > 1 else config
    is_free = lookup(config, homes[0]) is MISSING and (block is MISSING or isinstance(block, dict))
    if not fits or len(homes) > 1 or not is_free:
        return None
    changes = (Change(homes[0], json_text(place.value)), Change(place.pointer, None))
    return Fix.of("move", *changes, key=dotted(homes[0]))


def _unknown(place: Place) -> Finding:
    near = _near(place)
    fix = _renaming(place, near) if near and near not in place.siblings else None
    severity, code = Severity.WARNING if near else Severity.NOTE, "DS004.in_block"
    if place.is_dropped:
        severity, code = Severity.WARNING, "DS002.dropped"
    elif place.strict:
        severity, code, fix = Severity.ERROR, "DS002.refused", fix or (None if near else removal(place.pointer))
    elif "/" not in place.pointer[1:]:
        code = "DS004.at_top"
    return found(
        severity,
        place.pointer,
        code,
        advice="did_you_mean" if near else "",
        fix=fix,
        source=_source(place),
        key=dotted(place.pointer),
        block=dotted(join(split(place.pointer)[:-1])),
        near=near,
    )


def _near(place: Place) -> str:
    """The key beside it that is meant, or "": as it is spelled, or without the block's own name (fp16.fp16_enabled)."""
    *block, key = split(place.pointer)
    known = tuple(name for name, node in _beside(place) if _is_read(node) and _could_hold(node, place.value))
    *around, meant = split(_MEANT.get(place.pointer, "/"))
    if meant in known and around == block:
        return "" if meant in place.siblings else meant
    first, _, rest = key.partition("_")
    names_block = len(first) > 2 and bool(block) and block[-1].startswith(first.lower())
    return nearest(key, known) or (nearest(rest, known) if names_block else "")


def _is_read(node: Node) -> bool:
    """Not what DeepSpeed takes and no part of it reads, such as pipeline.partition. What a newer release removed was
    read before."""
    return not node.get("deprecated") or bool({"x-renamed-to", "x-removed"} & node.keys())


def _beside(place: Place) -> Iterable[tuple[str, Node]]:
    members: Mapping[str, Node] = main_branch(place.parent).get("properties", {})
    return members.items()


def _could_hold(node: Node, value: Any) -> bool:
    """A block for a block, and no text for a number: what is misspelt was meant to be read."""
    if value == "auto" or value is None:
        return True
    if _is_block(node):
        return isinstance(value, dict | bool)
    return not isinstance(value, dict) and _takes(node, value)


def _is_block(node: Node) -> bool:
    return bool({"properties", "additionalProperties"} & main_branch(node).keys())


def _takes(node: Node, value: Any) -> bool:
    kinds = main_branch(node).get("type", ())
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if not kinds:
        return True
    if isinstance(value, list):
        return "array" in kinds
    says_other = not isinstance(value, str) or bool(meant_literal(value)) or truth(value) is not None
    return bool(kinds - {"string", "array", "object"}) if says_other else "string" in kinds


@lru_cache(maxsize=4096)
def nearest(key: str, known: tuple[str, ...]) -> str:
    """The known key that `key` is most likely a misspelling of, or ""."""
    folded = {_folded(name): name for name in known}
    if _folded(key) in folded:
        return folded[_folded(key)]
    near = difflib.get_close_matches(_folded(key), folded, n=3, cutoff=0.75)
    return next((folded[name] for name in near if _same_words(key, folded[name])), "")


def _same_words(key: str, name: str) -> bool:
    """Whether the words that differ are spellings of each other: model_parallel_size is no data_parallel_size."""
    ours, theirs = (tuple(word.lower() for word in _WORDS.findall(text)) for text in (key, name))
    parts = difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    return all(_alike(ours[a:b], theirs[c:d]) for kind, a, b, c, d in parts if kind == "replace")


def _alike(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    one, other = "".join(some), "".join(others)
    beginning = min(len(one), len(other), 4)
    is_short = beginning >= 3 and one[:beginning] == other[:beginning]  # grad, gradient
    return is_short or frozenset((one, other)) in _SAME_WORDS or difflib.SequenceMatcher(None, one, other).ratio() > 0.6


def _folded(key: str) -> str:
    """Case and the words' separators are where most misspellings are: `trainBatchSize`, `train-batch-size`."""
    return key.lower().replace("-", "").replace("_", "").replace(" ", "")


def _renaming(place: Place, key: str) -> Fix:
    return Fix.of("rename", Change(place.pointer, None, key), key=key)


# ------------------------------------------------------------------------------------------- keys of other releases
def _not_in_release(place: Place, node: Node, config: Mapping[str, Any], context: Context) -> Finding:
    since, removed = node.get("x-since", ""), node.get("x-removed", "")
    came_later = bool(since) and version_tuple(context.release) < version_tuple(since)
    told = "" if came_later else node.get("x-removed-message", "")
    refused, fix = (place.strict and not place.is_dropped) or bool(told), removal(place.pointer)
    advice = "DS005.newer" if came_later else "remove_it"
    new = node.get("x-renamed-to", "")
    if new and not came_later:
        fix, advice = rewrite(place.pointer, place.value, new, config) or fix, "DS005.renamed"
    return found(
        Severity.ERROR if refused else Severity.WARNING,
        place.pointer,
        _OF_ANOTHER_RELEASE[came_later, refused],
        advice=(as_told(told),) if told else advice,
        fix=fix,
        source=_source(place),
        key=dotted(place.pointer),
        since=since,
        removed=removed,
        release=context.release,
        new=dotted(new),
    )


# By whether it came later, and whether DeepSpeed refuses it.
_OF_ANOTHER_RELEASE = {
    (True, True): "DS005.later_refused",
    (True, False): "DS005.later_ignored",
    (False, True): "DS005.removed_refused",
    (False, False): "DS005.removed_ignored",
}


# --------------------------------------------------------------------------------------------------------- old names
def _old_name(place: Place, new: str, config: Mapping[str, Any], context: Context) -> Finding:
    ignored = place.pointer.endswith(_IGNORED_OLD_NAME)
    severity, code, advice = Severity.WARNING, "DS006.ignored" if ignored else "DS006.read", ""
    if place.pointer == "/bfloat16" and context.integration is Integration.HF:
        code = "DS006.bfloat16"
    if not ignored and lookup(config, new) not in (MISSING, None):
        advice = "DS006.both"
        if place.strict and place.value is not None:
            severity, code = Severity.ERROR, "DS006.both"
    return found(
        severity,
        place.pointer,
        code,
        advice=advice,
        fix=removal(place.pointer) if ignored else rewrite(place.pointer, place.value, new, config),
        source=_CONFIG_MODEL,
        key=dotted(place.pointer),
        new=dotted(new),
        release=context.release,
    )


def rewrite(old: str, value: Any, new: str, config: Mapping[str, Any]) -> Fix | None:
    """The edits that say the same under the new name; what stands there already wins over the old name."""
    for matches, changes in _REWRITES:
        if matches(old, value):
            return Fix.of("rewrite", *changes(old, value, new, config), key=dotted(new))
    return None


Changes = tuple[Change, ...]


def _switch_to_device(old: str, value: Any, new: str, config: Mapping[str, Any]) -> Changes:
    """`cpu_offload: true` → `offload_optimizer: {"device": "cpu"}`; false only goes."""
    gone = Change(old, None)
    if not truth(value) or lookup(config, new) not in (MISSING, None):
        return (gone,)
    return (Change(f"{new}/device", '"cpu"'), gone)


def _only_remove(old: str, value: Any, new: str, config: Mapping[str, Any]) -> Changes:
    return (Change(old, None),)


def _rename(old: str, value: Any, new: str, config: Mapping[str, Any]) -> Changes:
    parent, key = split(new)[:-1], split(new)[-1]
    there = lookup(config, new)
    if there not in (MISSING, None):
        return (Change(old, None),)
    if there is MISSING and parent == split(old)[:-1]:
        return (Change(old, None, key),)
    return (Change(new, json_text(value)), Change(old, None))


_REWRITES: tuple[tuple[Callable[[str, Any], bool], Callable[[str, Any, str, Mapping[str, Any]], Changes]], ...] = (
    (lambda old, value: old.endswith(_IGNORED_OLD_NAME), _only_remove),
    (lambda old, value: "/cpu_offload" in old, _switch_to_device),
    (lambda old, value: True, _rename),
)
