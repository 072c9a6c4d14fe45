"""What to change after a failure: edits of the config and of the script's arguments, derived from the failed run.

Each function takes what a signature's pattern matched and the circumstances of the run, and returns the change that is
most likely right, or None if none can be made without knowing more.
"""

import json
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import reduce
from typing import Any

from dsgui.core.config.conversion import truth
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Change, Fix
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.decoding import optional, text
from dsgui.core.diagnosis.evidence import MOST_SHOWN, mismatches, unknown_options
from dsgui.core.script.gone_options import words_after_refusal
from dsgui.core.script.packages import PACKAGES, python_path_with
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, listed, recalled, said

# As in core/rules/base.py, which the supervisor has no need to load.
TRAIN, MICRO, ACCUMULATION = "/train_batch_size", "/train_micro_batch_size_per_gpu", "/gradient_accumulation_steps"
MICRO_OPTION, _STEPS_OPTION = "--per_device_train_batch_size", "--gradient_accumulation_steps"
_TRAINER_MICRO = 8  # transformers/training_args.py: per_device_train_batch_size
_STAGE, _OVERLAP = "/zero_optimization/stage", "/zero_optimization/overlap_comm"
_OPTIMIZER_DEVICE = "/zero_optimization/offload_optimizer/device"
_PARAM_DEVICE = "/zero_optimization/offload_param/device"
_ADAMS = frozenset({"adam", "adamw"})
CLIPPING, _NORM_OPTION = "/gradient_clipping", "--max_grad_norm"
_RATE, _RATE_OPTIONS = "/optimizer/params/lr", ("--learning_rate", "--lr")
# deepspeed/runtime/lr_schedules.py: what these schedulers lead to, whatever the optimizer was given.
_PEAK_RATES = ("/scheduler/params/warmup_max_lr", "/scheduler/params/cycle_max_lr")
_SMALL_RATE, _LEAST_RATE = 1e-2, 1e-12
_TRAINER_RATE = 5e-5  # transformers/training_args.py: learning_rate
_EXTRA = re.compile(r"^([\w.]+)\n\s+Extra inputs are not permitted", re.MULTILINE)
# transformers/training_args.py and hf_argparser.py (string_to_bool).
_FILTER, _NO_FILTER = "--logging_nan_inf_filter", "--no_logging_nan_inf_filter"
USE_CPU = "--use_cpu"
TF32 = "--tf32"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The run that failed: its config (None when it can't be read), the script's arguments, the number of ranks,
    whether the HF Trainer reads the config, and how many processes the kernel killed for lack of memory during the run
    (on the machine, and in the run's own control group). `on_cpu`: whether the ranks train on this machine's CPU;
    `first_ended` is the rank whose process ended first; `memory_limit_bytes` is that group's, `address_space_bytes`
    what `ulimit -v` allows a process. None: not known, or no such limit. `takes_options`: whether Trainer options can
    be added to the arguments. `above`: the missing modules that lie in a folder above the script's own, with that
    folder; `python_path`: the run's PYTHONPATH."""

    config: Document | None = None
    arguments: tuple[str, ...] = ()
    ranks: int = 1
    trainer: bool = False
    oom_kills: int | None = None
    oom_kills_here: int | None = None
    on_cpu: bool = False
    first_ended: int | None = None
    memory_limit_bytes: int | None = None
    address_space_bytes: int | None = None
    takes_options: bool = True
    above: Mapping[str, str] = field(default_factory=dict)
    python_path: str = ""

    @property
    def values(self) -> Mapping[str, Any]:
        return self.config.value if self.config else {}

    def can_have(self, remedy: "Remedy") -> bool:
        """Whether the script's arguments can be changed as the remedy asks: options can always be removed."""
        return self.takes_options or all(value is None for _, value in remedy.options)

    def has_above(self, module: str) -> str:
        """The folder above the script's that has a module, "" where none has that Python has not looked in."""
        folder = self.above.get(module, "")
        return "" if folder in self.python_path.split(":") else folder

    def finding(self, module: str) -> str:
        """The PYTHONPATH with which that is found."""
        return python_path_with([self.has_above(module)], self.python_path)


Options = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Remedy:
    """`fix` for the config, `options` for the script's arguments: (option, value), where None takes it out, and
    `variables` for the run's environment. All empty: the same again is enough."""

    label: Said
    fix: Fix | None = None
    options: Options = ()
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.fix or self.options or self.variables)

    @property
    def key(self) -> str:
        """Names the change in any language: by what it does, since there may be several of one code."""
        changes = self.fix.changes if self.fix else ()
        does = json.dumps([[asdict(one) for one in changes], self.options, self.variables])
        return f"{self.label.code}-{zlib.crc32(does.encode()):08x}"

    def to_json(self) -> dict[str, Any]:
        """Labels stand in words, too, for whoever does not know the code."""
        fix = self.fix and _labelled(self.fix.label) | {"changes": [asdict(change) for change in self.fix.changes]}
        given = {"options": [list(option) for option in self.options]}
        set_ = {"variables": [list(one) for one in self.variables]} if self.variables else {}
        return _labelled(self.label) | {"fix": fix} | given | set_

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Remedy":
        """Raises KeyError, TypeError or ValueError for what `to_json` did not write."""
        fix = value.get("fix")
        changes = tuple(_change(change) for change in fix["changes"]) if fix else ()
        options = tuple((text(option), optional(text, setting)) for option, setting in value.get("options", ()))
        variables = tuple((text(name), text(setting)) for name, setting in value.get("variables", ()))
        return cls(_label(value), Fix(_label(fix), changes) if fix else None, options, variables)


def _labelled(label: Said) -> dict[str, Any]:
    return {"label": str(label)} | label.to_json()


def _label(value: Mapping[str, Any]) -> Said:
    return recalled("remedies", value, str(value["label"]))


def _change(value: Mapping[str, Any]) -> Change:
    return Change(text(value["pointer"]), optional(text, value.get("literal")), text(value.get("key", "")))


Match = re.Match[str] | None


def _changed(code: str, /, *changes: Change, options: Options = (), **given: str | Said) -> Remedy:
    """`code` and `given` are of the catalogue's remedies."""
    label = said("remedies", code, **given)
    return Remedy(label, Fix(label, changes) if changes else None, options)


# --- memory -----------------------------------------------------------------------------------------------------------


def shrink_micro_batch(match: Match, run: Circumstances) -> Remedy | None:
    """Half the micro batch, twice the accumulation: the train batch stays. At 1, all that remains is to keep less in
    memory."""
    micro, steps = _batch_terms(run)
    if micro is None or micro < 1:
        return None
    if micro == 1:
        return checkpoint_activations(match, run) or fit_model_states(match, run)
    factor = 2 if micro % 2 == 0 else micro
    new = {MICRO: str(micro // factor), ACCUMULATION: str(steps * factor)}
    kept = lookup(run.values, MICRO) is MISSING and isinstance(lookup(run.values, TRAIN), int)
    changes = [Change(p, v) for p, v in new.items() if _is_number(run, p) or (p == ACCUMULATION and kept)]
    options: Options = ()
    if run.trainer:
        options = ((MICRO_OPTION, new[MICRO]), (_STEPS_OPTION, new[ACCUMULATION]))
    elif not kept and not _is_number(run, ACCUMULATION):
        changes.append(Change(ACCUMULATION, new[ACCUMULATION]))
    return _changed(
        "smaller_micro_batch",
        *changes,
        options=options,
        micro=new[MICRO],
        micro_before=str(micro),
        steps=new[ACCUMULATION],
        steps_before=str(steps),
    )


def _batch_terms(run: Circumstances) -> tuple[int | None, int]:
    """Micro batch and accumulation steps as the run had them."""
    micro, steps, train = (lookup(run.values, pointer) for pointer in (MICRO, ACCUMULATION, TRAIN))
    if run.trainer:
        steps = steps if isinstance(steps, int) else _count(run, _STEPS_OPTION, 1)
        return (micro if isinstance(micro, int) else _count(run, MICRO_OPTION, _TRAINER_MICRO)), steps
    given = steps if isinstance(steps, int) and steps > 0 else 1
    if isinstance(micro, int):
        derived = train // (micro * run.ranks) if isinstance(train, int) and micro > 0 else 1
        return micro, given if isinstance(steps, int) else max(derived, 1)
    return (train // (given * run.ranks) if isinstance(train, int) else None), given


def _count(run: Circumstances, option: str, otherwise: int) -> int:
    given = value_of(run.arguments, (option,)) or ""
    return int(given) if given.isdecimal() and len(given) < 10 else otherwise


def checkpoint_activations(match: Match, run: Circumstances) -> Remedy | None:
    if not run.trainer or value_of(run.arguments, ("--gradient_checkpointing",)) is not None:
        return None
    return _changed("checkpoint_activations", options=(("--gradient_checkpointing", ""),))


def fit_model_states(match: Match, run: Circumstances) -> Remedy | None:
    """The next of these steps: stage 2, offloaded optimizer, stage 3, offloaded parameters."""
    if run.config is None:
        return None
    stage = lookup(run.values, _STAGE)
    stage = stage if isinstance(stage, int) else 0
    if stage < 2 and run.ranks > 1:
        return _changed("stage", Change(_STAGE, "2"), stage="2")
    if (offload := fit_optimizer_step(match, run)) is not None:
        return offload
    if stage < 3:
        return _changed("stage", Change(_STAGE, "3"), stage="3")
    if not _is_offloaded(run, _PARAM_DEVICE):
        return _changed("offload_parameters", Change(_PARAM_DEVICE, '"cpu"'))
    return None


def fit_optimizer_step(match: Match, run: Circumstances) -> Remedy | None:
    """The optimizer states on the CPU, if that is possible and they are not there yet."""
    if run.config is None or _is_offloaded(run, _OPTIMIZER_DEVICE) or not _can_offload(run):
        return None
    stage = lookup(run.values, _STAGE)
    staged = [] if isinstance(stage, int) and stage >= 1 else [Change(_STAGE, "2")]
    return _changed("offload_states", *staged, Change(_OPTIMIZER_DEVICE, '"cpu"'))


def _is_offloaded(run: Circumstances, pointer: str) -> bool:
    return lookup(run.values, pointer) in ("cpu", "nvme")


def _can_offload(run: Circumstances) -> bool:
    """DeepSpeed uses its CPU Adam for an Adam in the config; accelerate does so for the Trainer's own."""
    name = lookup(run.values, "/optimizer/type")
    return run.trainer if name is MISSING else isinstance(name, str) and name.lower() in _ADAMS


def has_address_limit(match: re.Match[str], run: Circumstances) -> bool:
    return run.address_space_bytes is not None


def is_above(match: re.Match[str], run: Circumstances) -> bool:
    return bool(run.has_above(match["module"]))


def is_package_above(match: re.Match[str], run: Circumstances) -> bool:
    """What has the name of a package may be one's own or not."""
    return match["module"] in PACKAGES and is_above(match, run)


def with_python_path(match: Match, run: Circumstances) -> Remedy | None:
    path = run.finding(match["module"]) if match else ""
    return Remedy(said("remedies", "python_path", path=path), variables=(("PYTHONPATH", path),))


def no_loader_workers(match: Match, run: Circumstances) -> Remedy | None:
    if (value_of(run.arguments, ("--dataloader_num_workers",)) or "0") == "0":
        return None
    return _changed("no_loader_workers", options=(("--dataloader_num_workers", "0"),))


# --- the config -------------------------------------------------------------------------------------------------------


def right_train_batch(match: Match, run: Circumstances) -> Remedy | None:
    if match is None:
        return None
    product = int(match["micro"]) * int(match["steps"]) * int(match["ranks"])
    return _changed("train_batch", Change(TRAIN, str(product)), value=str(product)) if product else None


def mismatches_to_auto(match: Match, run: Circumstances) -> Remedy | None:
    """Every key that the message names and the config contains."""
    return _to_auto(match.string, run) if match else None


def derived_train_batch(match: Match, run: Circumstances) -> Remedy | None:
    if lookup(run.values, TRAIN) is MISSING or not _is_number(run, MICRO):
        return None
    return _changed("derived_train_batch", Change(TRAIN, None))


def _to_auto(message: str, run: Circumstances, *but: str) -> Remedy | None:
    pointers = ["/" + key.replace(".", "/") for key in dict.fromkeys(one[0] for one in mismatches(message))]
    held = [p for p in pointers if p not in but and lookup(run.values, p) is not MISSING]
    if not held:
        return None
    named = listed(pointer.rpartition("/")[2] for pointer in held)
    return _changed("to_auto", *(Change(pointer, '"auto"') for pointer in held), keys=named)


def counts_one_rank(match: re.Match[str], run: Circumstances) -> bool:
    """Whether each of several CPU ranks considered itself the only one, as happens without use_cpu
    (transformers/training_args.py: _setup_devices): the train batch size it calculated shows this."""
    if not run.on_cpu or run.ranks < 2 or value_of(run.arguments, (USE_CPU,)) is not None:
        return False
    told = match.groupdict()
    if "train" in told:  # DeepSpeed's message
        return int(told["train"]) == int(told["micro"]) * int(told["steps"])
    reckoned = [given for _, _, argument, given in mismatches(match.string) if argument.startswith("train_batch_size")]
    micro, steps = _count(run, MICRO_OPTION, _TRAINER_MICRO), _count(run, _STEPS_OPTION, 1)
    return reckoned == [str(micro * steps)]


def on_cpu_without_saying(match: re.Match[str], run: Circumstances) -> bool:
    return run.on_cpu and value_of(run.arguments, (USE_CPU,)) is None


def use_cpu(match: Match, run: Circumstances) -> Remedy | None:
    """With any other mismatch in the message that use_cpu does not resolve."""
    if value_of(run.arguments, (USE_CPU,)) is not None:
        return None
    more = _to_auto(match.string, run, *_settled_by_use_cpu(run)) if match else None
    options = ((USE_CPU, ""),)
    if more is None:
        return _changed("use_cpu", options=options)
    return Remedy(said("remedies", "use_cpu_and", more=more.label), more.fix, options)


def use_cpu_if_trainer(match: Match, run: Circumstances) -> Remedy | None:
    return use_cpu(None, run) if run.trainer and run.on_cpu else None


def _settled_by_use_cpu(run: Circumstances) -> tuple[str, ...]:
    """The train batch size, if it is right for the number of ranks."""
    product = _count(run, MICRO_OPTION, _TRAINER_MICRO) * _count(run, _STEPS_OPTION, 1) * run.ranks
    return (TRAIN,) if lookup(run.values, TRAIN) == product else ()


# --- the script's arguments -------------------------------------------------------------------------------------------


def without_tf32(match: Match, run: Circumstances) -> Remedy | None:
    """None where the script sets it itself."""
    if value_of(run.arguments, (TF32,)) is None:
        return None
    return _changed("without", options=((TF32, None),), what=TF32)


def without_unknown_options(match: Match, run: Circumstances) -> Remedy | None:
    """Each removed, or under its new name."""
    given = (
        [option for option in unknown_options(match) if value_of(run.arguments, (option,)) is not None] if match else []
    )
    if not given:
        return None
    changes: list[tuple[str, str | None]] = []
    told = []
    for option in given:
        changes.append((option, None))
        value = value_of(run.arguments, (option,)) or ""
        words = words_after_refusal(option.removeprefix("--").replace("-", "_"), value)
        if words and value_of(run.arguments, words[:1]) is None:
            changes.append((words[0], " ".join(words[1:])))
        new = said("remedies", "instead", new=words[0], old=option) if words else None
        told.append(new or said("remedies", "without", what=option))
    label = reduce(lambda first, then: said("remedies", "both", first=first, then=then), told[:MOST_SHOWN])
    return Remedy(said("remedies", "more", first=label) if len(told) > MOST_SHOWN else label, None, tuple(changes))


def auto_to_number(match: Match, run: Circumstances) -> Remedy | None:
    """A micro batch of 1; the other terms follow from it."""
    autos = [pointer for pointer in (TRAIN, ACCUMULATION) if lookup(run.values, pointer) == "auto"]
    if lookup(run.values, MICRO) != "auto" and not autos:
        return None
    micro = [] if _is_number(run, MICRO) else [Change(MICRO, "1")]
    code = "micro_batch_1_without_auto" if micro else "without_auto"
    return _changed(code, *micro, *(Change(pointer, None) for pointer in autos))


def remove_unknown_key(match: Match, run: Circumstances) -> Remedy | None:
    """Each key that the message names and that appears once in the config: the message does not name the block by its
    key."""
    if match is None or run.config is None:
        return None
    keys = [found[1] for found in _EXTRA.finditer(match.string)]
    places = {key: [p for p, _ in run.config.nodes if p.endswith("/" + key.replace(".", "/"))] for key in keys}
    changes = [Change(pointers[0], None) for pointers in places.values() if len(pointers) == 1]
    named = listed(key for key, pointers in places.items() if len(pointers) == 1)
    return _changed("without", *changes, what=named) if changes else None


def zero_block(match: Match, run: Circumstances) -> Remedy | None:
    return _changed("zero_block", Change(_STAGE, "0"))


def allow_untested_optimizer(match: Match, run: Circumstances) -> Remedy | None:
    return _changed("allow_untested_optimizer", Change("/zero_allow_untested_optimizer", "true"))


def keep_client_optimizer(match: Match, run: Circumstances) -> Remedy | None:
    return _changed("keep_client_optimizer", Change("/zero_force_ds_cpu_optimizer", "false"))


def nvme_to_cpu(match: Match, run: Circumstances) -> Remedy | None:
    devices = [p for p in (_OPTIMIZER_DEVICE, _PARAM_DEVICE) if lookup(run.values, p) == "nvme"]
    return _changed("offload_to_cpu", *(Change(p, '"cpu"') for p in devices)) if devices else None


def bf16_for_fp16(match: Match, run: Circumstances) -> Remedy | None:
    return _precision(run, "fp16", "bf16")


def fp16_for_bf16(match: Match, run: Circumstances) -> Remedy | None:
    """Not on a CPU, where DeepSpeed has no fp16 (accelerator/cpu_accelerator.py: is_fp16_supported)."""
    return None if run.on_cpu else _precision(run, "bf16", "fp16")


def _precision(run: Circumstances, old: str, new: str) -> Remedy | None:
    """The other 16-bit format, in the config and in the Trainer's arguments."""
    given = value_of(run.arguments, (f"--{old}",)) is not None
    asked = lookup(run.values, f"/{old}/enabled")
    if asked not in (True, "auto") and not given:
        return None
    changes = []
    if asked is not MISSING and asked != "auto":
        changes = [Change(f"/{old}/enabled", "false"), Change(f"/{new}/enabled", "true")]
    elif asked == "auto" and lookup(run.values, f"/{new}/enabled") is MISSING:
        changes = [Change(f"/{new}/enabled", '"auto"')]
    options: tuple[tuple[str, str | None], ...] = ((f"--{old}", None), (f"--{new}", "")) if given else ()
    if run.on_cpu and run.trainer and new == "bf16" and value_of(run.arguments, (USE_CPU,)) is None:
        options = (*options, (USE_CPU, ""))  # without it the Trainer asks the GPU for bf16
    return _changed("instead", *changes, options=options, new=new, old=old)


def fp32(match: Match, run: Circumstances) -> Remedy | None:
    """Neither 16-bit format."""
    blocks = [name for name in ("fp16", "bf16") if lookup(run.values, f"/{name}/enabled") is True]
    given = [f"--{name}" for name in ("fp16", "bf16") if value_of(run.arguments, (f"--{name}",)) is not None]
    if not blocks and not given:
        return None
    changes = [Change(f"/{name}/enabled", "false") for name in blocks]
    return _changed("fp32", *changes, options=tuple((option, None) for option in given))


def clip_gradients(match: Match, run: Circumstances) -> Remedy | None:
    """Where nothing clips them. Without the key DeepSpeed clips at 1.0 (from 0.19.3 on), and the HF Trainer's argument
    fills “auto” alone; a number it has to equal."""
    held = lookup(run.values, CLIPPING)
    given = _number(value_of(run.arguments, (_NORM_OPTION,))) if run.trainer else None
    filled = held == "auto" and given == 0
    if run.config is None or not (filled or (held == 0 and not isinstance(held, bool))):
        return None
    changes = [] if filled else [Change(CLIPPING, "1.0")]
    options = ((_NORM_OPTION, "1.0"),) if run.trainer and given != 1 else ()
    return _changed("clip_gradients", *changes, options=options, value="1.0")


def lower_learning_rate(match: Match, run: Circumstances) -> Remedy | None:
    """Half of it, wherever it is set: in the config, in the arguments, or by the HF Trainer's default. None where a
    scheduler of the config leads to another rate."""
    held = _rate_in(run, _RATE)
    given = {one: rate for one in _RATE_OPTIONS if (rate := _number(value_of(run.arguments, (one,)))) is not None}
    if run.trainer:
        given = {_RATE_OPTIONS[0]: given.get(_RATE_OPTIONS[0], _TRAINER_RATE if held is None else held)}
    before = next(iter(given.values()), held)
    if before is None or not _LEAST_RATE < before < math.inf:
        return None
    peaks = {pointer: rate for pointer in _PEAK_RATES if (rate := _rate_in(run, pointer)) is not None}
    if any(rate != before for rate in peaks.values()):
        return None
    half = _plain(before / 2)
    changes = [Change(pointer, half) for pointer in (*([_RATE] if held is not None else []), *peaks)]
    options = tuple((option, half) for option in given)
    return _changed("learning_rate", *changes, options=options, value=half, before=_plain(before))


def _rate_in(run: Circumstances, pointer: str) -> float | None:
    """A number of the config; None where there is none, as for “auto”."""
    held = lookup(run.values, pointer)
    return float(held) if isinstance(held, int | float) and not isinstance(held, bool) else None


def _number(given: str | None) -> float | None:
    try:
        return float(given or "")
    except ValueError:
        return None


def _plain(rate: float) -> str:
    """As people write it: 2.5e-5."""
    digits, power = f"{rate:.2e}".split("e")
    return f"{float(digits):g}e{int(power)}" if rate < _SMALL_RATE else f"{rate:.3g}"


def without_overlap(match: Match, run: Circumstances) -> Remedy | None:
    """ZeRO stage 1 and 2 reduced gradients of several ranks while these were written, in several releases: DeepSpeed
    #5347, #7188, #7965. A CPU has no streams."""
    overlaps = lookup(run.values, _OVERLAP) is True and lookup(run.values, _STAGE) in (1, 2)
    if not overlaps or run.ranks == 1 or run.on_cpu:
        return None
    return _changed("without_overlap", Change(_OVERLAP, "false"))


# By which a loss that became NaN or infinite may stay a number, the likeliest first.
STEADIER = (bf16_for_fp16, clip_gradients, lower_learning_rate, without_overlap)


def steadier(run: Circumstances | None) -> tuple[Remedy, ...]:
    """Those of them that the run can have; none where no other can be started like it."""
    made = [make(None, run) for make in STEADIER] if run else []
    return tuple(one for one in made if one and run and run.can_have(one))


def logs_zero_for_nan(run: Circumstances) -> bool:
    """transformers/trainer.py logs the mean of the losses before in place of one that is NaN or infinite: 0 where all
    since the last log are."""
    given = value_of(run.arguments, (_FILTER,)) or "true"
    return truth(given) is True and value_of(run.arguments, (_NO_FILTER,)) is None


def show_nan_losses(match: Match, run: Circumstances) -> Remedy | None:
    if not run.trainer or not logs_zero_for_nan(run):
        return None
    return _changed("show_nan_losses", options=((_FILTER, "false"),))


# --- the launch -------------------------------------------------------------------------------------------------------


def another_port(match: Match, run: Circumstances) -> Remedy | None:
    return Remedy(said("remedies", "another_port"))


def without_deepspeed(match: Match, run: Circumstances) -> Remedy | None:
    if value_of(run.arguments, ("--deepspeed",)) is None:
        return None
    return _changed("without_second", options=(("--deepspeed", None),))


def without_resume(match: Match, run: Circumstances) -> Remedy | None:
    if value_of(run.arguments, ("--resume_from_checkpoint",)) is None:
        return None
    return _changed("without_resume", options=(("--resume_from_checkpoint", None),))


def _is_number(run: Circumstances, pointer: str) -> bool:
    value = lookup(run.values, pointer)
    return isinstance(value, int) and not isinstance(value, bool)
