"""When a run is to be stopped although its script would go on: after so many steps, or so much time."""

from dsgui.core.launch.plan import RunSpec
from dsgui.core.texts.saying import Said, said

_MINUTE_S = 60


def limit_reached(spec: RunSpec, step: int | None, elapsed_s: float) -> Said | None:
    """What the run was to be stopped after, in words that a sentence takes in; None before. `step` is None until the
    training has told of one."""
    if spec.stop_after_steps and step is not None and step >= spec.stop_after_steps:
        return said("reasons", "limit_steps", steps=str(spec.stop_after_steps))
    if spec.stop_after_minutes and elapsed_s >= spec.stop_after_minutes * _MINUTE_S:
        return said("reasons", "limit_minutes", minutes=str(spec.stop_after_minutes))
    return None


def limit_told(limit: Said, step: int | None) -> Said:
    """The limit that a run was stopped at, with how far it had come by then, where that is further."""
    if step is None or ("steps", str(step)) in limit.given:
        return limit
    return said("reasons", "limit_at", limit=limit, step=str(step))
