"""What a setting is about, as a user who looks for what mattered would order it: first how the memory is divided, last
where files go and how often something is written."""

import re

# By the class of a key, the most telling first; a key is of the first that it fits.
_MEANINGS = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"zero_optimization/stage$|zero_?stage",
        r"offload",
        r"fp16|bf16|bfloat16|half_precision|mixed_precision|dtype|tf32|data_types|quant|load_in_\dbit|^/amp/",
        r"optim(izer)?(?=$|[/_])",
        r"batch|grad(ient)?_acc|^ranks$|^devices$|^nodes$",
        r"learning_rate|(^|[/_-])lr($|_)|^/scheduler/|warmup|weight_decay",
        r"model",
    )
)
# Tells little, unless it is one of those above.
_LITTLE = re.compile(
    r"_(dir|path|file|folder|directory)$|^directory$|^python$|output|logg|(^|[/_-])(log|save|saving|eval|evaluation)_"
    r"|max_steps|steps_per_print|report_to|run_name|project|hub|overwrite|resume|tensorboard|wandb|comet|csv_monitor"
    r"|wall_clock|dump_state|disable_tqdm",
    re.IGNORECASE,
)
_PARTS_OF_LITTLE = frozenset({"code", "versions"})
WHAT_TRAINS = "training"  # the part of script and model
OTHER = len(_MEANINGS)
LITTLE = OTHER + 1


def meaning(part: str, key: str) -> int:
    """The place of its class: -1 for script and model, 0 for the ZeRO stage, `OTHER` for what fits none, `LITTLE` for
    paths and bookkeeping."""
    if part == WHAT_TRAINS:
        return -1
    if part in _PARTS_OF_LITTLE:
        return LITTLE
    for place, words in enumerate(_MEANINGS):
        if words.search(key):
            return place
    return LITTLE if _LITTLE.search(key) else OTHER
