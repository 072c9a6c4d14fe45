"""The recipes with a model and data from folders, in the hub's layout: the way through the code that the hub's take,
which tests cannot reach."""

import json
from pathlib import Path

import pytest

from tests.support.recipes import outcomes, python

pytestmark = [pytest.mark.deepspeed, pytest.mark.complete]

SAVE_MODELS = """
from transformers import (BloomConfig, BloomForCausalLM, ByT5Tokenizer, GPT2Config, GPT2LMHeadModel, T5Config,
                          T5ForConditionalGeneration)
tokenizer = ByT5Tokenizer(extra_ids=0)
size = {"vocab_size": len(tokenizer), "eos_token_id": 1, "pad_token_id": 0, "bos_token_id": None}
t5 = T5Config(d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0, **size)
for name, model in {
    "t5": T5ForConditionalGeneration(t5),
    "bloom": BloomForCausalLM(BloomConfig(hidden_size=16, n_layer=1, n_head=2, **size)),
    "gpt": GPT2LMHeadModel(GPT2Config(n_embd=16, n_layer=1, n_head=2, n_positions=64, **size)),
}.items():
    model.save_pretrained(name)
    tokenizer.save_pretrained(name)
"""
ROWS = {
    "talks": [{"id": str(n), "dialogue": f"A: Is it {n}? B: Yes.", "summary": f"It is {n}."} for n in range(24)],
    "belle": [{"id": str(n), "input": f"Say {n}.", "target": f"{n}"} for n in range(24)],
    "texts": [{"text": f"{n}, {n + 1}, {n + 2}." * 9} for n in range(24)],
    "pictures": [{"image": [[n, 0], [0, 255 - n]], "label": n % 2} for n in range(24)],
}
BRIEF = "--do_train --do_eval --max_steps 2 --logging_steps 1 --per_device_train_batch_size 4"
CASES = {
    "summarization": f"--model_name_or_path t5 --dataset_name talks {BRIEF} --eval_steps 1 --num_beams 2 "
    "--max_target_length 8 --max_train_samples 16",
    "instruction_lora": f"--model_name_or_path bloom --train_file belle/train.jsonl "
    f"--validation_file belle/validation.jsonl {BRIEF} --merge_adapter --lora_target_modules query_key_value",
    "pretraining": "--model_name_or_path gpt --dataset_name texts --block_size 32 --max_steps 1",
    "classification": "--train_file pictures/train.jsonl --validation_file pictures/validation.jsonl "
    "--num_train_epochs 20",
}
LEFT = {
    "summarization": {"model.safetensors", "all_results.json"},
    "instruction_lora": {"adapter_model.safetensors", "merged", "all_results.json"},
    "pretraining": {"latest", "results.json"},
    "classification": {"latest", "results.json"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disk")
    assert python(["-c", SAVE_MODELS], folder).returncode == 0
    for name, rows in ROWS.items():
        (folder / name).mkdir()
        for split in ("train", "validation"):
            lines = "\n".join(map(json.dumps, rows if split == "train" else rows[:8]))
            (folder / name / f"{split}.jsonl").write_text(lines)
    return folder


@pytest.fixture(scope="module")
def ended(folder: Path) -> dict[str, tuple[int, str]]:
    cases = {name: [name, *words.split(), "--output_dir", f"out/{name}"] for name, words in CASES.items()}
    # DeepSpeed is initialized once in a process.
    native = [{name: cases.pop(name)} for name in ("pretraining", "classification")]
    return outcomes(cases, folder) | outcomes(native[0], folder) | outcomes(native[1], folder)


@pytest.mark.parametrize("recipe", CASES)
def test_a_recipe_trains_what_lies_in_folders(recipe: str, ended: dict[str, tuple[int, str]], folder: Path) -> None:
    code, stderr = ended[recipe]
    assert code == 0, stderr
    assert LEFT[recipe] <= {path.name for path in (folder / "out" / recipe).iterdir()}
