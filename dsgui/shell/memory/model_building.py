"""The model of a dry run, its batch, and the groups of its parameters.

Runs in the target environment, for `rehearsal.py`: transformers' own class for a `config.json`, or what a user's
function returns."""

import contextlib
import importlib.util
import os
import re
import sys
from typing import Any

from dsgui.shell.memory.target_modules import load

# Heads that give a loss, by the names of transformers' mappings: what is taken where `architectures` names none.
_SEQ_TO_SEQ, _CAUSAL, _MASKED, _IMAGES = "SEQ_TO_SEQ_CAUSAL_LM", "CAUSAL_LM", "MASKED_LM", "IMAGE_TEXT_TO_TEXT"
_SEQUENCES, _TOKENS = "SEQUENCE_CLASSIFICATION", "TOKEN_CLASSIFICATION"
_HEADS = {True: (_SEQ_TO_SEQ, _CAUSAL), False: (_MASKED, _CAUSAL, _IMAGES)}
_ALSO = (_SEQUENCES, _TOKENS)  # only where it does
# As the HF Trainer divides parameters; releases before 4.50 know classes of norms in place of these names.
_NO_DECAY = (r"bias", r"layernorm", r"rmsnorm", r"(?:^|\.)norm(?:$|\.)", r"_norm(?:$|\.)")

_ASK_FOR_KINDS = ("gemma3", "gemma3n", "gemma4")  # in training they raise without token_type_ids


class Refused(Exception):
    """This can't be asked: `code` of the catalogue's `memory_notes`, and what it leaves open."""

    def __init__(self, code: str, **given: str) -> None:
        super().__init__(code)
        self.code, self.given = code, given


class FromConfig:
    """A model of transformers, by its `config.json`. `fills`: its weights get values, for what really computes."""

    def __init__(self, question: "dict[str, Any]", *, fills: bool = False) -> None:
        self._fills = fills
        model, workload = question["model"], question["workload"]
        self._workload, self._by_decay = workload, question.get("by_decay", True)
        self._dtype = "bfloat16" if question.get("element") == 2 else "float32"
        self.config = config_of(dict(model["config"]), workload["attention"])
        self._named = named_class(model["config"])
        self.head, self._class = class_of(self.config, self._named)
        if workload["attention"] == "sdpa" and not getattr(self._class, "_supports_sdpa", True):
            self.config._attn_implementation = "eager"  # as transformers chooses where nothing was asked for

    def build(self) -> Any:
        """With random weights, in training mode; on the host but within `deepspeed.zero.Init`."""
        with contextlib.nullcontext() if self._fills else unfilled():
            model = self._class._from_config(self.config, **{dtype_name(): getattr(load("torch"), self._dtype)})
        model.tie_weights()
        return model.train()

    def adapt(self, model: Any) -> Any:
        """With adapters and checkpointing. Outside of `deepspeed.zero.Init`, as scripts wrap what `from_pretrained`
        gave: adapters are whole then, in fp32, and the engine divides them so."""
        if self._workload.get("lora"):
            model = adapted(model, self._workload["lora"])
        if self._workload["checkpointing"]:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            if self._workload.get("lora"):
                model.enable_input_require_grads()
        return model.train()

    def batch(self, device: Any) -> "dict[str, Any]":
        """One micro batch that fills its length."""
        torch = load("torch")
        rows, length = self._workload["micro_batch"], self._workload["length"]
        words = torch.zeros((rows, length), dtype=torch.long, device=device)
        targets = words
        if self.head == _SEQUENCES:
            targets = torch.zeros(rows, dtype=torch.long, device=device)
        elif self.config.is_encoder_decoder:
            target = self._workload.get("target_length") or length
            targets = torch.zeros((rows, target), dtype=torch.long, device=device)
        named = {"input_ids": words, "attention_mask": torch.ones_like(words), "labels": targets}
        if self.config.model_type in _ASK_FOR_KINDS:
            named["token_type_ids"] = torch.zeros_like(words)
        return named

    def notes(self) -> "list[tuple[str, dict[str, str]]]":
        """What it was taken for, where a script may take another."""
        name = self._class.__name__
        sees = self.head == _IMAGES or hasattr(self.config, "vision_config")
        notes = [("text_only", {"name": name})] if sees else []
        if self._named not in ("", name):
            notes.append(("taken_instead", {"name": name, "named": self._named[:80]}))
        elif not sees and self.head not in (_SEQ_TO_SEQ, _CAUSAL):
            notes.append(("taken_as", {"name": name}))
        return notes

    def logits(self) -> "frozenset[int]":
        """Elements of a tensor that holds logits, whole or without the last token."""
        rows, length = self._workload["micro_batch"], self._workload["length"]
        if self.config.is_encoder_decoder:
            length = self._workload.get("target_length") or length
        words = getattr(self.config.get_text_config(), "vocab_size", 0)
        return frozenset({rows * length * words, rows * (length - 1) * words, rows * (length + 1) * words} - {0})

    def groups(self, model: Any) -> "list[Any]":
        """With weight decay and without, as the Trainer hands them on."""
        if not self._by_decay:
            return [p for p in model.parameters() if p.requires_grad]
        named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        plain = {name for name, _ in named if any(re.search(pattern, name.lower()) for pattern in _NO_DECAY)}
        parts = ([p for name, p in named if name not in plain], [p for name, p in named if name in plain])
        return [{"params": part, "weight_decay": decay} for part, decay in zip(parts, (0.01, 0.0)) if part]  # noqa: B905


