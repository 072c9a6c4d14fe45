"""The size that a hub id tells in its name, and the names that tell none."""

from pathlib import Path

import pytest

from dsgui.core.errors import PlaceError
from dsgui.core.memory import walking
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.named_size import _TYPES, planned_size
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
    "openlm-research/open_llama_3b_v2": "3B",
    "lmsys/vicuna-7b-v1.5-16k": "7B",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B": "32B",
    "nvidia/Llama-3.1-Nemotron-70B-Instruct-HF": "70B",
    "nvidia/OpenReasoning-Nemotron-7B": "7B",
    "google/gemma-3-1b-it": "1B",
    "google/medgemma-27b-text-it": "27B",
    "tiiuae/Falcon3-7B-Base": "7B",
    "EleutherAI/gpt-neox-20b": "20B",
    "allenai/OLMo-2-1124-7B": "7B",
    "ibm-granite/granite-3.1-8b-instruct": "8B",
    "bigcode/starcoder2-3b": "3B",
    "internlm/internlm3-8b-instruct": "8B",
    "zai-org/GLM-4-9B-0414": "9B",
    "THUDM/glm-4-9b-chat-hf": "9B",
    "mistralai/Mistral-Small-24B-Base-2501": "24B",
    "HuggingFaceTB/SmolLM2-135M": "135M",
    "org/llama-7b-fp32": "7B",
    "org/llama-7b-16bit": "7B",
    "org/llama-7b-bf16": "7B",
}
NO_SIZE = (
    *("gpt2-xl", "google/flan-t5-xxl", "google-bert/bert-base-uncased", "microsoft/phi-2", "microsoft/phi-1_5"),
    *("mistralai/Mistral-Nemo-Instruct-2407", "deepseek-ai/DeepSeek-V3", "BAAI/bge-m3", "google/switch-base-8"),
    *("org/x-20240607b", "7B-org/base", "EleutherAI/pythia-14m"),
)
SEVERAL = ("org/draft-0.5B-of-7B", "stabilityai/stablelm-2-1_6b", "org/llama_2_7b", "org/two-2b-2b")
EXPERTS = (
    *("mistralai/Mixtral-8x7B-v0.1", "org/some-8x7b", "Qwen/Qwen3-30B-A3B", "allenai/OLMoE-1B-7B-0924"),
    *("openai/gpt-oss-20b", "meta-llama/Llama-4-Scout-17B-16E", "Qwen/Qwen1.5-MoE-A2.7B"),
    *("ibm-granite/granite-3.0-1b-a400m-base", "ibm-granite/granite-3.0-3b-a800m-instruct", "jetmoe/jetmoe-8b"),
)
QUANTIZED = (
    *("unsloth/llama-3-8b-bnb-4bit", "TheBloke/Llama-2-7B-GPTQ", "Qwen/Qwen-7B-Chat-Int4", "Qwen/QwQ-32B-AWQ"),
    *("mlx-community/Llama-3.2-3B-Instruct-4bit", "org/Llama-3.1-8B-FP8", "org/llama-8b-4-bit"),
    *("neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "org/llama-2-7b.Q4_K_M.gguf", "org/llama-2-7b.Q4_K_M"),
    *("org/llama-7b.awq", "org/model-7b.fp8", "nvidia/Llama-3.1-8B-Instruct-NVFP4", "org/llama-8b-MXFP4"),
    *("mobiuslabsgmbh/Llama-2-7b-HQQ", "org/llama-7b-eetq", "ISTA-DASLab/Llama-2-7b-AQLM", "org/Llama-3-8B-4bpw"),
    *("turboderp/llama-7b-4.0bpw", "microsoft/bitnet-b1.58-2B-4T"),
)
VISION = (
    *("Qwen/Qwen2.5-VL-7B-Instruct", "meta-llama/Llama-3.2-11B-Vision", "llava-hf/llava-1.5-7b-hf"),
    *("google/gemma-3-4b-it", "google/gemma-3-12b-pt", "google/gemma-3-27b-it", "google/paligemma-3b-pt-224"),
    *("mistral-community/pixtral-12b", "OpenGVLab/InternVL2-8B", "OpenGVLab/InternVL2_5-8B"),
    *("Salesforce/blip2-opt-2.7b", "HuggingFaceM4/idefics2-8b", "HuggingFaceTB/SmolVLM-256M-Instruct"),
    *("THUDM/cogvlm2-llama3-chat-19B", "allenai/Molmo-7B-D-0924", "THUDM/glm-4v-9b", "deepseek-ai/Janus-Pro-7B"),
    *("tiiuae/falcon-11B-vlm", "nvidia/NVLM-D-72B", "google/medgemma-4b-it"),
    *("mistralai/Mistral-Small-3.1-24B-Instruct-2503", "microsoft/Phi-4-multimodal-5B"),
)
# model_type of its config.json, for which there is no formula.
FAMILIES = {
    "tiiuae/falcon-7b": "falcon",
    "tiiuae/falcon-rw-1b": "falcon",
    "tiiuae/falcon-mamba-7b": "falcon_mamba",
    "state-spaces/mamba-2.8b-hf": "mamba",
    "RWKV/rwkv-4-169m-pile": "rwkv",
    "google/recurrentgemma-2b": "recurrent_gemma",
    "Zyphra/Zamba2-7B": "zamba2",
    "ai21labs/Jamba-tiny-319M": "jamba",
    "EleutherAI/gpt-neo-2.7B": "gpt_neo",
    "CohereForAI/c4ai-command-r-104B": "cohere",
    "CohereForAI/c4ai-command-r7b-12-2024": "cohere2",
    "CohereForAI/aya-23-8B": "cohere",
    "CohereForAI/aya-expanse-32b": "cohere",
    "allenai/OLMo-7B-0724-hf": "olmo",
    "allenai/OLMo-1B-hf": "olmo",
    "allenai/Olmo-3-1025-7B": "olmo3",
    "mosaicml/mpt-7b": "mpt",
    "bigcode/starcoderbase-1b": "gpt_bigcode",
    "nvidia/Nemotron-4-340B-Base": "nemotron",
    "nvidia/Minitron-8B-Base": "nemotron",
    "facebook/nllb-200-3.3B": "m2m_100",
    "google/t5gemma-2b-2b-ul2": "t5gemma",
    "facebook/chameleon-7b": "chameleon",
    "THUDM/CogVideoX-5b": "cogvideox",
    "Wan-AI/Wan2.1-T2V-14B": "wan",
}
ENCODER_DECODERS = ("t5-11b", "google-t5/t5-3b", "google/madlad400-3b-mt", "bigscience/T0_3B", "Salesforce/codet5-770m")
OWN_CODE = (
    *("internlm/internlm2-7b", "baichuan-inc/Baichuan2-13B-Base", "THUDM/chatglm3-6b", "Qwen/Qwen-7B-Chat"),
    *("THUDM/glm-4-9b-chat", "openbmb/MiniCPM3-4B"),
)


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
        (ENCODER_DECODERS, "encoder_decoder"),
        (OWN_CODE, "remote_code"),
    ],
)
def test_a_name_that_tells_none_or_of_what_has_no_formula_gets_no_number(names, code):
    found = {name: planned_size(name) for name in names}
    assert {name: one.why.code if isinstance(one, CannotSay) else one for name, one in found.items()} == dict.fromkeys(
        names, code
    )


