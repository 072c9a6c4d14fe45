"""What the recipes are made of: their scores, their examples, and what they do about a machine that lacks something."""

import os
import re
from pathlib import Path

import pytest

from tests.support.recipes import part

OURS = [
    "Anna and Ben meet at the station at seven.",
    "the cat",
    "",
    "Hello world again and again",
    "Lucy lost the keys",
]
THEIRS = ["Ben meets Anna at the station.", "a cat sat", "nothing", "again hello, world!", "Lucy lost the keys here."]


def test_rouge_agrees_with_googles_where_nothing_is_stemmed():
    # rouge_score.rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False), means of the F-measures
    assert part("rouge").rouge(OURS, THEIRS) == pytest.approx(
        {"rouge1": 54.11111111111111, "rouge2": 29.963369963369964, "rougeL": 46.44444444444444}
    )


def test_rouge_counts_the_words_of_any_language():
    assert part("rouge").words("Über 24 Schüler, 不同的词") == ["über", "24", "schüler", *"不同的词"]
    assert part("rouge").rouge([], []) == {"rouge1": 0.0, "rouge2": 0.0, "rougeL": 0.0}


def test_dialogues_are_the_same_for_the_same_seed_and_no_two_alike():
    dialogues = part("dialogues")
    talks = dialogues.made(500, seed=1)
    assert talks == dialogues.made(500, seed=1) != dialogues.made(500, seed=2)
    assert len({talk["dialogue"] for talk in talks}) == 500
    assert {key for talk in talks for key in talk} == {"id", "dialogue", "summary"}
    assert all(not re.search(r"[{}]", talk["dialogue"] + talk["summary"]) for talk in talks)


def test_every_instruction_is_there_once_and_has_its_answer():
    made = part("instructions").made(seed=1)
    assert len({row["input"] for row in made}) == len(made) == 6 * 6 * 32
    assert next(row["target"] for row in made if row["input"] == "Name the opposite of hot.") == (
        "The opposite of hot is cold."
    )


class Letters:
    """A tokenizer of letters."""

    eos_token_id = 0

    def __call__(self, text, add_special_tokens):
        assert not add_special_tokens
        return {"input_ids": [ord(letter) for letter in text]}


def test_only_the_answer_counts_for_the_loss():
    row = part("instructions").masked("ab", "cd", Letters(), 100)
    assert row["input_ids"] == [97, 98, 10, 99, 100, 0]
    assert row["labels"] == [-100, -100, -100, 99, 100, 0]
    assert part("instructions").masked("ab", "cd", Letters(), 4)["labels"] == [-100, -100, -100, 99]


def test_counting_goes_on_from_where_it_begins():
    assert part("number_words").counting(19, 3, "en") == "nineteen, twenty, twenty-one."


def test_a_digit_is_drawn_with_the_class_it_has():
    digits = part("digits")
    pictures, labels = digits.drawn(50, seed=1)
    assert (pictures, labels) == digits.drawn(50, seed=1)
    assert {len(picture) for picture in pictures} == {digits.SIDE**2}
    ones = [sum(picture) for picture, label in zip(pictures, labels, strict=True) if label == 1]
    eights = [sum(picture) for picture, label in zip(pictures, labels, strict=True) if label == 8]
    assert sum(ones) / len(ones) < sum(eights) / len(eights)


FP16, BF16 = {"enabled": True, "initial_scale_power": 12}, {"enabled": True}


@pytest.mark.parametrize(
    ("config", "has", "becomes", "told"),
    [
        ({"fp16": FP16}, (True, True), {"fp16": FP16}, ""),
        ({"fp16": FP16, "a": 1}, (False, True), {"a": 1, "bf16": BF16}, "training in bf16 instead"),
        ({"fp16": FP16}, (False, False), {}, "training in fp32 instead"),
        ({"bf16": BF16}, (True, False), {}, "support bf16; training in fp32 instead"),
        ({"fp16": {"enabled": "auto"}}, (False, False), {"fp16": {"enabled": "auto"}}, ""),
        ({"fp16": 3}, (False, False), {"fp16": 3}, ""),
    ],
)
def test_a_precision_that_the_machine_lacks_is_replaced_and_that_is_said(config, has, becomes, told):
    fitting, said = part("precision").fitted(config, *has)
    assert fitting == becomes
    assert told in said
    assert bool(told) == bool(said)


def test_options_leave_the_command_line_with_their_values():
    words = ["--fp16", "--deepspeed", "a.json", "--x", "1", "--fp16=True", "--fp16_full_eval"]
    assert part("trainer").without(words, {"--deepspeed", "--fp16"}) == ["--x", "1", "--fp16_full_eval"]


@pytest.fixture
def no_account(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return monkeypatch


def test_wandb_without_its_package_is_refused_in_a_sentence(no_account):
    with pytest.raises(part("process").RecipeError, match="isn't installed here: run"):
        part("native").prepare_wandb({"enabled": True})


def test_wandb_without_an_account_works_offline(no_account, tmp_path):
    (tmp_path / "wandb.py").touch()
    no_account.syspath_prepend(str(tmp_path))
    part("native").prepare_wandb({"enabled": False})
    assert "WANDB_MODE" not in os.environ
    part("native").prepare_wandb({"enabled": True})
    assert os.environ["WANDB_MODE"] == "offline"


def test_wandb_with_an_account_is_left_alone(no_account, tmp_path):
    (tmp_path / "wandb.py").touch()
    no_account.syspath_prepend(str(tmp_path))
    (tmp_path / ".netrc").write_text("machine api.wandb.ai login user password 0\n")
    part("native").prepare_wandb({"enabled": True})
    assert "WANDB_MODE" not in os.environ


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path):
    with pytest.raises(part("process").RecipeError, match="no checkpoint of DeepSpeed"):
        part("native").require_checkpoint(str(tmp_path))
    (tmp_path / "mp_rank_00_model_states.pt").touch()
    part("native").require_checkpoint(str(tmp_path))


@pytest.mark.parametrize(("batches", "ranks"), [(5, 2), (4, 2), (1, 3), (7, 4)])
def test_every_rank_evaluates_as_many_batches_and_each_batch_counts_once(batches: int, ranks: int):
    """Under ZeRO-3 a rank with one pass more would wait for the others for ever."""
    native = part("native")
    shares = [native.Ranks(rank, ranks, None).share(range(batches)) for rank in range(ranks)]
    assert len({len(share) for share in shares}) == 1
    assert sorted(batch for share in shares for batch, counts in share if counts) == [*range(batches)]
