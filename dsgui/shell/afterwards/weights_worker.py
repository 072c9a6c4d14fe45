"""Makes weights out of what a training saved: run by path in the environment that trained.

    python weights_worker.py consolidate --states CHECKPOINT/global_stepN --beside CHECKPOINT --to FOLDER …
    python weights_worker.py merge --adapter FOLDER --base MODEL --to FOLDER …
    python weights_worker.py universal --states CHECKPOINT/global_stepN --to CHECKPOINT/global_stepN_universal

Standard library and what trained, from Python 3.9 on. A result appears under its own name when all of it is written.
What cannot be done ends with one sentence and exit code 2."""

import argparse
import contextlib
import importlib
import inspect
import json
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

REFUSED, STOPPED = 2, 143
INDEX = "model.safetensors.index.json"
# What else a model's folder has. transformers and tokenizers write these names.
BESIDE = (
    *("config.json", "generation_config.json", "preprocessor_config.json", "processor_config.json"),
    *("tokenizer*", "special_tokens_map.json", "added_tokens.json", "chat_template*", "vocab*", "merges.txt"),
    *("spiece.model", "sentencepiece*", "source.spm", "target.spm"),
)
AUTO_CLASSES = {
    "CAUSAL_LM": "AutoModelForCausalLM",
    "SEQ_2_SEQ_LM": "AutoModelForSeq2SeqLM",
    "SEQ_CLS": "AutoModelForSequenceClassification",
    "TOKEN_CLS": "AutoModelForTokenClassification",
    "QUESTION_ANS": "AutoModelForQuestionAnswering",
}


class Refused(Exception):
    """Says in one sentence what cannot be done, and what to do."""


def main(words: "list[str]") -> int:
    """0, or 2 with a sentence on standard error."""
    signal.signal(signal.SIGTERM, _stop)  # so that what is half written goes
    options = parsed(words)
    try:
        with new_folder(Path(options.to)) as folder:
            options.do(options, folder)
    except (Refused, ModuleNotFoundError) as error:
        print(f"{options.verb}: {error}", file=sys.stderr, flush=True)
        return REFUSED
    print(f"Done: {options.to}", flush=True)
    return 0


def parsed(words: "list[str]") -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("consolidate")
    one.add_argument("--states", required=True)
    one.add_argument("--beside", default="")
    one.set_defaults(do=consolidate)
    two = verbs.add_parser("merge")
    two.add_argument("--adapter", required=True)
    two.add_argument("--base", required=True)
    two.set_defaults(do=merge)
    three = verbs.add_parser("universal")
    three.add_argument("--states", required=True)
    three.set_defaults(do=universal)
    for verb in (one, two):
        verb.add_argument("--dtype", choices=("fp32", "bf16", "same"), default="same")
        verb.add_argument("--shard-bytes", type=int, default=5_000_000_000)
    for verb in (one, two, three):
        verb.add_argument("--to", required=True)
    return parser.parse_args(words)


def _stop(*_: Any) -> None:
    raise SystemExit(STOPPED)


def part_of(to: str) -> str:
    """Where it is while it is being made. What is killed leaves it there."""
    return str(Path(to).with_name(f".{Path(to).name}.part"))


