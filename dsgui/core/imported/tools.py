"""The tools whose settings are read, one table each: what marks them, and what their names are called elsewhere.

Facts from the tools' own sources: LLaMA-Factory `hparams/`, ms-swift `swift/arguments/` and `swift/trainers/`, axolotl
 `core/builders/base.py` and `utils/schemas/`, TRL `trl/cli/`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dsgui.core.config.arguments import EVERY_NAME

# Of a batch and a type, in every tool: what else changes either, and is no argument of the Trainer.
_PARALLEL = (
    *("tensor_parallel_size", "context_parallel_size", "sequence_parallel_size", "pipeline_parallel_size"),
    *("fsdp", "fsdp_config", "fsdp_version", "use_ray"),
)


@dataclass(frozen=True, slots=True)
class Tool:
    """`marks`: settings that no other tool has under that name. `scripts`: where what trains lies in the tool's
    repository and package, the first to be named. `aliases`: its name → the HF Trainer's; names that it shares with the
    Trainer are in `shares`. `model`: its name → the Launch page's field. `defaults`: where they differ from the
    Trainer's; `computed`: what its code settles when it starts. `configs`: its names for DeepSpeed configs, and the
    file behind each; `alike`: of its example configs the dsgui preset with the same stage and offload. `by_file`: its
    script takes the settings' file, otherwise words, and `names_config` is the word behind the file that names another
    config. `reader`: how its script gets the config, `reader_behind` where it reads
    a file of settings. `names_file`: the option in front of that file; "" where it stands first. `override`: how one
    setting is written behind the file; "" as everywhere. `unread`: what changes the batch, the config or the processes
    and is not read. `others`: settings that the first script does not take, but for these values: one of `theirs` is
    meant, or where it can't be told which, one of `family`."""

    name: str
    marks: frozenset[str]
    scripts: tuple[str, ...]
    verbs: frozenset[str] = frozenset()
    programs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    shares: frozenset[str] = EVERY_NAME
    model: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()
    configs: Mapping[str, str] = field(default_factory=dict)
    alike: Mapping[str, str] = field(default_factory=dict)
    by_file: bool = False
    names_config: str = ""
    reader: str = "hf"
    reader_behind: str = ""
    names_file: str = ""
    override: str = ""
    unread: frozenset[str] = frozenset(_PARALLEL)
    torchrun: bool = False
    others: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    theirs: tuple[str, ...] = ()
    family: str = ""

    def trainers(self, name: str) -> str:
        """The HF Trainer's name for one of its settings; "" for none."""
        return self.aliases.get(name) or (name if name in self.shares else "")

    def preset_like(self, config: str) -> str:
        """The preset that is like one of its example configs, by the end of its path; "" for another config."""
        return next((preset for file, preset in self.alike.items() if f"/{config}".endswith(f"/{file}")), "")

    def scripts_for(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Where the script for these settings may lie; none where they are for one of several."""
        other = any(name in self.others and value not in self.others[name] for name, value in settings.items())
        return self.theirs if other else self.scripts


_AS_YAML = "{name}={value}"
_MODEL = {"gradient_checkpointing": "checkpointing", "lora_rank": "lora_rank"}

# "auto" and fp16 are as in the presets; overlap_comm is off there, and buckets are 5e8 at stages 0 and 2.
_LLAMA_FACTORY_CONFIGS = {
    f"examples/deepspeed/ds_{short}_config.json": preset
    for short, preset in (
        ("z0", "zero0-hf"),
        ("z2", "zero2-hf"),
        ("z2_offload", "zero2-offload-hf"),
        ("z3", "zero3-hf"),
        ("z3_offload", "zero3-offload-hf"),
    )
}

LLAMA_FACTORY = Tool(
    name="LLaMA-Factory",
    marks=frozenset(
        {"finetuning_type", "cutoff_len", "template", "dataset_dir", "stage", "plot_loss", "mix_strategy"}
        | {"freeze_trainable_layers", "lora_target", "val_size", "flash_attn", "disable_gradient_checkpointing"}
    ),
    scripts=("src/train.py", "src/llamafactory/launcher.py", "llamafactory/launcher.py"),
    verbs=frozenset({"train", "sft"}),
    programs=("llamafactory-cli", "lmf"),
    modules=("llamafactory.launcher", "llamafactory.cli"),
    # Behind a file it reads `name=value` alone, as YAML (src/llamafactory/hparams/parser.py, `read_args`).
    reader_behind="llamafactory",
    override=_AS_YAML,
    model={"model_name_or_path": "model", "cutoff_len": "length", "lora_rank": "lora_rank"},
    alike=_LLAMA_FACTORY_CONFIGS,
    unread=frozenset((*_PARALLEL, "use_kt", "use_galore", "use_badam", "pure_bf16", "dist_config")),
    torchrun=True,
)

# With USE_V1=1 (src/llamafactory/v1/config): settings of its own, trained by accelerate instead of the HF Trainer.
LLAMA_FACTORY_V1 = Tool(
    name="LLaMA-Factory v1",
    marks=frozenset(
        {"dist_config", "kernel_config", "peft_config", "quant_config", "init_config", "optim_config", "model_class"}
        | {"lr_scheduler_config", "train_dataset", "batching_strategy", "sample_backend", "custom_chat_template"}
        | {"enable_activation_checkpointing"}
    ),
    scripts=("src/llamafactory/v1/launcher.py", "llamafactory/v1/launcher.py"),
    verbs=frozenset({"train", "sft", "dpo", "rm"}),
    modules=("llamafactory.v1.launcher",),
    aliases={"model": "model_name_or_path", "micro_batch_size": "per_device_train_batch_size"},
    shares=frozenset(
        {"learning_rate", "max_grad_norm", "max_steps", "num_train_epochs", "bf16", "output_dir", "seed", "save_steps"}
        | {"logging_steps", "resume_from_checkpoint"}
    )
    & EVERY_NAME,
    model={
        "model": "model",
        "cutoff_len": "length",
        "lora_rank": "lora_rank",
        "enable_activation_checkpointing": "checkpointing",
    },
    alike=_LLAMA_FACTORY_CONFIGS,
    defaults={"per_device_train_batch_size": 1, "learning_rate": 1e-4, "bf16": True},
    # From global_batch_size and the ranks.
    computed=frozenset({"gradient_accumulation_steps"}),
    by_file=True,
    names_config="dist_config.config_file={config}",
    override=_AS_YAML,  # src/llamafactory/v1/config/arg_parser.py
    reader="script-hf",
    unread=frozenset(
        {"global_batch_size", "dp_size", "cp_size", "mp_replicate_size", "mp_shard_size", "batching_strategy"}
        | {"dist_config", "peft_config", "quant_config", "optim_config"}
    ),
    torchrun=True,
)

_SWIFT_CONFIGS = ("zero0", "zero1", "zero2", "zero3", "zero2_offload", "zero3_offload")
SWIFT = Tool(
    name="ms-swift",
    marks=frozenset(
        {"tuner_type", "train_type", "model_author", "split_dataset_ratio", "lazy_tokenize", "attn_impl"}
        | {"freeze_vit", "freeze_aligner", "rlhf_type", "load_from_cache_file"}
    ),
    scripts=("swift/cli/sft.py", "swift/cli/pt.py", "swift/cli/rlhf.py"),
    verbs=frozenset({"sft", "pt", "rlhf"}),
    programs=("swift",),
    modules=("swift.cli.sft", "swift.cli.pt", "swift.cli.rlhf"),
    aliases={"model": "model_name_or_path"},
    model={"model": "model", "max_length": "length", **_MODEL},
    defaults={
        "per_device_train_batch_size": 1,
        "weight_decay": 0.1,
        "adam_beta2": 0.95,
        "lr_scheduler_type": "cosine",
    },
    # From the world size; from the tuner; from torch_dtype.
    computed=frozenset({"gradient_accumulation_steps", "learning_rate", "bf16", "fp16"}),
    configs={name: f"swift/config/{name}.json" for name in _SWIFT_CONFIGS},
    unread=frozenset((*_PARALLEL, "zero_hpz_partition_size", "deepspeed_autotp_size", "device_map")),
    torchrun=True,
    # swift/arguments/rlhf_args.py
    others=dict.fromkeys(
        (
            *(
                "rlhf_type",
                "ref_model",
                "ref_adapters",
                "beta",
                "label_smoothing",
                "rpo_alpha",
                "ld_alpha",
                "cpo_alpha",
            ),
            *("loss_weights", "simpo_gamma", "desirable_weight", "undesirable_weight", "center_rewards_coefficient"),
            *("reward_model", "reward_adapters", "reward_funcs", "reward_weights", "num_generations", "kl_coef"),
            *("num_ppo_epochs", "whiten_rewards", "teacher_model", "teacher_adapters", "sft_alpha", "lmbda"),
        ),
        (),
    ),
    theirs=("swift/cli/rlhf.py",),
)

AXOLOTL = Tool(
    name="axolotl",
    marks=frozenset(
        {"base_model", "micro_batch_size", "sequence_len", "dataset_prepared_path", "sample_packing", "adapter"}
        | {"val_set_size", "lora_target_linear", "num_epochs", "pad_to_sequence_len", "lora_target_modules", "datasets"}
    ),
    scripts=("src/axolotl/cli/train.py", "axolotl/cli/train.py"),
    verbs=frozenset({"train"}),
    programs=("axolotl",),
    modules=("axolotl.cli.train",),
    aliases={
        "micro_batch_size": "per_device_train_batch_size",
        "num_epochs": "num_train_epochs",
        "lr_scheduler": "lr_scheduler_type",
        "optimizer": "optim",
        "base_model": "model_name_or_path",
        "bfloat16": "bf16",
    },
    shares=frozenset(
        {"gradient_accumulation_steps", "learning_rate", "weight_decay", "max_grad_norm", "max_steps", "bf16", "fp16"}
        | {"adam_beta1", "adam_beta2", "adam_epsilon", "warmup_steps"}
    ),
    model={
        "base_model": "model",
        "sequence_len": "length",
        "lora_r": "lora_rank",
        "gradient_checkpointing": "checkpointing",
    },
    defaults={
        "per_device_train_batch_size": 1,
        "num_train_epochs": 1.0,
        "lr_scheduler_type": "cosine",
        "optim": "adamw_torch_fused",
    },
    # From the number of steps, which it counts before the Trainer does.
    computed=frozenset({"max_steps", "warmup_steps", "warmup_ratio"}),
    by_file=True,
    unread=frozenset((*_PARALLEL, "batch_size", "deepcompile", "rl", "relora", "float16")),
)

# Settings of TRL's other scripts, by what they train, that sft.py has in none of the releases 0.11 to 1.16.
_TRL_OTHERS = (
    # DPO and KTO
    *("beta", "precompute_ref_log_probs", "precompute_ref_batch_size", "disable_dropout", "generate_during_eval"),
    *("ref_model_init_kwargs", "sync_ref_model", "ref_model_mixup_alpha", "ref_model_sync_steps", "use_liger_loss"),
    *("max_prompt_length", "label_pad_token_id", "padding_value", "is_encoder_decoder", "base_model_attribute_name"),
    *("f_divergence_type", "f_alpha_divergence_coef", "label_smoothing", "loss_weights", "ld_alpha", "rpo_alpha"),
    *("discopop_tau", "use_weighting", "reference_free", "force_use_ref_model", "use_logits_to_keep"),
    *("max_target_length", "model_adapter_name", "ref_adapter_name", "desirable_weight", "undesirable_weight"),
    # GRPO, RLOO and distillation
    *("reward_funcs", "reward_model_name_or_path", "reward_weights", "scale_rewards", "num_generations", "use_vllm"),
    *("max_completion_length", "num_generations_eval", "generation_batch_size", "steps_per_generation"),
    *("num_iterations", "epsilon", "epsilon_high", "delta", "temperature", "top_p", "top_k", "min_p"),
    *("repetition_penalty", "generation_kwargs", "cache_implementation", "ds3_gather_for_generation"),
    *("vllm_mode", "vllm_device", "vllm_server_base_url", "vllm_server_host", "vllm_server_port"),
    *("vllm_gpu_memory_utilization", "vllm_tensor_parallel_size", "vllm_max_model_length"),
    *("importance_sampling_level", "mask_truncated_completions", "top_entropy_quantile", "log_completions"),
    *("num_completions_to_print", "use_transformers_paged", "normalize_advantages", "reward_clip_range"),
    *("rloo_k", "kl_coef", "cliprange", "num_ppo_epochs", "whiten_rewards", "normalize_reward", "token_level_kl"),
    *("num_mini_batches", "num_sample_generations", "response_length", "stop_token", "stop_token_id"),
    *("missing_eos_penalty", "total_episodes", "reward_model_path", "sft_model_path", "teacher_model_name_or_path"),
    # A reward model
    "center_rewards_coefficient",
)
_TRL_CONFIGS = ("zero1", "zero2", "zero3")
TRL = Tool(
    name="TRL",
    marks=frozenset(
        {"dataset_name", "dataset_config", "use_peft", "lora_r", "lora_target_modules", "max_prompt_length", "beta"}
        | {"attn_implementation", "num_generations", "max_completion_length", "accelerate_config", "packing"}
        | {"dataset_mixture", "dataset_train_split", "dataset_test_split", "max_seq_length"}
    ),
    scripts=("trl/scripts/sft.py",),
    verbs=frozenset({"sft", "dpo", "grpo", "kto", "reward", "rloo"}),
    programs=("trl",),
    modules=tuple(f"trl.scripts.{verb}" for verb in ("sft", "dpo", "grpo", "kto", "reward", "rloo")),
    model={
        "model_name_or_path": "model",
        "max_length": "length",
        "max_seq_length": "length",
        "lora_r": "lora_rank",
        "gradient_checkpointing": "checkpointing",
    },
    # Its classes have defaults of their own, another in each release.
    computed=EVERY_NAME,
    configs={name: f"trl/accelerate_configs/{name}.yaml" for name in _TRL_CONFIGS},
    names_file="--config",
    others={**dict.fromkeys(_TRL_OTHERS, ()), "loss_type": ("nll", "dft", "chunked_nll")},
    family="trl/scripts/{dpo,grpo,kto,reward,rloo,…}.py",
)

TOOLS = (LLAMA_FACTORY, LLAMA_FACTORY_V1, SWIFT, AXOLOTL, TRL)


_EVERY_MARK = frozenset().union(*(tool.marks for tool in TOOLS))
_OF_DEEPSPEED = frozenset({"zero_optimization", "train_batch_size", "train_micro_batch_size_per_gpu"})


def has_marks(names: Iterable[str]) -> bool:
    """Whether any of these names is a tool's."""
    return not _EVERY_MARK.isdisjoint(names)


def has_plugins(settings: Mapping[str, Any]) -> bool:
    """LLaMA-Factory v1 alone writes `dist_config: {name: deepspeed, …}`."""
    found = (value for name, value in settings.items() if name in LLAMA_FACTORY_V1.marks)
    return any(isinstance(value, Mapping) and "name" in value for value in found)


def tool_of(settings: Mapping[str, Any]) -> Tool | None:
    """The tool that most of the marks belong to. One mark is enough beside two arguments of the Trainer, else it takes
    two. None for a config of DeepSpeed's, and where two tools are as likely."""
    if _OF_DEEPSPEED & settings.keys():
        return None
    if has_plugins(settings):
        return LLAMA_FACTORY_V1
    counted = sorted(((len(tool.marks & settings.keys()), n) for n, tool in enumerate(TOOLS)), reverse=True)
    (most, first), (next_most, _) = counted[:2]
    shared = [name for name in settings if TOOLS[first].trainers(name) and not isinstance(settings[name], dict)]
    least = 1 if len(shared) + ("deepspeed" in settings) >= 2 else 2
    return TOOLS[first] if most >= least and most > next_most else None
