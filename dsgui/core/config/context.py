"""What a config is checked against: the framework that reads it, the DeepSpeed release, the number and kind of
devices."""

from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.machine.hardware import Hardware
from dsgui.core.texts.saying import Said, phrase


class Integration(Enum):
    """The framework that reads the file: the HF Trainer fills in `"auto"` and reads strict JSON; native DeepSpeed does
    neither."""

    HF = "hf"
    NATIVE = "native"


@lru_cache(maxsize=256)
def version_tuple(version: str) -> tuple[int, ...]:
    """`"0.19.8+cu130"` → `(0, 19, 8)`; it ends at the first part that is not a number."""
    numbers: list[int] = []
    for part in version.split("+")[0].split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)


# The DeepSpeed releases that are offered by name and asked about the examples (`make matrix`), oldest first.
RELEASES = ("0.14.5", "0.15.4", "0.16.9", "0.17.6", "0.18.9", "0.19.6", "0.19.8")
OLDEST_KNOWN, LATEST_KNOWN = RELEASES[0], RELEASES[-1]


@dataclass(frozen=True, slots=True)
class Context:
    """The circumstances of a check. `hardware` holds every selected device: a rule looks at all of them. `missing_ops`
    are the DeepSpeed operators that can't be loaded there, as far as known. `arguments` are the HF Trainer's, None
    while the script's arguments are not known. `device_not_chosen`: it trains on other machines, and nobody
    said on which devices; `away`: nor whether these are GPUs."""

    integration: Integration = Integration.HF
    nodes: int = 1
    gpus_per_node: int = 1
    deepspeed_version: str = LATEST_KNOWN
    torch_version: str = ""
    hardware: tuple[Hardware, ...] = field(default=())
    missing_ops: frozenset[str] = frozenset()
    arguments: TrainingArguments | None = None
    device_not_chosen: bool = False
    away: bool = False

    @property
    def world_size(self) -> int:
        """The data-parallel size: one rank per GPU."""
        return self.nodes * self.gpus_per_node

    @property
    def release(self) -> str:
        """The DeepSpeed release to check against; an unknown one counts as the newest known."""
        return self.deepspeed_version or LATEST_KNOWN

    def at_least(self, version: str) -> bool:
        """True when the DeepSpeed in use is `version` or newer."""
        return version_tuple(self.release) >= version_tuple(version)

    @property
    def devices(self) -> str:
        """`4 GPUs`, `2 nodes × 4 GPUs`, `2 CPU ranks`, `2 ranks` where nobody said of what: for sentences."""
        return str(self.devices_told)

    @property
    def on_cpu(self) -> bool:
        return bool(self.hardware) and all(h.vendor == "cpu" for h in self.hardware)

    @property
    def devices_told(self) -> Said:
        """The same, for the texts of the catalogue."""
        kind = "cpu_rank" if self.on_cpu else "rank" if self.away else "gpu"
        noun = kind + ("s" if self.gpus_per_node != 1 else "")
        each = phrase(noun, count=str(self.gpus_per_node))
        return each if self.nodes == 1 else phrase("on_nodes", nodes=str(self.nodes), each=each)
