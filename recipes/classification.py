"""DeepSpeed's “hello world”: a plain torch.nn.Module, deepspeed.initialize, and a loop that every tutorial begins with.

    deepspeed --num_gpus=2 recipes/classification.py --deepspeed_config ds_config.json

needs no download: a small network learns to tell noisy digits, on two CPU cores in half a minute. Pictures come from
the hub or from disk as well:

    deepspeed recipes/classification.py --dataset_name ylecun/mnist --image_column image --validation_split test

torchrun starts it, too. Bad input ends with one message and exit code 2.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any

from parts.digits import load_split, same_size
from parts.native import (
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
from parts.process import RecipeError, outcome, say, write_line

SCRIPT = "classification.py"
DEFAULT_CONFIG = {
    "train_micro_batch_size_per_gpu": 32,
    "optimizer": {"type": "Adam", "params": {"lr": 2e-3, "torch_adam": True}},
    "zero_optimization": {"stage": 1},
    "steps_per_print": 100,
}
HIDDEN = 128


def main(argv: Sequence[str]) -> int:
    """Run the recipe. The exit code is 0, or 2 for bad input; anything else that fails keeps its traceback."""
    return outcome(SCRIPT, run, argv)


def run(argv: Sequence[str]) -> None:
    """Build everything, train, evaluate, save."""
    options = new_parser().parse_args(argv)
    if options.resume_from_checkpoint:
        require_checkpoint(options.resume_from_checkpoint)
    config = read_config(options, DEFAULT_CONFIG)
    (train, train_labels), (held_out, held_out_labels) = load_split(options, "train"), load_split(options, "validation")
    size = same_size([*train, *held_out], "train and validation")
    ranks = open_ranks(options.local_rank)

    import deepspeed
    import torch

    config = ready_for_this_machine(config)
    micro, _ = batches_of(config)
    torch.manual_seed(options.seed)  # every rank starts from the same random weights
    model = build_model(size, max(*train_labels, *held_out_labels) + 1)
    engine, _, loader, _ = deepspeed.initialize(
        model=model,
        model_parameters=model.parameters(),
        training_data=torch.utils.data.TensorDataset(torch.tensor(train), torch.tensor(train_labels)),
        config=config,
    )
    if options.resume_from_checkpoint:
        folder, tag = os.path.split(os.path.abspath(options.resume_from_checkpoint))
        engine.load_checkpoint(folder, tag=tag)
        say(f"resumed from {tag}, step {engine.global_steps} is done")
    examined = (torch.tensor(held_out).split(micro), torch.tensor(held_out_labels).split(micro))
    total = len(loader) * options.num_train_epochs // engine.gradient_accumulation_steps()
    if engine.global_steps >= total:
        raise RecipeError(f"nothing to train: {total} steps, and {engine.global_steps} are done.")
    evaluate(engine, ranks, examined)
    done = round(engine.global_steps * engine.gradient_accumulation_steps() / len(loader))
    for epoch in range(done + 1, options.num_train_epochs + 1):
        loader.data_sampler.set_epoch(epoch)
        train_epoch(engine, ranks, loader, f"Epoch {epoch}", total, options.logging_steps)
        figures = evaluate(engine, ranks, examined)
    engine.save_checkpoint(options.output_dir)
    if ranks.rank == 0:
        write_figures(options.output_dir, figures)


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
        "--dataset_name", help="A data set of the hub, or a folder of one. Default: noisy digits, drawn by code."
    )
    parser.add_argument("--dataset_config_name", help="Its configuration.")
    parser.add_argument("--train_split", default="train", help="Its split to train on. Default: train.")
    parser.add_argument(
        "--validation_split", default="validation", help="Its split to evaluate on. Default: validation."
    )
    parser.add_argument("--train_file", help="JSON lines with a picture and its class each.")
    parser.add_argument("--validation_file", help="The same, for evaluation.")
    parser.add_argument("--image_column", default="image", help="Images, or numbers in lists. Default: image.")
    parser.add_argument("--label_column", default="label", help="Classes: 0, 1, 2, … Default: label.")
    parser.add_argument("--max_train_samples", type=positive, help="Train on only the first so many.")
    parser.add_argument("--max_eval_samples", type=positive, help="Evaluate on only the first so many.")
    parser.add_argument("--num_train_epochs", type=positive, default=4, help="Default: 4.")
    parser.add_argument("--logging_steps", type=positive, default=10, help="Default: every 10 steps.")
    parser.add_argument("--output_dir", default="output/classification", help="Default: output/classification.")
    parser.add_argument("--resume_from_checkpoint", help="A folder global_stepN that this recipe has saved.")
    parser.add_argument("--seed", type=int, default=42, help="Default: 42.")
    return parser


def build_model(size: int, classes: int) -> Any:
    """From the numbers of a picture to a score for each class."""
    from torch import nn

    class Classifier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = nn.Sequential(nn.Linear(size, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU())
            self.scores = nn.Linear(HIDDEN, classes)

        def forward(self, pictures: Any) -> Any:
            return self.scores(self.hidden(pictures))

    return Classifier()


def train_epoch(engine: Any, ranks: Any, loader: Any, epoch: str, total: int, logging_steps: int) -> None:
    """Forward, backward, step for each batch; a line of rank 0 every few optimizer steps."""
    from torch.nn.functional import cross_entropy

    for pictures, labels in loader:
        scores = engine(on_engine(engine, ranks, pictures))
        loss = cross_entropy(scores.float(), labels.to(ranks.device))
        engine.backward(loss)
        ends_step = engine.is_gradient_accumulation_boundary()
        engine.step()
        step = engine.global_steps
        if ends_step and ranks.rank == 0 and (step == 1 or step % logging_steps == 0 or step == total):
            write_line(f"{epoch}, step {step} / {total}, loss {float(loss.detach()):.4f}")


def evaluate(engine: Any, ranks: Any, examined: tuple[Sequence[Any], Sequence[Any]]) -> dict[str, float]:
    """Mean loss and share of right classes (0 to 1) over what was held out; rank 0 tells."""
    import torch
    from torch.nn.functional import cross_entropy

    engine.eval()
    loss = right = count = 0.0
    with torch.no_grad():
        for (pictures, labels), counts in ranks.share(list(zip(*examined, strict=True))):
            scores, labels = engine(on_engine(engine, ranks, pictures)).float(), labels.to(ranks.device)
            loss += counts * float(cross_entropy(scores, labels, reduction="sum"))
            right += counts * int((scores.argmax(-1) == labels).sum())
            count += counts * len(labels)
    engine.train()
    loss, right, count = ranks.totals([loss, right, count])
    figures = {"eval_loss": loss / count, "eval_accuracy": right / count}
    if ranks.rank == 0:
        told = ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
        write_line(f"step {engine.global_steps}, {told}")
    return figures


def on_engine(engine: Any, ranks: Any, pictures: Any) -> Any:
    """On the engine's device, in the precision of its weights."""
    return pictures.to(ranks.device, next(engine.parameters()).dtype)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
