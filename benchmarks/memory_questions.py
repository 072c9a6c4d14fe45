"""The questions of `memory_formula.py`: the 27 of the matrix, and random ones of the kinds that people write; others
with offload to NVMe, with Muon, and with `torch_autocast`."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.core.memory.question import Group, Model, Question, Workload

MATRIX = Path(__file__).parents[1] / "tests/core/memory/dry_run_matrix.json"
MI = 1 << 20
_LLAMA = {"model_type": "llama", "hidden_act": "silu", "max_position_embeddings": 4096, "rms_norm_eps": 1e-6}
_LLAMA_SHAPE = {"num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 16, "vocab_size": 32000}
_GROUPED = {"num_hidden_layers": 2, "num_attention_heads": 12, "num_key_value_heads": 4, "vocab_size": 16000}
_T5 = {"model_type": "t5", "d_model": 512, "num_layers": 2, "num_heads": 8, "d_kv": 64, "vocab_size": 32128}
_OPT = {"model_type": "opt", "num_hidden_layers": 2, "num_attention_heads": 8, "vocab_size": 24000, "dropout": 0.1}
MODELS: dict[str, dict[str, Any]] = {
    "llama": _LLAMA | _LLAMA_SHAPE | {"hidden_size": 1024, "intermediate_size": 2816, "tie_word_embeddings": False},
    "llama-tied": _LLAMA | _GROUPED | {"hidden_size": 768, "intermediate_size": 2048, "tie_word_embeddings": True},
    "qwen2": _LLAMA
    | _GROUPED
    | {"model_type": "qwen2", "hidden_size": 384, "intermediate_size": 1536, "tie_word_embeddings": True},
    "gemma": _LLAMA | _GROUPED | {"model_type": "gemma", "hidden_size": 384, "intermediate_size": 1536, "head_dim": 64},
    "gpt2": {"model_type": "gpt2", "n_positions": 2048, "n_embd": 768, "n_layer": 3, "n_head": 12, "vocab_size": 50257},
    "bloom": {"model_type": "bloom", "hidden_size": 512, "n_layer": 2, "n_head": 8, "vocab_size": 30000},
    "opt": _OPT | {"hidden_size": 512, "ffn_dim": 2048, "word_embed_proj_dim": 512, "activation_function": "relu"},
    "t5": _T5 | {"d_ff": 2048, "feed_forward_proj": "relu", "decoder_start_token_id": 0},
    "flan-t5": _T5
    | {"d_ff": 1024, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "decoder_start_token_id": 0},
}
_KIN = _LLAMA | _GROUPED | {"hidden_size": 384, "intermediate_size": 1536, "head_dim": 32, "num_hidden_layers": 3}
KIN = {
    name: _KIN | {"model_type": name, "hidden_activation": "gelu_pytorch_tanh"} for name in ("gemma2", "gemma3_text")
} | {name: _KIN | {"model_type": name, "tie_word_embeddings": False} for name in ("mistral", "qwen3")}
_WIDE = {"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 16000, "pad_token_id": 0}
_FED = _WIDE | {"num_key_value_heads": 2, "intermediate_size": 1536}
_LAYERED = _WIDE | {"intermediate_size": 2048}
FAMILIES = {
    name: _FED | {"model_type": name.partition(",")[0]} | more
    for name, more in {
        "phi3": {"resid_pdrop": 0.1},
        "phi3, partly": {"partial_rotary_factor": 0.75},
        "granite": {"tie_word_embeddings": True},
        "glm": {"head_dim": 64},
        "glm4": {"head_dim": 64},
        "olmo2": {"num_key_value_heads": 8},
        "smollm3": {},
        "internlm3": {"head_dim": 64},
        "stablelm": {"use_qkv_bias": True},
        "starcoder2": {"residual_dropout": 0.1},
    }.items()
} | {
    "gpt_neox": _LAYERED | {"model_type": "gpt_neox", "hidden_act": "gelu"},
    "gpt_neox, behind": _LAYERED | {"model_type": "gpt_neox", "use_parallel_residual": False, "rotary_pct": 1.0},
    "phi": _LAYERED | {"model_type": "phi", "resid_pdrop": 0.1},
    "gptj": {"model_type": "gptj", "n_embd": 512, "n_head": 8, "n_layer": 4, "vocab_size": 16000, "rotary_dim": 32},
    "mt5": _T5 | {"model_type": "mt5", "d_ff": 1024, "vocab_size": 64000},
}
_SWAPPED = (("nvme", ""), ("nvme", "cpu"), ("nvme", "nvme"), ("", "nvme"), ("cpu", "nvme"))  # optimizer, parameters
_ADAM = {"optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}}


def cases(count: int, seed: int, first: int = 0) -> list[tuple[str, Question]]:
    """The matrix, and `count` random ones from number `first` on; each is the same however many there are."""
    numbers = range(first, first + count)
    drawn = (random_case(random.Random(f"{seed}/{number}")) for number in numbers)
    return [*([] if first else matrix_cases()), *drawn]


def matrix_cases() -> Iterator[tuple[str, Question]]:
    """The configs of the matrix, on a small model of transformers: there a stack of matrices took them."""
    for row in json.loads(MATRIX.read_text("utf-8")):
        zero = dict(row["config"].get("zero_optimization", {}))
        small = {
            key: min(value, 4 * MI) if type(value) is int and value > 1000 else value for key, value in zero.items()
        }
        config = row["config"] | {"gradient_accumulation_steps": row["accumulation"]} | _ADAM
        config |= {"zero_optimization": small} if small else {}
        config |= {"gradient_clipping": 1.0}
        model = Model("llama", MODELS["llama"])
        yield f"matrix: {row['case']}", Question(model, config, Workload(1, 128), Group(row["ranks"]), by_decay=False)


def random_case(luck: random.Random) -> tuple[str, Question]:
    """With values from small to large."""
    stage, precision = luck.choice((0, 1, 2, 2, 3, 3, 3)), luck.choice(("bf16", "bf16", "fp16", "fp32"))
    config: dict[str, Any] = {"zero_optimization": _zero(luck, stage), **_ADAM}
    config |= {precision: {"enabled": True}} if precision != "fp32" else {}
    config |= {
        "gradient_accumulation_steps": luck.choice((1, 1, 1, 2, 4)),
        "gradient_clipping": luck.choice((0.0, 1.0)),
    }
    if stage and luck.random() < 0.2:
        config |= {"data_types": {"grad_accum_dtype": "fp32"}}
    name, ranks = luck.choice(sorted(MODELS)), luck.choice((1, 2, 3, 8, 64))
    attention = luck.choice(("sdpa", "sdpa", "eager"))
    work = Workload(
        luck.choice((1, 2)), luck.choice((128, 512)), checkpointing=luck.random() < 0.4, attention=attention
    )
    group = Group(ranks, rank=luck.randrange(ranks))
    question = Question(Model(name, MODELS[name]), config, work, group, by_decay=luck.random() < 0.7)
    return described(question), question


def _zero(luck: random.Random, stage: int) -> dict[str, Any]:
    found: dict[str, Any] = {"stage": stage}
    if stage:
        found |= {"reduce_bucket_size": luck.choice((1, 4, 16, 500)) * MI}
    if stage in (1, 2) and luck.random() < 0.3:
        found |= {"overlap_comm": luck.random() < 0.5}
    if stage in (1, 2) and luck.random() < 0.2:
        found |= {"contiguous_gradients": False}
    if stage and luck.random() < 0.4:
        found |= {"offload_optimizer": {"device": "cpu", "pin_memory": luck.random() < 0.5}}
    return found | (_third(luck) if stage == 3 else {})


def _third(luck: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if luck.random() < 0.4:
        found |= {"offload_param": {"device": "cpu", "pin_memory": luck.random() < 0.5}}
    if luck.random() < 0.5:
        found |= {"stage3_max_live_parameters": luck.choice((1, 2 * MI, 1000 * MI))}
        found |= {"stage3_max_reuse_distance": luck.choice((0, 4 * MI, 1000 * MI))}
        found |= {"stage3_prefetch_bucket_size": luck.choice((1, MI, 50 * MI))}
    if luck.random() < 0.3:
        found |= {"sub_group_size": luck.choice((MI, 8 * MI))}
    if luck.random() < 0.3:
        found |= {"stage3_param_persistence_threshold": luck.choice((0, 10000))}
    return found


def family_cases(count: int, seed: int, first: int = 0) -> list[tuple[str, Question]]:
    """Random ones on models of the other families, each in turn."""
    return [family_case(seed, number) for number in range(first, first + count)]


def family_case(seed: int, number: int) -> tuple[str, Question]:
    _, asked = random_case(random.Random(f"families/{seed}/{number}"))
    name = sorted(FAMILIES)[number % len(FAMILIES)]
    question = replace(asked, model=Model(name, FAMILIES[name]))
    return described(question), question


def nvme_cases(count: int, seed: int, first: int = 0) -> list[tuple[str, Question]]:
    """Random ones at stage 3 with the optimizer, the parameters or both on NVMe; in many DeepSpeed stops."""
    return [nvme_case(random.Random(f"nvme/{seed}/{number}")) for number in range(first, first + count)]


def nvme_case(luck: random.Random) -> tuple[str, Question]:
    """As the other random ones, offloaded in one of five ways."""
    _, asked = random_case(luck)
    zero = {"stage": 3, "reduce_bucket_size": luck.choice((1, 4, 16)) * MI} | _third(luck)
    zero.pop("offload_param", None)
    optimizer, parameters = luck.choice(_SWAPPED)
    if optimizer:
        zero["offload_optimizer"] = _swapped(luck, optimizer, buffer_count=luck.choice((4, 4, 5, 3)))
    if parameters:
        sizes = {"buffer_size": luck.choice((40, 40, 4)) * MI, "buffer_count": luck.choice((5, 12, 40))}
        zero["offload_param"] = _swapped(luck, parameters, max_in_cpu=luck.choice((0, 4 * MI, 1000 * MI)), **sizes)
    config = {**asked.config, "zero_optimization": zero}
    question = Question(asked.model, config, asked.workload, asked.group, by_decay=asked.by_decay)
    return described(question), question


def muon_cases(count: int, seed: int, first: int = 0) -> list[tuple[str, Question]]:
    """Random ones of all stages that Muon trains. Stage 3 has it without `reduce_scatter` only."""
    return [muon_case(random.Random(f"muon/{seed}/{number}")) for number in range(first, first + count)]


def muon_case(luck: random.Random) -> tuple[str, Question]:
    _, asked = random_case(luck)
    params = {"lr": 1e-3} | luck.choice(({}, {}, {"momentum": 0.9}, {"ns_method": "standard"}))
    config: dict[str, Any] = {**asked.config, "optimizer": {"type": "Muon", "params": params}}
    zero = dict(config["zero_optimization"])
    if zero["stage"] == 3:
        zero |= {"reduce_scatter": False}
        zero |= {"save_muon_momentum_buffer_in_memory": True} if luck.random() < 0.3 else {}
    return _with(asked, config | {"zero_optimization": zero})


def autocast_cases(count: int, seed: int, first: int = 0) -> list[tuple[str, Question]]:
    """Random ones of all stages in fp32 under torch's autocast; from number 30 on of rarer kinds too."""
    numbers = range(first, first + count)
    return [autocast_case(random.Random(f"autocast/{seed}/{number}"), rare=number >= 30) for number in numbers]