def test_a_name_of_a_family_without_a_formula_is_refused_as_its_config_would_be():
    found = {name: planned_size(name) for name in FAMILIES}
    told = {name: dict(one.why.given).get("type") if isinstance(one, CannotSay) else one for name, one in found.items()}
    assert told == FAMILIES


def test_no_family_with_a_formula_is_refused_by_its_name():
    assert not set(_TYPES) & set(walking.FAMILIES)


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


def test_what_means_a_folder_that_is_not_there_is_no_hub_id(tmp_path):
    (tmp_path / "out").mkdir()
    here = {"HF_HUB_CACHE": str(tmp_path / "none")}

    def found(named: str, shapes: ModelShapes | None = None) -> str:
        model = (shapes or ModelShapes()).read(named, str(tmp_path), here)
        return model.why.code if isinstance(model, CannotSay) else model.planned_as

    paths = ("out/checkpoint-700b", "out/sft-llama-7b", "checkpoint-500M", "gone/global_step7B")
    assert {path: found(path) for path in paths} == dict.fromkeys(paths, "not_found")
    assert (found("Qwen/Qwen2.5-7B"), found("out-7b")) == ("7B", "7B")

    def refuse(path: Path) -> None:
        raise PlaceError("outside")

    assert found("out/sft-llama-7b", ModelShapes(refuse)) == "7B"  # whether there is such a folder is not told
