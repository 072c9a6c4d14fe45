"""Fine-tune a Bloom for instructions with LoRA, with peft and the Hugging Face Trainer under DeepSpeed.

    deepspeed --num_gpus=2 recipes/instruction_lora.py --deepspeed ds_config.json

needs no download: adapters teach a small Bloom with random, frozen weights to name opposites, on two CPU cores in about
a minute. With a model, a data set, or both from the hub or from disk, the same code fine-tunes Bloomz:

    deepspeed --include localhost:0,1,2,3 recipes/instruction_lora.py --deepspeed ds_config.json \
        --model_name_or_path bigscience/bloomz-7b1-mt --train_file belle.jsonl --do_train \
        --per_device_train_batch_size 4 --gradient_accumulation_steps 3 --learning_rate 5e-5 --warmup_steps 100

Only the answers count for the loss: the instruction's labels are -100. The output directory gets the adapter, and with
--merge_adapter also a model that has it in its weights. Where the hardware lacks the fp16 that a config asks for, the
recipe trains in bf16 or fp32 and says so. Bad input ends with one message and exit code 2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from parts import word_tokenizer
from parts.instructions import IGNORED, DataArguments, load_split, tokenized
from parts.process import RecipeError, is_rank_0, outcome, say
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
    from transformers import PreTrainedTokenizerBase, Trainer, TrainingArguments

SCRIPT = "instruction_lora.py"
# gradient_checkpointing is the Trainer's: HF models don't read the config's block activation_checkpointing. Frozen
# weights need the variant that is not reentrant, else no gradient reaches the adapters.
DEFAULTS = {
    "output_dir": "output/instruction_lora",
    "gradient_checkpointing": True,
    "gradient_checkpointing_kwargs": {"use_reentrant": False},
    "label_names": ["labels"],
}
MADE_INSTRUCTIONS = {
    "num_train_epochs": 4,
    "per_device_train_batch_size": 16,
    "per_device_eval_batch_size": 32,
    "learning_rate": 5e-3,
    "warmup_steps": 10,
    "lr_scheduler_type": "constant_with_warmup",
}
WATCHED = {"eval_on_start": True, "eval_strategy": "steps", "eval_steps": 34}
TINY_BLOOM = {"hidden_size": 128, "n_layer": 2, "n_head": 4, "initializer_range": 0.1}


@dataclass
class ModelArguments:
    """Which model, and the adapters for it."""

    model_name_or_path: str | None = field(
        default=None,
        metadata={"help": "A hub name such as bigscience/bloomz-560m, or a local folder. Default: a small Bloom."},
    )
    tokenizer_name: str | None = field(default=None, metadata={"help": "Default: the model's."})
    model_revision: str = field(default="main", metadata={"help": "Branch, tag or commit of the model on the hub."})
    lora_r: int = field(default=8, metadata={"help": "Rank of the adapters."})
    lora_alpha: int = field(default=32, metadata={"help": "They are scaled by lora_alpha / lora_r."})
    lora_dropout: float = field(default=0.1, metadata={"help": "Dropout before each adapter, while training."})
    lora_target_modules: str | None = field(
        default=None,
        metadata={
            "help": "Comma-separated modules, or all-linear. Default: peft's for the model; the small Bloom's all."
        },
    )
    merge_adapter: bool = field(default=False, metadata={"help": "Also save the model with the adapter merged in."})


def main(argv: Sequence[str]) -> int:
    """Run the recipe. The exit code is 0, or 2 for bad input; anything else that fails keeps its traceback."""
    return outcome(SCRIPT, run, argv)


def run(argv: Sequence[str]) -> None:
    """Build everything, train, evaluate, save."""
    import datasets
    from transformers import set_seed

    datasets.disable_progress_bars()  # the training bar is the only one to follow
    arguments, data, training = parse_arguments(argv)
    refuse_evaluation_without_stage_3(training)
    if training.deepspeed:
        introduce_ranks_to_deepspeed()
    with training.main_process_first(desc="loading the instructions"):
        examples = load_wanted(data, training)
    tokenizer = load_tokenizer(arguments, data, examples)
    set_seed(training.seed)  # every rank starts from the same random weights
    base = arguments.model_name_or_path or save_small_bloom(training, tokenizer)
    model = with_adapters(base, arguments, training)
    with training.main_process_first(desc="tokenizing"):
        splits = {name: tokenized(split, data, tokenizer) for name, split in examples.items()}
    trainer = build_trainer(training, model, tokenizer, splits)
    train_and_evaluate(trainer)
    if arguments.merge_adapter:
        save_merged(trainer, tokenizer)


def parse_arguments(argv: Sequence[str]) -> tuple[ModelArguments, DataArguments, TrainingArguments]:
    """Read the command line; what it leaves out comes from the DeepSpeed config, then from the tables above."""
    from transformers import HfArgumentParser, TrainingArguments

    parser = HfArgumentParser((ModelArguments, DataArguments, TrainingArguments), prog=SCRIPT)
    arguments, data, training = read_options(parser, argv, defaults_for, SCRIPT, fits_precision=True)
    config = getattr(training, "hf_deepspeed_config", None)
    if arguments.merge_adapter and config is not None and config.is_zero3():
        raise RecipeError("--merge_adapter needs whole weights on each rank; ZeRO-3 splits them. Use stage 2 or lower.")
    return arguments, data, training


def defaults_for(given: Any) -> dict[str, Any]:
    """The recipe's defaults for the command line `given`, a namespace with one attribute per option."""
    doing = what_to_do(given)
    defaults = DEFAULTS | {"use_cpu": no_gpu()}
    if not made_by_code(given):
        return defaults
    return defaults | MADE_INSTRUCTIONS | (WATCHED if doing["do_train"] and doing["do_eval"] else {})