def autocast_case(luck: random.Random, *, rare: bool = False) -> tuple[str, Question]:
    _, asked = random_case(luck)
    config = {key: value for key, value in asked.config.items() if key not in ("bf16", "fp16", "data_types")}
    block: dict[str, Any] = {"enabled": True, "dtype": luck.choice(("bfloat16", "bfloat16", "float16"))}
    safe = luck.choice((None, None, [], ["torch.nn.Linear", "torch.nn.Embedding"]))
    block |= {} if safe is None else {"lower_precision_safe_modules": safe}
    return _with(_rarer(luck, asked) if rare else asked, config | {"torch_autocast": block} | _rare(luck, config, rare))


def _rarer(luck: random.Random, asked: Question) -> Question:
    """Perhaps with a model that the others have not."""
    name = luck.choice([asked.model.name, *sorted(KIN)])
    return replace(asked, model=Model(name, KIN.get(name) or MODELS[name]))


def _rare(luck: random.Random, config: dict[str, Any], rare: bool) -> dict[str, Any]:
    """Its block of ZeRO with keys that the others leave out."""
    zero = dict(config["zero_optimization"])
    if rare and zero["stage"]:
        zero |= {"reduce_scatter": False} if luck.random() < 0.3 else {}
        zero |= {"round_robin_gradients": True} if luck.random() < 0.3 and zero["stage"] < 3 else {}
    if rare and zero["stage"] == 3:
        zero |= {"memory_efficient_linear": False} if luck.random() < 0.4 else {}
        zero |= {"stage3_allgather_sequential": True} if luck.random() < 0.2 else {}
    return {"zero_optimization": zero}


def _with(asked: Question, config: dict[str, Any]) -> tuple[str, Question]:
    question = replace(asked, config=config)
    return described(question), question


def _swapped(luck: random.Random, device: str, **sizes: int) -> dict[str, Any]:
    found = {"device": device, "pin_memory": luck.random() < 0.7}
    return found | ({"nvme_path": "/local_nvme", **sizes} if device == "nvme" else {})


def described(question: Question) -> str:
    work, group = question.workload, question.group
    words = [question.model.name, f"{work.micro_batch}×{work.length}", "checkpointing" if work.checkpointing else ""]
    words += [work.attention, f"rank {group.rank} of {group.ranks}", "two groups" if question.by_decay else ""]
    return " ".join(word for word in words if word)
