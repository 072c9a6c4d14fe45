"""A script's arguments as words: what an option is set to, and the same arguments with it set otherwise."""

import re
from collections.abc import Iterable, Sequence

from dsgui.core.config.conversion import truth

PLACEHOLDER = "{config}"  # among the arguments and variables: the place of the run's config
RANK = "--local_rank="  # as the launcher adds it, whichever rank it is

# The names scripts give to the model they start from, and to the folder they write to.
MODEL_OPTIONS = (
    *("--model_name_or_path", "--model_name", "--model", "--pretrained_model_name_or_path", "--model_path"),
    "--base_model",
)
OUTPUT_OPTIONS = ("--output_dir", "--output", "--save_dir", "--checkpoint_dir", "--ckpt_dir", "--save_path")
_FOLDER_OPTION = re.compile(r"--[\w-]*(?:dir|folder)\Z")
# What switches LoRA's adapters off, as scripts that can train without them call it.
_ADAPTERS, _NO_ADAPTERS = ("--use_peft", "--use_lora"), ("--no_use_peft", "--no_use_lora")
_READ_FROM = ("data", "cache", "model", "tokenizer", "config", "script")


def value_of(words: Sequence[str], options: Iterable[str]) -> str | None:
    """What the first of `options` that is given is set to; "" for one without a value. The last mention counts, as for
    argparse."""
    for option in options:
        spellings = _spellings(option)
        for place in range(len(words) - 1, -1, -1):
            name, equals, value = words[place].partition("=")
            if name in spellings:
                return value if equals else words[place + 1] if _has_value(words, place) else ""
    return None


def without_adapters(words: Sequence[str]) -> bool:
    """Whether the arguments say that no adapters are trained."""
    switched = value_of(words, _ADAPTERS)
    return truth(switched) is False if switched else value_of(words, _NO_ADAPTERS) is not None


def folders_of(words: Sequence[str]) -> list[str]:
    """What options named `…dir` are set to, but for those that name where data and models are read from."""
    names = dict.fromkeys(word.partition("=")[0] for word in words if word.startswith("--") and len(word) < 1000)
    named = [n for n in names if _FOLDER_OPTION.match(n[:100]) and not any(word in n.lower() for word in _READ_FROM)]
    return [folder for name in (*named, *OUTPUT_OPTIONS) if (folder := value_of(words, (name,)))]


def with_option(words: Sequence[str], option: str, value: str | None) -> tuple[str, ...]:
    """The arguments with `option` set to `value` ("" for an option without one); None takes it out."""
    kept: list[str] = []
    place, at = 0, None
    while place < len(words):
        given = words[place].partition("=")[0] in _spellings(option)
        if given:
            at = len(kept) if at is None else at
            place += 2 if "=" not in words[place] and _has_value(words, place) else 1
        else:
            kept.append(words[place])
            place += 1
    if value is not None:
        at = len(kept) if at is None else at
        kept[at:at] = [option, value] if value else [option]
    return tuple(kept)


def swapped(words: Sequence[str], typed: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """The arguments with `new` where the words `typed` first stand in a row; as they are where these don't."""
    for place in range(len(words) - len(typed) + 1):
        if tuple(words[place : place + len(typed)]) == tuple(typed):
            return (*words[:place], *new, *words[place + len(typed) :])
    return tuple(words)


def _spellings(option: str) -> tuple[str, str]:
    return option, "--" + option.removeprefix("--").replace("_", "-")


def _has_value(words: Sequence[str], place: int) -> bool:
    return place + 1 < len(words) and not words[place + 1].startswith("--")
