"""Checks of the arguments before a start: options that the script does not have, files that are not there, imports
that the training environment lacks. A problem where every option is known; None where there is nothing to judge."""

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from dsgui.core.launch.plan import ConfigArgument, StartedBy
from dsgui.core.machine.verdicts import Status, Verdict, ok, problem, warning
from dsgui.core.preflight.handing_checks import Offer
from dsgui.core.preflight.script_checks import CONFIG_OPTIONS, given_twice
from dsgui.core.preflight.surroundings import Question
from dsgui.core.script.command_line import NOTHING, ONE, SOME, Lacking, Leftover, Option
from dsgui.core.script.gone_options import instead, is_trainers, words_instead
from dsgui.core.script.script_options import ArgumentsFile

_LONGEST = 60
_ALIKE, _VERY_ALIKE = 0.75, 0.82
_MOST_TOLD = 6
_MOST_IN_LABEL = 3
# What to install for a module; of one that is not listed it may be the user's own.
_OTHERWISE_NAMED = {
    "PIL": "Pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "flash_attn": "flash-attn",
    "huggingface_hub": "huggingface-hub",
    "pytorch_lightning": "pytorch-lightning",
    "rouge_score": "rouge-score",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
_OF_THEIR_NAME = (
    *("accelerate", "bitsandbytes", "click", "datasets", "deepspeed", "diffusers", "einops", "evaluate", "filelock"),
    *("fire", "jsonlines", "librosa", "lightning", "loguru", "matplotlib", "mlflow", "nltk", "numpy", "omegaconf"),
    *("pandas", "peft", "psutil", "pyarrow", "pytz", "regex", "requests", "rich", "sacrebleu", "safetensors", "scipy"),
    *("seqeval", "sentencepiece", "sh", "soundfile", "swanlab", "tensorboard", "tensorboardX", "tiktoken", "timm"),
    *("tokenizers", "torch", "torchaudio", "torchmetrics", "torchvision", "tqdm", "trackio", "transformers", "trl"),
    *("typer", "tyro", "wandb", "xformers"),
)
_PACKAGES = {name: name for name in _OF_THEIR_NAME} | _OTHERWISE_NAMED


def options(question: Question) -> Verdict | None:
    found, line = question.taken, question.around.script.command_line
    if not question.launch.script or question.around.script.problem or not found.options:
        return None
    known = _spelled(found.options)
    lacking = found.reading.lacking if found.sure else ()
    meant = {one.after for one in lacking if _is_number(one.after)}  # values that look like options
    left = [_unknown(one, known, question) for one in found.reading.leftovers if one.words[0] not in meant]
    told = [_lacking(one) for one in lacking] + [said for said in left if said]
    if not told:
        return ok(f"all of {len(found.reading.given)}") if found.sure and found.reading.given else None
    seen, advice = zip(*told[:_MOST_TOLD], strict=True)
    more = f" And {len(told) - _MOST_TOLD} more." if len(told) > _MOST_TOLD else ""
    judge = problem if found.sure and (line.strict or lacking) else warning
    ends = f" {_ends(question)}" if judge is problem else ""
    return judge(" ".join(seen) + more + ends, " ".join(dict.fromkeys(filter(None, advice))))


def _ends(question: Question) -> str:
    """argparse looks for what may stand for several options first, for what nobody takes last."""
    reading = question.taken.reading
    left = [word for one in reading.leftovers for word in one.words]
    if any(one.begins for one in reading.leftovers):
        return "The script ends with exit code 2."
    if reading.lacking:
        return f"The script ends with exit code 2, “{reading.lacking[0].said}”."
    if question.around.script.command_line.by_dataclass:
        return f"The script ends with “Some specified arguments are not used by the HfArgumentParser: {left}”."
    return f"The script ends with exit code 2, “unrecognized arguments: {' '.join(left)}”."


def _spelled(options: Iterable[Option]) -> dict[str, str]:
    """Every long option as its parser spells it, by its name without dashes."""
    names = [name for option in options for name in option.names if name.startswith("--")]
    return {_plain(name): name for name in reversed(names)}


def _plain(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _unknown(left: Leftover, known: Mapping[str, str], question: Question) -> tuple[str, str] | None:
    """What is said of words left over, and what to do; None for what may be taken all the same."""
    option, sure = left.option, question.taken.sure and question.around.script.command_line.strict
    if not option:
        return _loose(left.loose) if sure and not question.around.script.command_line.positionals else None
    if left.begins:
        return _ambiguous(option, left.begins) if sure else None
    name, value = _plain(option), left.words[0].partition("=")[2] or " ".join(left.words[1:2])
    gone = _gone(name, value, known, question)
    release = question.around.version("transformers") if gone and is_trainers(name) else ""
    alike = _alike(name, known, _ALIKE if sure else _VERY_ALIKE)
    if not sure and not alike and not gone:
        return None
    seen = f"{_short(option)} is not an option of this script{f' with transformers {release}' if release else ''}."
    return seen, gone or (f"Did you mean {known[alike]}?" if alike else f"Remove {_short(option)}.")


def _gone(name: str, value: str, known: Collection[str], question: Question) -> str | None:
    """What to do about an option that newer releases dropped. Where a class of the script's could not be read, only for
    what was the Trainer's and is not any more: it may declare any other."""
    if not question.around.script.command_line.by_dataclass:
        return None
    if question.taken.sure:
        return instead(name, value, known)
    trainers = question.around.answers.trainers
    if not trainers or name in trainers or not is_trainers(name):
        return None
    return instead(name, value, {*known, *trainers})


def better_arguments(question: Question) -> Offer | None:
    """One click: without the options that the script has no more, under their new names where they have one; else
    without the config that is given twice."""
    left = ((one.option, _instead_of(one, question)) for one in question.taken.reading.leftovers)
    changes = [(option, words) for option, words in left if words is not None]
    twice = given_twice(question)
    if changes:
        gone = tuple(dict.fromkeys(option for option, _ in changes))
        words = tuple(word for _, new in changes for word in new)
        label = (
            f"Remove {_listed(gone)}" if not words else f"Replace {_listed(gone)} with {shlex.join(words)[:_LONGEST]}"
        )
        return Offer(label, question.launch.config_argument, words, gone)
    if twice and twice.status in (Status.PROBLEM, Status.WARNING):
        option = CONFIG_OPTIONS[question.launch.config_argument]
        return Offer(f"Remove {option} from the arguments", question.launch.config_argument, (), (option,))
    return None


def _instead_of(left: Leftover, question: Question) -> tuple[str, ...] | None:
    """The words instead of an option that newer releases dropped; None of any other."""
    if not left.option or left.begins or not question.around.script.command_line.by_dataclass:
        return None
    known = {option.name for option in question.taken.options}
    name = left.option.lstrip("-").replace("-", "_")
    value = left.words[0].partition("=")[2] or " ".join(left.words[1:2])
    return words_instead(name, value, known) if question.taken.sure else None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_IN_LABEL} more" if len(names) > _MOST_IN_LABEL else ""
    return ", ".join(_short(name) for name in names[:_MOST_IN_LABEL]) + more


def _loose(word: str) -> tuple[str, str]:
    return f"“{_short(word)}” does not belong to any option.", f"Remove “{_short(word)}”, or name its option."


def _ambiguous(option: str, begins: Collection[str]) -> tuple[str, str]:
    shown = ", ".join(list(begins)[:_MOST_TOLD])
    return f"{_short(option)} is ambiguous: {shown}.", "Write the full name."


def _lacking(one: Lacking) -> tuple[str, str]:
    option, has_value, _ = one.word.partition("=")
    if one.option.values == NOTHING:
        alone = f"Write {_short(option)} alone." if has_value else "Write each option separately."
        return f"{_short(option)} takes no value{'' if has_value else ' behind it'}.", alone
    if _is_number(one.after) and one.option.values in (ONE, SOME):
        return (
            f"{_short(option)} has no value: argparse takes {_short(one.after)} for an option.",
            f"Write {_short(option)}={_short(one.after)}.",
        )
    if one.option.values in (ONE, SOME):
        return f"{_short(option)} has no value.", "Give it a value."
    return f"{_short(option)} has too few values.", f"Give it {one.option.values}."


def _is_number(word: str) -> bool:
    try:
        return bool(word) and float(word) < 0
    except ValueError:
        return False


def _alike(name: str, known: Collection[str], cutoff: float) -> str:
    found = get_close_matches(name[:_LONGEST], [one for one in known if one != "help"], n=1, cutoff=cutoff)
    return found[0] if found else ""


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"


def arguments_file(question: Question) -> Verdict | None:
    """A file of arguments: whether the script will look at it, and whether it names what there is."""
    line, file = question.around.script.command_line, question.taken.file
    if not file.path:
        return None
    if stands_beside(question):
        return problem(
            f"The script reads {file.path} only where it is the only argument, and it is given {_added(question)} too: "
            f"it ends with “Some specified arguments are not used by the HfArgumentParser: ['{file.path}']”.",
            "Choose “As the script reads it” (command line: --reader auto), and name the config in the file, as "
            "“deepspeed”. Or give what is in the file as arguments.",
        )
    if not file.was_read:
        return None  # `files` tells that it is not there
    if file.problem:
        return _grave(question)(
            f"{file.path}: {file.problem}. The script can’t read its arguments there, and ends.", "Correct the file."
        )
    known = {option.name for option in question.taken.options} | {"env"}
    odd = [str(key) for key in file.values if str(key) not in known]
    if odd and question.taken.sure:
        return _odd_keys(file.path, odd, known, line.file is ArgumentsFile.ALONE)
    return ok(f"{file.path}: {len(file.values)} arguments")


def stands_beside(question: Question) -> bool:
    """Whether a file of arguments that has to be the only one is not."""
    alone = question.around.script.command_line.file is ArgumentsFile.ALONE and bool(question.taken.file.path)
    return alone and bool(_added(question))


def _odd_keys(path: str, odd: list[str], known: Collection[str], ends: bool) -> Verdict:
    advice = []
    for key in odd[:_MOST_TOLD]:
        alike = _alike(key, known, _ALIKE)
        advice.append(instead(key, "", known) or (f"Did you mean {alike}?" if alike else f"Remove {_short(key)}."))
    seen = f"{path} names {', '.join(map(_short, odd[:_MOST_TOLD]))}, which the script does not have."
    if not ends:
        return warning(seen, " ".join(dict.fromkeys(advice)))
    said = f"Some keys are not used by the HfArgumentParser: {sorted(odd)[:_MOST_TOLD]}"
    return problem(f"{seen} It ends with “{said}”.", " ".join(dict.fromkeys(advice)))


_BY_WORDS = (ConfigArgument.HF, ConfigArgument.NATIVE, ConfigArgument.OVERRIDE)


def _added(question: Question) -> str:
    """What the script is given beside the arguments typed."""
    launch = question.launch
    ranked = launch.passes_local_rank and launch.started_by is StartedBy.DEEPSPEED
    config = launch.config_argument.value if launch.config_argument in _BY_WORDS else ""
    return " and ".join(filter(None, (config, "--local_rank" if ranked else "")))


def files(question: Question) -> Verdict | None:
    missing = question.around.missing_files
    if not missing:
        return None
    seen = " ".join(f"{file.option}: {_short_path(place)} does not exist." for file, place in missing)
    return _grave(question)(seen, "Check the path, or use an absolute one.")


def _short_path(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:80]}…{path[-100:]}"


def imports(question: Question) -> Verdict | None:
    missing = question.around.answers.missing
    if not missing:
        return None
    lines = dict(question.around.script.command_line.imports)
    named = ", ".join(f"{module} (line {lines[module]})" for module in missing)
    packages = [_PACKAGES[module] for module in missing if module in _PACKAGES]
    others = [module for module in missing if module not in _PACKAGES]
    seen = f"The training environment lacks {named}, which the script imports: it ends with ModuleNotFoundError."
    python = question.launch.target_python
    command = f"{shlex.quote(python)} -m pip install {shlex.join(packages)}" if packages and python else ""
    return _grave(question)(seen, " ".join(_where_from(packages, others)), command)


def _where_from(packages: list[str], others: list[str]) -> Iterator[str]:
    if packages:
        yield f"Install it there: pip install {shlex.join(packages)}."
    if others:
        yield f"Where {', '.join(others)} is of your own, add its folder to PYTHONPATH; else install it."


def _grave(question: Question) -> Callable[..., Verdict]:
    """Elsewhere there may be what this machine does not have."""
    return warning if question.launch.elsewhere else problem
