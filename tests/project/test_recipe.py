"""The translation recipe: its sentences, its scores, a small run on files, and how it ends on bad input.

torch and transformers warn while being imported, and warnings are errors here: whatever needs them runs as a child.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.recipes import RECIPES, outcomes, part, python

pytestmark = pytest.mark.remembered("recipes", "presets")

SCRIPT = RECIPES / "translation.py"

NUMBERS = {
    0: ("zero", "zero"),
    21: ("twenty-one", "douăzeci și unu"),
    101: ("one hundred and one", "o sută unu"),
    999: ("nine hundred and ninety-nine", "nouă sute nouăzeci și nouă"),
}

# A model and a tokenizer as a user may have them in a folder.
SAVE_TINY_MODEL = """
import sys
from transformers import ByT5Tokenizer, T5Config, T5ForConditionalGeneration
tokenizer = ByT5Tokenizer(extra_ids=0)
config = T5Config(vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2,
                  decoder_start_token_id=0)
T5ForConditionalGeneration(config).save_pretrained(sys.argv[1])
tokenizer.save_pretrained(sys.argv[1])
"""


@pytest.fixture(scope="module")
def number_words() -> ModuleType:
    return part("number_words")


@pytest.fixture(scope="module")
def scores() -> ModuleType:
    return part("scores")


@pytest.fixture(scope="module")
def config_defaults() -> ModuleType:
    return part("config_defaults")


def write_pairs(path: Path, numbers: range, number_words: ModuleType) -> None:
    lines = (json.dumps(number_words.pair(number, "en", "ro"), ensure_ascii=False) for number in numbers)
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_pair_says_the_same_number_in_both_languages(number: int, number_words: ModuleType) -> None:
    english, romanian = NUMBERS[number]
    assert number_words.pair(number, "en", "ro") == {"translation": {"en": english, "ro": romanian}}


def test_the_split_is_the_same_for_the_same_seed(number_words: ModuleType) -> None:
    assert number_words.split(1000, 64, seed=42) == number_words.split(1000, 64, seed=42)
    assert number_words.split(1000, 64, seed=42) != number_words.split(1000, 64, seed=43)


def test_no_number_is_in_both_splits_and_none_is_lost(number_words: ModuleType) -> None:
    train, evaluation = number_words.split(1000, 64, seed=42)
    assert len(evaluation) == 64
    assert sorted(train + evaluation) == list(range(1000))


@pytest.mark.parametrize("held_out", [0, 10, 11])
def test_a_split_that_leaves_one_side_empty_is_refused(held_out: int, number_words: ModuleType) -> None:
    with pytest.raises(ValueError, match=f"cannot hold out {held_out} of 10"):
        number_words.split(10, held_out, seed=1)


def test_exact_match_counts_whole_sentences(scores: ModuleType) -> None:
    assert scores.exact_match(["unu ", "doi", "trei", ""], ["unu", "doi", "patru", "cinci"]) == 50.0


def test_chrf_is_100_for_the_same_text_and_0_for_another(scores: ModuleType) -> None:
    assert scores.chrf(["douăzeci și unu"], ["douăzeci și unu"]) == 100.0
    assert scores.chrf(["abc"], ["xyz"]) == 0.0
    assert scores.chrf([""], ["xyz"]) == 0.0


def test_chrf_agrees_with_sacrebleu(scores: ModuleType) -> None:
    ours = ["douăzeci și doi", "o sută trei sute", "nouă"]
    theirs = ["douăzeci și unu", "o sută trei", "nouăzeci și nouă"]
    assert scores.chrf(ours, theirs) == pytest.approx(55.9311736478018)  # sacrebleu.corpus_chrf(ours, [theirs])


def test_a_local_model_is_trained_on_files_and_saved(tmp_path: Path, number_words: ModuleType) -> None:
    """The same way through the code as a model and a data set from the hub, which tests cannot reach."""
    assert python(["-c", SAVE_TINY_MODEL, "model"], tmp_path).returncode == 0
    write_pairs(tmp_path / "train.jsonl", range(40), number_words)
    write_pairs(tmp_path / "eval.jsonl", range(40, 60), number_words)
    options = (
        "--model_name_or_path model --train_file train.jsonl --validation_file eval.jsonl --output_dir out "
        "--do_train --do_eval --max_train_samples 32 --max_eval_samples 8 --max_steps 4 --logging_steps 2 "
        "--predict_with_generate --num_beams 2 --max_target_length 16 --overwrite_output_dir"
    )
    prefix = ["--source_prefix", "translate English to Romanian: "]
    child = python([str(SCRIPT), *options.split(), *prefix], tmp_path)

    assert child.returncode == 0, child.stderr
    assert "'loss'" in child.stdout
    results = json.loads((tmp_path / "out/all_results.json").read_text())
    assert {"train_loss", "eval_loss", "eval_exact_match", "eval_chrf"} <= set(results)
    assert (tmp_path / "out/model.safetensors").stat().st_size < 1_000_000
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == set(), "no checkpoint is left"


BAD_INPUT = {
    "a missing file": ("--do_train --train_file nowhere.jsonl", "nowhere.jsonl: no such file"),
    "a language the data lacks": ("--do_train --train_file fr.jsonl", "--target_lang ro: the train data has no such"),
    "data without translations": ("--do_train --train_file text.jsonl", 'no column "translation", only text'),
    "a file that is not JSON": ("--do_train --train_file broken.jsonl", "broken.jsonl cannot be read as JSON lines"),
    "an empty file": ("--do_train --train_file empty.jsonl", "empty.jsonl: the file is empty"),
    "evaluation without its file": ("--train_file pairs.jsonl --do_eval", "give --validation_file"),
    "a language that cannot be spelled": ("--target_lang xx", "number words: no language xx. Choose from: "),
    "a hub that cannot be reached": ("--dataset_name wmt16 --dataset_config_name ro-en", "reaches the hub"),
    "a model that is not there": ("--model_name_or_path no/such-model", "'no/such-model' cannot be loaded"),
    "an unknown option": ("--numbr 3", "unknown options: --numbr 3"),
    "a word for a number": ("--max_train_samples three", "invalid int value: 'three'"),
    "DeepSpeed without its launcher": ("--deepspeed ds.json", "--deepspeed needs a launcher"),
}


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad input")
    (folder / "pairs.jsonl").write_text('{"translation": {"en": "one", "ro": "unu"}}\n')
    (folder / "fr.jsonl").write_text('{"translation": {"en": "one", "fr": "un"}}\n')
    (folder / "text.jsonl").write_text('{"text": "one"}\n')
    (folder / "broken.jsonl").write_text('{"translation": \n')
    (folder / "empty.jsonl").touch()
    (folder / "ds.json").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def refusals(bad_files: Path) -> dict[str, tuple[int, str]]:
    return outcomes({case: ["translation", *words.split()] for case, (words, _) in BAD_INPUT.items()}, bad_files)


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_ends_with_one_message_and_exit_code_2(
    case: str, refusals: dict[str, tuple[int, str]], bad_files: Path
) -> None:
    code, stderr = refusals[case]
    assert code == 2
    assert BAD_INPUT[case][1] in stderr.splitlines()[-1]
    assert stderr.count("translation.py: ") == 1
    assert not (bad_files / "output").exists()


def test_the_script_itself_ends_that_way(bad_files: Path) -> None:
    child = python([str(SCRIPT), "--do_train", "--train_file", "nowhere.jsonl"], bad_files)
    assert child.returncode == 2
    assert child.stderr.splitlines()[-1] == "translation.py: --train_file nowhere.jsonl: no such file."
    assert "Traceback" not in child.stderr


def test_what_the_command_line_leaves_out_follows_the_numbers_of_the_config(
    config_defaults: ModuleType, tmp_path: Path
) -> None:
    file = tmp_path / "ds.json"
    file.write_text(
        """{"train_batch_size": "auto", "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": "auto",
        "optimizer": {"type": "AdamW", "params": {"lr": 3e-5, "betas": [0.8, 0.999]}}, "bf16": {"enabled": true}}"""
    )
    assert config_defaults.decided_by(str(file)) == {
        "per_device_train_batch_size": 4,
        "learning_rate": 3e-5,
        "adam_beta1": 0.8,
        "adam_beta2": 0.999,
        "bf16": True,
    }


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"optimizer": 3}', '{"optimizer": {"params": {"betas": "auto"}}}'])
def test_a_config_that_decides_nothing_or_is_broken_leaves_the_defaults(
    config_defaults: ModuleType, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "ds.json"
    file.write_text(text)
    assert config_defaults.decided_by(str(file)) == {}
    assert config_defaults.decided_by(None) == {}
