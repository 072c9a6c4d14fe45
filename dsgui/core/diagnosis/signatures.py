"""How failures look: one table with a row per failure. Its words are in the catalogue (`diagnosis_titles`,
`diagnosis_meanings`, `diagnosis_advice`), under the row's id.

A row is matched against what ended the first failing rank: the exception it raised (`RAISED`), the last words of a
program that is not Python (`SAID`), or the signal that killed it (`KILLED`). Nothing else in the output is considered,
so a line of data that mentions a failure is not taken for one. The first row that matches is the diagnosis.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from dsgui.core.diagnosis.evidence import (
    Word,
    told_hub,
    told_mismatches,
    told_model,
    told_module,
    told_name,
    told_needs,
    told_options,
    told_path,
)
from dsgui.core.diagnosis.remedies import (
    STEADIER,
    Circumstances,
    Remedy,
    allow_untested_optimizer,
    another_port,
    auto_to_number,
    bf16_for_fp16,
    checkpoint_activations,
    counts_one_rank,
    derived_train_batch,
    fit_model_states,
    fit_optimizer_step,
    fp16_for_bf16,
    fp32,
    has_address_limit,
    is_above,
    is_package_above,
    keep_client_optimizer,
    mismatches_to_auto,
    no_loader_workers,
    nvme_to_cpu,
    on_cpu_without_saying,
    remove_unknown_key,
    right_train_batch,
    shrink_micro_batch,
    use_cpu,
    use_cpu_if_trainer,
    with_python_path,
    without_deepspeed,
    without_resume,
    without_tf32,
    without_unknown_options,
    zero_block,
)


class Where(Enum):
    """What a pattern is matched against. A `KILLED` pattern is the signal's number."""

    RAISED = "raised"
    SAID = "said"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Signature:
    """`pattern` must match from the beginning of the exception's message; its named groups, and what `tells` makes of
    the match, fill the places of the texts. `advice` are codes; `title` and `meaning` are codes where the texts are not
    those of `id`, as when one failure comes in several forms. `frames` must be found in the traceback, and `when` must
    hold. `aftermath`: a rank dies of this when another one has failed, so a traceback of another kind goes first.
    `remedies` are tried in order: the first that makes a change is offered first."""

    id: str
    pattern: str
    advice: tuple[str, ...]
    source: str
    where: Where = Where.RAISED
    title: str = ""
    meaning: str = ""
    frames: str = ""
    aftermath: bool = False
    remedies: tuple[Callable[[re.Match[str] | None, Circumstances], Remedy | None], ...] = ()
    when: Callable[[re.Match[str], Circumstances], bool] | None = None
    tells: Callable[[re.Match[str], tuple[str, ...]], dict[str, Word]] | None = None

    @property
    def codes(self) -> tuple[str, str]:
        """The codes of its title and its meaning."""
        own = self.id.replace("-", "_")
        return self.title or own, self.meaning or own


# Each is told where no change does it.
_LESS_MEMORY = ("smaller_micro_batch", "gradient_checkpointing", "partition_or_offload", "shorter_sequences")
_OUT_OF_MEMORY = r"(?:torch\.(?:cuda\.)?OutOfMemoryError|RuntimeError): (?:CUDA|HIP) out of memory"
_LIBRARIES = "transformers|trl|accelerate|datasets|evaluate|peft|deepspeed|torch"

_MODULE_ABOVE = Signature(
    "module-missing",
    r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'",
    ("python_path",),
    "python: import",
    title="module_above",
    meaning="module_above",
    remedies=(with_python_path,),
    when=is_above,
)

