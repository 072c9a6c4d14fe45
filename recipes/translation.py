"""Train a T5 to translate, with the Hugging Face Seq2SeqTrainer under DeepSpeed.

    deepspeed --num_gpus=2 recipes/translation.py --deepspeed ds_config.json

needs no download: a small byte-level T5 learns to put English number words into Romanian ones, on two CPU cores in
one to three minutes. With a model, a data set, or both from the hub or from disk, the same code fine-tunes:

    deepspeed recipes/translation.py --deepspeed ds_config.json --model_name_or_path google-t5/t5-small \
        --dataset_name wmt16 --dataset_config_name ro-en --source_lang en --target_lang ro \
        --source_prefix "translate English to Romanian: " --do_train --do_eval --predict_with_generate

The options are those of Hugging Face's run_translation.py. Bad input ends with one message and exit code 2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from parts import scores
from parts.config_defaults import decided_by
from parts.process import ASK_HUB, RecipeError, bad_input, leave_process_group, refuse, say, share_cores
from parts.sentences import DataArguments, load_split, made_by_code, tokenized

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import (
        HfArgumentParser,
        PreTrainedModel,
        PreTrainedTokenizerBase,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
    )

# Always: early and frequent log lines, and nothing on disk but the final model.
DEFAULTS = {
    "output_dir": "output/translation",
    "report_to": "none",
    "logging_first_step": True,
    "logging_steps": 10,
    "save_strategy": "no",
}
# A model that starts from random weights wants a far higher learning rate than a pretrained one.
FROM_SCRATCH = {"learning_rate": 3e-3, "warmup_steps": 30, "lr_scheduler_type": "constant_with_warmup"}
# 15 steps an epoch on two ranks, 510 in all.
NUMBER_WORDS = {
    "num_train_epochs": 34,
    "per_device_train_batch_size": 32,
    "per_device_eval_batch_size": 32,
    "predict_with_generate": True,
    "max_target_length": 48,
}
# Number words are also evaluated before and during training: to see the figures rise is the point.
WATCHED = {"eval_on_start": True, "eval_strategy": "steps", "eval_steps": 100}
TINY_T5 = {
    "d_model": 64,
    "d_kv": 16,
    "d_ff": 128,
    "num_layers": 2,
    "num_heads": 4,
    "dropout_rate": 0.0,
    "feed_forward_proj": "gated-gelu",
    "decoder_start_token_id": 0,
}
# transformers 5 dropped it, older tutorials pass it, and the recipe overwrites its output in any case.
OUTDATED_OPTIONS = {"--overwrite_output_dir"}


@dataclass
class ModelArguments:
    """Which model; the names are those of Hugging Face's run_translation.py."""

    model_name_or_path: str | None = field(
        default=None, metadata={"help": "A hub name or a local folder. Default: a small T5 with random weights."}
    )
    tokenizer_name: str | None = field(default=None, metadata={"help": "Default: the model's."})
    model_revision: str = field(default="main", metadata={"help": "Branch, tag or commit of the model on the hub."})


Arguments = tuple[ModelArguments, DataArguments, "Seq2SeqTrainingArguments"]


def main(argv: Sequence[str]) -> int:
    """Run the recipe. The exit code is 0, or 2 for bad input; anything else that fails keeps its traceback."""
    share_cores()
    try:
        run(argv)
        code = 0
    except RecipeError as error:
        code = refuse("translation.py", error)
    leave_process_group()
    return code


def run(argv: Sequence[str]) -> None:
    """Build everything, train, evaluate, save."""
    import datasets
    from transformers import set_seed

    datasets.disable_progress_bars()  # the training bar is the only one to follow
    model_arguments, data, training = parse_arguments(argv)
    refuse_evaluation_without_stage_3(training)
    if training.deepspeed:
        introduce_ranks_to_deepspeed()
    with training.main_process_first(desc="loading the sentences"):
        pairs = load_wanted(data, training)
    tokenizer = load_tokenizer(model_arguments)
    set_seed(training.seed)  # every rank starts from the same random weights
    model = load_model(model_arguments, tokenizer)
    with training.main_process_first(desc="tokenizing"):
        splits = {name: tokenized(split, data, tokenizer) for name, split in pairs.items()}
    train_and_evaluate(build_trainer(training, model, tokenizer, splits))


