"""Cases whose config and outcome somebody published, and what dsgui's formula says of them.

`python -m benchmarks.memory_cases` writes docs/memory_cases.md; with the NAME of a case it prints all that dsgui says
of it. Where a report leaves something out, the case says what was taken."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.memory.answer import CannotSay, Device
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.memory_report import as_text, word
from dsgui.core.memory.fits.room import DRIVER_SHARE, Room
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.memory.question import Model
from dsgui.core.sizes import GIB, in_gib
from dsgui.shell.config.catalog import Catalog

PAGE = Path(__file__).parents[1] / "docs" / "memory_cases.md"
_LLAMA = {"hidden_act": "silu", "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "torch_dtype": "bfloat16"}
LLAMA_7B = _LLAMA | {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32}
LLAMA_7B |= {"num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32000, "torch_dtype": "float16"}
LLAMA_3_8B = LLAMA_7B | {"intermediate_size": 14336, "num_key_value_heads": 8, "vocab_size": 128256}
LLAMA_3_8B |= {"torch_dtype": "bfloat16"}
QWEN_32B = _LLAMA | {"model_type": "qwen2", "hidden_size": 5120, "intermediate_size": 27648, "num_hidden_layers": 64}
QWEN_32B |= {"num_attention_heads": 40, "num_key_value_heads": 8, "vocab_size": 152064}
GPT_J = {"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "vocab_size": 50400}
T5_3B: dict[str, Any] = {
    "model_type": "t5",
    "d_model": 1024,
    "d_ff": 16384,
    "d_kv": 128,
    "num_heads": 32,
    "num_layers": 24,
}
T5_3B |= {"vocab_size": 32128, "feed_forward_proj": "relu", "decoder_start_token_id": 0, "torch_dtype": "float32"}

_PINNED = {"device": "cpu", "pin_memory": True}
_BOTH = {"offload_optimizer": _PINNED, "offload_param": _PINNED}
_AUTO: dict[str, Any] = {"reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto"}
_AUTO |= {"stage3_param_persistence_threshold": "auto", "overlap_comm": True, "sub_group_size": 1e9}
_LIVE = {"stage3_max_live_parameters": 1e9, "stage3_max_reuse_distance": 1e9}
_ADAM = {"type": "AdamW", "params": {"lr": 1e-4}}


def _config(precision: str, stage: int, **zero: Any) -> dict[str, Any]:
    own = {"optimizer": _ADAM, precision: {"enabled": True}, "zero_optimization": {"stage": stage, **zero}}
    return own | {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1}


@dataclass(frozen=True, slots=True)
class Published:
    """`said`: by whoever reckoned before; `happened`: what was seen; `taken`: what the report leaves open. Without a
    config there is no answer: `why` says what is missing. `of`: the device that it was about. A size of 0 is not
    known."""

    name: str
    title: str
    source: str
    said: str
    happened: str
    taken: str = ""
    why: str = ""
    model: Mapping[str, Any] | str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    gpus: int = 1
    gpu_gib: float = 0
    host_gib: float = 0
    length: int = 0
    checkpointing: bool = True
    of: Device = Device.GPU
    comment: str = ""


CASES = (
    Published(
        "estimator-6.8b",
        "6.8B, 4 GPUs, ZeRO-3, everything offloaded",
        "DeepSpeed 4527",
        "0.49 GB (estimate_zero3)",
        "14.7 GB after initialize, 19.9–21.3 GB in a step (nvidia-smi)",
        "a shape like Llama’s, fp16, default buckets, 1 × 2048 tokens, checkpointing",
        model="6.8B",
        config=_config("fp16", 3, **_BOTH),
        gpus=4,
        length=2048,
        comment="Less than nvidia-smi showed, which also counts what torch’s allocator keeps reserved",
    ),
    Published(
        "gpt-j-2",
        "GPT-J-6B, 2 GPUs, ZeRO-3, everything offloaded",
        "DeepSpeed 4093",
        "0.77 GB (estimate_zero3)",
        "about 13 GB",
        "fp16, default buckets, 1 × 2048 tokens, checkpointing",
        model=GPT_J,
        config=_config("fp16", 3, **_BOTH),
        gpus=2,
        length=2048,
        comment="Less than was seen, which has the allocator’s cache in it",
    ),
    Published(
        "gpt-j-4",
        "the same, 4 GPUs",
        "DeepSpeed 4093",
        "0.77 GB (estimate_zero3)",
        "about 13 GB",
        "as above",
        model=GPT_J,
        config=_config("fp16", 3, **_BOTH),
        gpus=4,
        length=2048,
        comment="Nearly the same as with 2 GPUs: buckets and gathered parameters don’t hang on the number of ranks",
    ),
    Published(
        "qwen-32b",
        "Qwen2.5-32B, 1 × H100 80 GB, ZeRO-3, everything offloaded, 744 GB of host memory",
        "LLaMA-Factory 6755",
        "should suffice",
        "killed by the OOM killer (exit −9)",
        "1 × 1024 tokens, checkpointing",
        model=QWEN_32B,
        config=_config("bf16", 3, **_AUTO, **_LIVE, **_BOTH),
        gpu_gib=80,
        host_gib=744e9 / GIB,
        length=1024,
        of=Device.HOST,
        comment="110 GiB of it are pinned blocks that DeepSpeed frees and torch keeps",
    ),
    Published(
        "llama-3-8b",
        "Llama-3-8B, 8 × 24 GB, ZeRO-3 without offload, 1024 tokens",
        "LLaMA-Factory 5977",
        "–",
        "out of memory",
        "micro batch 1, checkpointing",
        model=LLAMA_3_8B,
        config=_config("bf16", 3, **_AUTO, **_LIVE),
        gpus=8,
        gpu_gib=24,
        length=1024,
    ),
    Published(
        "llama-3-8b-offload",
        "the same with everything offloaded",
        "LLaMA-Factory 5977",
        "–",
        "runs, 13 GB",
        "as above",
        model=LLAMA_3_8B,
        config=_config("bf16", 3, **_AUTO, **_LIVE, **_BOTH),
        gpus=8,
        gpu_gib=24,
        length=1024,
    ),
    Published(
        "llama-7b",
        "Llama-7B, 8 × V100 32 GB, ZeRO-2",
        "LLaMA-Factory 1221",
        "“theory just fits”",
        "out of memory in Adam’s step",
        "fp16, torch’s Adam, buckets of 5e8, 1 × 1024 tokens, checkpointing",
        model=LLAMA_7B,
        config=_config("fp16", 2, reduce_bucket_size=5e8)
        | {"optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}}},
        gpus=8,
        gpu_gib=32,
        length=1024,
    ),
    Published(
        "t5-3b-before",
        "T5-3B, 1 × V100 32 GB, ZeRO-3, everything offloaded, live and reuse 1e9",
        "the tutorial that the preset is from",
        "–",
        "GPU memory grew with 3e10 and 1e10, host memory did not",
        "fp16, 1 × 128 tokens",
        model=T5_3B,
        config=_config("fp16", 3, **_AUTO, **_LIVE, **_BOTH),
        gpu_gib=32,
        length=128,
        checkpointing=False,
    ),
    Published(
        "t5-3b-after",
        "the same, live 3e10 and reuse 1e10",
        "the tutorial that the preset is from",
        "–",
        "as above",
        "as above",
        model=T5_3B,
        config=_config("fp16", 3, **_AUTO, **_BOTH, stage3_max_live_parameters=3e10, stage3_max_reuse_distance=1e10),
        gpu_gib=32,
        length=128,
        checkpointing=False,
    ),
    Published(
        "fragmentation",
        "a run that ended with 11.74 GiB allocated and 9.96 GiB reserved but unallocated",
        "LLaMA-Factory 2744",
        "–",
        "out of memory",
        why="No config was published. dsgui counts 3 to 15 % of fragmentation, far less than was seen here; "
        "PYTORCH_ALLOC_CONF=expandable_segments:True is the remedy.",
    ),
    Published(
        "pinned",
        "pinned buffers of other programs, torch 2.11 to 2.13",
        "vLLM 53042, SGLang 39021",
        "–",
        "1.67 to 1.92 times what was asked for",
        why="No DeepSpeed config. dsgui counts each pinned block as the next power of two, so 1 to 2 times.",
    ),
)


def fitted(case: Published) -> Fitted | CannotSay:
    """As the HF Trainer would train it."""
    named = case.model
    model = model_of_size(named) if isinstance(named, str) else Model(case.name, named)
    context = Context(Integration.HF, gpus_per_node=case.gpus, arguments=TrainingArguments())
    choice = ModelChoice(case.name, case.length, checkpointing=case.checkpointing)
    gpu, host = round(case.gpu_gib * DRIVER_SHARE * GIB) or None, round(case.host_gib * GIB) or None
    asked = Case(case.config, context, (), model, choice, micro_batch=1)
    return fit(
        asked,
        Catalog().schema(),
        lambda group: Room("", gpu, host_bytes=host, ranks=case.gpus, ranks_per_node=case.gpus),
    )


def told(case: Published) -> str:
    """dsgui's column."""
    if case.why:
        return f"can’t say. {case.why}"
    found = fitted(case)
    if isinstance(found, CannotSay):
        return f"can’t say. {found.why}"
    return ". ".join(filter(None, (_verdict(case, found), case.comment)))


