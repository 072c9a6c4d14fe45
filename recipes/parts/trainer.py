"""What the recipes for the Hugging Face Trainer share: options, DeepSpeed's ranks, training, evaluation, figures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

from parts.config_defaults import decided_by, read_config
from parts.precision import fitted_here
from parts.process import ASK_HUB, RecipeError, bad_input, say

if TYPE_CHECKING:
    from transformers import HfArgumentParser, Trainer, TrainingArguments

# transformers 5 dropped it, older tutorials pass it, and the recipes overwrite their output in any case.
OUTDATED_OPTIONS = {"--overwrite_output_dir"}
# Always: early and frequent log lines, and nothing on disk but the final model.
DEFAULTS = {"report_to": "none", "logging_first_step": True, "logging_steps": 10, "save_strategy": "no"}


# --- command line ---------------------------------------------------------------------------------------------------


def read_options(
    parser: HfArgumentParser,
    argv: Sequence[str],
    defaults_for: Callable[[Any], dict[str, Any]],
    script: str,
    *,
    fits_precision: bool = False,
) -> tuple[Any, ...]:
    """One object per kind of options. What the command line leaves out comes from the DeepSpeed config, then from
    `defaults_for`, which is given what the command line says. `fits_precision`: fp16 becomes bf16 or fp32 on a machine
    that lacks it."""
    parser.error = refuse_options  # type: ignore[method-assign]
    given, unknown = parser.parse_known_args(list(argv))
    if unknown := [word for word in unknown if word not in OUTDATED_OPTIONS]:
        raise RecipeError(f"unknown options: {' '.join(unknown)}. --help lists the known ones.")
    if given.deepspeed:
        require_launcher(script)
    if fits_precision:
        argv = with_fitting_precision(argv, given)
        given, _ = parser.parse_known_args(list(argv))
    parser.set_defaults(**DEFAULTS | what_to_do(given) | defaults_for(given) | decided_by(given.deepspeed))
    named = given.deepspeed and not given.deepspeed.startswith("{")
    subject = f"the options or the file --deepspeed {given.deepspeed}" if named else "the options"
    with bad_input(f"{subject} cannot be used"):
        *kinds, _ = parser.parse_args_into_dataclasses(
            list(argv), return_remaining_strings=True, look_for_args_file=False
        )
    return tuple(kinds)


def refuse_options(message: str) -> NoReturn:
    """For `parser.error`: argparse would print all 150 options, once per rank."""
    raise RecipeError(f"{message}. --help lists the options.")


def with_fitting_precision(argv: Sequence[str], given: Any) -> Sequence[str]:
    """The command line with a config for this machine: as it was, where its precision is one that the machine has."""
    config = read_config(given.deepspeed)
    block = config.get("fp16")
    if isinstance(block, dict) and block.get("enabled") == "auto" and given.fp16:
        config["fp16"] = block | {"enabled": True}
    fitting = fitted_here(config) if config else config
    if fitting is config:
        return argv
    rest = without(argv, {"--deepspeed", "--fp16"})
    return [*rest, "--deepspeed", json.dumps(fitting)]


def without(argv: Sequence[str], options: set[str]) -> list[str]:
    """The words of a command line less those options and their values."""
    kept, dropping = [], False
    for word in argv:
        if word.startswith("--"):
            dropping = word.partition("=")[0] in options
        if not dropping:
            kept.append(word)
    return kept


def no_gpu() -> bool:
    """Whether the Trainer has to be told to train on the CPU."""
    import torch

    return not torch.cuda.is_available()


def what_to_do(given: Any) -> dict[str, Any]:
    """Training and evaluation, where neither is asked for."""
    neither = not (given.do_train or given.do_eval)
    return {
        "do_train": given.do_train or neither,
        "do_eval": given.do_eval or neither,
    }


def require_launcher(script: str) -> None:
    """DeepSpeed needs to be told its rank, or MPI to ask for it; without both it fails on a missing mpi4py."""
    if "RANK" not in os.environ and find_spec("mpi4py") is None:
        raise RecipeError(f"--deepspeed needs a launcher: deepspeed --num_gpus=1 recipes/{script} --deepspeed …")


def refuse_evaluation_without_stage_3(training: TrainingArguments) -> None:
    """Without training, transformers builds a DeepSpeed engine for ZeRO stage 3 only."""
    config = getattr(training, "hf_deepspeed_config", None)
    if config is not None and not training.do_train and not config.is_zero3():
        raise RecipeError(
            "--do_eval without --do_train needs a ZeRO stage 3 config; use one, or leave out --deepspeed."
        )


# --- models and ranks -----------------------------------------------------------------------------------------------


def introduce_ranks_to_deepspeed() -> None:
    """Let DeepSpeed take over the process group, before ZeRO-3 splits a model while it is being loaded.

    With use_cpu, transformers opens the group without DeepSpeed, which would then count one rank. No effect on GPUs.
    """
    import deepspeed

    say("DeepSpeed may now compile its operators: one to two minutes, on the first run only")
    deepspeed.init_distributed()


def named_model(kind: Any, name: str, revision: str, **how: Any) -> Any:
    """A model of the hub or of a local folder; `kind` is the class of transformers that loads it."""
    with bad_input(f"model {name!r} cannot be loaded", ASK_HUB):
        return kind.from_pretrained(name, revision=revision, **how)


def engine_check(trainer: Trainer) -> Any:
    """A callback that stops a run in which --deepspeed was given and something else would train.

    With use_cpu, accelerate can prefer its own CPU path without a word, and the user would watch the wrong thing.
    """
    import deepspeed
    from transformers import TrainerCallback

    class EngineCheck(TrainerCallback):
        def on_train_begin(self, *_: Any, **__: Any) -> None:
            engine = trainer.model_wrapped
            if not isinstance(engine, deepspeed.DeepSpeedEngine):
                raise RecipeError(
                    f"--deepspeed was given, but {type(engine).__name__} would train instead of DeepSpeedEngine. "
                    "Start the recipe with the deepspeed launcher, or leave out --deepspeed."
                )
            say(f"training with DeepSpeed, ZeRO stage {engine.zero_optimization_stage()}")

    return EngineCheck()


# --- training -------------------------------------------------------------------------------------------------------


def keep(trainer: Trainer, result: Any) -> None:
    """After training: the figures and the model go to the output directory."""
    report(trainer, "train", result.metrics)
    trainer.save_model()


def evaluate(trainer: Trainer) -> None:
    """The figures of the model as it is now, which training may have ended with."""
    report(trainer, "eval", last_evaluation(trainer) or trainer.evaluate())


def last_evaluation(trainer: Trainer) -> dict[str, float] | None:
    """The figures of the finished model, when training ended with an evaluation of it."""
    kept = trainer.state.best_global_step if trainer.args.load_best_model_at_end else trainer.state.global_step
    for row in reversed(trainer.state.log_history):
        if "eval_loss" in row and row["step"] == kept:
            return {name: value for name, value in row.items() if name != "step"}
    return None


def report(trainer: Trainer, split: str, metrics: dict[str, float]) -> None:
    """Print the figures of a split and write them to SPLIT_results.json."""
    trainer.log_metrics(split, metrics)
    trainer.save_metrics(split, metrics)