@contextlib.contextmanager
def new_folder(to: Path) -> Iterator[Path]:
    """A folder beside `to` that becomes `to` when all went well, and is removed when it did not."""
    part = Path(part_of(str(to)))
    if to.exists():
        raise Refused(f"{to} exists. Choose another folder.")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        yield part
        part.rename(to)
    except OSError as error:
        raise Refused(f"{to} cannot be written: {error}.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


# --- a ZeRO checkpoint ------------------------------------------------------------------------------------------------


def consolidate(options: argparse.Namespace, folder: Path) -> None:
    """The weights that all ranks saved together, as one model."""
    tensors = gathered(Path(options.states))
    write_weights(tensors, folder, dtype_named(options.dtype), options.shard_bytes)
    if options.beside:
        copy_beside(Path(options.beside), folder)
        tell_dtype(folder / "config.json", options.dtype)


def gathered(states: Path) -> "dict[str, Any]":
    """Name → tensor, or what becomes one with `.contiguous()`: of a checkpoint without ZeRO, as its one rank has it."""
    if not any(states.glob("*_optim_states.pt")):
        return undivided(states)
    zero = importlib.import_module("deepspeed.utils.zero_to_fp32")
    read = zero.get_fp32_state_dict_from_zero_checkpoint
    lazy = {"lazy_mode": True} if "lazy_mode" in inspect.signature(read).parameters else {}
    try:
        return dict(read(str(states.parent), states.name, **lazy))
    except (ValueError, FileNotFoundError, NotImplementedError, KeyError, RuntimeError) as error:
        raise Refused(f"DeepSpeed can't consolidate {states}: {first_line(error)}") from error


def undivided(states: Path) -> "dict[str, Any]":
    torch = importlib.import_module("torch")
    found = sorted(states.glob("mp_rank_*_model_states.pt"))
    if len(found) != 1:
        raise Refused(f"{states} has {len(found)} mp_rank_*_model_states.pt. Expected one: no model parallelism.")
    try:
        return dict(torch.load(found[0], map_location="cpu", weights_only=True)["module"])
    except Exception:  # noqa: BLE001  what torch has no name for: DeepSpeed saves objects of its own beside the weights
        return dict(torch.load(found[0], map_location="cpu", weights_only=False)["module"])


def write_weights(tensors: "dict[str, Any]", folder: Path, dtype: Any, most_bytes: int) -> None:
    """safetensors in files of at most `most_bytes`, or of one tensor that is larger; with an index where there are
    several. Two names of one tensor get a copy each: whoever ties them finds both."""
    save_file = importlib.import_module("safetensors.torch").save_file
    shards = divided({name: size_of(tensor, dtype) for name, tensor in tensors.items()}, most_bytes)
    names = [shard_name(number, len(shards)) for number in range(len(shards))]
    total = 0
    for file, shard in zip(with_bar(names, "Saving shards"), shards):  # noqa: B905  Python 3.9 has no strict
        ready = {name: as_saved(tensors.pop(name), dtype) for name in shard}
        total += sum(one.numel() * one.element_size() for one in ready.values())
        save_file(ready, folder / file, metadata={"format": "pt"})
    if len(shards) > 1:
        where = {name: file for file, shard in zip(names, shards) for name in shard}  # noqa: B905
        index = {"metadata": {"total_size": total}, "weight_map": where}
        (folder / INDEX).write_text(json.dumps(index, indent=2, sort_keys=True) + "\n", "utf-8")
    print(f"{sum(map(len, shards))} tensors, {total:,} bytes, {len(shards)} files", flush=True)


def divided(sizes: Mapping[str, int], most_bytes: int) -> "list[list[str]]":
    """The names in order, in as few parts as hold at most `most_bytes` each."""
    shards: list[list[str]] = [[]]
    filled = 0
    for name, size in sizes.items():
        if shards[-1] and filled + size > most_bytes:
            shards.append([])
            filled = 0
        shards[-1].append(name)
        filled += size
    return shards


def shard_name(number: int, count: int) -> str:
    return "model.safetensors" if count == 1 else f"model-{number + 1:05d}-of-{count:05d}.safetensors"


def size_of(tensor: Any, dtype: Any) -> int:
    """In bytes, once it is saved."""
    torch = importlib.import_module("torch")
    count = 1
    for length in tensor.shape:
        count *= int(length)
    kept = dtype if dtype is not None and tensor.dtype.is_floating_point else tensor.dtype
    return count * int(torch.empty(0, dtype=kept).element_size())


def as_saved(tensor: Any, dtype: Any) -> Any:
    whole = tensor.contiguous().detach()
    whole = whole.to(dtype) if dtype is not None and whole.is_floating_point() else whole
    return whole.clone()  # of a larger vector, perhaps, or of one that has another name


def dtype_named(name: str) -> Any:
    torch = importlib.import_module("torch")
    return {"fp32": torch.float32, "bf16": torch.bfloat16}.get(name)


def with_bar(values: "list[str]", title: str) -> Any:
    try:
        tqdm = importlib.import_module("tqdm").tqdm
    except ModuleNotFoundError:
        return values
    return tqdm(values, desc=title)


def copy_beside(source: Path, folder: Path) -> None:
    """The files that make weights a model: its config, its tokenizer. No links are followed."""
    for pattern in BESIDE:
        for path in source.glob(pattern):
            if path.is_file() and not path.is_symlink():
                shutil.copyfile(path, folder / path.name)


def tell_dtype(config: Path, name: str) -> None:
    """transformers loads in the type that a config.json names, whatever the weights are in."""
    known = {"fp32": "float32", "bf16": "bfloat16"}
    if name not in known or not config.is_file():
        return
    told = json.loads(config.read_text("utf-8"))
    told.update({key: known[name] for key in ("dtype", "torch_dtype") if key in told})
    config.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", "utf-8")


# --- an adapter -------------------------------------------------------------------------------------------------------


def merge(options: argparse.Namespace, folder: Path) -> None:
    """The base model with the adapter in its weights."""
    peft, transformers = (importlib.import_module(name) for name in ("peft", "transformers"))
    dtype = dtype_named(options.dtype)
    model = base_model(transformers, options.base, adapter_config(Path(options.adapter)), dtype)
    print("Merging the adapter", flush=True)
    try:
        merged = peft.PeftModel.from_pretrained(model, options.adapter).merge_and_unload(safe_merge=True)
    except (ValueError, RuntimeError, OSError, AttributeError) as error:
        raise Refused(f"the adapter does not fit {options.base}: {first_line(error)}") from error
    merged.save_pretrained(folder, max_shard_size=options.shard_bytes, safe_serialization=True)
    for source in (Path(options.base), Path(options.adapter)):  # the adapter's tokenizer may have more tokens
        if source.is_dir():
            copy_tokenizer(source, folder)


def adapter_config(adapter: Path) -> "dict[str, Any]":
    try:
        told = json.loads((adapter / "adapter_config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Refused(f"{adapter / 'adapter_config.json'} can't be read: {error}") from error
    if not isinstance(told, dict):
        raise Refused(f"{adapter / 'adapter_config.json'} holds no settings.")
    return told


def base_model(transformers: Any, base: str, told: "Mapping[str, Any]", dtype: Any) -> Any:
    """In the type it was saved in, unless `dtype` says otherwise."""
    name = AUTO_CLASSES.get(str(told.get("task_type")), "AutoModel")
    newer = int(transformers.__version__.partition(".")[0]) >= 5
    how = {"dtype" if newer else "torch_dtype": dtype if dtype is not None else "auto"}
    try:
        return getattr(transformers, name).from_pretrained(base, **how)
    except (OSError, ValueError) as error:
        raise Refused(f"the base model {base} can't be loaded: {first_line(error)} Name its folder.") from error


def copy_tokenizer(source: Path, folder: Path) -> None:
    for pattern in BESIDE:
        for path in source.glob(pattern):
            if path.is_file() and not path.is_symlink() and path.name not in ("config.json", "generation_config.json"):
                shutil.copyfile(path, folder / path.name)


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


# --- a universal checkpoint -------------------------------------------------------------------------------------------


def universal(options: argparse.Namespace, folder: Path) -> None:
    """The same states, one file for each parameter, for any number of ranks."""
    module = importlib.import_module("deepspeed.checkpoint.ds_to_universal")
    # Its `latest_universal` names the folder beside which it stands: it is written again under the final name.
    asked = argparse.Namespace(
        input_folder=options.states,
        output_folder=str(folder),
        num_extract_workers=1,
        num_merge_workers=1,
        keep_temp_folder=False,
        strict=True,
        # What only model parallelism needs: Megatron writes it, the HF Trainer and a loop of one's own don't.
        inject_missing_state=len(list(Path(options.states).glob("mp_rank_*_model_states.pt"))) < 2,
    )
    try:
        module.main(asked)
    except (ValueError, AssertionError, RuntimeError, FileNotFoundError, KeyError, NotImplementedError) as error:
        raise Refused(f"DeepSpeed can't convert {options.states}: {first_line(error)}") from error
    (folder.parent / "latest_universal").write_text(Path(options.to).name, "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
