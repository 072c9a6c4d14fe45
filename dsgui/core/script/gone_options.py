"""Options that tutorials pass and that newer releases of transformers or TRL do not have: what to write instead.

From the fields of `TrainingArguments` and `Seq2SeqTrainingArguments` in transformers 4.30, 4.40, 4.57, 5.0 and 5.23,
the arguments of transformers' example scripts, and TRL's configs.
"""

from collections.abc import Collection

from dsgui.core.texts.saying import Said, said

REMOVE = ""
# Name → the words to write instead, or REMOVE; a word in capitals is the value that was given. Words without one stand
# for an option that was on: one that was off is to be removed.
_INSTEAD = {
    "overwrite_output_dir": REMOVE,
    "evaluation_strategy": "--eval_strategy VALUE",
    "per_gpu_train_batch_size": "--per_device_train_batch_size VALUE",
    "per_gpu_eval_batch_size": "--per_device_eval_batch_size VALUE",
    "no_cuda": "--use_cpu",
    "warmup_ratio": "--warmup_steps VALUE",
    "group_by_length": "--train_sampling_strategy group_by_length",
    "adafactor": "--optim adafactor",
    "include_inputs_for_metrics": "--include_for_metrics inputs",
    "include_tokens_per_second": "--include_num_input_tokens_seen",
    "push_to_hub_model_id": "--hub_model_id VALUE",
    "push_to_hub_organization": "--hub_model_id ORGANIZATION/NAME",
    "push_to_hub_token": "--hub_token VALUE",
    "torchdynamo": "--torch_compile_backend VALUE",
    "tpu_metrics_debug": "--debug tpu_metrics_debug",
    "xpu_backend": "--ddp_backend VALUE",
    "sharded_ddp": "--fsdp VALUE",
    "use_auth_token": "--token VALUE",
    "torch_dtype": "--dtype VALUE",
    "max_seq_length": "--max_length VALUE",
    "gradient_checkpointing_use_reentrant": "--gradient_checkpointing_kwargs '{\"use_reentrant\": …}'",
    "logging_dir": REMOVE,
    "save_safetensors": REMOVE,
    "fp16_backend": REMOVE,
    "half_precision_backend": REMOVE,
    "fp16_opt_level": REMOVE,
    "jit_mode_eval": REMOVE,
    "use_ipex": REMOVE,
    "use_mps_device": REMOVE,
    "use_legacy_prediction_loop": REMOVE,
    "past_index": REMOVE,
    "mp_parameters": REMOVE,
    "ray_scope": REMOVE,
    "tpu_num_cores": REMOVE,
    "dispatch_batches": "--accelerator_config '{\"dispatch_batches\": …}'",
    "split_batches": "--accelerator_config '{\"split_batches\": …}'",
    "fsdp_min_num_params": "--fsdp_config '{\"min_num_params\": …}'",
    "fsdp_transformer_layer_cls_to_wrap": "--fsdp_config '{\"transformer_layer_cls_to_wrap\": …}'",
}
_WHY = {
    "overwrite_output_dir": said("verdict_advice", "options.why_overwrite_output_dir"),
    "warmup_ratio": said("verdict_advice", "options.why_warmup_ratio"),
    "logging_dir": said("verdict_advice", "options.why_logging_dir"),
    "save_safetensors": said("verdict_advice", "options.why_save_safetensors"),
}
# Renamed, so that an older release has the other name.
_BACK = {"eval_strategy": "evaluation_strategy", "use_cpu": "no_cuda", "dtype": "torch_dtype"}
_OFF = frozenset({"false", "f", "no", "n", "0"})  # transformers/hf_argparser.py: string_to_bool


def instead(name: str, value: str, known: Collection[str]) -> tuple[Said, ...] | None:
    """What to do about an option that is not among the `known` names: sentences, or None for one that was never
    there."""
    if name in _BACK and _BACK[name] in known:
        return (said("verdict_advice", "options.calls_it", option=f"--{_BACK[name]}"),)
    words = _words(name, value)
    if words is None:
        return None
    option, why = words.partition(" ")[0].removeprefix("--"), _WHY.get(name)
    if words == REMOVE or option not in known:
        told = said("verdict_advice", "options.remove", option=f"--{name}")
    else:
        spelled = words.replace("VALUE", value) if value else words.removesuffix(" VALUE")
        told = said("verdict_advice", "options.write_instead", words=spelled)
    return (told, why) if why else (told,)


def words_instead(name: str, value: str, known: Collection[str]) -> tuple[str, ...] | None:
    """The words to write instead of an option that is gone, none where it is only to be left out; None where that is
    not known without asking."""
    words = _words(name, value)
    if words is None or name in known or "…" in words or "ORGANIZATION" in words:
        return None
    option, _, setting = words.partition(" ")
    if words == REMOVE or option.removeprefix("--") not in known:
        return ()
    return (option, *([value if setting == "VALUE" else setting] if setting and (value or setting != "VALUE") else []))


def words_after_refusal(name: str, value: str) -> tuple[str, ...]:
    """The same where a parser refused the option and what it knows was not asked: a release that dropped one of the
    Trainer's has what replaced it."""
    known = {words.partition(" ")[0].removeprefix("--") for old, words in _INSTEAD.items() if is_trainers(old)}
    return (words_instead(name, value, known) if is_trainers(name) else None) or ()


def _words(name: str, value: str) -> str | None:
    words = _INSTEAD.get(name)
    return REMOVE if words and "VALUE" not in words and "…" not in words and value.lower() in _OFF else words


def is_trainers(name: str) -> bool:
    """Whether it was the Trainer's own, so that transformers' release decides."""
    return name not in ("use_auth_token", "torch_dtype", "max_seq_length", "gradient_checkpointing_use_reentrant")
