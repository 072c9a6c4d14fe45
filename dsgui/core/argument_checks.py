"""Checks of the arguments before a start: options that the script does not have, files that are not there, imports
that the training environment lacks. A problem where every option is known; None where there is nothing to judge."""

import shlex
from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches

from dsgui.core.command_line import Leftover
from dsgui.core.gone_options import instead
from dsgui.core.plan import StartedBy
from dsgui.core.planned import Question
from dsgui.core.script_options import ArgumentsFile
from dsgui.core.verdicts import Verdict, ok, problem, warning

_LONGEST = 60
_ALIKE, _VERY_ALIKE = 0.75, 0.88
_MOST_TOLD = 6
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
    known = {option.name for option in found.options}
    left = [_unknown(one, known, question) for one in found.reading.leftovers]
    if not ends:
        return warning(seen, " ".join(dict.fromkeys(advice)))
    said = f"Some keys are not used by the HfArgumentParser: {sorted(odd)[:_MOST_TOLD]}"
    return problem(f"{seen} It ends with “{said}”.", " ".join(dict.fromkeys(advice)))


def _added(question: Question) -> str:
    """What the script is given beside the arguments typed."""
    launch = question.launch
    ranked = launch.passes_local_rank and launch.started_by is StartedBy.DEEPSPEED
    return " and ".join(filter(None, (launch.config_argument.value, "--local_rank" if ranked else "")))


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
