"""Pre-train a causal language model with deepspeed.initialize and a training loop of its own.

    deepspeed --num_gpus=2 recipes/pretraining.py --deepspeed_config ds_config.json

needs no download: a small GPT reads byte by byte how to count in words, on two CPU cores in about a minute. These start
it as well:

    deepspeed --include localhost:0,1 recipes/pretraining.py
    CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 recipes/pretraining.py

With a model (or only its shape), a text, or both from the hub or from disk, the same loop trains those:

    deepspeed recipes/pretraining.py --config_name openai-community/gpt2 --block_size 512 \\
        --dataset_name Salesforce/wikitext --dataset_config_name wikitext-2-raw-v1

The optimizer is the config's; where it names none, AdamW is made here and handed to deepspeed.initialize. The same goes
for the schedule. Bad input ends with one message and exit code 2.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Any

from parts import number_words
from parts.native import (
    Ranks,
    batches_of,
    open_ranks,
    positive,
    rank_here,
    read_config,
    ready_for_this_machine,
    refuse_options,
    require_checkpoint,
    write_figures,
)
from parts.process import ASK_HUB, RecipeError, bad_input, outcome, say, write_line
from parts.sources import first, made_by_code, named_tokenizer, read, with_texts

if TYPE_CHECKING:
    from torch import Tensor

SCRIPT = "pretraining.py"
# As in the tutorial that this follows, for any number of ranks that divides 8: DeepSpeed derives the accumulation.
DEFAULT_CONFIG = {
    "train_batch_size": 64,
    "train_micro_batch_size_per_gpu": 8,
    "fp16": {"enabled": True, "initial_scale_power": 12},
    "gradient_clipping": 1.0,
    "zero_optimization": {"stage": 2},
    "steps_per_print": 100,
}
TINY_GPT = {
    "n_embd": 64,
    "n_layer": 2,
    "n_head": 4,
    "resid_pdrop": 0.0,
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
    "loss_type": "ForCausalLM",
}
COUNTED, IN_A_ROW, HELD_OUT_TEXTS = 8000, 8, 64
TEXT_SEED = 42


@dataclass(frozen=True, slots=True)
class Work:
    """What every step of the training needs."""

    engine: Any
    ranks: Ranks
    options: Any
    micro_batches: Sequence[Tensor]
    evaluated: Sequence[tuple[Tensor, int]]
    accumulation: int
    steps_per_epoch: int
    total: int


def main(argv: Sequence[str]) -> int:
    """Run the recipe. The exit code is 0, or 2 for bad input; anything else that fails keeps its traceback."""
    return outcome(SCRIPT, run, argv)


def run(argv: Sequence[str]) -> None:
    """Build everything, train, evaluate, save."""
    options = new_parser().parse_args(argv)
    if options.resume_from_checkpoint:
        require_checkpoint(options.resume_from_checkpoint)
    config = read_config(options, DEFAULT_CONFIG)
    tokenizer = load_tokenizer(options)
    texts = {name: load_texts(options, name) for name in ("train", "validation")}
    ranks = open_ranks(options.local_rank)
    blocks = {name: in_blocks(split, tokenizer, options.block_size) for name, split in texts.items()}
    config = ready_for_this_machine(config)
    micro, accumulation = batches_of(config)
    steps_per_epoch = len(blocks["train"]) // (micro * accumulation * ranks.count)
    if not steps_per_epoch:
        needed = micro * accumulation * ranks.count
        raise RecipeError(f"the text has {len(blocks['train'])} blocks, fewer than the {needed} of one step.")
    total = options.max_steps or steps_per_epoch * options.num_train_epochs
    engine = build_engine(options, config, total, load_model(options, tokenizer))
    work = Work(
        engine,
        ranks,
        options,
        micro_batches=blocks["train"].split(micro),
        evaluated=ranks.share(blocks["validation"].split(micro)),
        accumulation=accumulation,
        steps_per_epoch=steps_per_epoch,
        total=total,
    )
    train(work, resume(engine, options.resume_from_checkpoint))


def new_parser() -> ArgumentParser:
    """The options, in Hugging Face's words where it has some."""
    parser = ArgumentParser(
        SCRIPT, description=__doc__, formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.error = refuse_options  # type: ignore[method-assign]
    # A switch, as deepspeed.add_config_arguments declares it, or the config, as the HF Trainer takes it.
    parser.add_argument(
        "--deepspeed", nargs="?", const=True, help="Train with DeepSpeed, which this script always does."
    )
    parser.add_argument("--deepspeed_config", help="The config. Default: one made for this script.")
    parser.add_argument("--local_rank", type=int, default=rank_here(), help="From DeepSpeed's launcher.")
    parser.add_argument(
        "--model_name_or_path", help="A hub name or a local folder. Default: a small GPT with random weights."
    )
    parser.add_argument("--config_name", help="Only the shape of such a model, with random weights.")
    parser.add_argument("--tokenizer_name", help="Default: the model's; bytes where there is none.")
    parser.add_argument(
        "--dataset_name", help="A data set of the hub, or a folder of one. Default: counting in words, made by code."
    )
    parser.add_argument("--dataset_config_name", help="Its configuration.")
    parser.add_argument("--train_file", help="JSON lines with a text each.")
    parser.add_argument("--validation_file", help="The same, for evaluation.")
    parser.add_argument("--text_column", default="text", help="Where the text is. Default: text.")
    parser.add_argument("--max_train_samples", type=positive, help="Train on only the first so many texts.")
    parser.add_argument("--max_eval_samples", type=positive, help="Evaluate on only the first so many.")
    parser.add_argument("--block_size", type=positive, default=64, help="Tokens in a sequence. Default: 64.")
    parser.add_argument("--num_train_epochs", type=positive, default=2, help="Default: 2.")
    parser.add_argument("--max_steps", type=positive, help="Optimizer steps, whatever the epochs would be.")
    parser.add_argument(
        "--learning_rate", type=float, default=3e-3, help="Where the config names no optimizer. Default: 3e-3."
    )
    parser.add_argument(
        "--warmup_steps", type=positive, default=20, help="Where the config names no scheduler. Default: 20."
    )
    parser.add_argument("--logging_steps", type=positive, default=10, help="Default: every 10 steps.")
    parser.add_argument(
        "--eval_steps", type=positive, default=50, help="Default: every 50 steps, and at the start and end."
    )
    parser.add_argument(
        "--save_steps", type=positive, help="A checkpoint every so many steps. Default: one, at the end."
    )
    parser.add_argument("--output_dir", default="output/pretraining", help="Default: output/pretraining.")
    parser.add_argument("--resume_from_checkpoint", help="A folder global_stepN that this recipe has saved.")
    parser.add_argument("--seed", type=int, default=42, help="Default: 42.")
    return parser


# --- model and text -------------------------------------------------------------------------------------------------


def load_tokenizer(options: Any) -> Any:
    """The named tokenizer, or one that reads bytes and therefore needs no vocabulary file."""
    from transformers import ByT5Tokenizer

    name = options.tokenizer_name or options.model_name_or_path or options.config_name
    if name is None:
        return ByT5Tokenizer(extra_ids=0)
    return named_tokenizer(name)


def load_model(options: Any, tokenizer: Any) -> Any:
    """The named model, one of a named shape, or a small GPT; every rank starts from the same random weights."""
    from transformers import AutoConfig, AutoModelForCausalLM, GPT2Config, set_seed

    set_seed(options.seed)
    if name := options.model_name_or_path:
        with bad_input(f"model {name!r} cannot be loaded", ASK_HUB):
            return AutoModelForCausalLM.from_pretrained(name)
    ids = {"vocab_size": len(tokenizer), "bos_token_id": None, "eos_token_id": tokenizer.eos_token_id}
    shape = GPT2Config(n_positions=max(options.block_size, 64), **ids, **TINY_GPT)
    if name := options.config_name:
        with bad_input(f"the shape of {name!r} cannot be loaded", ASK_HUB):
            shape = AutoConfig.from_pretrained(name)
    model = AutoModelForCausalLM.from_config(shape)
    model.loss_type = model.loss_type or "ForCausalLM"  # GPT-2's name doesn't say it, and transformers warns
    return model


def load_texts(options: Any, name: str) -> list[str]:
    """The texts of a split, "train" or "validation"."""
    limit = options.max_train_samples if name == "train" else options.max_eval_samples
    if made_by_code(options):
        train, held_out = number_words.split(COUNTED // IN_A_ROW, HELD_OUT_TEXTS, TEXT_SEED)
        firsts = (train if name == "train" else held_out)[:limit]
        return [number_words.counting(number * IN_A_ROW, IN_A_ROW, "en") for number in firsts]
    examples = read(options, name)
    examples = with_texts(examples, [("text_column", options.text_column)], name)
    return list(first(examples, limit)[options.text_column])


def in_blocks(texts: Sequence[str], tokenizer: Any, size: int) -> Tensor:
    """All texts in a row, each with an end mark, cut into sequences of `size` tokens; what is left over goes."""
    import torch

    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    ids = [id for text in texts for id in tokenizer(text, add_special_tokens=False)["input_ids"] + end]
    if len(ids) < size:
        raise RecipeError(f"--block_size {size}: a text of {len(ids)} tokens does not fill one block.")
    return torch.tensor(ids[: len(ids) // size * size]).view(-1, size)


# --- training -------------------------------------------------------------------------------------------------------


def build_engine(options: Any, config: dict[str, Any], total: int, model: Any) -> Any:
    """DeepSpeed's engine, with the config's optimizer and schedule, or with ours where it names none."""
    import deepspeed
    import torch

    optimizer = schedule = None
    if "optimizer" not in config:
        optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
    if "scheduler" not in config:
        schedule = partial(warm_up_then_cosine, total, min(options.warmup_steps, max(1, total - 1)))
    say(f"optimizer: {'the config' if optimizer is None else 'the script'}'s")
    tell_schedule(config, total)
    engine, *_ = deepspeed.initialize(
        model=model,
        model_parameters=model.parameters(),
        optimizer=optimizer,
        lr_scheduler=schedule,
        config=config,
    )
    return engine


def warm_up_then_cosine(total: int, warmup: int, optimizer: Any) -> Any:
    """What a config asks for with WarmupCosineLR."""
    from deepspeed.runtime.lr_schedules import WarmupCosineLR

    return WarmupCosineLR(optimizer, total_num_steps=total, warmup_num_steps=warmup, warmup_type="linear")


def tell_schedule(config: dict[str, Any], total: int) -> None:
    """A schedule made for another number of steps ends too early, or never."""
    scheduler = config.get("scheduler")
    asked = scheduler.get("params", {}).get("total_num_steps") if isinstance(scheduler, dict) else total
    if asked not in (total, None, "auto"):
        say(f"the config's total_num_steps is {asked}, and this run has {total} steps")


def resume(engine: Any, path: str | None) -> int:
    """The number of steps that a checkpoint has behind it."""
    if not path:
        return 0
    folder, tag = os.path.split(os.path.abspath(path))
    engine.load_checkpoint(folder, tag=tag)
    say(f"resumed from {tag}, step {engine.global_steps} is done")
    return engine.global_steps


def train(work: Work, done: int) -> None:
    """Every step from the first that is not `done` to the last, with its lines, evaluations and checkpoints."""
    options = work.options
    evaluate(work, done)
    for step in range(done + 1, work.total + 1):
        loss = one_step(work, step)
        if step == 1 or step % options.logging_steps == 0 or step == work.total:
            tell(work, step, loss)
        if step % options.eval_steps == 0 and step != work.total:
            evaluate(work, step)
        if options.save_steps and step % options.save_steps == 0 and step != work.total:
            save(work)
    figures = evaluate(work, max(done, work.total))
    save(work)
    if work.ranks.rank == 0:
        write_figures(options.output_dir, figures)


def one_step(work: Work, step: int) -> float:
    """Forward and backward for each micro batch, one optimizer step; the mean loss of this rank."""
    losses = []
    for batch in batches_of_step(work, step):
        loss = work.engine(input_ids=batch, labels=batch).loss
        work.engine.backward(loss)
        work.engine.step()
        losses.append(loss.detach().float())
    return float(sum(losses) / len(losses))


def batches_of_step(work: Work, step: int) -> Iterator[Tensor]:
    """This rank's micro batches of a step: shuffled anew in each epoch, the same when a run is resumed."""
    import torch

    epoch, within = divmod(step - 1, work.steps_per_epoch)
    order = torch.randperm(len(work.micro_batches), generator=torch.Generator().manual_seed(work.options.seed + epoch))
    start = within * work.accumulation * work.ranks.count + work.ranks.rank
    for place in range(work.accumulation):
        yield work.micro_batches[int(order[start + place * work.ranks.count])].to(work.ranks.device)


def tell(work: Work, step: int, loss: float) -> None:
    """One line of each rank."""
    epoch = (step - 1) // work.steps_per_epoch + 1
    write_line(f"Rank[{work.ranks.rank}]: Epoch {epoch}, step {step} / {work.total}, loss {loss:.4f}")


def evaluate(work: Work, step: int) -> dict[str, float]:
    """Loss and share of right next tokens (0 to 1) over what was held out; rank 0 tells."""
    import torch

    work.engine.eval()
    loss = right = count = 0.0
    with torch.no_grad():
        for batch, counts in ((batch.to(work.ranks.device), counts) for batch, counts in work.evaluated):
            answer = work.engine(input_ids=batch, labels=batch)
            guessed, wanted = answer.logits[:, :-1].argmax(-1), batch[:, 1:]
            loss += counts * float(answer.loss) * wanted.numel()
            right += counts * int((guessed == wanted).sum())
            count += counts * wanted.numel()
    work.engine.train()
    loss, right, count = work.ranks.totals([loss, right, count])
    mean = loss / count
    figures = {"eval_loss": mean, "eval_accuracy": right / count, "eval_perplexity": exp(min(mean, 100))}
    if work.ranks.rank == 0:
        told = ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
        write_line(f"step {step} / {work.total}, {told}")
    return figures


def save(work: Work) -> None:
    """A checkpoint of all ranks, and zero_to_fp32.py beside it."""
    work.engine.save_checkpoint(work.options.output_dir)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
