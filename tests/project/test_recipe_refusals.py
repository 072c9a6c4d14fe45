"""Bad input ends each recipe with one sentence and exit code 2."""

from pathlib import Path

import pytest

from tests.support.recipes import RECIPES, outcomes, python

pytestmark = pytest.mark.remembered("recipes")

# Case: recipe, options, what the last line says.
CASES = {
    "no dialogues": ("summarization --do_train --train_file text.jsonl", "has no such column, only text"),
    "no summaries": ("summarization --do_train --train_file talks.jsonl", "--summary_column summary: the train data"),
    "no such file": ("summarization --do_train --train_file nowhere.jsonl", "nowhere.jsonl: no such file"),
    "a hub out of reach": ("summarization --dataset_name knkarthick/samsum", "reaches the hub"),
    "no such T5": ("summarization --model_name_or_path no/such-model", "'no/such-model' cannot be loaded"),
    "too few dialogues": ("summarization --made_dialogues 0", "--made_dialogues 0: expected 1 to"),
    "no launcher": ("summarization --deepspeed ds.json", "--deepspeed needs a launcher: deepspeed --num_gpus=1"),
    "no answers": ("instruction_lora --do_train --train_file text.jsonl", "--input_column input: the train data"),
    "no room for answers": ("instruction_lora --max_length 2", "--max_length 2: no answer fits"),
    "no such modules": ("instruction_lora --lora_target_modules nowhere", "--lora_target_modules nowhere: "),
    "no such Bloom": ("instruction_lora --model_name_or_path no/such-model", "'no/such-model' cannot be loaded"),
    "an unknown option": ("instruction_lora --lora_rank 3", "unknown options: --lora_rank 3"),
    "no text": ("pretraining --train_file talks.jsonl --validation_file talks.jsonl", "--text_column text: the train"),
    "a size of 0": ("pretraining --block_size 0", "argument --block_size: invalid positive value: '0'"),
    "no such shape": ("pretraining --config_name no/such-model", "'no/such-model' cannot be loaded"),
    "a shape without a tokenizer": ("pretraining --config_name shape", "'shape' has no files of a tokenizer"),
    "no config there": ("pretraining --deepspeed_config nowhere.json", "the config nowhere.json cannot be read"),
    "a config that is a list": ("pretraining --deepspeed_config list.json", "list.json is no JSON object"),
    "no checkpoint": ("pretraining --resume_from_checkpoint .", "--resume_from_checkpoint .: no checkpoint of"),
    "texts that are numbers": (
        "pretraining --train_file numbers.jsonl --validation_file numbers.jsonl",
        "row 1 of the train data is 7. Expected text",
    ),
    "rows without a text": (
        "summarization --do_train --train_file nothing.jsonl",
        "the train data has no row with a text in dialogue and summary",
    ),
    "a class of nothing": (
        "classification --train_file unknown.jsonl --validation_file unknown.jsonl",
        "None is no class. Expected 0, 1, 2",
    ),
    "classes in words": (
        "classification --train_file words.jsonl --validation_file words.jsonl",
        "'one' is no class. Expected 0, 1, 2",
    ),
    "pictures of several sizes": (
        "classification --train_file sizes.jsonl --validation_file sizes.jsonl",
        "have [1, 2] numbers each",
    ),
    "no pictures": (
        "classification --train_file text.jsonl --validation_file text.jsonl",
        "--image_column image: the train data has no such column",
    ),
    "an option that is not there": ("classification --epochs 3", "unrecognized arguments: --epochs 3"),
}
FILES = {
    "text.jsonl": '{"text": "one"}\n',
    "talks.jsonl": '{"dialogue": "one"}\n',
    "numbers.jsonl": '{"text": 7}\n',
    "nothing.jsonl": '{"dialogue": "one", "summary": null}\n{"dialogue": null, "summary": "two"}\n',
    "unknown.jsonl": '{"image": [0.5], "label": null}\n{"image": [0.5], "label": 1}\n',
    "words.jsonl": '{"image": [0.5], "label": "one"}\n',
    "sizes.jsonl": '{"image": [0.5], "label": 1}\n{"image": [0.5, 1], "label": 0}\n',
    "shape/config.json": '{"model_type": "gpt2", "vocab_size": 300, "n_embd": 8, "n_layer": 1, "n_head": 1}',
    "ds.json": "{}",
    "list.json": "[1]",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad input")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def ended(folder: Path) -> dict[str, tuple[int, str]]:
    return outcomes({case: words.split() for case, (words, _) in CASES.items()}, folder)


@pytest.mark.parametrize("case", CASES)
def test_bad_input_ends_with_one_sentence_and_exit_code_2(case: str, ended: dict[str, tuple[int, str]]) -> None:
    code, stderr = ended[case]
    words, says = CASES[case]
    assert code == 2, stderr
    assert says in stderr.splitlines()[-1]
    assert stderr.count(f"{words.split()[0]}.py: ") == 1


@pytest.mark.parametrize("recipe", sorted(path.stem for path in RECIPES.glob("*.py")))
def test_a_recipe_is_imported_without_anything_heavy(recipe: str, tmp_path: Path) -> None:
    heavy = "{'torch', 'transformers', 'datasets', 'deepspeed', 'peft'}"
    code = f"import sys; sys.path.insert(0, {str(RECIPES)!r}); import {recipe}; print({heavy} & set(sys.modules))"
    assert python(["-c", code], tmp_path).stdout.strip() == "set()"
