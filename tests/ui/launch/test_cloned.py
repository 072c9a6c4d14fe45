"""A clone on the Launch page: what differs from the run it is of, and the name that says so."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dsgui.core.errors import RunError
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import LaunchRequest, StartedBy, WhenBusy
from dsgui.core.launch.planned import Planned
from dsgui.core.texts.languages import speaking
from dsgui.ui.common.services import Services
from dsgui.ui.launch.cloned import Changed, changes, line_html, name_of, of_parent, settings
from dsgui.ui.launch.desk import sets_more
from dsgui.ui.runs.again import chosen, desk_values

BEFORE = LaunchRequest(
    script="/recipes/translation.py",
    arguments="--max_steps 5 --bf16",
    ranks=2,
    config_text='{"zero_optimization": {"stage": 2}}',
    name="translation",
    target_python="/env/bin/python",
)
SERVICES = cast(
    Services,
    SimpleNamespace(
        runs=SimpleNamespace(masked=lambda text: text.replace("hunter2", "***")),
        target=lambda: SimpleNamespace(gpus=()),
        recipes={},
        all_presets=lambda: (),
    ),
)
CHANGED: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"arguments": "--bf16 --max_steps 5", "name": "other", "parent": "x"}, []),  # the same, in another order
    ({"arguments": "--max_steps 5 --bf16 --learning_rate 1e-4"}, ["--learning_rate: not set → 1e-4"]),
    ({"arguments": "--max_steps=7 --token hunter2"},
     ["--max_steps: 5 → 7", "--token: not set → ***", "without --bf16"]),
    ({"config_text": '{"zero_optimization": {"stage": 3}}'}, ["zero_optimization.stage: 2 → 3"]),
    ({"config_text": '{"bf16": {"enabled": true}, "zero_optimization": {}}'},
     ["bf16.enabled: not set → true", "zero_optimization: not set → {}", "without zero_optimization.stage 2"]),
    ({"config_text": "{"}, ["Config"]),
    ({"ranks": 4}, ["Devices: 4 ranks (was 2 ranks)"]),
    ({"environment": {"A": "1"}}, ["Environment variables: A=1"]),
    ({"place": SlurmJob(nodes=2, time="10")}, ["Where it trains: slurm", "Nodes: 2", "Time limit: 10"]),
]  # fmt: skip


@pytest.mark.parametrize(("new", "told"), CHANGED, ids=range(len(CHANGED)))
def test_what_differs_from_the_run_is_told(new: dict[str, Any], told: list[str]) -> None:
    found = [one.told for one in changes(BEFORE, replace(BEFORE, **new), SERVICES)]
    if "place" in new:
        assert [one for one in found if one.startswith(("Nodes", "Time"))] == told[1:]
    else:
        assert found == told


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "Devices: 2 ranks (was GPU 0, 1, not on this machine)"),
        ("zh-CN", "设备：2 个 rank（原为 GPU 0、1，本机没有）"),
    ],
)
def test_gpus_that_are_not_here_are_told_in_one_width(language: str, told: str) -> None:
    with speaking(language):
        assert [one.told for one in changes(replace(BEFORE, gpu_indices=(0, 1)), BEFORE, SERVICES)] == [told]


def test_of_some_gpus_that_are_here_the_others_are_told() -> None:
    here = SimpleNamespace(gpus=[SimpleNamespace(index=0)])
    services = cast(Services, SimpleNamespace(**vars(SERVICES) | {"target": lambda: here}))
    found = changes(replace(BEFORE, gpu_indices=(0, 1, 2)), BEFORE, services)
    assert [one.told for one in found] == ["Devices: 2 ranks (was GPU 0, 1, 2; this machine has no GPU 1, 2)"]


def test_a_name_says_the_first_change_and_counts_while_there_is_none() -> None:
    assert name_of(BEFORE, []) == "translation 2"
    assert name_of(replace(BEFORE, name="translation 9"), []) == "translation 10"
    assert name_of(replace(BEFORE, name="bert 512"), []) == "bert 512 2"  # a size is not counted up
    assert name_of(replace(BEFORE, name=" "), []) == "translation 2"  # of its script
    named: list[tuple[dict[str, Any], str]] = [
        ({"arguments": "--max_steps 5 --bf16 --learning_rate 1e-4", "ranks": 4}, "translation · learning_rate 1e-4"),
        ({"ranks": 4}, "translation · 4 ranks"),
        ({"planned": Planned(host_gib=512)}, "translation · host 512 GiB"),
        ({"planned": Planned("rtx4090")}, "translation · rtx4090"),
        ({"environment": {"A": "x: y (z)"}}, "translation · A=x: y (z)"),
        ({"config_text": '{"zero_optimization": {"stage": 2}, "a": "b: c (d)"}'}, 'translation · a "b: c (d)"'),
        (
            {"config_text": json.dumps({"zero_optimization": {"stage": 2}, "a": "b" * 50})},
            f'translation · a "{"b" * 37}…',
        ),
        ({"working_directory": ""}, "translation · Working directory: none"),
    ]
    for new, name in named:
        before = replace(BEFORE, working_directory="/w") if "working_directory" in new else BEFORE
        assert name_of(before, changes(before, replace(BEFORE, **new), SERVICES)) == name


def test_only_what_a_clone_was_named_after_makes_way_in_the_name_of_the_next() -> None:
    one = [Changed("--lr 1", "lr 1")]
    of_user = replace(BEFORE, name="exp · A")
    assert name_of(of_user, one) == "exp · A · lr 1"
    assert name_of(of_user, []) == "exp · A 2"
    by_parent = [Changed("--bf16", "bf16"), Changed("--lr 3", "lr 3")]
    assert name_of(replace(BEFORE, name="exp · A · bf16", parent="x"), one, by_parent) == "exp · A · lr 1"
    assert name_of(replace(BEFORE, name="exp · bf16", parent="x"), [], by_parent) == "exp 2"
    renamed = replace(BEFORE, name="exp · A", parent="x")
    assert name_of(renamed, one, by_parent) == "exp · A · lr 1"
    assert name_of(renamed, one) == "exp · A · lr 1"  # what it was cloned from is gone


def test_what_a_clone_was_named_after_is_known_from_the_run_that_it_was_cloned_from() -> None:
    def launched(run_id: str) -> LaunchRequest:
        if run_id != "x":
            raise RunError("gone")
        return BEFORE

    services = cast(Services, SimpleNamespace(**vars(SERVICES), archive=SimpleNamespace(launched=launched)))
    second = replace(BEFORE, ranks=4, parent="x")
    assert [one.short for one in of_parent(second, services)] == ["4 ranks"]
    assert of_parent(replace(second, parent=""), services) == of_parent(replace(second, parent="y"), services) == []


def test_a_name_that_was_cut_makes_way_as_well() -> None:
    long = [Changed("--x", "x" * 50)]
    name = name_of(BEFORE, long)
    assert name == f"translation · {'x' * 40}…"
    assert name_of(replace(BEFORE, name=name, parent="x"), [], long) == "translation 2"


def test_only_what_the_run_chose_opens_the_fold_of_a_clone() -> None:
    """The queue that is usual and the script's own folder are nobody's choice, wherever the run trained."""
    unset = replace(BEFORE, working_directory="/recipes")
    on_gpus = replace(unset, gpu_indices=(0, 1), when_busy=WhenBusy.WAIT)
    started_at_once = replace(on_gpus, when_busy=WhenBusy.START)  # as is usual here, where those GPUs are not
    for request in (unset, on_gpus, started_at_once):
        assert not sets_more(chosen(desk_values(SERVICES, request), request))
    for new in (
        {"when_busy": WhenBusy.WAIT},
        {"working_directory": "/elsewhere"},
        {"environment": {"A": "1"}},
        {"stop_after_steps": 5},
        {"started_by": StartedBy.TORCHRUN},
    ):
        request = replace(unset, **cast(Any, new))
        assert sets_more(chosen(desk_values(SERVICES, request), request)), new


def test_a_bundled_recipe_is_the_same_in_another_installation(tmp_path: Path) -> None:
    for name in ("ours", "theirs", "others"):
        (tmp_path / name / "recipes/parts").mkdir(parents=True)
        (tmp_path / name / "recipes/translation.py").write_text("import parts.a")
        (tmp_path / name / "recipes/parts/a.py").write_text("1" if name == "others" else "")
    ours, theirs, others = (tmp_path / name / "recipes/translation.py" for name in ("ours", "theirs", "others"))
    services = cast(Services, SimpleNamespace(**{**vars(SERVICES), "recipes": {"translation": ours}}))
    before = replace(BEFORE, script=str(theirs), arguments="")
    assert desk_values(services, before)["what"] == "translation"
    assert changes(before, replace(before, script=str(ours)), services) == []
    assert ("Script or recipe", "T5 translates number words") in settings(before, services)
    for another in (others, tmp_path / "recipes/translation.py", tmp_path / "theirs/recipes/mine.py"):
        assert desk_values(services, replace(before, script=str(another)))["what"] == "own"
    (told,) = changes(replace(before, script=str(others)), replace(before, script=str(ours)), services)
    assert told.told == f"Script: {ours}"


def test_the_line_is_short_escaped_and_has_all_behind_it() -> None:
    before = replace(BEFORE, name="<t5>")
    many = [Changed(one, one) for one in ("--a 1", "--b 2", "--c 3", "--d <4>")]
    html = line_html("20261126-123943-b96b", before, many, BEFORE, SERVICES)
    summary = html[html.index("<summary>") : html.index("</summary>")]
    assert "Cloned from <strong>&lt;t5&gt;</strong> (b96b) · 4 changes: --a 1, --b 2, --c 3" in summary
    assert "&lt;4&gt;" not in summary
    assert "<li>--d &lt;4&gt;</li>" in html
    assert "<dd>--max_steps 5 --bf16</dd>" in html
    assert "no changes" in line_html("a-b", before, [], BEFORE, SERVICES)


def test_a_clone_says_what_comes_next() -> None:
    assert "Nothing runs yet" in line_html("r-1", BEFORE, [], BEFORE, SERVICES)


def test_a_clone_of_a_run_on_gpus_leads_on_where_none_is_here() -> None:
    before = replace(BEFORE, gpu_indices=(0, 1))
    html = line_html("r-1", before, [], replace(before, planned=Planned("h200")), SERVICES)
    # One for each place; here the line above it tells on what it ran.
    assert html.count("It ran on GPU 0, 1 (H200 141 GB); this machine has no GPU") == 2
    assert html.count(">This machine has no GPU and would train on its CPU.") == 1
    for way in ('data-where="several"', 'data-where="slurm"', 'data-press="standing-download"'):
        assert way in html
    here = cast(Services, SimpleNamespace(**vars(SERVICES) | {"target": _with_gpus}))
    assert "Nothing runs yet" in line_html("r-1", before, [], before, here)


def _with_gpus() -> SimpleNamespace:
    return SimpleNamespace(gpus=[SimpleNamespace(index=0), SimpleNamespace(index=1)])


def test_where_it_goes_instead_is_no_change_of_the_run() -> None:
    before = replace(BEFORE, gpu_indices=(0,))
    now = replace(before, gpu_indices=(), place=Machines(""), planned=Planned("h200", host_gib=125))
    assert changes(before, now, SERVICES) == []
    assert line_html("r-1", before, [], now, SERVICES)  # while no host is named