# --- model and data -------------------------------------------------------------------------------------------------


def load_wanted(data: DataArguments, training: TrainingArguments) -> dict[str, Dataset]:
    """The splits that --do_train and --do_eval need."""
    wanted = {}
    if training.do_train:
        wanted["train"] = load_split(data, "train", data.max_train_samples, training.seed)
    if training.do_eval:
        wanted["validation"] = load_split(data, "validation", data.max_eval_samples, training.seed)
    return wanted


def load_tokenizer(
    arguments: ModelArguments, data: DataArguments, examples: dict[str, Dataset]
) -> PreTrainedTokenizerBase:
    """The named tokenizer, or one of the words that the instructions consist of."""
    if name := arguments.tokenizer_name or arguments.model_name_or_path:
        return padded(named_tokenizer(name, arguments.model_revision), name)
    read = next(iter(examples.values()))
    return word_tokenizer.made_from([*(f"{text}\n" for text in read[data.input_column]), *read[data.target_column]])


def padded(tokenizer: PreTrainedTokenizerBase, name: str) -> PreTrainedTokenizerBase:
    """With a token to pad by, as GPT-2's and Llama's have none. Raises RecipeError where no token ends a text."""
    if tokenizer.eos_token_id is None:
        raise RecipeError(
            f"the tokenizer of {name!r} has no token that ends a text; give --tokenizer_name one that has."
        )
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer


def save_small_bloom(training: TrainingArguments, tokenizer: PreTrainedTokenizerBase) -> str:
    """A small Bloom with random weights, in a folder that the adapter can name as its base."""
    from transformers import BloomConfig, BloomForCausalLM

    folder = os.path.join(training.output_dir, "base")
    with training.main_process_first(desc="making the model"):
        if is_rank_0():
            ids = {"pad_token_id": tokenizer.pad_token_id, "bos_token_id": None, "eos_token_id": tokenizer.eos_token_id}
            BloomForCausalLM(BloomConfig(vocab_size=len(tokenizer), **ids, **TINY_BLOOM)).save_pretrained(folder)
            tokenizer.save_pretrained(folder)
    return folder


def with_adapters(base: str, arguments: ModelArguments, training: TrainingArguments) -> Any:
    """The frozen model, in the precision that it trains in, with an adapter in each target."""
    import torch
    from peft import LoraConfig, TaskType, get_peft_model
    from transformers import AutoModelForCausalLM

    dtype = torch.float16 if training.fp16 else torch.bfloat16 if training.bf16 else torch.float32
    model = named_model(AutoModelForCausalLM, base, arguments.model_revision, dtype=dtype)
    model.config.use_cache = False  # for generation; beside gradient checkpointing it only warns
    lora = LoraConfig(
        task_type=TaskType.CAUSAL_LM,
        r=arguments.lora_r,
        lora_alpha=arguments.lora_alpha,
        lora_dropout=arguments.lora_dropout,
        target_modules=targets(arguments),
    )
    try:
        model = get_peft_model(model, lora)
    except ValueError as error:
        raise RecipeError(f"--lora_target_modules {arguments.lora_target_modules}: {error}") from error
    trained, total = model.get_nb_trainable_parameters()
    say(f"{trained:,} of {total:,} parameters train ({trained / total:.2%})")
    return model


def targets(arguments: ModelArguments) -> str | list[str] | None:
    """Which modules get adapters; None for what peft knows of the model."""
    typed = arguments.lora_target_modules or ("" if arguments.model_name_or_path else "all-linear")
    return typed if typed == "all-linear" else [name.strip() for name in typed.split(",") if name.strip()] or None


# --- training -------------------------------------------------------------------------------------------------------


def build_trainer(
    training: TrainingArguments, model: Any, tokenizer: PreTrainedTokenizerBase, splits: dict[str, Dataset]
) -> Trainer:
    """The trainer, which refuses to go on should accelerate have left DeepSpeed out."""
    from transformers import DataCollatorForSeq2Seq, Trainer

    trainer = Trainer(
        model=model,
        args=training,
        train_dataset=splits.get("train"),
        eval_dataset=splits.get("validation"),
        processing_class=tokenizer,
        data_collator=DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=8),
        compute_metrics=score,
        # Whole logits of an evaluation would fill the memory: their likeliest tokens are enough.
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
    )
    if training.deepspeed:
        trainer.add_callback(engine_check(trainer))
    return trainer


def score(prediction: Any) -> dict[str, float]:
    """The share (0 to 1) of the answers’ tokens that is right when shown those before, and that of whole answers."""
    guessed, wanted = prediction.predictions[:, :-1], prediction.label_ids[:, 1:]
    asked = wanted != IGNORED
    right = (guessed == wanted) & asked
    whole = (right == asked).all(-1)
    return {"token_accuracy": float(right.sum() / asked.sum()), "answer_accuracy": float(whole.mean())}


def train_and_evaluate(trainer: Trainer) -> None:
    """Do what --do_train and --do_eval ask for; the adapter and the figures go to the output directory."""
    training = trainer.args
    if training.do_train:
        keep(trainer, trainer.train(resume_from_checkpoint=training.resume_from_checkpoint))
    if training.do_eval:
        evaluate(trainer)


def save_merged(trainer: Trainer, tokenizer: PreTrainedTokenizerBase) -> None:
    """The model with the adapter in its weights, which loads without peft."""
    folder = os.path.join(trainer.args.output_dir, "merged")
    if is_rank_0():
        merged = trainer.accelerator.unwrap_model(trainer.model).merge_and_unload()
        merged.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        say(f"merged model in {folder}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
