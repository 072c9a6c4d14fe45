"""The size that a hub id tells in its name, and the names that tell none."""

from pathlib import Path

import pytest

from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.named_size import planned_size
from dsgui.core.memory.question import Model
from dsgui.shell.preflight.model_shapes import ModelShapes
from tests.support.cases import each_case

TOLD = {
    "Qwen2.5-7B": "7B",
    "Qwen/Qwen2.5-7B": "7B",
    "meta-llama/Llama-3.1-8B": "8B",
    "Qwen/Qwen2.5-0.5B-Instruct": "0.5B",
    "Qwen/Qwen2.5-7B-Instruct-1M": "7B",
    "Qwen/Qwen3-4B-Instruct-2507": "4B",
    "facebook/opt-350m": "350M",
    "EleutherAI/pythia-1.4b-deduped": "1.4B",
    "bigscience/bloom-7b1": "7.1B",
    "google/gemma-2-2b-it": "2B",
    "google-t5/t5-3b": "3B",
    "openlm-research/open_llama_3b_v2": "3B",
    "lmsys/vicuna-7b-v1.5-16k": "7B",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B": "32B",
    "nvidia/Nemotron-4-340B-Base": "340B",
    "HuggingFaceTB/SmolLM2-135M": "135M",
    "org/llama-7b-fp32": "7B",
    "org/llama-7b-bf16": "7B",
}
NO_SIZE = (
    *("gpt2-xl", "google/flan-t5-xxl", "google-bert/bert-base-uncased", "microsoft/phi-2", "microsoft/phi-1_5"),
    *("mistralai/Mistral-Nemo-Instruct-2407", "deepseek-ai/DeepSeek-V3", "BAAI/bge-m3", "google/switch-base-8"),
    *("org/x-20240607b", "7B-org/base", "EleutherAI/pythia-14m"),
)
SEVERAL = ("org/draft-0.5B-of-7B", "internlm/internlm2-1_8b", "org/llama_2_7b")
EXPERTS = (
    *("mistralai/Mixtral-8x7B-v0.1", "org/some-8x7b", "Qwen/Qwen3-30B-A3B", "allenai/OLMoE-1B-7B-0924"),
    *("openai/gpt-oss-20b", "meta-llama/Llama-4-Scout-17B-16E", "Qwen/Qwen1.5-MoE-A2.7B"),
)
QUANTIZED = (
    *("unsloth/llama-3-8b-bnb-4bit", "TheBloke/Llama-2-7B-GPTQ", "Qwen/Qwen-7B-Chat-Int4", "Qwen/QwQ-32B-AWQ"),
    *("mlx-community/Llama-3.2-3B-Instruct-4bit", "org/Llama-3.1-8B-FP8", "org/llama-8b-4-bit"),
)
VISION = ("Qwen/Qwen2.5-VL-7B-Instruct", "meta-llama/Llama-3.2-11B-Vision", "llava-hf/llava-1.5-7b-hf")


@each_case(("named", "size"), TOLD.items())
def test_a_name_tells_its_size(named, size):
    assert planned_size(named) == size


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (NO_SIZE, "no_size_in_name"),
        (SEVERAL, "sizes_in_name"),
        (EXPERTS, "experts"),
        (QUANTIZED, "quantized"),
        (VISION, "vision"),
    ],
)
def test_a_name_that_tells_none_or_of_what_has_no_formula_gets_no_number(names, code):
    found = {name: planned_size(name) for name in names}
    assert {name: one.why.code if isinstance(one, CannotSay) else one for name, one in found.items()} == dict.fromkeys(
        names, code
    )


@each_case("named", ["/data/qwen-7b", "./qwen-7b", "~/qwen-7b", "a/b/qwen-7b", "qwen 7b", "", "a" * 300 + "-7b"])
def test_a_path_is_no_hub_id(named):
    assert planned_size(named) is None


def test_a_hub_id_is_planned_with_as_its_size_until_it_is_here(tmp_path):
    here = {"HF_HUB_CACHE": str(tmp_path)}
    guessed = ModelShapes().read("Qwen/Qwen2.5-7B", environment=here)
    typed = ModelShapes().read("7B", environment=here)
    assert isinstance(guessed, Model)
    assert isinstance(typed, Model)
    assert (guessed.name, guessed.planned_as, guessed.config) == ("Qwen/Qwen2.5-7B", "7B", typed.config)
    downloaded = tmp_path / "models--Qwen--Qwen2.5-7B"
    write(downloaded / "refs" / "main", "abc")
    write(downloaded / "snapshots" / "abc" / "config.json", '{"model_type": "qwen2"}')
    assert ModelShapes().read("Qwen/Qwen2.5-7B", environment=here) == Model("Qwen/Qwen2.5-7B", {"model_type": "qwen2"})


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text)
