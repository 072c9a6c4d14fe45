"""What a comparison among the words of a search asks of a run."""

from dataclasses import replace

from dsgui.core.launch.state import RunState
from dsgui.core.runs.filters import comparison, unfinished
from dsgui.core.runs.listing import cant_fit, fits, searched_text
from dsgui.core.runs.news import RunSummary
from tests.support.cases import each_case

GIB = 1 << 30
SETTINGS = {
    "gpus": "2",
    "learning_rate": "1e-4",
    "bf16": "",
    "zero_optimization.stage": "3",
    "zero_optimization.offload_optimizer.device": "cpu",
    "optimizer.params.lr": "auto",
}
BARE = RunSummary("id", "t5", RunState.FAILED, 0.0, 605.0, 10, 10, 0.4, "", tags=("LoRA",), note="x=y")
RUN = replace(BARE, best_loss=0.35294, steps_per_second=2.5, peak={"gpu_bytes": 40 * GIB})


def found(words: str, run: RunSummary = RUN) -> bool:
    return fits(run, searched_text(run), words.split(), lambda: SETTINGS)


@each_case(
    ("words", "fit"),
    [
        ("loss<1", True),
        ("loss<0.4", False),
        ("loss<=0.4", True),
        ("best_loss=0.3529", True),
        ("best_loss=0.353", True),
        ("best_loss=0.36", False),
        ("duration>10m", True),
        ("duration>1h", False),
        ("gpu_peak>=40gib", True),
        ("gpu_peak>40", False),
        ("host_peak>0", False),  # not measured
        ("speed>2 step=10", True),
        ("gpus=2", True),
        ("gpus>2", False),
        ("lr>=1e-4", True),
        ("lr=0.0001", True),
        ("--learning-rate=1e-4", True),
        ("lr>1e-4", False),
        ("stage=3", True),
        ("zero_optimization.stage=3", True),
        ("age=3", False),  # no part of a key
        ("device=cpu", True),
        ("device>cpu", False),
        ("state=failed tag=lora", True),
        ("tag=lo", False),
        ("x=y", True),  # words of the note
        ("none=1", False),
        ("loss<", True),  # still being typed
        ("loss<1 lr>1", False),
    ],
)
def test_a_run_fits_what_is_compared(words: str, fit: bool) -> None:
    assert found(words) is fit


def test_a_loss_that_is_no_number_is_neither_more_nor_less() -> None:
    broken = replace(RUN, loss="NaN")
    assert [found(word, broken) for word in ("loss<1", "loss>1", "loss=nan")] == [False, False, True]


@each_case(
    ("words", "told"),
    [
        *(
            ("t5 lr>=", ("lr>=", "lr>=1e-4")),
            ("LR>=", ("LR>=", "LR>=1e-4")),
            ("best_loss<", ("best_loss<", "best_loss<1")),
        ),
        *(("loss<1 foo=", ("foo=", "foo=…")), ("state=", ("state=", "state=…")), ("tag=", ("tag=", "tag=…"))),
        *(("model=", ("model=", "model=…")), ("loss<1 tag:lora =", None), ("", None)),
    ],
)
def test_a_word_without_its_value_is_told_with_one(words: str, told: tuple[str, str] | None) -> None:
    assert unfinished(words.split()) == told


@each_case(
    ("words", "told"),
    [
        ("t5 loss<abc", ("loss<abc", "number", "loss<1")),
        ("LR>=1e-4x", ("LR>=1e-4x", "number", "LR>=1e-4")),
        *(("loss=low", ("loss=low", "number", "loss=1")), ("stage>two", ("stage>two", "number", "stage>3"))),
        ("los<1", ("los<1", "key", "los")),
        ("date>2024-01-01", ("date>2024-01-01", "key", "date")),  # no number would do
        *(("optimiser=adam", ("optimiser=adam", "key", "optimiser")), ("state=failed", None), ("tag:lora", None)),
        *(("stage=two", None), ("lr<1", None), ("loss<1 duration>10m", None), ("loss<", None), ("loss=nan", None)),
    ],
)
def test_a_word_that_can_fit_no_run_is_told_with_why(words: str, told: tuple[str, str, str] | None) -> None:
    assert cant_fit(words.split(), ["learning_rate", "zero_optimization.stage"]) == told


def test_no_key_is_called_unknown_while_not_all_runs_were_looked_at() -> None:
    assert cant_fit(["optimiser=adam"], None) is None
    assert cant_fit(["loss<abc"], None) == ("loss<abc", "number", "loss<1")


def test_settings_are_read_only_where_they_are_asked_for() -> None:
    def never() -> dict[str, str]:
        raise AssertionError

    assert fits(RUN, searched_text(RUN), ["loss<1", "t5", "tag:lora"], never)


@each_case("word", ["lora", "tag:lora", "http://x?a=b", "<3", "=3"])
def test_what_has_no_key_or_no_sign_is_a_word(word: str) -> None:
    assert comparison(word) is None