class FromFunction:
    """What a user's `module:function` returns: a model, or a model and a batch for it."""

    def __init__(self, question: "dict[str, Any]", *, fills: bool = False) -> None:
        model, workload = question["model"], question["workload"]
        self._factory, self._folder, self._workload = model["factory"], model.get("folder") or os.getcwd(), workload
        self._batch: Any = None

    def build(self) -> Any:
        made = function_of(self._factory, self._folder)()
        model, self._batch = made if isinstance(made, tuple) else (made, None)
        if not isinstance(model, load("torch").nn.Module):
            raise Refused("not_a_model", function=self._factory, type=type(model).__name__)
        self.config = getattr(model, "config", None)
        return model.train()

    def adapt(self, model: Any) -> Any:
        """It is as the user's function made it."""
        return model

    def batch(self, device: Any) -> "dict[str, Any]":
        torch = load("torch")
        if self._batch is not None:
            return moved(self._batch, device)
        words = torch.zeros((self._workload["micro_batch"], self._workload["length"]), dtype=torch.long, device=device)
        return {"input_ids": words, "labels": words}

    def notes(self) -> "list[tuple[str, dict[str, str]]]":
        return []

    def logits(self) -> "frozenset[int]":
        return frozenset()

    def groups(self, model: Any) -> "list[Any]":
        return [p for p in model.parameters() if p.requires_grad]


def moved(batch: Any, device: Any) -> "dict[str, Any]":
    """A user's batch on the device."""
    if not isinstance(batch, dict):
        raise Refused("batch_not_named")
    return {name: value.to(device) if hasattr(value, "to") else value for name, value in batch.items()}


def function_of(name: str, folder: str) -> Any:
    """A user's function, by `module:function` or `file.py:function`, found from `folder`."""
    module, _, function = name.rpartition(":")
    sys.path.insert(0, folder)
    try:
        if module.endswith(".py"):
            spec: Any = importlib.util.spec_from_file_location("model_of_the_user", os.path.join(folder, module))
            found = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(found)
        else:
            found = load(module)
        return getattr(found, function)
    except (ImportError, AttributeError, OSError, ValueError) as error:
        raise Refused("no_such_function", function=name, error=f"{type(error).__name__}: {error}") from error


def config_of(given: "dict[str, Any]", attention: str) -> Any:
    """transformers' config object. Its remote code is never run."""
    transformers = load("transformers")
    if given.get("quantization_config"):
        raise Refused("quantized", key="quantization_config")
    kind = given.get("model_type", "")
    try:
        config = transformers.AutoConfig.for_model(kind, **{k: v for k, v in given.items() if k != "model_type"})
    except (ValueError, KeyError):
        if given.get("auto_map"):
            raise Refused("own_code", type=str(kind)) from None
        raise Refused("unknown_model", type=str(kind) or "–", release=transformers.__version__) from None
    config._attn_implementation = attention
    config.use_cache = config.get_text_config().use_cache = False
    if config.is_encoder_decoder and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = 0
    return config


def named_class(given: "dict[str, Any]") -> str:
    """The class that a `config.json` names first, or ""."""
    return str((given.get("architectures") or [""])[0])


def class_of(config: Any, own: str) -> "tuple[str, Any]":
    """The kind of head and the class that has it: its own, where that gives a loss, or the usual one of its kind."""
    transformers, heads = load("transformers"), heads_of(config.model_type)
    usual = _HEADS[bool(config.is_encoder_decoder)]
    for head in (*usual, *_ALSO):
        if own in heads.get(head, ()):
            return head, getattr(transformers, own)
    for head in usual:
        if heads.get(head):
            return head, getattr(transformers, heads[head][0])
    raise Refused("no_language_model", type=config.model_type)


def heads_of(kind: str) -> "dict[str, tuple[str, ...]]":
    """The classes of a model type by their heads. A release that lacks a mapping has none of it."""
    auto, found = load("transformers.models.auto.modeling_auto"), {}
    for head in (_SEQ_TO_SEQ, _MASKED, _CAUSAL, _IMAGES, *_ALSO):
        names = getattr(auto, f"MODEL_FOR_{head}_MAPPING_NAMES", {}).get(kind)
        if names:
            found[head] = (names,) if isinstance(names, str) else tuple(names)
    return found


def unfilled() -> Any:
    """Leaves the weights as they are made, and untied: under ZeRO-3 transformers does so too, since each is divided by
    then, and ties them after that."""
    for name in ("transformers.initialization", "transformers.modeling_utils"):
        with contextlib.suppress(ImportError, AttributeError):
            return load(name).no_init_weights()
    return contextlib.nullcontext()


def dtype_name() -> str:
    """How `_from_config` calls the data type: `dtype` since transformers 4.56."""
    version = [int(part) for part in re.findall(r"\d+", load("transformers").__version__)[:2]]
    return "dtype" if version >= [4, 56] else "torch_dtype"


def adapted(model: Any, lora: "dict[str, Any]") -> Any:
    """With peft's adapters; all else is frozen."""
    try:
        peft = load("peft")
    except ImportError:
        raise Refused("no_peft") from None
    wanted = peft.LoraConfig(
        r=lora["rank"], target_modules=list(lora["targets"]), lora_dropout=lora.get("dropout", 0.0), task_type=None
    )
    return peft.get_peft_model(model, wanted)
