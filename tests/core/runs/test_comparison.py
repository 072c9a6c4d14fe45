"""What two runs' configs and figures answer."""

import pytest

from dsgui.core.config.document import Document
from dsgui.core.metrics.performance import Figures
from dsgui.core.runs.comparison import Compared, answers

GIB = 1 << 30


def run(name: str, config: str, gpu_gib: float | None = None, main_gib: float | None = 10.0) -> Compared:
    gpus = {} if gpu_gib is None else {("", 0): int(gpu_gib * GIB), ("", 1): int((gpu_gib + 1) * GIB)}
    peak = None if main_gib is None else int(main_gib * GIB)
    return Compared(name, Document(config), Figures(run_peak_bytes=peak, gpu_peak_bytes=gpus))


BEFORE = '{"zero_optimization": {"stage": 3}}'
AFTER = '{"zero_optimization": {"stage": 3, "stage3_max_live_parameters": 3e10, "stage3_max_reuse_distance": 1e10}}'


def test_the_tutorials_question_is_answered_from_the_numbers() -> None:
    (answer,) = answers([run("before", BEFORE, 12), run("after", AFTER, 30)])
    text = " ".join(answer.sentences)
    assert "13.00 GiB in “before”, 31.00 GiB in “after” (+18.00 GiB)" in text
    assert "10.00 GiB in “before”, 10.00 GiB in “after” (+0.00 GiB, about the same)" in text
    assert "stage3_max_live_parameters went from 1e9 to 3e10" in text
    assert "1.9 and 55.9 GiB" in text
    assert "stage3_max_reuse_distance went from 1e9 to 1e10" in text


def test_the_runs_own_gpu_memory_answers_where_it_is_known() -> None:
    def own(name: str, config: str, gpu_gib: int) -> Compared:
        told = Figures(run_peak_bytes=10 * GIB, run_gpu_peak_bytes=gpu_gib * GIB, gpu_peak_bytes={("", 0): 70 * GIB})
        return Compared(name, Document(config), told)

    (answer,) = answers([own("before", BEFORE, 12), own("after", AFTER, 30)])
    assert answer.sentences[0] == (
        "GPU memory of this run (peak): 12.00 GiB in “before”, 30.00 GiB in “after” (+18.00 GiB)."
    )


@pytest.mark.parametrize(
    "runs",
    [
        [run("one", BEFORE, 12)],
        [run("one", BEFORE, 12), run("two", BEFORE, 30)],
        [run("one", BEFORE, 12), run("two", AFTER, 30), run("three", AFTER, 30)],
        [run("one", BEFORE, 12), Compared("two", None, Figures())],
        [run("one", '{"zero_optimization": {"stage": 2}}'), run("two", BEFORE)],
        [run("one", BEFORE, 12), run("two", AFTER, 12.1)],  # nothing changed
        [run("one", BEFORE, 12), run("two", AFTER, 30, main_gib=20)],  # both did
        [run("one", BEFORE, 12), run("two", AFTER, 12, main_gib=2)],  # host memory did
        [run("one", BEFORE), run("two", AFTER, 30)],
        [run("one", BEFORE, 12), run("two", AFTER, 30, main_gib=None)],
    ],
)
def test_nothing_is_answered_that_was_not_asked(runs: list[Compared]) -> None:
    assert answers(runs) == []
