"""One run for a terminal: its state, its figures, and why it is slow. Told by `dsgui runs show`."""

from collections.abc import Iterator

from dsgui.core.metrics.performance import Figures, figures
from dsgui.core.runs.news import RunSummary
from dsgui.core.sizes import GIB
from dsgui.core.slow.causes import Judgement
from dsgui.runs.runs import Runs
from dsgui.runs.slowness import why_run_is_slow
from dsgui.shell.runs.store import Store


def shown(store: Store, runs: Runs, run_id: str) -> str:
    """Lines, without secrets. Raises `RunError`."""
    lines = [
        *_of_summary(runs.summary(run_id)),
        *_of_figures(figures(runs.curves(run_id))),
        *_of_judgement(why_run_is_slow(store, runs, run_id)),
    ]
    return runs.masked("\n".join(lines) + "\n")


def _of_summary(summary: RunSummary) -> Iterator[str]:
    yield f"{summary.run_id}  {summary.state.value}  {summary.name}"
    if summary.step is not None:
        yield f"step: {summary.step}" + (f" / {summary.total}" if summary.total else "")


def _of_figures(found: Figures) -> Iterator[str]:
    told = {
        "final loss": found.final_loss,
        "best loss (lowest)": found.best_loss,
        "steps/s": found.steps_per_second,
        "samples/s": found.samples_per_second,
        "duration (s)": found.duration_s,
    }
    yield from (f"{name}: {value:.4g}" for name, value in told.items() if value is not None)
    for (node, index), peak in found.gpu_peak_bytes.items():
        yield f"{f'{node}: ' if node else ''}GPU {index} memory, peak: {peak / GIB:.2f} GiB"
    if found.run_peak_bytes is not None:
        yield f"host memory of this run, peak: {found.run_peak_bytes / GIB:.2f} GiB"


def _of_judgement(judgement: Judgement) -> Iterator[str]:
    yield f"speed: {judgement.line}"
    yield from (f"  {one}" for one in judgement.figures)
    for cause in judgement.causes:
        if cause.line != judgement.line:
            yield f"  also: {cause.line}"
        yield from (f"  {one}" for one in cause.figures)
        yield f"  try: {cause.advice}"
