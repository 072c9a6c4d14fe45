"""Which of the curves that a training logs are losses, and which of these is the one that it minimizes."""

from collections.abc import Collection

_LAST_WORD = "loss"
# In this order; scripts log others beside them, as `aux_loss`.
USUAL = ("loss", "train_loss", "training_loss", "total_loss", "lm_loss")
_BESIDE = frozenset(("aux", "eval", "kl", "router", "test", "val", "valid", "validation", "z"))  # one alone is not it


def is_loss(name: str) -> bool:
    """`loss`, `lm_loss`; not `loss_scale`."""
    return name.rpartition("_")[2] == _LAST_WORD


def the_loss(names: Collection[str]) -> str | None:
    """Of names of the training's curves; None where there is no loss, or several of which none is the usual one."""
    losses = {name for name in names if is_loss(name)}
    usual = next((name for name in USUAL if name in losses), None)
    own = [name for name in losses if not _BESIDE.intersection(name.split("_"))]
    return usual or (own[0] if len(own) == 1 else None)
