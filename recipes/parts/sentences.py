"""Sentence pairs from the hub, from JSON lines or made by code, checked and turned into a model's inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from parts import number_words
from parts.process import RecipeError, bad_input
from parts.sources import SourceArguments, first, made_by_code, read

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedTokenizerBase

HELD_OUT_NUMBERS = 64


@dataclass
class DataArguments(SourceArguments):
    """Which sentences, and how much of them; the names are those of Hugging Face's run_translation.py."""

    source_lang: str = field(default="en", metadata={"help": "Language code to translate from."})
    target_lang: str = field(default="ro", metadata={"help": "Language code to translate to."})
    number_limit: int = field(default=1000, metadata={"help": "Number words: use the numbers below this one."})
    source_prefix: str = field(default="", metadata={"help": 'Put before each source, as T5 wants: "translate …: ".'})
    max_source_length: int = field(default=128, metadata={"help": "Source tokens beyond this are cut off."})
    max_target_length: int = field(default=128, metadata={"help": "Target tokens beyond this are cut off."})
    val_max_target_length: int | None = field(
        default=None, metadata={"help": "Longest translation to generate. Default: max_target_length."}
    )
    num_beams: int | None = field(default=None, metadata={"help": "Beams when generating for the evaluation."})


def load_split(data: DataArguments, name: str, limit: int | None, seed: int) -> Dataset:
    """The first `limit` pairs of a split, "train" or "validation", in a "translation" column."""
    pairs = read_number_words(data, name, seed) if made_by_code(data) else read(data, name)
    check(pairs, data, name)
    return first(pairs, limit)


def read_number_words(data: DataArguments, name: str, seed: int) -> Dataset:
    """The same number in the words of both languages; no number is in both splits."""
    from datasets import Dataset

    langs = (data.source_lang, data.target_lang)
    if unknown := sorted(set(langs) - set(number_words.languages())):
        known = ", ".join(number_words.languages())
        raise RecipeError(f"number words: no language {', '.join(unknown)}. Choose from: {known}.")
    with bad_input(f"--number_limit {data.number_limit} is too small"):
        train, evaluation = number_words.split(data.number_limit, HELD_OUT_NUMBERS, seed)
    numbers = train if name == "train" else evaluation
    return Dataset.from_list([number_words.pair(number, *langs) for number in numbers])


def check(pairs: Dataset, data: DataArguments, name: str) -> None:
    """Make sure that both languages are there, as far as the first pair tells."""
    if "translation" not in pairs.column_names:
        seen = ", ".join(pairs.column_names)
        raise RecipeError(
            f'{name} data: no column "translation", only {seen}. Expected {{"translation": {{"en": …}}}}.'
        )
    first = pairs[0]["translation"]
    known = first if isinstance(first, dict) else {}
    for option, lang in (("source_lang", data.source_lang), ("target_lang", data.target_lang)):
        if known.get(lang) is None:
            seen = ", ".join(sorted(known)) or repr(first)
            raise RecipeError(f"--{option} {lang}: the {name} data has no such language, only {seen}.")


def tokenized(pairs: Dataset, data: DataArguments, tokenizer: PreTrainedTokenizerBase) -> Dataset:
    """The model's inputs and labels, cut to the longest length allowed, unpadded."""

    def encode(batch: dict[str, Any]) -> dict[str, Any]:
        sources = [data.source_prefix + example[data.source_lang] for example in batch["translation"]]
        targets = [example[data.target_lang] for example in batch["translation"]]
        labels = tokenizer(text_target=targets, max_length=data.max_target_length, truncation=True)
        inputs = tokenizer(sources, max_length=data.max_source_length, truncation=True)
        return {**inputs, "labels": labels["input_ids"]}

    return pairs.map(
        encode,
        batched=True,
        remove_columns=pairs.column_names,
        num_proc=data.preprocessing_num_workers,
        load_from_cache_file=not data.overwrite_cache,
    )
