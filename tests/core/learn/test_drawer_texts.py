"""Every step has its texts, in every language, and no text is left over; what a step opens is there."""

import pytest

from dsgui.core.launch.recipes import BY_NAME
from dsgui.core.learn.drawer_texts import LABELS, TABLES, told
from dsgui.core.learn.numbers import of_lora, of_runs, of_two_keys
from dsgui.core.learn.run_facts import Outcome, RunFacts, Setup, setup_of
from dsgui.core.learn.tracks import STEPS, TRACKS
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.languages import LANGUAGES, speaking
from tests.core.learn.test_checking import run
from tests.support.memory.model_configs import REAL


def said_codes():
    for track in TRACKS:
        yield from (f"{track.id}.{part}" for part in ("name", "about", "source"))
    for step in STEPS.values():
        yield from (f"{step.id}.{part}" for part in ("title", "text"))
        yield from (f"{step.id}.go{place + 1}" for place in range(len(step.opens)))
        if step.choices:
            yield from (f"{step.id}.{part}" for part in ("ask", "right", "wrong"))
            yield from (f"{step.id}.a{place + 1}" for place in range(step.choices))
        if step.noted:
            yield f"{step.id}.notes"


def test_each_text_of_a_tutorial_has_its_step_and_each_step_its_texts():
    assert sorted(TEXTS["learn"]) == sorted(said_codes())


def test_each_cell_of_a_table_is_told():
    cells = [
        f"{name}.r{r}_c{c}" for name, (rows, columns) in TABLES.items() for r in range(rows) for c in range(columns)
    ]
    assert sorted(TEXTS["learn_tables"]) == sorted(cells)
    assert set(LABELS) <= set(TEXTS["learn_panel"])


@pytest.mark.parametrize("tag", LANGUAGES)
def test_all_of_it_can_be_told_in_each_language(tag):
    with speaking(tag):
        found = told()
    assert [len(track["steps"]) for track in found["tracks"]] == [6, 7, 6, 6]
    assert all(step["title"] and all(step["text"]) for track in found["tracks"] for step in track["steps"])
    assert {name for step in STEPS.values() for name in step.sliders.split(",") if name} <= set(found["offers"])


def test_what_a_step_opens_is_there(catalog):
    presets = {preset.id: preset for preset in catalog.presets()}
    opened = [opens for step in STEPS.values() for opens in step.opens]
    assert {opens.preset for opens in opened if opens.preset} <= presets.keys()
    assert {opens.recipe for opens in opened if opens.recipe} <= BY_NAME.keys()
    assert all(opens.plan < len(presets[opens.preset].plans) for opens in opened if opens.preset)


def test_the_two_keys_move_the_gpu_and_not_the_host(catalog, checker):
    """As docs/memory.md has it, for the T5-3B that transformers makes."""
    found = of_two_keys({preset.id: preset for preset in catalog.presets()}, checker)
    assert found is not None
    rows = {label: cells for label, *cells in found.rows}
    assert rows["GPU"] == ["3.1 GiB", "6.5 GiB"]
    assert rows["Gathered parameters"] == ["1.88 GiB", "5.31 GiB"]
    assert rows["Host"][0] == rows["Host"][1]
    assert rows["Trained parameters (billion)"][0] == f"{REAL['t5-3b'][1] / 1e9:.3g}"
    assert "not measured" in str(found.source)


def test_with_lora_gradients_and_moments_vanish_and_the_gpu_keeps_its_weights(catalog, checker):
    found = of_lora({preset.id: preset for preset in catalog.presets()}, checker)
    assert found is not None
    rows = {label: cells for label, *cells in found.rows}
    assert [float(cell.split()[0]) < 0.1 for cell in rows["Adam’s moments"]] == [False, True]
    assert float(rows["GPU"][1].split()[0]) > 13  # 2Ψ


def test_the_readers_runs_stand_side_by_side_without_rows_that_say_nothing():
    learned = RunFacts(
        "b", "b", run().state, Setup(run().setup.integration, 3, 2), Outcome(step_s=0.5, host_bytes=1 << 30)
    )
    found = of_runs([run("a", halved=True), learned])
    rows = {label: cells for label, *cells in found.rows}
    assert rows["ZeRO stage"] == ["2", "3"]
    assert rows["Time per step"] == ["–", "0.50 s"]
    assert rows["First loss"] == ["4", "–"]
    assert "Peak GPU memory" not in rows


def test_a_setup_is_read_from_config_and_arguments():
    class Argument:
        integration = run().setup.integration

    class Plan:
        config_argument, ranks, script = Argument, 4, "/x/Run_LoRA.py"
        arguments = ("--per_device_train_batch_size", "2")

    zero = {"stage": 2, "offload_optimizer": {"device": "cpu"}}
    found = setup_of(Plan, {"zero_optimization": zero, "gradient_accumulation_steps": 3})
    assert (found.stage, found.optimizer_at, found.batch, found.micro) == (2, "cpu", 24, 2)
    assert found.lora
    assert found.script == "run_lora.py"
    strange = setup_of(Plan, {"zero_optimization": {"stage": "auto"}, "train_batch_size": "auto"})
    assert (strange.stage, strange.batch, strange.optimizer_at) == (0, None, "none")