SIGNATURES: tuple[Signature, ...] = (
    # --- memory
    Signature(
        "cuda-memory-optimizer",
        _OUT_OF_MEMORY,
        ("offload_optimizer",),
        "torch/csrc: CUDACachingAllocator; frames of deepspeed/runtime/zero: step",
        frames=r"in (?:_take_model_step|_optimizer_step|_?initialize_optimizer_states|step)\n",
        remedies=(fit_optimizer_step, fit_model_states),
    ),
    Signature(
        "cuda-memory-start",
        _OUT_OF_MEMORY,
        ("partition_or_offload", "check_gpu_users"),
        "torch/csrc: CUDACachingAllocator; frames of deepspeed.initialize, from_pretrained, Module.to",
        frames=r"in (?:from_pretrained|initialize|_configure_distributed_model|_configure_optimizer|_prepare_deepspeed"
        r"|_move_model_to_device|_load_pretrained_model)\n",
        remedies=(fit_model_states,),
    ),
    Signature(
        "cuda-memory",
        _OUT_OF_MEMORY,
        _LESS_MEMORY,
        "torch/csrc: CUDACachingAllocator",
        frames=r"in (?:forward|compute_loss|training_step|backward|_engine_run_backward|(?:_wrapped)?_call_impl)\n",
        remedies=(shrink_micro_batch, checkpoint_activations, fit_model_states),
    ),
    Signature(
        "cuda-memory",
        _OUT_OF_MEMORY,
        _LESS_MEMORY,
        "torch/csrc: CUDACachingAllocator; no frame of a forward or backward pass",
        meaning="cuda_memory_somewhere",
        remedies=(shrink_micro_batch, checkpoint_activations, fit_model_states),
    ),
    Signature(
        "address-space",
        r"(?:MemoryError|numpy\S*MemoryError|RuntimeError: (?s:.{0,300})DefaultCPUAllocator: (?:can't allocate|not "
        r"enough) memory|OSError: \[Errno 12\]|RuntimeError: \[enforce fail at alloc_cpu|RuntimeError: can't start new "
        r"thread|[\w.]+: (?s:.{0,400})(?:failed to map segment|[Cc]annot allocate memory|bad_alloc))",
        ("raise_address_limit", "limit_memory_otherwise"),
        "man 2 getrlimit: RLIMIT_AS",
        when=has_address_limit,
    ),
    Signature(
        "host-memory",
        r"(?:MemoryError|numpy\S*MemoryError|RuntimeError: (?s:.{0,300})DefaultCPUAllocator: (?:can't allocate|not "
        r"enough)"
        r" memory|OSError: \[Errno 12\]|RuntimeError: \[enforce fail at alloc_cpu)",
        ("fewer_ranks_or_low_memory_loading", "offload_less"),
        "c10/core/impl/alloc_cpu.cpp",
    ),
    Signature(
        "memlock",
        r"mlock failed to allocate (?P<bytes>\d{1,20}) bytes",
        ("raise_memlock", "lower_buffer_size"),
        "deepspeed/ops/csrc/pin_memory/page_alloc.cpp",
        where=Where.SAID,
    ),
    Signature(
        "shared-memory",
        r"(?:RuntimeError: DataLoader worker \(pid[^)]*\) (?:is killed by signal: Bus error|exited unexpectedly)"
        r"|RuntimeError: unable to (?:write to file|open shared memory object|allocate shared memory)"
        r"|OSError: \[Errno 28\][^\n]*(?:torch_\d+|/dev/shm|deepspeed_allreduce_buffer))",
        ("enlarge_shared_memory", "no_loader_workers"),
        "torch/utils/data/_utils/signal_handling.py; torch/csrc/DataLoader.cpp",
        remedies=(no_loader_workers,),
    ),
    Signature(
        "shared-memory",
        r"ERROR: Unexpected bus error encountered in worker",
        ("enlarge_shared_memory", "no_loader_workers"),
        "torch/csrc/DataLoader.cpp: handler_SIGBUS",
        where=Where.SAID,
        remedies=(no_loader_workers,),
    ),
    Signature(
        "slurm-rejected",
        r"slurm: the job was rejected: (?P<why>.+)",
        ("correct_job",),
        "sbatch(1)",
        where=Where.SAID,
    ),
    Signature(
        "cgroup-memory",
        r"slurmstepd: error: .*oom[-_ ]kill",
        ("request_job_memory",),
        "slurm: task/cgroup plugin",
        where=Where.SAID,
    ),
    Signature(
        "disk-full",
        r"(?:OSError: \[Errno (?:28|122)\]|[\w.]+: (?s:.{0,600})(?:No space left on device|Disk quota exceeded)"
        r"|RuntimeError: \[enforce fail at inline_container\.cc:\d+\](?s:.{0,200})(?:unexpected pos|file write "
        r"failed))",
        ("free_disk", "fewer_checkpoints"),
        "errno ENOSPC, EDQUOT; caffe2/serialize/inline_container.cc",
    ),
    # --- the config
    Signature(
        "use-cpu",
        r"AssertionError: Check batch related parameters\..*? (?P<train>\d+) != (?P<micro>\d+) \* (?P<steps>\d+) \* "
        r"(?P<ranks>\d+)",
        ("use_cpu",),
        "transformers/training_args.py: _setup_devices; deepspeed/runtime/config.py: _batch_assertion",
        meaning="use_cpu_batch",
        frames=r"(?:transformers/trainer|accelerate/accelerator)\.py",
        remedies=(use_cpu,),
        when=counts_one_rank,
    ),
    Signature(
        "use-cpu",
        r"ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values:",
        ("use_cpu",),
        "transformers/training_args.py: _setup_devices; transformers/integrations/deepspeed.py: trainer_config_process",
        meaning="use_cpu_mismatch",
        remedies=(use_cpu,),
        when=counts_one_rank,
        tells=told_mismatches,
    ),
    Signature(
        "use-cpu",
        r"ValueError: Your setup doesn't support bf16/gpu\.",
        ("use_cpu",),
        "transformers/training_args.py: _validate_args",
        title="use_cpu_bf16",
        meaning="use_cpu_bf16",
        remedies=(use_cpu, fp32),
        when=on_cpu_without_saying,
    ),
    Signature(
        "tf32-unsupported",
        r"ValueError: --tf32 requires Ampere or a newer GPU arch",
        ("without_tf32",),
        "transformers/training_args.py; transformers/utils/import_utils.py: is_torch_tf32_available",
        remedies=(without_tf32,),
    ),
    Signature(
        "batch-identity",
        r"AssertionError: Check batch related parameters\..*? (?P<train>\d+) != (?P<micro>\d+) \* (?P<steps>\d+) \* "
        r"(?P<ranks>\d+)",
        ("set_train_batch",),
        "deepspeed/runtime/config.py: _batch_assertion",
        remedies=(right_train_batch, derived_train_batch),
    ),
    Signature(
        "batch-zero",
        r"AssertionError: (?:Train batch size|Micro batch size per gpu|Gradient accumulation steps): "
        r"(?P<value>-?\d+) has "
        r"to be greater than 0",
        ("larger_train_batch",),
        "deepspeed/runtime/config.py: _batch_assertion",
    ),
    Signature(
        "hf-mismatch",
        r"ValueError: Please correct the following DeepSpeed config values that mismatch (?:TrainingArguments|kwargs)",
        ("set_keys_to_auto", "or_pass_arguments"),
        "transformers/integrations/deepspeed.py: trainer_config_finalize",
        remedies=(mismatches_to_auto,),
        tells=told_mismatches,
    ),
    Signature(
        "zero-block-missing",
        r"ValueError: Please specify the ZeRO optimization config in the DeepSpeed config",
        ("add_zero_block",),
        "accelerate/utils/dataclasses.py: DeepSpeedPlugin",
        remedies=(zero_block,),
    ),
    Signature(
        "auto-natively",
        r"(?:TypeError: (?:unsupported operand type\(s\) for|'[<>]=?' not supported between instances of).*'str'"
        r"|ValueError: could not convert string to float: 'auto'|[\w.]*ValidationError: (?s:.*)input_value='auto')",
        ("use_numbers", "or_use_trainer"),
        "deepspeed/runtime/config.py: _set_batch_related_parameters",
        frames=r"deepspeed/runtime/",
        remedies=(auto_to_number,),
    ),
    Signature(
        "unknown-key",
        r"[\w.]*ValidationError: \d+ validation errors? for (?P<block>\w+)\n(?P<key>[\w.]+)\n\s+Extra inputs are not "
        r"permitted",
        ("correct_key",),
        "deepspeed/runtime/config_utils.py: DeepSpeedConfigModel (extra=forbid)",
        remedies=(remove_unknown_key,),
    ),
    Signature(
        "wrong-type",
        r"[\w.]*ValidationError: \d+ validation errors? for (?P<block>DeepSpeed\w+|\w*Config)\n(?P<key>[\w.]+)\n"
        r"\s+(?P<says>[^\n]*)",
        ("correct_value",),
        "deepspeed/runtime/config_utils.py: DeepSpeedConfigModel",
    ),
    Signature(
        "duplicate-key",
        r"ValueError: Duplicate keys in DeepSpeed config: (?P<keys>.*)",
        ("remove_one",),
        "deepspeed/runtime/config_utils.py: dict_raise_error_on_duplicate_keys",
    ),
    Signature(
        "fp16-unsupported",
        r"ValueError: Type fp16 is not supported on your device",
        ("bf16_or_fp32",),
        "deepspeed/runtime/engine.py: _do_sanity_check",
        remedies=(bf16_for_fp16, fp32),
    ),
    Signature(
        "bf16-unsupported",
        r"ValueError: (?:Type bf16 is not supported on your device|Your setup doesn't support bf16|bf16 mixed "
        r"precision "
        r"requires)",
        ("fp16_or_fp32",),
        "deepspeed/runtime/engine.py: _do_sanity_check; transformers/training_args.py",
        remedies=(fp16_for_bf16, fp32),
    ),
    Signature(
        "untested-optimizer",
        r"AssertionError: You are using an untested ZeRO Optimizer",
        ("allow_optimizer",),
        "deepspeed/runtime/engine.py: _configure_zero_optimizer",
        remedies=(allow_untested_optimizer,),
    ),
    Signature(
        "offload-client-optimizer",
        r"[\w.]*ZeRORuntimeException: You are using ZeRO-Offload with a client provided optimizer",
        ("deepspeed_cpu_adam", "or_keep_optimizer"),
        "deepspeed/runtime/engine.py: _configure_optimizer",
        remedies=(keep_client_optimizer,),
    ),
    Signature(
        "zero-needs-optimizer",
        r"(?:AssertionError: (?:zero stage \d requires an optimizer|.*client_optimizer)|AttributeError: 'NoneType' "
        r"object "
        r"has no attribute '(?:param_groups|step)'|AttributeError: 'DeepSpeedZeRoOffload' object has no attribute)",
        ("add_optimizer",),
        "deepspeed/runtime/engine.py: _configure_optimizer",
        frames=r"deepspeed/runtime/",
    ),
    Signature(
        "zero3-parameters",
        r"(?:RuntimeError: (?:\{.*'ds?_?id'|still have inflight params|tracing error|attempted to add non-inflight)"
        r"|AssertionError: (?s:.{0,400})(?:inflight|'status':|ds_summary)|KeyError: \d+\s*\Z)",
        ("same_modules", "zero2_with_offload"),
        "deepspeed/runtime/zero/partitioned_param_coordinator.py: fetch_sub_module, release_sub_module",
        frames=r"deepspeed/runtime/zero/",
    ),
    Signature(
        "device-map",
        r"ValueError: (?:DeepSpeed Zero-3 is not compatible with|You can't train a model that has been loaded with "
        r"`?device_map)",
        ("remove_device_map",),
        "transformers/integrations/accelerate.py: check_and_set_device_map",
    ),
    # --- numbers
    Signature(
        "loss-scale",
        r"Exception: Current loss scale already at minimum",
        ("bf16_for_fp16", "or_steadier_training"),
        "deepspeed/runtime/fp16/loss_scaler.py: DynamicLossScaler.update_scale",
        remedies=(bf16_for_fp16,),
    ),
    Signature(
        "not-a-number",
        r"(?:RuntimeError: probability tensor contains either `inf`, `nan`|ValueError: .*(?:contains NaN|contains "
        r"infinity)"
        r"|RuntimeError: Function '\w+' returned nan values|(?:Runtime|Value|FloatingPoint|Assertion)Error: "
        r".*\b(?:loss|grad"
        r"\w*)\b.*\b(?i:nan|inf|infinite|not finite)\b)",
        ("steadier_numbers", "check_rows"),
        "torch: multinomial, anomaly mode; sklearn/utils/validation.py",
        remedies=STEADIER,
    ),
    # --- checkpoints
    Signature(
        "checkpoint-world-size",
        r"[\w.]*ZeRORuntimeException: The checkpoint being loaded used a DP world size of (?P<then>\d+) but the "
        r"current "
        r"world size is (?P<now>\d+)",
        ("resume_on_ranks", "or_universal_checkpoint"),
        "deepspeed/runtime/engine.py: _load_zero_checkpoint",
        remedies=(without_resume,),
    ),
    Signature(
        "checkpoint-missing",
        r"(?:ValueError: (?:Can't find a (?:valid )?checkpoint at|No valid checkpoint found in output directory)"
        r"|AssertionError: (?:Checkpoint|.*checkpoint).*(?:not exist|not found|missing)"
        r"|FileNotFoundError: .*(?:global_step|checkpoint-\d|_states\.pt|latest))",
        ("earlier_checkpoint",),
        "transformers/integrations/deepspeed.py: deepspeed_load_checkpoint",
        remedies=(without_resume,),
    ),
    Signature(
        "state-mismatch",
        r"RuntimeError: Error\(s\) in loading state_dict for (?P<model>\w+)",
        ("same_model",),
        "torch/nn/modules/module.py: load_state_dict",
    ),
    # --- ranks that talk to each other
    Signature(
        "address-in-use",
        r"(?:torch\.distributed\.Dist\w*Error|RuntimeError|OSError): (?s:.{0,300})(?:EADDRINUSE|[Aa]ddress already "
        r"in use)",
        ("free_port", "earlier_processes"),
        "torch/csrc/distributed/c10d/socket.cpp: SocketListenOp",
        remedies=(another_port,),
    ),
    Signature(
        "nccl-timeout",
        r"(?:\[rank\d+\]:)?\[[EF][^\]]*\] ?(?:\[PG [^\]]*\] ?)?(?:\[?Rank (?P<rank>\d+)\]? ?)?.*Watchdog caught "
        r"collective "
        r"operation timeout",
        ("other_ranks", "raise_timeout"),
        "torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp: checkTimeout",
        where=Where.SAID,
        aftermath=True,
    ),
    Signature(
        "nccl-timeout",
        r"torch\.distributed\.DistBackendError: (?s:.{0,500})(?:[Tt]imeout|timed out)",
        ("other_ranks",),
        "torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp",
        aftermath=True,
    ),
    Signature(
        "nccl-error",
        r"(?:torch\.distributed\.DistBackendError|RuntimeError): (?s:.{0,300})(?:NCCL error|ncclUnhandledCudaError|"
        r"ncclSystemError|ncclInternalError|ncclInvalidUsage|ncclRemoteError)",
        ("nccl_debug", "nccl_interfaces"),
        "torch/csrc/distributed/c10d/NCCLUtils.hpp",
        aftermath=True,
    ),
    Signature(
        "ranks-not-met",
        r"(?:torch\.distributed\.Dist\w*Error|RuntimeError|TimeoutError|ConnectionRefusedError)(?:: )(?s:.{0,400})(?:"
        r"client socket has timed out|clients joined|[Cc]onnection refused|[Cc]onnect timeout|Gloo connectFullMesh "
        r"failed)",
        ("earlier_rank", "master_address"),
        "torch/csrc/distributed/c10d/TCPStore.cpp; gloo/transport/tcp",
        aftermath=True,
    ),
    Signature(
        "peer-gone",
        r"(?:torch\.distributed\.Dist\w*Error|RuntimeError|ConnectionResetError|BrokenPipeError): "
        r"?(?s:.{0,500})(?:Connection "
        r"(?:closed|reset) by peer|Broken pipe|Application timeout caused pair closure|Timed out waiting "
        r"\d+ms|recvValue "
        r"failed|sendBytes failed)",
        ("why_the_other_ended",),
        "gloo/transport/tcp/pair.cc; torch/csrc/distributed/c10d/TCPStore.cpp",
        aftermath=True,
    ),
    Signature(
        "hosts",
        r"(?:[\w.-]+: )?(?:ssh: (?:connect to host|Could not resolve hostname)|Host key verification "
        r"failed|(?:[\w.-]+@)?"
        r"[\w.-]+: Permission denied \(|pdsh@[\w.-]+: [\w.-]+: ssh exited)",
        ("try_ssh", "check_hostfile"),
        "deepspeed/launcher/multinode_runner.py: PDSHRunner",
        where=Where.SAID,
    ),
    # --- what is installed
    Signature(
        "no-gpu",
        r"(?:RuntimeError|AssertionError|ValueError|torch\.AcceleratorError):\s{1,4}(?:Found no NVIDIA driver on your "
        r"system|No CUDA GPUs are available|Unexpected error from cudaGetDeviceCount|No HIP GPUs are available|"
        r"CUDA error: no CUDA-capable device is detected|ProcessGroupNCCL is only supported with GPUs, no GPUs found|"
        r"Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available)",
        ("check_gpu", "train_on_cpu"),
        "torch/cuda/__init__.py: _lazy_init; c10/cuda/CUDAFunctions.cpp; torch/serialization.py; ProcessGroupNCCL.cpp",
        remedies=(use_cpu_if_trainer,),
    ),
    Signature(
        "ranks-beyond-gpus",
        r"(?:ValueError: device_id cuda:(?P<gpu>\d+) is out of range|(?:RuntimeError|torch\.AcceleratorError): CUDA "
        r"error: invalid device ordinal)",
        ("ranks_by_gpus",),
        "torch/distributed/distributed_c10d.py: init_process_group; torch: cudaErrorInvalidDevice",
    ),
    Signature(
        "torch-without-cuda",
        r"(?:AssertionError: |TypeError: type torch\.cuda\.\w{1,40} not available\. )Torch not compiled with CUDA"
        r"|RuntimeError: (?:PyTorch was compiled without CUDA support|torch\.cuda\.\w{1,40} requires CUDA support"
        r"|NVTX functions not installed|Distributed package doesn't have NCCL built in)",
        ("torch_with_cuda", "train_on_cpu"),
        "torch/cuda/__init__.py: _lazy_init; torch/cuda/streams.py, nvtx.py; torch/distributed/distributed_c10d.py",
        remedies=(use_cpu_if_trainer,),
    ),
    Signature(
        "torch-without-cuda",
        # Only in torch's own files: another package may ask for what came or went with a release.
        r"AttributeError: module 'torch\._C' has no attribute '_(?:cuda_?|Cuda|nccl_|nvtx)\w{1,60}'"
        r"|RuntimeError: Tried to instantiate dummy base class \w{1,40}",
        ("torch_with_cuda", "train_on_cpu"),
        "torch/cuda/__init__.py; torch/_utils.py: _dummy_type",
        frames=r"[/\\]torch[/\\](?:cuda|_utils)\b",
        remedies=(use_cpu_if_trainer,),
    ),
    Signature(
        "driver-old",
        r"RuntimeError: The NVIDIA driver on your system is too old(?: \(found version (?P<version>\d+)\))?",
        ("update_driver",),
        "c10/cuda/CUDAFunctions.cpp: device_count_impl",
    ),
    Signature(
        "gpu-unsupported",
        r"(?:RuntimeError|torch\.AcceleratorError): CUDA error: no kernel image is "
        r"available for execution on the device",
        ("torch_for_gpu",),
        "torch: cudaErrorNoKernelImageForDevice",
    ),
    Signature(
        "cuda-mismatch",
        r"(?:[\w.]*CUDAMismatchException|RuntimeError): (?s:.{0,200})(?:does not match the version torch was "
        r"compiled with"
        r"|The detected CUDA version|CUDA version mismatch!)",
        ("matching_toolkit", "skip_cuda_check"),
        "deepspeed/ops/op_builder/builder.py: assert_no_cuda_mismatch",
    ),
    Signature(
        "cuda-missing",
        r"(?:[\w.]*MissingCUDAException|OSError: CUDA_HOME environment variable is not set|FileNotFoundError: .*nvcc)",
        ("install_toolkit",),
        "deepspeed/ops/op_builder/builder.py: installed_cuda_version",
    ),
    Signature(
        "arch-list",
        r"ValueError: invalid literal for int\(\) with base 10: '(?P<part>[^'\n]*)'",
        ("plain_archs",),
        "deepspeed/ops/op_builder/builder.py: compute_capability_args, since 0.19.0",
        frames=r"in compute_capability_args\n",
    ),
    Signature(
        "no-ninja",
        r"RuntimeError: (?:Ninja is required to load C\+\+ extensions|Unable to JIT load the \w+ op due to ninja)",
        ("install_ninja",),
        "torch/utils/cpp_extension.py: verify_ninja_availability",
    ),
    Signature(
        "async-io",
        r"(?:RuntimeError: Unable to JIT load the async_io op|(?s:.{0,3000})(?:libaio\.h|cannot find -laio|async_io))",
        ("install_libaio",),
        "deepspeed/ops/op_builder/async_io.py",
        frames=r"async_io|swap_tensor|op_builder|aio",
        remedies=(nvme_to_cpu,),
    ),
    Signature(
        "op-build",
        r"(?:RuntimeError: (?:Error building extension '(?P<op>\w+)'|Unable to JIT load the (?P<op2>\w+) op)|[\w.]*"
        r"CalledProcessError: .*(?:ninja|c\+\+|g\+\+|nvcc)|(?:FileNotFoundError|subprocess\.\w+|RuntimeError): "
        r".*(?:c\+\+|g\+\+"
        r"|gcc|clang|compiler))",
        ("install_compiler", "remove_build"),
        "torch/utils/cpp_extension.py: _run_ninja_build",
    ),
    Signature(
        "tokenizer",
        r"ImportError:\s(?s:.{0,200})(?:(?P<package>SentencePiece|sentencepiece|protobuf|tiktoken|tokenizers) "
        r"library|requires"
        r" the \w+ library but it was not found)|ValueError: (?s:.{0,300})(?:sentencepiece|tiktoken).{0,80}installed",
        ("install_tokenizer",),
        "transformers/utils/import_utils.py: requires_backends",
    ),
    replace(_MODULE_ABOVE, advice=("python_path", "or_install_module"), when=is_package_above),
    _MODULE_ABOVE,
    Signature(
        "module-missing",
        r"(?:ModuleNotFoundError: No module named '(?P<module>[\w.]+)'|ImportError: To be able to use [\w./-]{1,100}, "
        r"you need to install the following dependenc(?:y|ies) ?\[(?P<module2>[^\]\n]{1,300})\])",
        ("install_module",),
        "python: import; evaluate/loading.py: _download_additional_modules",
        tells=told_module,
    ),
    Signature(
        "other-torch",
        r"RuntimeError: operator (?P<package>torch(?:vision|audio))::\w{1,60} does not exist",
        ("match_torch",),
        "torch/_library/fake_impl.py: register_fake",
    ),
    Signature(
        "version-needed",
        r"(?:ImportError: (?P<needs>This example requires a source install|[\w.-]{1,60}[<>=!][^\n]{1,60} is required)"
        r"[^\n]*|[\w.]*PackageNotFoundError: [^\n]*?'(?P<package>[^'\n]{1,60})' distribution was not found[^\n]*)",
        ("install_or_change_script", "tag_of_examples"),
        "transformers/utils/versions.py: require_version; transformers/utils/__init__.py: check_min_version",
        tells=told_needs,
    ),
    Signature(
        "older-script",
        rf"(?:ImportError: cannot import name '(?P<name>[^'\n]{{1,100}})' from '(?P<module>(?P<package>{_LIBRARIES})\b"
        rf"[\w.]{{0,200}})'|AttributeError: module '(?P<module2>(?P<package2>{_LIBRARIES})\b[\w.]{{0,200}})' has no "
        r"attribute '(?P<name2>[^'\n]{1,100})')",
        ("script_of_release", "or_release_of_script"),
        "python: import",
        tells=told_name,
    ),
    Signature(
        "older-script",
        r"TypeError: (?P<called>\w{0,60}(?:Arguments|Trainer|Config|Accelerator))\.__init__\(\) got an unexpected "
        r"keyword argument '(?P<name>[^'\n]{1,100})'",
        ("script_of_release", "or_release_of_script"),
        "python: call",
        title="older_script_call",
        meaning="older_script_call",
    ),
    Signature(
        "nltk-data",
        r"LookupError:[\s*]{0,200}Resource '?(?P<resource>[\w./-]{1,100})'? not found",
        ("download_nltk", "or_copy_nltk"),
        "nltk/data.py: find",
    ),
    Signature(
        "nltk-data",
        r"LookupError: Offline mode: run this script without TRANSFORMERS_OFFLINE first to download nltk data files",
        ("download_punkt",),
        "transformers: examples/pytorch/summarization",
        title="nltk_data_offline",
        meaning="nltk_data_offline",
    ),
    Signature(
        "hub-unreachable",
        r"(?:OSError: We couldn't connect to|[\w.]*LocalEntryNotFoundError|[\w.]*OfflineModeIsEnabled"
        r"|[\w.]*ConnectionError: (?s:.{0,200})(?:Hub|hub|huggingface|offline)"
        r"|(?:[\w.]*ConnectionError|[\w.]*OfflineModeIsEnabled|FileNotFoundError): Couldn't (?:reach|find a module)"
        r"|ValueError: Couldn't find cache for "
        r"|[\w.]*(?:ConnectError|ConnectTimeout|ReadTimeout|MaxRetryError|NewConnectionError): )",
        ("local_path_or_download", "hub_cache"),
        "transformers/utils/hub.py: cached_files; datasets/load.py; huggingface_hub/errors.py",
        tells=told_hub,
    ),
    Signature(
        "hub-refused",
        r"(?:OSError: (?:Repo id must be in the form[^\n]*?'namespace/repo_name': )?'?(?P<model>[^'\n]{1,200}?)'?"
        r"(?:\. Use `repo_type`| is not a local folder and is not a valid model identifier| does not appear to have a "
        r"file named)|[\w.]*DatasetNotFoundError: Dataset '(?P<dataset>[^'\n]{1,200})'|[\w.]*(?:RepositoryNotFound|"
        r"GatedRepo)Error|OSError: You are trying to access a gated repo)",
        ("check_model_path", "hub_login"),
        "transformers/utils/hub.py: cached_files; datasets/exceptions.py",
        tells=told_model,
    ),
    Signature(
        "permission",
        r"PermissionError: \[Errno 13\] Permission denied: '?(?P<path>[^'\n]*)",
        ("check_permissions",),
        "errno EACCES",
    ),
    Signature(
        "file-missing",
        r"(?:(?:FileNotFoundError|NotADirectoryError|[\w.]*(?:DataFilesNotFoundError|EmptyDatasetError)): "
        r"|RuntimeError: unable to open file (?=<[^\n]*No such file))(?P<says>[^\n]*)",
        ("check_path", "or_working_directory"),
        "errno ENOENT; datasets/load.py, data_files.py; torch/storage.py: from_file",
        tells=told_path,
    ),
    # --- the script and its launcher
    Signature(
        "device-missing",
        r"ValueError: No slot '(?P<slot>\d{1,6})' specified on host '(?P<host>[^'\n]{1,200})'",
        ("choose_other_devices", "ranks_without_gpu"),
        "deepspeed/launcher/runner.py: parse_resource_filter",
    ),
    Signature(
        "config-twice",
        r"AssertionError: Not sure how to proceed, we were given (?:deepspeed configs|both)",
        ("script_has_config", "launch_has_config"),
        "deepspeed/__init__.py: initialize",
    ),
    Signature(
        "config-twice",
        r"[\w./ -]+\.py: error: argument --deepspeed: expected one argument",
        ("remove_deepspeed",),
        "python: argparse",
        where=Where.SAID,
        title="config_twice_option",
        meaning="config_twice_option",
        remedies=(without_deepspeed,),
    ),
    Signature(
        "option-unknown",
        r"ValueError: Some specified arguments are not used by the HfArgumentParser: (?P<words>[^\n]*)",
        ("renamed_option",),
        "transformers/hf_argparser.py: parse_args_into_dataclasses",
        meaning="option_unknown_trainer",
        remedies=(without_unknown_options,),
        tells=told_options,
    ),
    Signature(
        "syntax",
        r"(?P<says>(?:SyntaxError|IndentationError|TabError): .*)",
        ("correct_script",),
        "python: compile",
        where=Where.SAID,
    ),
    Signature(
        "local-rank-argument",
        r"[\w./ -]+: error: (?:unrecognized arguments|.*no such option):? .*--local[_-]rank",
        ("add_local_rank",),
        "deepspeed/launcher/launch.py; python: argparse",
        where=Where.SAID,
    ),
    Signature(
        "deepspeed-argument",
        r"[\w./ -]+: error: unrecognized arguments: .*--deepspeed",
        ("add_deepspeed_option", "script_finds_config"),
        "python: argparse",
        where=Where.SAID,
    ),
    Signature(
        "option-unknown",
        r"[\w./ -]+\.py: (?:(?:error: )?unrecognized arguments|unknown options): "
        r"(?P<words>.*?)(?:\. --help lists .*)?$",
        ("correct_option",),
        "python: argparse; recipes/parts/trainer.py: read_options",
        where=Where.SAID,
        remedies=(without_unknown_options,),
        tells=told_options,
    ),
    Signature(
        "arguments",
        r"[\w./ -]+\.py: error: (?P<says>.*)",
        ("correct_arguments",),
        "python: argparse",
        where=Where.SAID,
    ),
    # --- signals
    Signature(
        "crash",
        r"Fatal Python error: (?P<what>Segmentation fault|Bus error|Illegal instruction|Aborted)",
        ("see_fatal_error", "remove_operators"),
        "python: faulthandler",
        where=Where.SAID,
    ),
    Signature(
        "killed",
        "9",
        ("see_memory", "need_less_memory"),
        "kernel: oom_kill_process",
        where=Where.KILLED,
    ),
    Signature(
        "crash",
        "11",
        ("faulthandler", "remove_operators"),
        "signal SIGSEGV",
        where=Where.KILLED,
        meaning="segmentation_fault",
    ),
    Signature(
        "illegal-instruction",
        "4",
        ("own_operators",),
        "signal SIGILL",
        where=Where.KILLED,
    ),
    Signature(
        "shared-memory",
        "7",
        ("enlarge_shared_memory",),
        "signal SIGBUS",
        where=Where.KILLED,
        title="bus_error",
        meaning="bus_error",
        remedies=(no_loader_workers,),
    ),
    Signature(
        "abort",
        "6",
        ("see_last_lines",),
        "signal SIGABRT",
        where=Where.KILLED,
    ),
    Signature(
        "hangup",
        "1",
        ("no_terminal",),
        "signal SIGHUP",
        where=Where.KILLED,
    ),
    Signature(
        "terminated",
        "15|2",
        ("who_ended_it",),
        "signal SIGTERM, SIGINT",
        where=Where.KILLED,
    ),
)

# A line that may be somebody's last words: kept by `core/diagnosis/ending.py` while the output streams by.
LAST_WORDS = re.compile(
    "|".join(re.sub(r"\(\?P<\w+>", "(?:", one.pattern) for one in SIGNATURES if one.where is Where.SAID)
)
