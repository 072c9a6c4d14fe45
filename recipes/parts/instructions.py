"""Instructions with an answer each, in the columns of BELLE: id, input, target. Made by code, or from hub or disk."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from parts.process import RecipeError
from parts.sources import SourceArguments, first, made_by_code, read, with_texts

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedTokenizerBase

# No word for the loss: torch leaves these labels out.
IGNORED = -100
OPPOSITES = (
    *("hot cold", "big small", "fast slow", "old young", "high low", "light dark", "full empty", "rich poor"),
    *("wet dry", "hard soft", "early late", "loud quiet", "near far", "open closed", "long short", "thick thin"),
)
QUESTIONS = (
    "What is the opposite of {word}?",
    "Name the opposite of {word}.",
    "Which word means the reverse of {word}?",
    "Tell me what is not {word}.",
    "If it is not {word}, what is it?",
    "Give me the contrary of {word}, please.",
)
OPENINGS = ("", "Hello! ", "One question: ", "Please help me. ", "Quick: ", "I have to know this. ")
ANSWER = "The opposite of {word} is {other}."
HELD_OUT = 64


@dataclass
class DataArguments(SourceArguments):
    """Which instructions, and how much of them."""

    input_column: str = field(default="input", metadata={"help": "The column with the instruction."})
    target_column: str = field(default="target", metadata={"help": "The column with the answer."})
    max_length: int = field(default=512, metadata={"help": "Tokens of both beyond this are cut off."})


def made(seed: int) -> list[dict[str, str]]:
    """Every question about every word, shuffled, the same for the same seed."""
    pairs = [tuple(both.split()) for both in OPPOSITES]
    pairs += [(other, word) for word, other in pairs]
    asked = list(product(OPENINGS, QUESTIONS, pairs))
    random.Random(seed).shuffle(asked)
    return [
        {
            "id": str(number),
            "input": opening + question.format(word=word),
            "target": ANSWER.format(word=word, other=other),
        }
        for number, (opening, question, (word, other)) in enumerate(asked)
    ]


def load_split(data: DataArguments, name: str, limit: int | None, seed: int) -> Dataset:
    """The first `limit` instructions of a split, "train" or "validation"."""
    examples = read_made(name, seed) if made_by_code(data) else read(data, name)
    columns = [("input_column", data.input_column), ("target_column", data.target_column)]
    return first(with_texts(examples, columns, name), limit)


def read_made(name: str, seed: int) -> Dataset:
    """Instructions made by code; none of them is in both splits."""
    from datasets import Dataset

    asked = made(seed)
    return Dataset.from_list(asked[:HELD_OUT] if name == "validation" else asked[HELD_OUT:])


def tokenized(examples: Dataset, data: DataArguments, tokenizer: PreTrainedTokenizerBase) -> Dataset:
    """Instruction and answer in a row, cut to the longest length allowed; only the answer has labels. Raises
    RecipeError if no answer is left."""

    def encode(example: dict[str, Any]) -> dict[str, Any]:
        return masked(example[data.input_column], example[data.target_column], tokenizer, data.max_length)

    encoded = examples.map(
        encode,
        remove_columns=examples.column_names,
        num_proc=data.preprocessing_num_workers,
        load_from_cache_file=not data.overwrite_cache,
    )
    answered = encoded.filter(lambda row: any(label != IGNORED for label in row["labels"]))
    if not len(answered):
        raise RecipeError(f"--max_length {data.max_length}: no answer fits behind its instruction.")
    return answered


def masked(instruction: str, answer: str, tokenizer: PreTrainedTokenizerBase, most: int) -> dict[str, list[int]]:
    """The tokens of one example. Both texts are tokenized by themselves, so that the mask ends where the answer begins
    whatever a tokenizer would join."""
    asked = tokenizer(f"{instruction}\n", add_special_tokens=False)["input_ids"]
    told = [*tokenizer(answer, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    ids, labels = (asked + told)[:most], ([IGNORED] * len(asked) + told)[:most]
    return {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": labels}