# --- command line ---------------------------------------------------------------------------------------------------


def parse_arguments(argv: Sequence[str]) -> Arguments:
    """Read the command line; what it leaves out comes from the DeepSpeed config, then from the tables above."""
    parser = new_parser()
    given, unknown = parser.parse_known_args(list(argv))
    if unknown := [word for word in unknown if word not in OUTDATED_OPTIONS]:
        raise RecipeError(f"unknown options: {' '.join(unknown)}. --help lists the known ones.")
    if given.deepspeed:
        require_launcher()
    parser.set_defaults(**defaults_for(given) | decided_by(given.deepspeed))
    subject = f"the options or the file --deepspeed {given.deepspeed}" if given.deepspeed else "the options"
    with bad_input(f"{subject} cannot be used"):
        model, data, training, _ = parser.parse_args_into_dataclasses(
            list(argv), return_remaining_strings=True, look_for_args_file=False
        )
    # What run_translation.py users say in other words than the trainer's.
    training.generation_max_length = (
        training.generation_max_length or data.val_max_target_length or data.max_target_length
    )
    training.generation_num_beams = training.generation_num_beams or data.num_beams
    return model, data, training


def new_parser() -> HfArgumentParser:
    """The parser of all options, which raises RecipeError where argparse would print its 150 options, once per rank."""
    from transformers import HfArgumentParser, Seq2SeqTrainingArguments

    class Parser(HfArgumentParser):
        def error(self, message: str) -> None:
            raise RecipeError(f"{message}. --help lists the options.")

    return Parser((ModelArguments, DataArguments, Seq2SeqTrainingArguments))


def defaults_for(given: Any) -> dict[str, Any]:
    """The recipe's defaults for the command line `given`, a namespace with one attribute per option."""
    import torch

    neither = not (given.do_train or given.do_eval)
    do_train, do_eval = given.do_train or neither, given.do_eval or neither
    defaults = DEFAULTS | {"use_cpu": not torch.cuda.is_available(), "do_train": do_train, "do_eval": do_eval}
    if given.model_name_or_path is None:
        defaults |= FROM_SCRATCH
    if made_by_code(given):
        defaults |= NUMBER_WORDS
        if do_train and do_eval:
            defaults |= WATCHED
    return defaults


def require_launcher() -> None:
    """DeepSpeed needs to be told its rank, or MPI to ask for it; without both it fails on a missing mpi4py."""
    if "RANK" not in os.environ and find_spec("mpi4py") is None:
        raise RecipeError("--deepspeed needs a launcher: deepspeed --num_gpus=1 recipes/translation.py --deepspeed …")


def refuse_evaluation_without_stage_3(training: Seq2SeqTrainingArguments) -> None:
    """Without training, transformers builds a DeepSpeed engine for ZeRO stage 3 only."""
    config = getattr(training, "hf_deepspeed_config", None)
    if config is not None and not training.do_train and not config.is_zero3():
        raise RecipeError(
            "--do_eval without --do_train needs a ZeRO stage 3 config; use one, or leave out --deepspeed."
        )


def introduce_ranks_to_deepspeed() -> None:
    """Let DeepSpeed take over the process group, before ZeRO-3 splits a model while it is being loaded.

    With use_cpu, transformers opens the group without DeepSpeed, which would then count one rank. No effect on GPUs.
    """
    import deepspeed

    say("DeepSpeed may now compile its operators: one to two minutes, on the first run only")
    deepspeed.init_distributed()


# --- model and data -------------------------------------------------------------------------------------------------


def load_wanted(data: DataArguments, training: Seq2SeqTrainingArguments) -> dict[str, Dataset]:
    """The splits that --do_train and --do_eval need."""
    wanted = {}
    if training.do_train:
        wanted["train"] = load_split(data, "train", data.max_train_samples, training.seed)
    if training.do_eval:
        wanted["validation"] = load_split(data, "validation", data.max_eval_samples, training.seed)
    return wanted


