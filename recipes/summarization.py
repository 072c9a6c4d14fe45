"""Fine-tune a T5 to summarize dialogues, with the Hugging Face Seq2SeqTrainer under DeepSpeed.

    deepspeed --num_gpus=2 recipes/summarization.py --deepspeed ds_config.json

needs no download: a small T5 learns to sum up small talk made by code, on two CPU cores in one to two minutes. With a
model, a data set, or both from the hub or from disk, the same code fine-tunes FLAN-T5 on samsum:

    deepspeed --num_gpus=2 recipes/summarization.py --deepspeed ds_config.json --bf16 \
        --model_name_or_path google/flan-t5-xxl --dataset_name knkarthick/samsum \
        --per_device_train_batch_size 1 --per_device_eval_batch_size 1 --gradient_accumulation_steps 2 \
        --learning_rate 5e-5 --num_train_epochs 5 --eval_steps 500

The options are those of Hugging Face's run_summarization.py. Evaluation generates summaries and rates them by ROUGE;
the model with the best ROUGE-L is kept. Bad input ends with one message and exit code 2.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from parts import word_tokenizer
from parts.dialogues import DataArguments, load_split, tokenized
from parts.process import outcome
from parts.rouge import rouge
from parts.sources import made_by_code, named_tokenizer
from parts.trainer import (
    engine_check,
    evaluate,
    introduce_ranks_to_deepspeed,
    keep,
    named_model,
    no_gpu,
    read_options,
    refuse_evaluation_without_stage_3,
    what_to_do,
)

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedModel, PreTrainedTokenizerBase, Seq2SeqTrainer, Seq2SeqTrainingArguments

SCRIPT = "summarization.py"
# As the tutorial trains: evaluation generates, in small steps so that its results don't fill the memory, and the best
# model is kept. transformers loads it again where the config makes that possible.
DEFAULTS = {
    "output_dir": "output/summarization",
    "predict_with_generate": True,
    "gradient_accumulation_steps": 2,
    "eval_accumulation_steps": 1,
}
KEEP_BEST = {
    "eval_strategy": "steps",
    "save_strategy": "best",
    "save_total_limit": 1,
    "load_best_model_at_end": True,
    "metric_for_best_model": "rougeL",
    "greater_is_better": True,
}
# A model that starts from random weights wants a far higher learning rate than a pretrained one.
FROM_SCRATCH = {"learning_rate": 5e-3, "warmup_steps": 20, "lr_scheduler_type": "constant_with_warmup"}
# 24 steps an epoch on two ranks, 96 in all.
SMALL_TALK = {
    "num_train_epochs": 4,
    "per_device_train_batch_size": 16,
    "per_device_eval_batch_size": 24,
    "max_source_length": 64,
    "max_target_length": 24,
    "eval_steps": 24,
}
TINY_T5 = {
    "d_model": 64,
    "d_kv": 16,
    "d_ff": 128,
    "num_layers": 2,
    "num_heads": 4,
    "dropout_rate": 0.0,
    "feed_forward_proj": "gated-gelu",
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}


@dataclass
class ModelArguments:
    """Which model; the names are those of Hugging Face's run_summarization.py."""

    model_name_or_path: str | None = field(
        default=None,
        metadata={"help": "A hub name such as google/flan-t5-small, or a local folder. Default: a small T5."},
    )
    tokenizer_name: str | None = field(default=None, metadata={"help": "Default: the model's."})
    model_revision: str = field(default="main", metadata={"help": "Branch, tag or commit of the model on the hub."})


def main(argv: Sequence[str]) -> int:
    """Run the recipe. The exit code is 0, or 2 for bad input; anything else that fails keeps its traceback."""
    return outcome(SCRIPT, run, argv)


def run(argv: Sequence[str]) -> None:
    """Build everything, train, evaluate, save."""
    import datasets
    from transformers import set_seed

    datasets.disable_progress_bars()  # the training bar is the only one to follow
    model_arguments, data, training = parse_arguments(argv)
    refuse_evaluation_without_stage_3(training)
    if training.deepspeed:
        introduce_ranks_to_deepspeed()
    with training.main_process_first(desc="loading the dialogues"):
        talks = load_wanted(data, training)
    tokenizer = load_tokenizer(model_arguments, data, talks)
    set_seed(training.seed)  # every rank starts from the same random weights
    model = load_model(model_arguments, tokenizer)
    with training.main_process_first(desc="tokenizing"):
        splits = {name: tokenized(split, data, tokenizer) for name, split in talks.items()}
    train_and_evaluate(build_trainer(training, model, tokenizer, splits))


