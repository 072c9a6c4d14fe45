"""What the recipes without the Trainer share: options, the config, the ranks, figures of all of them, checkpoints."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from parts.precision import fitted_here
from parts.process import RecipeError, bad_input, say


def refuse_options(message: str) -> NoReturn:
    """For `parser.error`: argparse would print all options, once per rank."""
    raise RecipeError(f"{message}. --help lists the options.")


def rank_here() -> int:
    """What torchrun tells by a variable, and DeepSpeed's launcher by --local_rank as well."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def positive(word: str) -> int:
    """A number from 1."""
    number = int(word)
    if number < 1:
        raise ValueError(word)
    return number


@dataclass(frozen=True, slots=True)
class Ranks:
    """This process among those that train, and the device it trains on."""

    rank: int
    count: int
    device: Any

    def totals(self, figures: Sequence[float]) -> list[float]:
        """Each summed up over all ranks."""
        import torch

        sums = torch.tensor(figures, dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(sums)
        return sums.tolist()

    def share(self, batches: Sequence[Any]) -> list[tuple[Any, int]]:
        """Of these as many as every other rank has, each with 1, or 0 where it is there for company only: under ZeRO-3
        a forward pass waits for all ranks."""
        rounds = -(-len(batches) // self.count)
        places = range(self.rank, rounds * self.count, self.count)
        return [(batches[min(place, len(batches) - 1)], int(place < len(batches))) for place in places]


def read_config(options: Any, otherwise: dict[str, Any]) -> dict[str, Any]:
    """The config that the command line names, read as DeepSpeed reads it; `otherwise` where it names none."""
    path = options.deepspeed_config or (options.deepspeed if isinstance(options.deepspeed, str) else None)
    if path is None:
        return otherwise
    import hjson

    with bad_input(f"the config {path} cannot be read"):
        config = hjson.loads(Path(path).read_text("utf-8"), object_pairs_hook=dict)
    if not isinstance(config, dict):
        raise RecipeError(f"the config {path} is no JSON object.")
    return config


def open_ranks(local_rank: int) -> Ranks:
    """Join the ranks that deepspeed or torchrun has started; one rank where neither has."""
    if "RANK" not in os.environ:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    import deepspeed
    import torch
    from deepspeed.accelerator import get_accelerator

    say("DeepSpeed may now compile its operators: one to two minutes, on the first run only")
    accelerator = get_accelerator()
    accelerator.set_device(local_rank)
    deepspeed.init_distributed(accelerator.communication_backend_name())
    device = torch.device(accelerator.device_name(local_rank))
    return Ranks(torch.distributed.get_rank(), torch.distributed.get_world_size(), device)


def batches_of(config: dict[str, Any]) -> tuple[int, int]:
    """(micro batch, accumulation steps), what the config leaves out as DeepSpeed derives it for these ranks."""
    from deepspeed.runtime.config import DeepSpeedConfig

    try:
        read = DeepSpeedConfig(config)
    except (AssertionError, TypeError, ValueError) as error:
        raise RecipeError(f"DeepSpeed refuses the config: {' '.join(str(error).split())}") from error
    return read.train_micro_batch_size_per_gpu, read.gradient_accumulation_steps


def ready_for_this_machine(config: dict[str, Any]) -> dict[str, Any]:
    """The config in a precision that the hardware has, once its W&B block is known to work here."""
    prepare_wandb(config.get("wandb"))
    return fitted_here(config)


def prepare_wandb(block: Any) -> None:
    """Without an account W&B would ask for one and wait: it then writes files for `wandb sync`."""
    if not isinstance(block, dict) or block.get("enabled") is not True:
        return
    if find_spec("wandb") is None:
        raise RecipeError(
            "the config enables wandb, and the package isn't installed here: "
            'run "pip install wandb", or set wandb.enabled to false.'
        )
    if not (os.environ.get("WANDB_API_KEY") or os.environ.get("WANDB_MODE") or _has_netrc()):
        os.environ["WANDB_MODE"] = "offline"
        say('no W&B account here: its files stay in ./wandb; "wandb login" and "wandb sync" upload them')


def _has_netrc() -> bool:
    try:
        return "wandb" in Path("~/.netrc").expanduser().read_text("utf-8")
    except (OSError, RuntimeError):
        return False


def require_checkpoint(path: str) -> None:
    """Raises RecipeError unless DeepSpeed has saved a checkpoint there."""
    if not any(Path(path).glob("*model_states.pt")):
        raise RecipeError(f"--resume_from_checkpoint {path}: no checkpoint of DeepSpeed. Give a folder global_stepN.")


def write_figures(output_dir: str, figures: dict[str, float]) -> None:
    """The last figures, for whoever compares runs."""
    Path(output_dir).mkdir(parents=True, exist_ok=True)
    (Path(output_dir) / "results.json").write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