def load_tokenizer(arguments: ModelArguments) -> PreTrainedTokenizerBase:
    """The named tokenizer, or one that reads bytes and therefore needs no vocabulary file."""
    from transformers import AutoTokenizer, ByT5Tokenizer

    name = arguments.tokenizer_name or arguments.model_name_or_path
    if name is None:
        return ByT5Tokenizer(extra_ids=0)
    with bad_input(f"the tokenizer of {name!r} cannot be loaded", ASK_HUB):
        return AutoTokenizer.from_pretrained(name, revision=arguments.model_revision)


def load_model(arguments: ModelArguments, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """The named model, or a small T5 with random weights."""
    from transformers import AutoModelForSeq2SeqLM, T5Config, T5ForConditionalGeneration

    name = arguments.model_name_or_path
    if name is None:
        model = T5ForConditionalGeneration(T5Config(vocab_size=len(tokenizer), **TINY_T5))
    else:
        with bad_input(f"model {name!r} cannot be loaded", ASK_HUB):
            model = AutoModelForSeq2SeqLM.from_pretrained(name, revision=arguments.model_revision)
    # T5 takes the trainer's count of target tokens and averages per batch all the same. Believing that it used the
    # count, the trainer would multiply the loss by the number of ranks and accumulation steps (transformers 5.23).
    model.accepts_loss_kwargs = False
    return model


# --- training -------------------------------------------------------------------------------------------------------


def build_trainer(
    training: Seq2SeqTrainingArguments,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    splits: dict[str, Dataset],
) -> Seq2SeqTrainer:
    """The trainer, which refuses to go on should accelerate have left DeepSpeed out."""
    from transformers import DataCollatorForSeq2Seq, Seq2SeqTrainer

    half = training.fp16 or training.bf16
    trainer = Seq2SeqTrainer(
        model=model,
        args=training,
        train_dataset=splits.get("train"),
        eval_dataset=splits.get("validation"),
        processing_class=tokenizer,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model, pad_to_multiple_of=8 if half else None),
        compute_metrics=score_with(tokenizer) if training.predict_with_generate else None,
    )
    if training.deepspeed:
        trainer.add_callback(engine_check(trainer))
    return trainer


def score_with(tokenizer: PreTrainedTokenizerBase) -> Callable[[Any], dict[str, float]]:
    """The function that turns the trainer's token ids into exact match and chrF, both 0 to 100."""
    import numpy

    def words(ids: Any) -> list[str]:
        # Predictions and labels come padded with -100, which no tokenizer can decode.
        return tokenizer.batch_decode(numpy.where(ids < 0, tokenizer.pad_token_id, ids), skip_special_tokens=True)

    def score(prediction: Any) -> dict[str, float]:
        ours, theirs = words(prediction.predictions), words(prediction.label_ids)
        return {"exact_match": scores.exact_match(ours, theirs), "chrf": scores.chrf(ours, theirs)}

    return score


def engine_check(trainer: Seq2SeqTrainer) -> Any:
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


def train_and_evaluate(trainer: Seq2SeqTrainer) -> None:
    """Do what --do_train and --do_eval ask for; the model and the figures go to the output directory."""
    training = trainer.args
    if training.do_train:
        result = trainer.train(resume_from_checkpoint=training.resume_from_checkpoint)
        report(trainer, "train", result.metrics)
        trainer.save_model()
    if training.do_eval:
        report(trainer, "eval", last_evaluation(trainer) or trainer.evaluate())


def last_evaluation(trainer: Seq2SeqTrainer) -> dict[str, float] | None:
    """The figures of the finished model, when training ended with an evaluation."""
    for row in reversed(trainer.state.log_history):
        if "eval_loss" in row and row["step"] == trainer.state.global_step:
            return {name: value for name, value in row.items() if name != "step"}
    return None


def report(trainer: Seq2SeqTrainer, split: str, metrics: dict[str, float]) -> None:
    """Print the figures of a split and write them to SPLIT_results.json."""
    trainer.log_metrics(split, metrics)
    trainer.save_metrics(split, metrics)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
