"""What a trial stands on in its forked child: the process group, the tiny model, and DeepSpeed kept from the disk.

Runs in the target environment, for `oracle_trial.py`.
"""

import importlib
import os
import sys
from typing import Any

from dsgui.shell.oracle.oracle_trainer import HIDDEN_SIZE

ROWS, TOKENS, WORDS = 2, 8, 64


def load(name: str) -> Any:
    """A module of the target environment; by name, because dsgui's own process never has it."""
    return importlib.import_module(name)


def lend_data_types(lend: bool) -> None:
    """When another device is planned for, the config is judged and not this CPU: let it have fp16."""
    if not lend:
        return
    device = type(load("deepspeed.accelerator").get_accelerator())
    torch = load("torch")
    device.is_fp16_supported = device.is_bf16_supported = lambda self: True
    device.supported_dtypes = lambda self: [torch.float, torch.half, torch.bfloat16]


def prepare_process(trial: Any) -> None:
    """`trial` tells what takes long. Nothing is written outside the scratch folder, and no shared memory is left."""
    load("deepspeed.comm.torch")
    # A package attribute of the same name hides the module. The op would keep 33 MB a rank in /dev/shm.
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # type: ignore[attr-defined]
    deepspeed, extensions = load("deepspeed"), load("torch.utils.cpp_extension")
    # The class itself: `zero.Init`, HF's and DeepSpeed's modules have it by names of their own.
    made, build = deepspeed.DeepSpeedConfig, extensions.load
    fill = made.__init__

    def kept_in(config: Any, *arguments: Any, **named: Any) -> None:
        fill(config, *arguments, **named)
        keep_files_in(trial.scratch, config)

    def compiling(name: str, *arguments: Any, **named: Any) -> Any:
        trial.doing(name)
        return build(name, *arguments, **named)

    made.__init__, extensions.load = kept_in, compiling


def keep_files_in(scratch: str, config: Any) -> None:
    """Points everything that DeepSpeed writes to the scratch folder."""
    for name in ("tensorboard", "csv_monitor"):
        block = getattr(getattr(config, "monitor_config", None), name, None)
        if block is not None:
            block.output_path = scratch
    profiler = getattr(config, "flops_profiler_config", None)
    if profiler is not None:
        profiler.output_file = None
    for name in ("offload_optimizer", "offload_param"):
        block = getattr(config.zero_config, name, None)
        if block is not None and block.nvme_path:
            block.nvme_path = type(block.nvme_path)(scratch)


def start_group(world_size: int) -> None:
    """A process group of this one process: real (gloo) for one rank; for more, one whose collectives do nothing."""
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE=str(world_size), LOCAL_WORLD_SIZE=str(world_size))
    os.environ.update(
        LOCAL_SIZE=str(world_size), CROSS_RANK="0", CROSS_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29500"
    )
    distributed = load("torch.distributed")
    if world_size == 1:  # a store in memory: no port is opened but gloo's, on the loopback interface
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
        return
    store = load("torch.testing._internal.distributed.fake_pg").FakeStore()
    distributed.init_process_group("fake", store=store, rank=0, world_size=world_size)


def tiny_model() -> Any:
    """A language model of three layers; called with words and labels it gives the loss."""
    torch = load("torch")
    torch.manual_seed(0)
    width = HIDDEN_SIZE

    class Tiny(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.config = type("Config", (), {"hidden_size": width, "num_attention_heads": 4})()
            self.words = torch.nn.Embedding(WORDS, width)
            self.middle = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.LayerNorm(width), torch.nn.GELU())
            self.out = torch.nn.Linear(width, WORDS)

        def forward(self, words: Any, labels: Any) -> Any:
            guess = self.out(self.middle(self.words(words))).float()
            return torch.nn.functional.cross_entropy(guess.view(-1, WORDS), labels.view(-1))

    return Tiny()