def parse_arguments(argv: Sequence[str]) -> tuple[ModelArguments, DataArguments, Seq2SeqTrainingArguments]:
    """Read the command line; what it leaves out comes from the DeepSpeed config, then from the tables above."""
    from transformers import HfArgumentParser, Seq2SeqTrainingArguments

    parser = HfArgumentParser((ModelArguments, DataArguments, Seq2SeqTrainingArguments), prog=SCRIPT)
    model, data, training = read_options(parser, argv, defaults_for, SCRIPT)
    training.generation_max_length = (
        training.generation_max_length or data.val_max_target_length or data.max_target_length
    )
    training.generation_num_beams = training.generation_num_beams or data.num_beams
    if not training.predict_with_generate and training.metric_for_best_model == KEEP_BEST["metric_for_best_model"]:
        training.metric_for_best_model, training.greater_is_better = "eval_loss", False  # there is no ROUGE then
    return model, data, training


def defaults_for(given: Any) -> dict[str, Any]:
    """The recipe's defaults for the command line `given`, a namespace with one attribute per option."""
    doing = what_to_do(given)
    defaults = DEFAULTS | {"use_cpu": no_gpu()}
    if given.model_name_or_path is None:
        defaults |= FROM_SCRATCH
    if made_by_code(given):
        defaults |= SMALL_TALK
    if doing["do_train"] and doing["do_eval"]:
        defaults |= KEEP_BEST | ({"eval_on_start": True} if made_by_code(given) else {})
    return defaults


# --- model and data -------------------------------------------------------------------------------------------------


def load_wanted(data: DataArguments, training: Seq2SeqTrainingArguments) -> dict[str, Dataset]:
    """The splits that --do_train and --do_eval need."""
    wanted = {}
    if training.do_train:
        wanted["train"] = load_split(data, "train", data.max_train_samples, training.seed)
    if training.do_eval:
        wanted["validation"] = load_split(data, "validation", data.max_eval_samples, training.seed)
    return wanted


def load_tokenizer(
    arguments: ModelArguments, data: DataArguments, talks: dict[str, Dataset]
) -> PreTrainedTokenizerBase:
    """The named tokenizer, or one of the words that the dialogues consist of."""
    if name := arguments.tokenizer_name or arguments.model_name_or_path:
        return named_tokenizer(name, arguments.model_revision)
    read = next(iter(talks.values()))
    # The prefix as it stands: the word after it has no blank before it.
    texts = [*(data.source_prefix + text for text in read[data.text_column]), *read[data.summary_column]]
    return word_tokenizer.made_from(texts)


def load_model(arguments: ModelArguments, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """The named model, or a small T5 with random weights."""
    from transformers import AutoModelForSeq2SeqLM, T5Config, T5ForConditionalGeneration

    if name := arguments.model_name_or_path:
        model = named_model(AutoModelForSeq2SeqLM, name, arguments.model_revision)
    else:
        model = T5ForConditionalGeneration(T5Config(vocab_size=len(tokenizer), **TINY_T5))
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

    trainer = Seq2SeqTrainer(
        model=model,
        args=training,
        train_dataset=splits.get("train"),
        eval_dataset=splits.get("validation"),
        processing_class=tokenizer,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model, pad_to_multiple_of=8),
        compute_metrics=score_with(tokenizer) if training.predict_with_generate else None,
    )
    if training.deepspeed:
        trainer.add_callback(engine_check(trainer))
    return trainer


def score_with(tokenizer: PreTrainedTokenizerBase) -> Callable[[Any], dict[str, float]]:
    """The function that turns the trainer's token ids into ROUGE, and the mean length of what was generated."""
    import numpy

    def texts(ids: Any) -> list[str]:
        # Predictions and labels come padded with -100, which no tokenizer can decode.
        return tokenizer.batch_decode(numpy.where(ids < 0, tokenizer.pad_token_id, ids), skip_special_tokens=True)

    def score(prediction: Any) -> dict[str, float]:
        ours, theirs = texts(prediction.predictions), texts(prediction.label_ids)
        lengths = ((prediction.predictions >= 0) & (prediction.predictions != tokenizer.pad_token_id)).sum(-1)
        return {**rouge(ours, theirs), "gen_len": float(lengths.mean())}

    return score


def train_and_evaluate(trainer: Seq2SeqTrainer) -> None:
    """Do what --do_train and --do_eval ask for; the model and the figures go to the output directory."""
    training = trainer.args
    if training.do_train:
        keep(trainer, trainer.train(resume_from_checkpoint=training.resume_from_checkpoint))
    if training.do_eval:
        evaluate(trainer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
