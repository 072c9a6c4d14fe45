"""Programs that start ranks: what their options say of a run, and where the script's own words begin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Launcher:
    """`means`: option → what it says; "" for what is settled anew at each start. `switches` take no value. Names with
    `_`; the options are the same with `-`. `others`: the options that say nothing here, where the launcher takes an
    abbreviation of any."""

    name: str
    means: Mapping[str, str]
    switches: frozenset[str]
    started_by: str = ""
    others: frozenset[str] = frozenset()

    def named(self, option: str) -> str:
        """The option's whole name; as argparse does, of an abbreviation that only one begins with."""
        name = option.lstrip("-").replace("-", "_")
        every = {*self.means, *self.switches, *self.others}
        if name in every or not self.others or not option.startswith("--"):
            return name
        begins = [one for one in every if len(one) > 1 and one.startswith(name)]
        return begins[0] if len(begins) == 1 else name


@dataclass(frozen=True, slots=True)
class Started:
    """`says`: meaning → value as written. `words`: the script and its arguments; `module`: the script is a module's
    name. `unread`: options that are not in the table."""

    says: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    module: bool = False
    unread: tuple[str, ...] = ()


_SHORT = (
    *("zero_stage", "offload_optimizer_device", "offload_param_device", "offload_optimizer_nvme_path"),
    *("offload_param_nvme_path", "gradient_accumulation_steps", "gradient_clipping", "zero3_init_flag"),
    *("zero3_save_16bit_model", "deepspeed_hostfile", "deepspeed_exclusion_filter", "deepspeed_inclusion_filter"),
    *("deepspeed_multinode_launcher", "deepspeed_moe_layer_cls_names"),
)
_AT_START = (
    *("machine_rank", "main_process_ip", "rdzv_backend", "rdzv_conf", "rdzv_id", "rdzv_endpoint", "max_restarts"),
    *(
        "monitor_interval",
        "node_rank",
        "master_addr",
        "num_cpu_threads_per_process",
        "role",
        "tee",
        "log_dir",
        "t",
        "r",
    ),
    *("log_level", "ssh_port", "launcher", "launcher_args", "venv_script", "enable_each_rank_log", "start_method"),
    *("local_addr", "redirects", "bind_core_list"),
)
_MODULE = frozenset({"m", "module"})

ACCELERATE = Launcher(
    "accelerate launch",
    {
        "config_file": "accelerate_file",
        "accelerate_config": "accelerate_file",
        "deepspeed_config_file": "config_file",
        "num_processes": "processes",
        "num_machines": "nodes",
        "gpu_ids": "gpus",
        "main_process_port": "port",
        "mixed_precision": "mixed_precision",
        **{name: f"short.{name}" for name in _SHORT},
        **dict.fromkeys(_AT_START, ""),
    },
    frozenset({"use_deepspeed", "multi_gpu", "same_network", "quiet", "q", "debug", "no_python", *_MODULE})
    | {"cpu", "use_fsdp", "use_megatron_lm", "use_parallelism_config", "tpu", "downcast_bf16", "enable_cpu_affinity"}
    | {"dynamo_use_fullgraph", "dynamo_use_dynamic", "dynamo_use_regional_compilation"},
)
TORCHRUN = Launcher(
    "torchrun",
    {
        "nproc_per_node": "ranks",
        "nnodes": "nodes",
        "master_port": "port",
        **dict.fromkeys(_AT_START, ""),
    },
    frozenset({"standalone", "no_python", "run_path", "virtual_local_rank", *_MODULE}),
    "torchrun",
    frozenset({"help", "event_log_handler", "local_ranks_filter", "logs_specs", "numa_binding", "use_env"})
    | {"signals_to_handle", "duplicate_stdout_filters", "duplicate_stderr_filters"},
)
DEEPSPEED = Launcher(
    "deepspeed",
    {
        "num_gpus": "ranks",
        "num_accelerators": "ranks",
        "num_nodes": "nodes",
        "include": "include",
        "i": "include",
        "exclude": "exclude",
        "e": "exclude",
        "hostfile": "hostfile",
        "H": "hostfile",
        "master_port": "port",
        **dict.fromkeys(_AT_START, ""),
    },
    frozenset({"no_python", "no_local_rank", "no_ssh", "no_ssh_check", "force_multi", "save_pid", "bind_cores_to_rank"})
    | {"quiet", "q", "module"},
    "deepspeed",
    frozenset({"help", "autotuning", "elastic_training", "min_elastic_nodes", "max_elastic_nodes"}),
)
# What they are called: a program, a program with a verb, a module.
BY_WORDS: Mapping[tuple[str, ...], Launcher] = {
    ("accelerate", "launch"): ACCELERATE,
    ("accelerate-launch",): ACCELERATE,
    ("torchrun",): TORCHRUN,
    ("deepspeed",): DEEPSPEED,
}
BY_MODULE: Mapping[str, Launcher] = {
    "torch.distributed.run": TORCHRUN,
    "torch.distributed.launch": TORCHRUN,
    "accelerate.commands.launch": ACCELERATE,
    "accelerate.commands.accelerate_cli": ACCELERATE,
    "deepspeed.launcher.runner": DEEPSPEED,
}
# Said without a value, and changing which config there is: what else is a switch says nothing of the run.
_TOLD_SWITCHES = frozenset({"use_fsdp", "use_megatron_lm", "use_parallelism_config", "tpu", "cpu"})


def read(launcher: Launcher, words: Sequence[str]) -> Started:
    """What the launcher's own options say; `words` stand behind its name."""
    says: dict[str, str] = {}
    unread: list[str] = []
    module, place = False, 0
    while place < len(words) and words[place].startswith("-") and words[place] != "--":
        option, equals, value = words[place].partition("=")
        name = launcher.named(option)
        place += 1
        if name in launcher.switches and not equals:
            module |= name in _MODULE
            says |= {"deepspeed": "true"} if name == "use_deepspeed" else {}
            unread += [option] if name in _TOLD_SWITCHES else []
            continue
        if not equals and place < len(words) and not _stands_alone(name in launcher.means, words[place]):
            value, place = words[place], place + 1
        meaning = launcher.means.get(name)
        if meaning is None:
            unread.append(f"{option} {value}".strip())
        elif meaning:
            says[meaning] = value
    rest = tuple(words[place + 1 :] if place < len(words) and words[place] == "--" else words[place:])
    return Started(says, rest, module, tuple(unread))


def _stands_alone(known: bool, following: str) -> bool:
    """Whether what follows an option is not its value: of an option that is not known, a script never is."""
    return not known and (following.startswith("-") or following.endswith(".py"))
