"""How failures look: one table, a row a failure, with what it means and what to do.

A row is tried against what ended the first failing rank: the exception it raised (`RAISED`), the last words of a
program that is not Python (`SAID`), or the signal that killed it (`KILLED`). Nothing else of the output is looked at,
so a line of data that mentions a failure is none. The first row that fits is the diagnosis.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from dsgui.core.diagnosis.evidence import (
    told_hub,
    told_mismatches,
    told_model,
    told_name,
    told_needs,
    told_options,
    told_path,
)
from dsgui.core.diagnosis.remedies import (
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
    keep_client_optimizer,
    mismatches_to_auto,
    no_loader_workers,
    nvme_to_cpu,
    on_cpu_without_saying,
    remove_unknown_key,
    right_train_batch,
    shrink_micro_batch,
    steady_numbers,
    use_cpu,
    use_cpu_if_trainer,
    without_deepspeed,
    without_resume,
    without_unknown_options,
    zero_block,
)


class Where(Enum):
    """What a pattern is tried against. A `KILLED` pattern is the signal's number."""

    RAISED = "raised"
    SAID = "said"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Signature:
    """`pattern` fits from the beginning of the exception's message; its named groups may be used in `title`, `meaning`
    and `advice`, beside what `tells` makes of the match. `frames` must be found in the traceback, and `when` must hold.
    `aftermath`: a rank dies of this when another one has failed, so a traceback of another kind goes first. `remedies`
    are tried in their order: the first that makes a change is offered first."""

    id: str
    title: str
    pattern: str
    meaning: str
    advice: tuple[str, ...]
    source: str
    where: Where = Where.RAISED
    frames: str = ""
    aftermath: bool = False
    remedies: tuple[Callable[[re.Match[str] | None, Circumstances], Remedy | None], ...] = ()
    when: Callable[[re.Match[str], Circumstances], bool] | None = None
    tells: Callable[[re.Match[str], tuple[str, ...]], dict[str, str]] | None = None


_OUT_OF_MEMORY = r"(?:torch\.(?:cuda\.)?OutOfMemoryError|RuntimeError): (?:CUDA|HIP) out of memory"
_USE_CPU = ("Pass --use_cpu. A script that makes its own TrainingArguments sets use_cpu=True there.",)
_LIBRARIES = "transformers|trl|accelerate|datasets|evaluate|peft|deepspeed|torch"
_OTHER_RELEASE = (
    "Take the script that goes with the installed release: the examples of transformers have a tag each, such as "
    "v5.23.0.",
    "Or install the release that the script was written for in the training environment.",
)
_SAVING = "Saved checkpoints, /tmp and the cache of compiled operators (~/.cache/torch_extensions) grow with every run."

