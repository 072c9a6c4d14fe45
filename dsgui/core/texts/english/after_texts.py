"""Texts of jobs after training."""

from collections.abc import Mapping

AFTER: Mapping[str, str] = {
    "label_consolidate": "{dtype} weights of {name}",
    "label_merge": "Merge of {name}",
    "label_universal": "Universal checkpoint of {name}",
    "no_disk": "The result takes about {needed}, and {free} is free on that disk. Free some space or choose another "
    "folder.",
    "little_memory": "This takes about {needed} of host memory, and {free} is available now. It may be killed.",
    "takes": "Takes about {disk} on disk and {memory} of host memory.",
    "takes_unknown": "How much disk and memory this takes can't be determined: the base model is not a local folder.",
    "trust": "Checkpoints of DeepSpeed are pickles: loading one runs the code in it. Only do this with checkpoints you "
    "trust.",
    "started": "Started {run}: {name}. Follow it with “{dsgui} logs -f {run}”.",
    "nothing_left": "{run} has left no checkpoint, adapter or model in the folders it wrote to.",
    "none_goes": "No checkpoint would be deleted by this rule.",
    "would_go": "{count} of {all} checkpoints would be deleted, {freed} in all. Add --yes to delete them.",
    "gone": "Deleted: {names}",
    "goes": "delete",
    "why_newest": "newest",
    "why_being_written": "being written",
    "why_last": "last N",
    "why_best": "best",
    "why_every": "every K steps",
    "why_in_use": "in use",
    "kind_checkpoint": "checkpoint",
    "kind_adapter": "LoRA adapter",
    "kind_model": "model",
    "kind_unfinished": "left by a killed job",
    "unfinished_would_go": "Left by killed jobs: {parts}. Add --yes to delete.",
    "head_name": "name",
    "head_kind": "kind",
    "head_step": "step",
    "head_size": "size",
    "head_can": "can",
    "incomplete": "incomplete",
}