def _verdict(case: Published, found: Fitted) -> str:
    bars = {device: found.verdict.worst(device) for device in (Device.GPU, Device.HOST)}
    needs = [
        f"{word('memory_places', device.value)} {in_gib(bar.amount.low)}–{in_gib(bar.amount.high)}"
        + (f" of {in_gib(bar.capacity)}" if bar.capacity else "")
        + f" GiB ({word('memory_moments', bar.moment)})"
        for device, bar in bars.items()
        if bar
    ]
    fit_of = found.verdict.fit_of(case.of)
    if fit_of is Fit.UNKNOWN:
        return ", ".join(needs)
    place = "" if case.of is Device.GPU else "host "
    return f"**{place}{word('memory_fits', fit_of.value)}**: {', '.join(needs)}"


_HEAD = """# Published cases: what was said, what happened, what dsgui says

Made by `python -m benchmarks.memory_cases`; `python -m benchmarks.memory_cases NAME` prints all that dsgui says of one.
The numbers are the formula’s for DeepSpeed 0.19.8, with the margins of what is not DeepSpeed’s (CUDA context, NCCL,
fragmentation). The reports are older than that release, most name neither batch nor length, and none was run again on
a GPU: a row shows whether dsgui would have warned, not how exact it is.

"""


def page() -> str:
    """The whole page."""
    rows = [
        "| case | source | said before | what happened | what dsgui says | taken where the report is silent |",
        "|---|---|---|---|---|---|",
        *map(_row, CASES),
    ]
    return _HEAD + "\n".join(rows) + "\n"


def _row(one: Published) -> str:
    cells = (f"`{one.name}`: {one.title}", one.source, one.said, one.happened, told(one), one.taken or "–")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Writes the page, or prints what is said of one case."""
    if len(sys.argv) == 1:
        PAGE.write_text(page(), "utf-8")
        return
    case = next((one for one in CASES if one.name == sys.argv[1]), None)
    if case is None:
        sys.exit(f"{sys.argv[1]}: no such case; expected one of {', '.join(one.name for one in CASES)}")
    print(told(case) if case.why else as_text(fitted(case)))


if __name__ == "__main__":
    main()
