"""Examples from the hub or from JSON lines, as they come: which ones, how many, and what is wrong where none come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parts.process import ASK_HUB, RecipeError, bad_input

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedTokenizerBase


@dataclass
class SourceArguments:
    """Where examples come from; the names are those of Hugging Face's examples."""

    dataset_name: str | None = field(
        default=None, metadata={"help": "A data set of the hub, or a folder of one. Default: examples made by code."}
    )
    dataset_config_name: str | None = field(default=None, metadata={"help": "Its configuration, such as ro-en."})
    train_file: str | None = field(default=None, metadata={"help": "JSON lines with the columns named above."})
    validation_file: str | None = field(default=None, metadata={"help": "The same, for evaluation."})
    max_train_samples: int | None = field(default=None, metadata={"help": "Train on only the first so many."})
    max_eval_samples: int | None = field(default=None, metadata={"help": "Evaluate on only the first so many."})
    preprocessing_num_workers: int | None = field(default=None, metadata={"help": "Processes that tokenize."})
    overwrite_cache: bool = field(default=False, metadata={"help": "Tokenize again even if cached."})


def made_by_code(arguments: Any) -> bool:
    """Whether no data was named, so that the recipe makes its own."""
    return not (arguments.dataset_name or arguments.train_file or arguments.validation_file)


def named_tokenizer(name: str, revision: str = "main") -> PreTrainedTokenizerBase:
    """A tokenizer of the hub or of a local folder. Where a folder has none of its files, transformers makes one without
    a single token."""
    from transformers import AutoTokenizer

    with bad_input(f"the tokenizer of {name!r} cannot be loaded", ASK_HUB):
        found = AutoTokenizer.from_pretrained(name, revision=revision)
    if len(found) <= len(set(found.all_special_ids)):
        raise RecipeError(f"{name!r} has no files of a tokenizer: name one with --tokenizer_name.")
    return found


def first(examples: Dataset, limit: int | None) -> Dataset:
    """The first `limit` of them; all for None."""
    return examples if limit is None else examples.select(range(min(limit, len(examples))))


def read(source: Any, name: str) -> Dataset:
    """A split, "train" or "validation", as it comes, from the hub or from JSON lines."""
    from datasets import load_dataset

    split = getattr(source, f"{name}_split", name)
    if source.dataset_name:
        with bad_input(f"the {split} split of data set {source.dataset_name!r} cannot be loaded", ASK_HUB):
            return load_dataset(source.dataset_name, source.dataset_config_name, split=split)
    path = source.train_file if name == "train" else source.validation_file
    if path is None:
        raise RecipeError(f"no {name} examples: give --{name}_file, or leave out the step that needs it.")
    if not Path(path).is_file():
        raise RecipeError(f"--{name}_file {path}: no such file.")
    if not Path(path).stat().st_size:
        raise RecipeError(f"--{name}_file {path}: the file is empty.")
    with bad_input(f"--{name}_file {path} cannot be read as JSON lines"):
        return load_dataset("json", data_files={name: path}, split=name)


def with_texts(examples: Dataset, options: Sequence[tuple[str, str]], name: str) -> Dataset:
    """The rows that have a text in each of these columns, (option, column); the others are left out. Raises RecipeError
    for a value that is no text, and where nothing is left."""
    check_columns(examples, options, name)
    empty: set[int] = set()
    for option, column in options:
        for row, value in enumerate(examples[column]):
            if value is None:
                empty.add(row)
            elif not isinstance(value, str):
                seen = f"row {row + 1} of the {name} data is {value!r:.60}"
                raise RecipeError(f"--{option} {column}: {seen}. Expected text.")
    if len(empty) == len(examples):
        raise RecipeError(f"the {name} data has no row with a text in {' and '.join(column for _, column in options)}.")
    return examples.select([row for row in range(len(examples)) if row not in empty]) if empty else examples


def check_columns(examples: Dataset, options: Sequence[tuple[str, str]], name: str) -> None:
    """Make sure that a split has the columns that options name: (option, column)."""
    for option, column in options:
        if column not in examples.column_names:
            seen = ", ".join(examples.column_names)
            raise RecipeError(f"--{option} {column}: the {name} data has no such column, only {seen}.")
    if not len(examples):
        raise RecipeError(f"the {name} data has no examples.")