SIGNATURES: tuple[Signature, ...] = (
    # --- memory
    Signature(
        "cuda-memory-optimizer",
        "The GPU's memory ran out in the optimizer step",
        _OUT_OF_MEMORY,
        "Forward and backward fit; the optimizer's states (for Adam, 12 bytes per parameter over the ranks) did "
        "not fit "
        "beside them.",
        ("Offload the optimizer to the CPU, or use a higher ZeRO stage.",),
        "torch/csrc: CUDACachingAllocator; frames of deepspeed/runtime/zero: step",
        frames=r"in (?:_take_model_step|_optimizer_step|_?initialize_optimizer_states|step)\n",
        remedies=(fit_optimizer_step, fit_model_states),
    ),
    Signature(
        "cuda-memory-start",
        "The GPU's memory ran out before the first step",
        _OUT_OF_MEMORY,
        "The model's own states (parameters, gradients, optimizer states) are more than the GPU holds; no batch size "
        "helps against that.",
        (
            "Partition or move the states: a higher ZeRO stage, then offload to the CPU.",
            "Check whether another program uses memory on these GPUs.",
        ),
        "torch/csrc: CUDACachingAllocator; frames of deepspeed.initialize, from_pretrained, Module.to",
        frames=r"in (?:from_pretrained|initialize|_configure_distributed_model|_configure_optimizer|_prepare_deepspeed"
        r"|_move_model_to_device|_load_pretrained_model)\n",
        remedies=(fit_model_states,),
    ),
    Signature(
        "cuda-memory",
        "The GPU's memory ran out while training",
        _OUT_OF_MEMORY,
        "The activations of one micro batch did not fit beside the model's states. They grow with the micro batch and "
        "the sequence length.",
        (
            "Use a smaller micro batch with more accumulation steps: the train batch size stays, and so does the "
            "result.",
            "Next: gradient (activation) checkpointing, shorter sequences, a higher ZeRO stage or offload.",
        ),
        "torch/csrc: CUDACachingAllocator",
        remedies=(shrink_micro_batch, checkpoint_activations, fit_model_states),
    ),
    Signature(
        "address-space",
        "A limit on address space was reached: {limit}",
        r"(?:MemoryError|numpy\S*MemoryError|RuntimeError: (?s:.{0,300})DefaultCPUAllocator: (?:can't allocate|not "
        r"enough) memory|OSError: \[Errno 12\]|RuntimeError: \[enforce fail at alloc_cpu|RuntimeError: can't start new "
        r"thread|[\w.]+: (?s:.{0,400})(?:failed to map segment|[Cc]annot allocate memory|bad_alloc))",
        "The run may reserve {limit} of address space a process (ulimit -v), and a rank asked for more. torch alone "
        "reserves several GiB that it never fills.",
        (
            "Raise the limit where dsgui is started: ulimit -v unlimited. It may be set in /etc/security/limits.conf.",
            "To limit memory use a container or a Slurm job's --mem instead.",
        ),
        "man 2 getrlimit: RLIMIT_AS",
        when=has_address_limit,
    ),
    Signature(
        "host-memory",
        "The host ran out of memory",
        r"(?:MemoryError|numpy\S*MemoryError|RuntimeError: (?s:.{0,300})DefaultCPUAllocator: (?:can't allocate|not "
        r"enough)"
        r" memory|OSError: \[Errno 12\]|RuntimeError: \[enforce fail at alloc_cpu)",
        "A rank requested more memory than the system has. Offload to the CPU, one model copy a rank while "
        "loading, and data loader workers take it.",
        (
            "Use fewer ranks on this machine, or load the model with low_cpu_mem_usage (below ZeRO-3).",
            "Offload less: without offload_param, then without offload_optimizer.",
        ),
        "c10/core/impl/alloc_cpu.cpp",
    ),
    Signature(
        "memlock",
        "A buffer for NVMe could not be locked in memory",
        r"mlock failed to allocate (?P<bytes>\d{1,20}) bytes",
        "NVMe offload locks its buffers in host memory, and this process may not lock so much (ulimit -l).",
        (
            "Raise the limit where dsgui is started: ulimit -l unlimited, /etc/security/limits.conf, or docker run "
            "--ulimit memlock=-1.",
            "Or lower offload_param.buffer_size.",
        ),
        "deepspeed/ops/csrc/pin_memory/page_alloc.cpp",
        Where.SAID,
    ),
    Signature(
        "shared-memory",
        "The shared memory (/dev/shm) is too small",
        r"(?:RuntimeError: DataLoader worker \(pid[^)]*\) (?:is killed by signal: Bus error|exited unexpectedly)"
        r"|RuntimeError: unable to (?:write to file|open shared memory object|allocate shared memory)"
        r"|OSError: \[Errno 28\][^\n]*(?:torch_\d+|/dev/shm|deepspeed_allreduce_buffer))",
        "The workers of a data loader, and DeepSpeed's CPU ranks, pass tensors through /dev/shm; a container often has "
        "64 MB of it.",
        (
            "Give the container more: docker run --shm-size=16g, or --ipc=host.",
            "Without workers (--dataloader_num_workers 0) the data loader needs none of it.",
        ),
        "torch/utils/data/_utils/signal_handling.py; torch/csrc/DataLoader.cpp",
        remedies=(no_loader_workers,),
    ),
    Signature(
        "shared-memory",
        "The shared memory (/dev/shm) is too small",
        r"ERROR: Unexpected bus error encountered in worker",
        "The workers of a data loader pass tensors through /dev/shm; a container often has 64 MB of it.",
        (
            "Give the container more: docker run --shm-size=16g, or --ipc=host.",
            "Without workers (--dataloader_num_workers 0) the data loader needs none of it.",
        ),
        "torch/csrc/DataLoader.cpp: handler_SIGBUS",
        Where.SAID,
        remedies=(no_loader_workers,),
    ),
    Signature(
        "cgroup-memory",
        "The job's memory limit was reached",
        r"slurmstepd: error: .*oom[-_ ]kill",
        "Slurm ended a process because the job used more memory than it had asked for.",
        ("Ask for more with --mem, or use fewer ranks, less offload or fewer data loader workers.",),
        "slurm: task/cgroup plugin",
        Where.SAID,
    ),
    Signature(
        "disk-full",
        "The disk is full",
        r"(?:OSError: \[Errno (?:28|122)\]|[\w.]+: (?s:.{0,600})(?:No space left on device|Disk quota exceeded)"
        r"|RuntimeError: \[enforce fail at inline_container\.cc:\d+\](?s:.{0,200})(?:unexpected pos|file write "
        r"failed))",
        "A file could not be written to its end. A checkpoint that was being saved then is broken.",
        (
            f"Free some space, or write elsewhere (--output_dir). {_SAVING}",
            "Keep fewer checkpoints: --save_total_limit 2.",
        ),
        "errno ENOSPC, EDQUOT; caffe2/serialize/inline_container.cc",
    ),
    # --- the config
    Signature(
        "use-cpu",
        "The HF Trainer needs --use_cpu to train on the CPU",
        r"AssertionError: Check batch related parameters\..*? (?P<train>\d+) != (?P<micro>\d+) \* (?P<steps>\d+) \* "
        r"(?P<ranks>\d+)",
        "Without it the Trainer looks for a GPU, finds none, and each rank acts as the only one: it makes "
        "train_batch_size {train}, where {ranks} ranks need {micro} × {steps} × {ranks}.",
        _USE_CPU,
        "transformers/training_args.py: _setup_devices; deepspeed/runtime/config.py: _batch_assertion",
        frames=r"(?:transformers/trainer|accelerate/accelerator)\.py",
        when=counts_one_rank,
        remedies=(use_cpu,),
    ),
    Signature(
        "use-cpu",
        "The HF Trainer needs --use_cpu to train on the CPU",
        r"ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values:",
        "Without it the Trainer looks for a GPU, finds none, and each rank acts as the only one, so that its "
        "batch sizes are those of one rank: {mismatches}.",
        _USE_CPU,
        "transformers/training_args.py: _setup_devices; transformers/integrations/deepspeed.py: trainer_config_process",
        when=counts_one_rank,
        tells=told_mismatches,
        remedies=(use_cpu,),
    ),
    Signature(
        "use-cpu",
        "The HF Trainer needs --use_cpu to train in bf16 on the CPU",
        r"ValueError: Your setup doesn't support bf16/gpu\.",
        "Without it the Trainer looks for a GPU with bf16, and finds none. With it, the CPU trains in bf16.",
        _USE_CPU,
        "transformers/training_args.py: _validate_args",
        when=on_cpu_without_saying,
        remedies=(use_cpu, fp32),
    ),
    Signature(
        "batch-identity",
        "The three batch sizes don't fit together",
        r"AssertionError: Check batch related parameters\..*? (?P<train>\d+) != (?P<micro>\d+) \* (?P<steps>\d+) \* "
        r"(?P<ranks>\d+)",
        "train_batch_size {train} is not micro batch {micro} × accumulation steps {steps} × {ranks} ranks. It may have "
        "fitted another number of ranks.",
        ("Set train_batch_size to the product, or leave it out and DeepSpeed derives it.",),
        "deepspeed/runtime/config.py: _batch_assertion",
        remedies=(right_train_batch, derived_train_batch),
    ),
    Signature(
        "batch-zero",
        "A batch size came out as 0",
        r"AssertionError: (?:Train batch size|Micro batch size per gpu|Gradient accumulation steps): "
        r"(?P<value>-?\d+) has "
        r"to be greater than 0",
        "DeepSpeed derives the missing one of the three batch sizes by division. With these numbers and ranks there is "
        "less than one sample for each rank and step.",
        ("Use a larger train_batch_size, or a smaller micro batch.",),
        "deepspeed/runtime/config.py: _batch_assertion",
    ),
    Signature(
        "hf-mismatch",
        "The config and the script's arguments contradict each other",
        r"ValueError: Please correct the following DeepSpeed config values that mismatch (?:TrainingArguments|kwargs)",
        "The HF Trainer stops where the config and its arguments differ: {mismatches}.",
        (
            "Let the arguments decide: write “auto” in the config for these keys.",
            "Or pass the arguments that the config was written for.",
        ),
        "transformers/integrations/deepspeed.py: trainer_config_finalize",
        tells=told_mismatches,
        remedies=(mismatches_to_auto,),
    ),
    Signature(
        "zero-block-missing",
        "The HF Trainer needs a zero_optimization block",
        r"ValueError: Please specify the ZeRO optimization config in the DeepSpeed config",
        "accelerate, which starts DeepSpeed for the Trainer, refuses a config without zero_optimization.",
        ("Add the block: stage 0 is without ZeRO, stage 1 divides the optimizer states over the ranks.",),
        "accelerate/utils/dataclasses.py: DeepSpeedPlugin",
        remedies=(zero_block,),
    ),
    Signature(
        "auto-natively",
        "“auto” in a config that DeepSpeed reads by itself",
        r"(?:TypeError: (?:unsupported operand type\(s\) for|'[<>]=?' not supported between instances of).*'str'"
        r"|ValueError: could not convert string to float: 'auto'|[\w.]*ValidationError: (?s:.*)input_value='auto')",
        "“auto” is a word between the HF Trainer and its config: the Trainer replaces it. DeepSpeed itself calculates "
        "with it and stops.",
        ("Write numbers, or leave the keys out.", "Or let the HF Trainer read the config."),
        "deepspeed/runtime/config.py: _set_batch_related_parameters",
        frames=r"deepspeed/runtime/",
        remedies=(auto_to_number,),
    ),
    Signature(
        "unknown-key",
        "This DeepSpeed does not know a key of the config: {key}",
        r"[\w.]*ValidationError: \d+ validation errors? for (?P<block>\w+)\n(?P<key>[\w.]+)\n\s+Extra inputs are not "
        r"permitted",
        "Inside this block DeepSpeed takes only the keys it knows. The key is misspelt, or of another release.",
        ("Remove or correct it; the findings on Configure name what it may have been meant to be.",),
        "deepspeed/runtime/config_utils.py: DeepSpeedConfigModel (extra=forbid)",
        remedies=(remove_unknown_key,),
    ),
    Signature(
        "wrong-type",
        "A value of the config has the wrong type: {key}",
        r"[\w.]*ValidationError: \d+ validation errors? for (?P<block>DeepSpeed\w+|\w*Config)\n(?P<key>[\w.]+)\n"
        r"\s+(?P<says>[^\n]*)",
        "DeepSpeed says of {key}: {says}",
        ("Correct the value: the findings on Configure say what is expected.",),
        "deepspeed/runtime/config_utils.py: DeepSpeedConfigModel",
    ),
    Signature(
        "duplicate-key",
        "A key appears twice in the config",
        r"ValueError: Duplicate keys in DeepSpeed config: (?P<keys>.*)",
        "DeepSpeed refuses a file in which a key appears twice: {keys}",
        ("Remove one of them.",),
        "deepspeed/runtime/config_utils.py: dict_raise_error_on_duplicate_keys",
    ),
    Signature(
        "fp16-unsupported",
        "The run’s devices don’t support fp16",
        r"ValueError: Type fp16 is not supported on your device",
        "DeepSpeed’s accelerator says so: a CPU without fp16, or a GPU older than compute capability 7.0.",
        ("Use bf16 where the devices have it, else plain fp32 (neither block).",),
        "deepspeed/runtime/engine.py: _do_sanity_check",
        remedies=(bf16_for_fp16, fp32),
    ),
    Signature(
        "bf16-unsupported",
        "The run’s devices don’t support bf16",
        r"ValueError: (?:Type bf16 is not supported on your device|Your setup doesn't support bf16|bf16 mixed "
        r"precision "
        r"requires)",
        "bf16 needs a GPU of compute capability 8.0 (Ampere) or newer, or a CPU that has it.",
        ("Use fp16 on GPUs that have no bf16, or fp32 (neither block).",),
        "deepspeed/runtime/engine.py: _do_sanity_check; transformers/training_args.py",
        remedies=(fp16_for_bf16, fp32),
    ),
    Signature(
        "untested-optimizer",
        "ZeRO was not tested with this optimizer",
        r"AssertionError: You are using an untested ZeRO Optimizer",
        "The script brings an optimizer that is not on DeepSpeed's list for ZeRO. Element-wise optimizers work; others "
        "train on parts of a tensor and give another result.",
        ("Allow it if it works on each element alone, or use one of DeepSpeed's.",),
        "deepspeed/runtime/engine.py: _configure_zero_optimizer",
        remedies=(allow_untested_optimizer,),
    ),
    Signature(
        "offload-client-optimizer",
        "ZeRO-Offload and an optimizer of the script's own",
        r"[\w.]*ZeRORuntimeException: You are using ZeRO-Offload with a client provided optimizer",
        "With offload the step runs on the CPU, where torch's own optimizers are slow: DeepSpeed asks you to decide.",
        (
            "Let DeepSpeed bring its CPU Adam: put an optimizer block into the config and pass none.",
            "Or keep yours, and accept that it is slow.",
        ),
        "deepspeed/runtime/engine.py: _configure_optimizer",
        remedies=(keep_client_optimizer,),
    ),
    Signature(
        "zero-needs-optimizer",
        "ZeRO has no optimizer to work with",
        r"(?:AssertionError: (?:zero stage \d requires an optimizer|.*client_optimizer)|AttributeError: 'NoneType' "
        r"object "
        r"has no attribute '(?:param_groups|step)'|AttributeError: 'DeepSpeedZeRoOffload' object has no attribute)",
        "ZeRO divides an optimizer's states. This config has no optimizer block, and the script passes none either.",
        ("Add an optimizer block, such as AdamW with its learning rate, or pass optimizer= to deepspeed.initialize.",),
        "deepspeed/runtime/engine.py: _configure_optimizer",
        frames=r"deepspeed/runtime/",
    ),
    Signature(
        "zero3-parameters",
        "ZeRO-3 found a parameter in an unexpected state",
        r"(?:RuntimeError: (?:\{.*'ds?_?id'|still have inflight params|tracing error|attempted to add non-inflight)"
        r"|AssertionError: (?s:.{0,400})(?:inflight|'status':|ds_summary)|KeyError: \d+\s*\Z)",
        "ZeRO-3 fetches parameters in the order of the first forward pass. A model that takes another way in a later "
        "step, tied or unused parameters, or a module called outside its parent's forward break that order.",
        (
            "Make every rank run the same modules in every step; name leaf modules that branch with "
            "deepspeed.utils.set_z3_leaf_modules (mixture of experts).",
            "ZeRO-2 with offload has no such order and often fits instead.",
        ),
        "deepspeed/runtime/zero/partitioned_param_coordinator.py: fetch_sub_module, release_sub_module",
        frames=r"deepspeed/runtime/zero/",
    ),
    Signature(
        "device-map",
        "ZeRO-3 and device_map exclude each other",
        r"ValueError: (?:DeepSpeed Zero-3 is not compatible with|You can't train a model that has been loaded with "
        r"`?device_map)",
        "Both place the model's parameters. Under ZeRO-3 each rank holds a part of every tensor, so nobody else may "
        "decide where a layer lives.",
        ("Remove device_map and low_cpu_mem_usage from from_pretrained; create TrainingArguments before the model.",),
        "transformers/integrations/accelerate.py: check_and_set_device_map",
    ),
    # --- numbers
    Signature(
        "loss-scale",
        "The loss scale fell to its minimum",
        r"Exception: Current loss scale already at minimum",
        "In fp16 the gradients overflowed step after step until the loss scale could not be halved again: the values "
        "don't fit fp16, or the training diverges.",
        (
            "Use bf16 if the GPUs have it: its range is that of fp32, and models pretrained in bf16 (T5, Llama) "
            "need it.",
            "Otherwise lower the learning rate, warm up longer, and clip gradients.",
        ),
        "deepspeed/runtime/fp16/loss_scaler.py: DynamicLossScaler.update_scale",
        remedies=(bf16_for_fp16,),
    ),
    Signature(
        "not-a-number",
        "The numbers are no longer finite",
        r"(?:RuntimeError: probability tensor contains either `inf`, `nan`|ValueError: .*(?:contains NaN|contains "
        r"infinity)"
        r"|RuntimeError: Function '\w+' returned nan values|(?:Runtime|Value|FloatingPoint|Assertion)Error: "
        r".*\b(?:loss|grad"
        r"\w*)\b.*\b(?i:nan|inf|infinite|not finite)\b)",
        "A loss, gradient or weight became NaN or infinite, and what is calculated with it fails.",
        (
            "Lower the learning rate, warm up longer, clip gradients; prefer bf16 to fp16.",
            "Look for empty or broken rows.",
        ),
        "torch: multinomial, anomaly mode; sklearn/utils/validation.py",
        remedies=(steady_numbers,),
    ),
    # --- checkpoints
    Signature(
        "checkpoint-world-size",
        "The checkpoint was saved by another number of ranks",
        r"[\w.]*ZeRORuntimeException: The checkpoint being loaded used a DP world size of (?P<then>\d+) but the "
        r"current "
        r"world size is (?P<now>\d+)",
        "ZeRO saves one part of the optimizer's states a rank: {then} then, {now} now.",
        (
            "Resume on {then} ranks.",
            "Or convert it once to a universal checkpoint (python -m deepspeed.checkpoint.ds_to_universal) and set "
            "checkpoint.load_universal.",
        ),
        "deepspeed/runtime/engine.py: _load_zero_checkpoint",
        remedies=(without_resume,),
    ),
    Signature(
        "checkpoint-missing",
        "The checkpoint to resume from is not there, or not whole",
        r"(?:ValueError: (?:Can't find a (?:valid )?checkpoint at|No valid checkpoint found in output directory)"
        r"|AssertionError: (?:Checkpoint|.*checkpoint).*(?:not exist|not found|missing)"
        r"|FileNotFoundError: .*(?:global_step|checkpoint-\d|_states\.pt|latest))",
        "A folder or a file of the checkpoint is missing. A run that was ended while it saved leaves half a "
        "checkpoint.",
        ("Resume from an earlier one, or start without --resume_from_checkpoint.",),
        "transformers/integrations/deepspeed.py: deepspeed_load_checkpoint",
        remedies=(without_resume,),
    ),
    Signature(
        "state-mismatch",
        "The saved weights don't fit this model",
        r"RuntimeError: Error\(s\) in loading state_dict for (?P<model>\w+)",
        "{model} has other layers or sizes than the one that was saved: another model, vocabulary or adapter.",
        ("Build the same model as when it was saved, or load the weights that belong to this one.",),
        "torch/nn/modules/module.py: load_state_dict",
    ),
    # --- ranks that talk to each other
    Signature(
        "address-in-use",
        "The master port is in use",
        r"(?:torch\.distributed\.Dist\w*Error|RuntimeError|OSError): (?s:.{0,300})(?:EADDRINUSE|[Aa]ddress already "
        r"in use)",
        "The ranks meet at a port, and another program listens there: often an earlier run that has not ended.",
        ("Leave the port empty and dsgui chooses a free one.", "Look for processes of an earlier run."),
        "torch/csrc/distributed/c10d/socket.cpp: SocketListenOp",
        remedies=(another_port,),
    ),
    Signature(
        "nccl-timeout",
        "A NCCL collective timed out",
        r"(?:\[rank\d+\]:)?\[[EF][^\]]*\] ?(?:\[PG [^\]]*\] ?)?(?:\[?Rank (?P<rank>\d+)\]? ?)?.*Watchdog caught "
        r"collective "
        r"operation timeout",
        "One rank did not take part in a collective operation within the time limit (10 minutes in torch, 30 in "
        "DeepSpeed): it had died, was still loading or evaluating, or took another branch.",
        (
            "Look at what the other ranks did: the first one to fail is the cause.",
            "If a rank is only slow (tokenizing, saving), raise --ddp_timeout or "
            "deepspeed.init_distributed(timeout=…).",
        ),
        "torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp: checkTimeout",
        Where.SAID,
        aftermath=True,
    ),
    Signature(
        "nccl-timeout",
        "A NCCL collective timed out",
        r"torch\.distributed\.DistBackendError: (?s:.{0,500})(?:[Tt]imeout|timed out)",
        "One rank did not take part in a collective operation within the time limit: it had died, was still "
        "loading, or "
        "took another branch.",
        ("Look at what the other ranks did: the first one to fail is the cause.",),
        "torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp",
        aftermath=True,
    ),
    Signature(
        "nccl-error",
        "NCCL could not connect the GPUs",
        r"(?:torch\.distributed\.DistBackendError|RuntimeError): (?s:.{0,300})(?:NCCL error|ncclUnhandledCudaError|"
        r"ncclSystemError|ncclInternalError|ncclInvalidUsage|ncclRemoteError)",
        "A call of NCCL failed: a network interface that does not reach the other machine, GPUs that can't reach each "
        "other, too little /dev/shm, or two ranks on one GPU.",
        (
            "Run once with NCCL_DEBUG=WARN: NCCL then says what failed.",
            "Several machines: NCCL_SOCKET_IFNAME names the interface. GPUs without peer access: NCCL_P2P_DISABLE=1.",
        ),
        "torch/csrc/distributed/c10d/NCCLUtils.hpp",
        aftermath=True,
    ),
    Signature(
        "ranks-not-met",
        "The ranks did not find each other",
        r"(?:torch\.distributed\.Dist\w*Error|RuntimeError|TimeoutError|ConnectionRefusedError)(?:: )(?s:.{0,400})(?:"
        r"client socket has timed out|clients joined|[Cc]onnection refused|[Cc]onnect timeout|Gloo connectFullMesh "
        r"failed)",
        "A rank waited for the others at the master address and they did not come: one died before it got there, a "
        "name "
        "resolves to 127.0.0.1, or a firewall is between the machines.",
        (
            "Look above for a rank that failed earlier.",
            "Several machines: give --master_addr as the others see it, and GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME.",
        ),
        "torch/csrc/distributed/c10d/TCPStore.cpp; gloo/transport/tcp",
        aftermath=True,
    ),
    Signature(
        "peer-gone",
        "The connection to another rank was lost",
        r"(?:torch\.distributed\.Dist\w*Error|RuntimeError|ConnectionResetError|BrokenPipeError): "
        r"?(?s:.{0,500})(?:Connection "
        r"(?:closed|reset) by peer|Broken pipe|Application timeout caused pair closure|Timed out waiting "
        r"\d+ms|recvValue "
        r"failed|sendBytes failed)",
        "This rank lost its connection to another one, which had ended without a traceback: killed, or crashed.",
        ("Look for why the other rank ended; memory is the usual reason.",),
        "gloo/transport/tcp/pair.cc; torch/csrc/distributed/c10d/TCPStore.cpp",
        aftermath=True,
    ),
    Signature(
        "hosts",
        "A machine could not be reached",
        r"(?:[\w.-]+: )?(?:ssh: (?:connect to host|Could not resolve hostname)|Host key verification "
        r"failed|(?:[\w.-]+@)?"
        r"[\w.-]+: Permission denied \(|pdsh@[\w.-]+: [\w.-]+: ssh exited)",
        "DeepSpeed starts the ranks of other machines over ssh, without a password.",
        ("Try ssh HOST true by hand: it must work without asking anything.", "Check the names in the hostfile."),
        "deepspeed/launcher/multinode_runner.py: PDSHRunner",
        Where.SAID,
    ),
    # --- what is installed
    Signature(
        "no-gpu",
        "torch finds no NVIDIA GPU",
        r"RuntimeError: (?:Found no NVIDIA driver on your system|No CUDA GPUs are available|Unexpected error from "
        r"cudaGetDeviceCount|No HIP GPUs are available)",
        "The script asked for CUDA. There is no NVIDIA driver here, or no GPU that this run may see "
        "(CUDA_VISIBLE_DEVICES).",
        (
            "Check with nvidia-smi. In a container: docker run --gpus all.",
            "To train on the CPU, take .cuda() and device='cuda' out of the script; the HF Trainer needs --use_cpu.",
        ),
        "torch/cuda/__init__.py: _lazy_init; c10/cuda/CUDAFunctions.cpp",
        remedies=(use_cpu_if_trainer,),
    ),
    Signature(
        "torch-without-cuda",
        "The installed torch can't use GPUs",
        r"AssertionError: Torch not compiled with CUDA enabled",
        "The script asked for CUDA, and the training environment has a CPU build of torch.",
        (
            "Install a torch with CUDA there: see pytorch.org.",
            "To train on the CPU, take .cuda() and device='cuda' out of the script; the HF Trainer needs --use_cpu.",
        ),
        "torch/cuda/__init__.py: _lazy_init",
        remedies=(use_cpu_if_trainer,),
    ),
    Signature(
        "driver-old",
        "The NVIDIA driver is too old for this torch",
        r"RuntimeError: The NVIDIA driver on your system is too old(?: \(found version (?P<version>\d+)\))?",
        "torch was built for a newer CUDA than the driver supports.",
        ("Update the driver, or install a torch built for an older CUDA.",),
        "c10/cuda/CUDAFunctions.cpp: device_count_impl",
    ),
    Signature(
        "gpu-unsupported",
        "This torch has no kernels for the GPU",
        r"(?:RuntimeError|torch\.AcceleratorError): CUDA error: no kernel image is "
        r"available for execution on the device",
        "It was built for other compute capabilities: the GPU is older or newer than it supports.",
        ("Install a torch built for this GPU; torch.cuda.get_arch_list() shows what the installed one has.",),
        "torch: cudaErrorNoKernelImageForDevice",
    ),
    Signature(
        "cuda-mismatch",
        "The CUDA toolkit and torch are of different versions",
        r"(?:[\w.]*CUDAMismatchException|RuntimeError): (?s:.{0,200})(?:does not match the version torch was "
        r"compiled with"
        r"|The detected CUDA version|CUDA version mismatch!)",
        "DeepSpeed compiles its operators with the nvcc it finds, which must be of the CUDA version torch was built "
        "for.",
        (
            "Install that toolkit and point CUDA_HOME to it.",
            "If only the minor version differs, DS_SKIP_CUDA_CHECK=1 lets DeepSpeed go on.",
        ),
        "deepspeed/ops/op_builder/builder.py: assert_no_cuda_mismatch",
    ),
    Signature(
        "cuda-missing",
        "There is no CUDA toolkit to compile with",
        r"(?:[\w.]*MissingCUDAException|OSError: CUDA_HOME environment variable is not set|FileNotFoundError: .*nvcc)",
        "DeepSpeed compiles its CUDA operators when they are first used, and there is no nvcc.",
        ("Install the CUDA toolkit of torch's version (nvcc), and set CUDA_HOME.",),
        "deepspeed/ops/op_builder/builder.py: installed_cuda_version",
    ),
    Signature(
        "no-ninja",
        "The program ninja is missing",
        r"RuntimeError: (?:Ninja is required to load C\+\+ extensions|Unable to JIT load the \w+ op due to ninja)",
        "DeepSpeed compiles its operators with ninja.",
        ("Install it into the training environment: pip install ninja.",),
        "torch/utils/cpp_extension.py: verify_ninja_availability",
    ),
    Signature(
        "async-io",
        "NVMe offload needs libaio",
        r"(?:RuntimeError: Unable to JIT load the async_io op|(?s:.{0,3000})(?:libaio\.h|cannot find -laio|async_io))",
        "Offload to NVMe reads and writes with libaio, whose header and library are not installed.",
        ("Install them (Debian, Ubuntu: apt install libaio-dev), or offload to the CPU's memory.",),
        "deepspeed/ops/op_builder/async_io.py",
        frames=r"async_io|swap_tensor|op_builder|aio",
        remedies=(nvme_to_cpu,),
    ),
    Signature(
        "op-build",
        "DeepSpeed could not compile an operator",
        r"(?:RuntimeError: (?:Error building extension '(?P<op>\w+)'|Unable to JIT load the (?P<op2>\w+) op)|[\w.]*"
        r"CalledProcessError: .*(?:ninja|c\+\+|g\+\+|nvcc)|(?:FileNotFoundError|subprocess\.\w+|RuntimeError): "
        r".*(?:c\+\+|g\+\+"
        r"|gcc|clang|compiler))",
        "The compiler failed or is missing; see its messages above the traceback.",
        (
            "A C++ compiler that fits torch must be there (Debian, Ubuntu: apt install g++ python3-dev).",
            "After a build was interrupted: remove the operator's folder under ~/.cache/torch_extensions.",
        ),
        "torch/utils/cpp_extension.py: _run_ninja_build",
    ),
    Signature(
        "tokenizer",
        "A package that the tokenizer needs is missing",
        r"ImportError:\s(?s:.{0,200})(?:(?P<package>SentencePiece|sentencepiece|protobuf|tiktoken|tokenizers) "
        r"library|requires"
        r" the \w+ library but it was not found)|ValueError: (?s:.{0,300})(?:sentencepiece|tiktoken).{0,80}installed",
        "transformers builds this tokenizer with a package that the training environment does not have.",
        ("Install it there: pip install sentencepiece protobuf tiktoken.",),
        "transformers/utils/import_utils.py: requires_backends",
    ),
    Signature(
        "module-missing",
        "A Python package is missing: {module}",
        r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'",
        "The training environment has no {module}. It is another one than the Python in which it was installed, or "
        "the module is a file beside the script that was not found.",
        ("Install it with the training environment (named in the header): PYTHON -m pip install …",),
        "python: import",
    ),
    Signature(
        "version-needed",
        "The script needs another version: {needs}",
        r"(?:ImportError: (?P<needs>This example requires a source install|[\w.-]{1,60}[<>=!][^\n]{1,60} is required)"
        r"[^\n]*|[\w.]*PackageNotFoundError: [^\n]*?'(?P<package>[^'\n]{1,60})' distribution was not found[^\n]*)",
        "It says: {says}",
        (
            "Install that in the training environment, or take the script that goes with the installed release.",
            "Examples of transformers fit one release: use the tag of the installed one, such as v5.23.0.",
        ),
        "transformers/utils/versions.py: require_version; transformers/utils/__init__.py: check_min_version",
        tells=told_needs,
    ),
    Signature(
        "older-script",
        "The script was written for another {package}, most likely an older one",
        rf"(?:ImportError: cannot import name '(?P<name>[^'\n]{{1,100}})' from '(?P<module>(?P<package>{_LIBRARIES})\b"
        rf"[\w.]{{0,200}})'|AttributeError: module '(?P<module2>(?P<package2>{_LIBRARIES})\b[\w.]{{0,200}})' has no "
        r"attribute '(?P<name2>[^'\n]{1,100})')",
        "The script asks for {name} of {module}, which the installed {package} does not have. Names come and go "
        "between releases.",
        _OTHER_RELEASE,
        "python: import",
        tells=told_name,
    ),
    Signature(
        "older-script",
        "The script was written for other releases: {called} has no {name}",
        r"TypeError: (?P<called>\w{0,60}(?:Arguments|Trainer|Config|Accelerator))\.__init__\(\) got an unexpected "
        r"keyword argument '(?P<name>[^'\n]{1,100})'",
        "The script passes {name} to {called}, which does not take it in the installed release. Names come and go "
        "between releases: transformers 5 calls evaluation_strategy eval_strategy.",
        _OTHER_RELEASE,
        "python: call",
    ),
    Signature(
        "nltk-data",
        "nltk's data are missing: {resource}",
        r"LookupError:[\s*]{0,200}Resource '?(?P<resource>[\w./-]{1,100})'? not found",
        "The script uses nltk's {resource}, which is not on this machine. nltk would have to download it, and that "
        "needs the network.",
        (
            "Where there is a connection: python -m nltk.downloader {resource}.",
            "Else copy nltk_data from another machine to your home folder, or name its place in NLTK_DATA.",
        ),
        "nltk/data.py: find",
    ),
    Signature(
        "nltk-data",
        "nltk's data are missing",
        r"LookupError: Offline mode: run this script without TRANSFORMERS_OFFLINE first to download nltk data files",
        "The script uses data of nltk that are not on this machine. Downloading them needs the network, and offline "
        "mode is on.",
        ("Where there is a connection: python -m nltk.downloader punkt punkt_tab.",),
        "transformers: examples/pytorch/summarization",
    ),
    Signature(
        "hub-unreachable",
        "Can't reach the Hugging Face Hub{what}",
        r"(?:OSError: We couldn't connect to|[\w.]*LocalEntryNotFoundError|[\w.]*OfflineModeIsEnabled"
        r"|[\w.]*ConnectionError: (?s:.{0,200})(?:Hub|hub|huggingface|offline)"
        r"|(?:[\w.]*ConnectionError|[\w.]*OfflineModeIsEnabled|FileNotFoundError): Couldn't (?:reach|find a module)"
        r"|ValueError: Couldn't find cache for "
        r"|[\w.]*(?:ConnectError|ConnectTimeout|ReadTimeout|MaxRetryError|NewConnectionError): )",
        "The script asked the Hub for a model, data set or metric that is not in this machine's cache, and there was "
        "no answer{offline}.",
        (
            "Pass a local path, or download it once where there is a connection: huggingface-cli download.",
            "The cache is where HF_HOME points (default: ~/.cache/huggingface).",
        ),
        "transformers/utils/hub.py: cached_files; datasets/load.py; huggingface_hub/errors.py",
        tells=told_hub,
    ),
    Signature(
        "hub-refused",
        "Not found: {what}",
        r"(?:OSError: (?:Repo id must be in the form[^\n]*?'namespace/repo_name': )?'?(?P<model>[^'\n]{1,200}?)'?"
        r"(?:\. Use `repo_type`| is not a local folder and is not a valid model identifier| does not appear to have a "
        r"file named)|[\w.]*DatasetNotFoundError: Dataset '(?P<dataset>[^'\n]{1,200})'|[\w.]*(?:RepositoryNotFound|"
        r"GatedRepo)Error|OSError: You are trying to access a gated repo)",
        "It is no folder on this machine, seen from the run's working directory, and the Hub has no such model or data "
        "set for this user.",
        (
            "Check the path, or use an absolute one; a model's folder holds a config.json.",
            "Private or gated ones need a token: huggingface-cli login.",
        ),
        "transformers/utils/hub.py: cached_files; datasets/exceptions.py",
        tells=told_model,
    ),
    Signature(
        "permission",
        "Access was denied: {path}",
        r"PermissionError: \[Errno 13\] Permission denied: '?(?P<path>[^'\n]*)",
        "The run may not read or write {path}.",
        ("Check its owner and permissions, or give another folder (--output_dir, HF_HOME, TORCH_EXTENSIONS_DIR).",),
        "errno EACCES",
    ),
    Signature(
        "file-missing",
        "{what}",
        r"(?:FileNotFoundError|NotADirectoryError|[\w.]*(?:DataFilesNotFoundError|EmptyDatasetError)): "
        r"(?P<says>[^\n]*)",
        "The script asked for a file or folder that is not there. Relative paths start at the run's working directory.",
        ("Check the path or use an absolute one.", "Or set the working directory on Launch."),
        "errno ENOENT; datasets/load.py, data_files.py",
        tells=told_path,
    ),
    # --- the script and its launcher
    Signature(
        "config-twice",
        "The config was given twice",
        r"AssertionError: Not sure how to proceed, we were given (?:deepspeed configs|both)",
        "The script passes a config to deepspeed.initialize itself, and was given another one as --deepspeed_config.",
        (
            "If the script's own config counts, don't pass one: on Launch under “How the script takes the config”, or "
            "--reader none.",
            "If the one on Launch counts, take config= out of deepspeed.initialize.",
        ),
        "deepspeed/__init__.py: initialize",
    ),
    Signature(
        "config-twice",
        "--deepspeed is among the arguments too",
        r"[\w./ -]+\.py: error: argument --deepspeed: expected one argument",
        "The config is passed as --deepspeed FILE already. The one among the arguments has no value, and the parser "
        "stops.",
        ("Remove --deepspeed from the arguments.",),
        "python: argparse",
        Where.SAID,
        remedies=(without_deepspeed,),
    ),
    Signature(
        "option-unknown",
        "The script doesn't know {options}",
        r"ValueError: Some specified arguments are not used by the HfArgumentParser: (?P<words>[^\n]*)",
        "Neither the installed transformers nor the script has such an option. Options come and go between releases: "
        "transformers 5 has no --overwrite_output_dir, and calls --evaluation_strategy --eval_strategy.",
        ("Remove it or use its new name; see the script's --help.",),
        "transformers/hf_argparser.py: parse_args_into_dataclasses",
        tells=told_options,
        remedies=(without_unknown_options,),
    ),
    Signature(
        "syntax",
        "The script is not valid Python",
        r"(?P<says>(?:SyntaxError|IndentationError|TabError): .*)",
        "Python could not parse it: {says}",
        ("Correct the script; the output names the file and the line.",),
        "python: compile",
        Where.SAID,
    ),
    Signature(
        "local-rank-argument",
        "The script does not take --local_rank",
        r"[\w./ -]+: error: (?:unrecognized arguments|.*no such option):? .*--local[_-]rank",
        "DeepSpeed's launcher adds --local_rank=N to the script's arguments.",
        ("Let the script take it: parser.add_argument('--local_rank', type=int, default=-1).",),
        "deepspeed/launcher/launch.py; python: argparse",
        Where.SAID,
    ),
    Signature(
        "deepspeed-argument",
        "The script does not take --deepspeed",
        r"[\w./ -]+: error: unrecognized arguments: .*--deepspeed",
        "The config is handed over as --deepspeed FILE, and this script has no such option.",
        (
            "Call deepspeed.add_config_arguments(parser), or parse TrainingArguments with HfArgumentParser.",
            "If the script finds its own config, say so on Launch under “More”.",
        ),
        "python: argparse",
        Where.SAID,
    ),
    Signature(
        "option-unknown",
        "The script doesn't know {options}",
        r"[\w./ -]+\.py: error: unrecognized arguments: (?P<words>.*)",
        "Its parser has no such option.",
        ("Remove or correct it; see the script's --help.",),
        "python: argparse",
        Where.SAID,
        tells=told_options,
        remedies=(without_unknown_options,),
    ),
    Signature(
        "arguments",
        "The script refused its arguments",
        r"[\w./ -]+\.py: error: (?P<says>.*)",
        "It says: {says}",
        ("Correct the arguments on Launch; see the script's --help.",),
        "python: argparse",
        Where.SAID,
    ),
    # --- signals
    Signature(
        "crash",
        "A rank crashed in native code",
        r"Fatal Python error: (?P<what>Segmentation fault|Bus error|Illegal instruction|Aborted)",
        "{what}: not Python but a compiled library failed.",
        (
            "The output below “Fatal Python error” shows the call.",
            (
                "Operators compiled for another torch or CPU crash this way: remove ~/.cache/torch_extensions and try "
                "again."
            ),
        ),
        "python: faulthandler",
        Where.SAID,
    ),
    Signature(
        "killed",
        "A rank was killed",
        "9",
        "A process killed by SIGKILL (signal 9) can't report why. Usually the kernel sends it when memory runs out.",
        ("Look at the memory curve and at dmesg.", "Use fewer ranks here, less offload, or fewer data loader workers."),
        "kernel: oom_kill_process",
        Where.KILLED,
    ),
    Signature(
        "crash",
        "A rank crashed in native code",
        "11",
        "Segmentation fault: not Python but a compiled library failed.",
        (
            "Run it with PYTHONFAULTHANDLER=1: Python then says in which call.",
            (
                "Operators compiled for another torch or CPU crash this way: remove ~/.cache/torch_extensions and try "
                "again."
            ),
        ),
        "signal SIGSEGV",
        Where.KILLED,
    ),
    Signature(
        "illegal-instruction",
        "A compiled library uses instructions this CPU does not have",
        "4",
        "It was built for a newer CPU: operators in a cache shared between machines are a usual reason.",
        ("Remove ~/.cache/torch_extensions, or set TORCH_EXTENSIONS_DIR to a folder of this machine's own.",),
        "signal SIGILL",
        Where.KILLED,
    ),
    Signature(
        "shared-memory",
        "A rank died of a bus error: the shared memory (/dev/shm) may be full",
        "7",
        "Memory that is shared between processes could not be provided; a container often has 64 MB of /dev/shm.",
        ("Give the container more: docker run --shm-size=16g, or --ipc=host.",),
        "signal SIGBUS",
        Where.KILLED,
        remedies=(no_loader_workers,),
    ),
    Signature(
        "abort",
        "A rank aborted",
        "6",
        "A compiled library gave up (SIGABRT), with its reason in the last lines of the output.",
        ("See the output's last lines; NCCL's watchdog and failed checks in C++ end a program so.",),
        "signal SIGABRT",
        Where.KILLED,
    ),
    Signature(
        "hangup",
        "The run's terminal or session was closed",
        "1",
        "Something outside dsgui sent SIGHUP (signal 1), as happens when a terminal closes.",
        ("Runs that dsgui starts have no terminal: find out what ended it, or start it again.",),
        "signal SIGHUP",
        Where.KILLED,
    ),
    Signature(
        "terminated",
        "Something outside dsgui ended the run",
        "15|2",
        "The processes received SIGTERM or SIGINT, but not from Stop: a time limit, another user, or a shutdown.",
        ("Find out what ended it, then start or resume it.",),
        "signal SIGTERM, SIGINT",
        Where.KILLED,
    ),
)

# A line that may be somebody's last words: kept by `core/diagnosis/ending.py` while the output streams by.
LAST_WORDS = re.compile(
    "|".join(re.sub(r"\(\?P<\w+>", "(?:", one.pattern) for one in SIGNATURES if one.where is Where.SAID)
)
