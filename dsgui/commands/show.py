"""One run for a terminal: its state, its figures, and why it is slow. Told by `dsgui runs show`."""

from collections.abc import Iterator

from dsgui.core.launch.state import RunState
from dsgui.core.metrics.performance import Figures
from dsgui.core.metrics.points import figure
from dsgui.core.runs.news import RunSummary
from dsgui.core.sizes import gib
from dsgui.core.slow.causes import TOO_FEW, Judgement
from dsgui.core.texts.durations import duration
from dsgui.core.texts.saying import Said, words
from dsgui.runs.runs import Runs
from dsgui.runs.slowness import why_run_is_slow
from dsgui.shell.runs.store import Store


def shown(store: Store, runs: Runs, run_id: str) -> str:
    """Lines, without secrets. Raises `RunError`."""
    summary = runs.summary(run_id)
    lines = [*_of_summary(summary), *_of_figures(runs.figures(run_id))]
    if summary.state is not RunState.ELSEWHERE:  # nobody sampled it
        lines += _of_judgement(why_run_is_slow(store, runs, run_id))
    return runs.masked("\n".join(lines) + "\n")


def _of_summary(summary: RunSummary) -> Iterator[str]:
    yield f"{summary.run_id}  {words('states', summary.state.value)}  {summary.name}"
    if summary.step is not None:
        yield _line("show_step", f"{summary.step}" + (f" / {summary.total}" if summary.total else ""))


def _of_figures(found: Figures) -> Iterator[str]:
    told = {
        "show_final_loss": found.final_loss,
        "show_best_loss": found.best_loss,
        "show_steps": found.steps_per_second,
        "show_samples": found.samples_per_second,
    }
    yield from (_line(code, figure(value)) for code, value in told.items() if value is not None)
    if found.duration_s is not None:
        yield _line("show_duration", duration(found.duration_s))
    if found.run_gpu_peak_bytes is not None:
        yield words("commands", "show_run_gpu_peak", peak=gib(found.run_gpu_peak_bytes, 2))
    for (node, index), peak in found.gpu_peak_bytes.items():
        line = words("commands", "show_gpu_peak", gpu=str(index), peak=gib(peak, 2))
        yield words("commands", "line", file=node, line=line) if node else line
    if found.run_peak_bytes is not None:
        yield words("commands", "show_run_peak", peak=gib(found.run_peak_bytes, 2))


def _of_judgement(judgement: Judgement) -> Iterator[str]:
    if judgement.code == TOO_FEW:
        return
    yield _line("show_speed", judgement.line)
    yield from (f"  {one}" for one in judgement.figures)
    for cause in judgement.causes:
        if cause.line != judgement.line:
            yield "  " + _line("show_also", cause.line)
        yield from (f"  {one}" for one in cause.figures)
        yield "  " + _line("show_try", cause.advice)


def _line(code: str, what: str | Said) -> str:
    return words("commands", "line", file=words("commands", code), line=what)
