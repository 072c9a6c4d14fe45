"""Texts of trying a trained model."""

from collections.abc import Mapping

TRY: Mapping[str, str] = {
    "trained": "trained",
    "base": "base model",
    "tokens": "Max. new tokens",
    "temperature": "Temperature",
    "seed": "Seed",
    "facts": "{parameters} parameters in {dtype} on {device}, loaded in {seconds} s",
    "takes": "Loading {name}: takes about {memory} of memory, {free} available.",
    "no_memory": "Loading this takes about {needed} of memory, and {free} is available. Free some, compare without "
    "the base model, or try a smaller model.",
    "worker_ended": "The process that held the model ended: {error}",
    "killed": "The process that held the model was killed, most likely because memory ran out. Free some memory and "
    "try again.",
    "no_python": "{python} can't be started: {error}",
    "too_long": "No answer after {seconds} s: the process was ended. Ask for fewer tokens, or use a GPU.",
    "over_limit": "The model took more than {limit} of memory, so its process was ended. Use a shorter prompt or "
    "fewer tokens.",
    "no_host_memory": "Host memory ran out. Free some, or compare without the base model.",
    "no_gpu_memory": "GPU memory ran out. Choose the CPU, or wait until the GPU is free.",
    "no_package": "The package {name} is missing in {python}. Install it there.",
    "no_gpu": "PyTorch sees no GPU in the training environment. Choose the CPU.",
    "no_tokenizer": "{folder} has no tokenizer that can be loaded ({why}). Save the tokenizer there, or name a base "
    "model that has one.",
    "no_config": "{folder} is not a model that transformers can load: {why}",
    "not_generative": "{folder} holds a {name}, which doesn't generate text. Expected a causal or "
    "sequence-to-sequence model.",
    "missing": "{folder}: {count} weights of the model are missing, {name} among them. Consolidate the checkpoint "
    "first.",
    "not_loaded": "{folder} can't be loaded: {why}",
    "no_fit": "The adapter {adapter} doesn't fit {base}: {why}",
    "no_tokens": "The tokenizer makes no tokens of this prompt. Enter other text.",
    "other_tokenizer": "The tokenizer has tokens beyond the {count} that the model knows: it belongs to another model.",
    "long_prompt": "The prompt is {count} tokens long, and the model has {most} positions. Shorten it.",
    "failed": "Generating failed: {error}",
}
