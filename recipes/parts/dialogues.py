"""Dialogues with a summary each, in the columns of samsum: id, dialogue, summary. Made by code, or from hub or disk."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from parts.process import RecipeError
from parts.sources import SourceArguments, first, made_by_code, read, with_texts

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedTokenizerBase

NAMES = ("Anna", "Ben", "Clara", "David", "Emma", "Felix", "Hana", "Ivan", "Lucy", "Omar")
PLACES = ("the station", "the cinema", "the library", "the office", "the park", "the gym", "the market", "the beach")
HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# Who says what, and what is left of it. {a} and {b} talk; {c} is somebody else.
TALKS = (
    (
        "{a}: Do we meet at {hour}? {b}: Yes, at {place}. {a}: Great!",
        "{a} and {b} meet at {place} at {hour}.",
    ),
    (
        "{a}: Where is {c}? {b}: At {place}, since {hour}. {a}: Thanks.",
        "{c} is at {place} since {hour}.",
    ),
    (
        "{a}: Can you come to {place}? {b}: Sorry, I work until {hour}. {a}: Never mind.",
        "{b} works until {hour} and can't come to {place}.",
    ),
    (
        "{a}: I lost my keys! {b}: Where? {a}: At {place}, at {hour}. {b}: Ask {c}.",
        "{a} lost the keys at {place}.",
    ),
)
HELD_OUT, HIGHEST_SEED = 48, 2**31


@dataclass
class DataArguments(SourceArguments):
    """Which dialogues, and how much of them; the names are those of Hugging Face's run_summarization.py."""

    text_column: str = field(default="dialogue", metadata={"help": "The column to summarize."})
    summary_column: str = field(default="summary", metadata={"help": "The column with the summary."})
    made_dialogues: int = field(default=1536, metadata={"help": "Dialogues made by code: how many to train on."})
    source_prefix: str = field(default="summarize:", metadata={"help": "Put before each dialogue, as T5 wants."})
    max_source_length: int = field(default=512, metadata={"help": "Source tokens beyond this are cut off."})
    max_target_length: int = field(default=128, metadata={"help": "Target tokens beyond this are cut off."})
    val_max_target_length: int | None = field(
        default=None, metadata={"help": "Longest summary to generate. Default: max_target_length."}
    )
    num_beams: int | None = field(default=None, metadata={"help": "Beams when generating for the evaluation."})


Talk = dict[str, str]


def made(count: int, seed: int) -> list[Talk]:
    """So many dialogues, no two alike, the same for the same seed."""
    talks: dict[str, Talk] = {}
    for talk in _endless(random.Random(seed)):
        if len(talks) == count:
            break
        talks.setdefault(talk["dialogue"], {"id": str(len(talks)), **talk})
    return list(talks.values())


def _endless(chance: random.Random) -> Iterator[Talk]:
    while True:
        dialogue, summary = chance.choice(TALKS)
        a, b, c = chance.sample(NAMES, 3)
        said = {"a": a, "b": b, "c": c, "place": chance.choice(PLACES), "hour": chance.choice(HOURS)}
        yield {"dialogue": dialogue.format(**said), "summary": summary.format(**said)}


def load_split(data: DataArguments, name: str, limit: int | None, seed: int) -> Dataset:
    """The first `limit` dialogues of a split, "train" or "validation"."""
    examples = read_made(data, name, seed) if made_by_code(data) else read(data, name)
    columns = [("text_column", data.text_column), ("summary_column", data.summary_column)]
    return first(with_texts(examples, columns, name), limit)


def read_made(data: DataArguments, name: str, seed: int) -> Dataset:
    """Dialogues made by code; none of them is in both splits."""
    from datasets import Dataset

    most = 20_000
    if not 0 < data.made_dialogues <= most:
        raise RecipeError(f"--made_dialogues {data.made_dialogues}: expected 1 to {most}.")
    talks = made(HELD_OUT + data.made_dialogues, seed % HIGHEST_SEED)
    return Dataset.from_list(talks[:HELD_OUT] if name == "validation" else talks[HELD_OUT:])


def tokenized(examples: Dataset, data: DataArguments, tokenizer: PreTrainedTokenizerBase) -> Dataset:
    """The model's inputs and labels, cut to the longest length allowed, unpadded."""

    def encode(batch: dict[str, Any]) -> dict[str, Any]:
        sources = [data.source_prefix + text for text in batch[data.text_column]]
        labels = tokenizer(text_target=batch[data.summary_column], max_length=data.max_target_length, truncation=True)
        inputs = tokenizer(sources, max_length=data.max_source_length, truncation=True)
        return {**inputs, "labels": labels["input_ids"]}

    return examples.map(
        encode,
        batched=True,
        remove_columns=examples.column_names,
        num_proc=data.preprocessing_num_workers,
        load_from_cache_file=not data.overwrite_cache,
    )
