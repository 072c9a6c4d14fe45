"""Where the settings of runs differ: arguments, config, variables, versions, commit."""

from dataclasses import replace
from typing import Any

import pytest

from dsgui.core.access.secrets import MASK
from dsgui.core.config.document import Document
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, Plan, StartedBy
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.runs.run_settings import (
    Section,
    Settings,
    arguments_of,
    changes,
    column_values,
    compared,
    scores_compare,
    searchable,
    unlike,
    why_unlike,
)
from dsgui.core.script.script import ScriptFacts

KEPT = {"python": "3.11.7", "versions": {"torch": "2.13.0"}, "git": {"commit": "a" * 40, "branch": "main"}}


def plan(arguments: str = "", run_id: str = "20260101-000000-0000", **changed: Any) -> Plan:
    request = LaunchRequest(
        script="train.py",
        arguments=arguments,
        ranks=2,
        config_text="{}",
        config_argument=ConfigArgument.HF,
        target_python="/usr/bin/python3",
        working_directory="/srv",
        **changed,
    )
    return make_plan(
        request,
        run_id=run_id,
        run_directory=f"/runs/{run_id}",
        script_path="/srv/train.py",
        master_port=29500,
        script=ScriptFacts(strict=True),
    )


def settings(arguments: str = "", config: str = "{}", kept: dict[str, Any] | None = None, **changed: Any) -> Settings:
    return Settings(plan(arguments, **changed), Document(config), KEPT if kept is None else kept)


def sections(*runs: Settings) -> dict[str, Section]:
    return {section.code: section for section in compared(runs)}


def differing(*runs: Settings) -> dict[str, dict[str, tuple[str | None, ...]]]:
    found = sections(*runs).items()
    return {
        code: {one.key: one.values for one in section.settings if one.differs}
        for code, section in found
        if section.differs
    }


def test_what_trains_stands_above_how_and_first_of_all_that_differs() -> None:
    one, other = settings("--lr 1 --model_name_or_path t5-small"), settings("--model=gpt2 --lr 2", config='{"a": 1}')
    found = compared([one, replace(other, plan=replace(other.plan, script="/srv/other.py"))])
    assert [part.code for part in found][:3] == ["training", "arguments", "config"]
    assert [(row.key, row.values, row.place) for row in found[0].settings] == [
        ("script", ("/srv/train.py", "/srv/other.py"), 0),
        ("model", ("t5-small", "gpt2"), 1),
    ]
    told = [row.key for part in found[1:] for row in part.settings]
    assert not {"script", "--model", "--model_name_or_path"} & set(told)  # once
    assert unlike(found) == "script"
    assert unlike(compared([one, other])) == "model"
    assert unlike(compared([one, one])) == unlike(compared([one])) == ""
    assert [setting.key for _, setting in changes(one, other)][:1] != []  # a list names the option


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("--model_name_or_path base --model a", "--model_name_or_path base --model b", {"--model": ("a", "b")}),
        ("--model a b1", "--model a b2", {"--model": ("a b1", "a b2")}),
        ("--model a b1", "--model a", {"--model": ("a b1", "a")}),
        ("--model a", "--model", {"--model": ("a", "")}),
    ],
)
def test_what_is_given_beside_the_model_that_is_told_above_is_a_difference(
    one: str, other: str, told: dict[str, tuple[str, str]]
) -> None:
    assert differing(settings(one), settings(other))["arguments"] == told


def test_the_models_of_adopted_runs_are_told_among_their_arguments() -> None:
    one, other = (
        replace(made, plan=replace(made.plan, started_by=StartedBy.OTHERS))
        for made in (settings("--model_name_or_path a"), settings("--model_name_or_path b"))
    )
    assert differing(one, other)["arguments"] == {"--model_name_or_path": ("a", "b")}
    assert differing(one, settings("--model_name_or_path b"))["arguments"] == {"--model_name_or_path": ("a", "b")}


def test_a_score_says_something_of_another_model_on_the_same_data_and_nothing_of_another_task() -> None:
    a, b, other = "--dataset_name a", "--dataset_name b", "--model_name_or_path gpt2"
    elsewhere = [replace(made, plan=replace(made.plan, script="/srv/other.py")) for made in (settings(), settings(a))]
    assert scores_compare(compared([settings(), settings(other)]))  # one script: the data are its own
    assert scores_compare(compared([settings(a), settings(f"{a} {other}")]))
    assert not scores_compare(compared([settings(a), settings(f"{b} {other}")]))
    assert not scores_compare(compared([settings(a), settings(b)]))
    assert not scores_compare(compared([settings(), elsewhere[0]]))
    assert not scores_compare(compared([settings(), elsewhere[1]]))
    assert scores_compare(compared([settings(a), elsewhere[1]]))
    assert why_unlike(compared([settings(), elsewhere[0]]), True, "ab") == (
        "Different scripts: losses, scores and speeds aren’t comparable."
    )
    assert why_unlike(compared([settings(), elsewhere[0]]), False, "ab") == (
        "Different scripts: losses and speeds aren’t comparable."
    )
    assert why_unlike(compared([settings(a), settings(f"{a} {other}")]), True, "ab") == ""  # which one names no model
    both = compared([settings(f"{a} --model_name_or_path t5"), settings(f"{b} {other}")])
    assert why_unlike(both, True, "ab") == "Different models and data: losses, scores and speeds aren’t comparable."


def test_the_one_of_several_runs_that_has_another_script_is_named() -> None:
    one, other, third = (replace(settings(), plan=replace(settings().plan, script=f"/srv/{name}.py")) for name in "abc")

    def why(*runs: Settings) -> str:
        return why_unlike(compared(runs), False, ["one", "two", "three", "four"][: len(runs)])

    assert why(one, other, one) == "“two” has a different script: its losses and speeds aren’t comparable."
    assert why(one, one, other, other) == "Not all have the same script: losses and speeds aren’t comparable."
    assert why(one, one, other, third) == "Not all have the same script: losses and speeds aren’t comparable."
    assert why(one, other, third) == "Different scripts: losses and speeds aren’t comparable."
    adopted = replace(other, plan=replace(other.plan, started_by=StartedBy.OTHERS))  # nobody knows its script
    assert why(one, adopted, other) == "Different scripts: losses and speeds aren’t comparable."


def test_a_run_that_names_no_model_may_have_the_same() -> None:
    none, tiny, large = settings(), settings("--model tiny"), settings("--model large")
    assert differing(none, tiny)["training"] == {"model": (None, "tiny")}
    assert unlike(compared([none, tiny])) == unlike(compared([tiny, none, tiny])) == ""
    assert unlike(compared([none, tiny, large])) == "model"


def test_runs_on_other_data_or_with_a_model_of_their_own_train_something_else() -> None:
    none, one, other = settings(), settings("--dataset_name a"), settings("--dataset_name b --lr 1")
    assert unlike(compared([one, other])) == "data"
    assert unlike(compared([none, one])) == ""  # which may be the script's default
    own = settings("--config_name own.json --dataset_name a")
    assert unlike(compared([own, one])) == unlike(compared([own, other])) == "model"
    assert unlike(compared([own, own])) == ""


def test_a_learning_rate_on_the_command_line_is_a_difference() -> None:
    found = differing(settings("--learning_rate 3e-3 --bf16"), settings("--learning_rate=1e-3"))
    assert found == {"arguments": {"--learning_rate": ("3e-3", "1e-3"), "--bf16": ("", None)}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--lr 3e-4 --epochs 2", "--epochs=2 --lr 0.0003"),
        ("--learning-rate 1", "--learning_rate 1"),
        ("--output_dir {own}/out", "--output_dir {own}/out"),
    ],
)
def test_another_spelling_is_no_difference(one: str, other: str) -> None:
    first = settings(one.format(own="/runs/20260101-000000-0000"))
    second = settings(other.format(own="/runs/20260102-000000-0000"), run_id="20260102-000000-0000")
    assert differing(first, second) == {}


def test_arguments_are_read_by_option() -> None:
    words = ("data.txt", "--layers", "1", "2", "--lr", "-1e-3", "-v", "--tag=a", "--tag=b", "model.size=7")
    assert arguments_of(words) == {
        "#1": "data.txt",
        "--layers": "1 2",
        "--lr": "-1e-3",
        "-v": "",
        "--tag": "a b",
        "model.size": "7",
    }


def test_what_differs_comes_first_and_every_part_is_looked_at() -> None:
    newer = {
        "python": "3.12.1",
        "versions": {"torch": "2.13.0", "deepspeed": "0.19.8"},
        "git": {"commit": "b" * 40, "branch": "main", "dirty": True},
    }
    one = settings("--lr 1", '{"bf16": {"enabled": true}}', environment={"NCCL_DEBUG": "INFO"})
    other = settings("--lr 1", '{"bf16": {"enabled": true}, "steps_per_print": 5e1}', newer, gpu_indices=(0, 1))
    found = compared([one, other])
    assert [(part.code, part.differs) for part in found] == [
        ("config", True),
        ("environment", True),
        ("launch", True),
        ("code", True),
        ("versions", True),
        ("training", False),
        ("arguments", False),
    ]
    told = differing(one, other)
    assert told["config"] == {"/steps_per_print": (None, "5e1")}
    assert told["environment"] == {"NCCL_DEBUG": ("INFO", None)}
    assert told["versions"] == {"Python": ("3.11.7", "3.12.1"), "deepspeed": (None, "0.19.8")}
    assert told["code"]["commit"] == ("a" * 40, "b" * 40)


def test_a_config_is_compared_by_its_values() -> None:
    one, other = '{"a": 5e8, "b": true, "c": {"d": 1}}', '{"c": {"d": 2}, "b": 1, "a": 500000000}'
    assert differing(settings(config=one), settings(config=other))["config"] == {
        "/b": ("true", "1"),
        "/c/d": ("1", "2"),
    }


def test_what_every_run_sets_comes_before_what_one_leaves_out() -> None:
    stage = '"zero_optimization": {"stage": %d}'
    runs = [settings(config='{"fp16": {"enabled": true}, ' + stage % 2 + "}"), settings(config="{" + stage % 3 + "}")]
    (config,) = (one for one in compared([*runs, Settings(plan(), None)]) if one.code == "config")
    assert [one.key for one in config.settings] == ["/zero_optimization/stage", "/fp16/enabled"]


def test_any_number_of_runs_is_compared() -> None:
    before = '{"zero_optimization": {"stage": 3}}'
    after = '{"zero_optimization": {"stage": 3, "stage3_max_live_parameters": 3e10}}'
    configs = [Document(before), Document(after), None, Document('{"zero_optimization": {"stage": 2}}')]
    assert differing(*(Settings(plan(), config, KEPT) for config in configs))["config"] == {
        "/zero_optimization/stage": ("3", "3", None, "2"),
        "/zero_optimization/stage3_max_live_parameters": (None, "3e10", None, None),
    }


def test_the_same_model_and_data_elsewhere_are_no_other_ones() -> None:
    one = settings("--model_name_or_path /m/gpt2 --data_dir /a/squad")
    assert unlike(compared([one, settings("--model_name_or_path /m/gpt2 --data_dir /b/squad/")])) == ""
    for here, same in (("train.json", "/d/train.json"), ("./train.json", "train.json"), ("u/data", "/home/u/data/")):
        both = (settings(f"--model_name_or_path gpt2 --train_file {path}") for path in (here, same))
        assert unlike(compared([*both])) == ""
    two, hundred = (settings(f"--model_name_or_path gpt2 --train_file /d/wikitext-{n}/train.txt") for n in (2, 103))
    assert unlike(compared([two, hundred])) == "data"  # train.txt is any data's name
    assert unlike(compared([two, settings("--model_name_or_path gpt2 --train_file /e/wikitext-2/train.txt")])) == ""
    assert unlike(compared([one, settings("--model_name_or_path /m/gpt2 --data_dir /b/glue")])) == "data"
    with_config = "--model_name_or_path /m/gpt2 --config_name /m/gpt2 --data_dir /a/squad"
    assert unlike(compared([one, settings(with_config)])) == ""  # the weights tell the model


def test_what_was_not_recorded_is_not_the_same() -> None:
    found = sections(settings(), settings(kept={}), Settings(plan(), None, KEPT))
    assert (found["versions"].unknown, found["code"].unknown, found["config"].unknown) == ((1,), (1,), (2,))
    assert not found["versions"].differs
    assert found["versions"].settings[0].values == ("3.11.7", None, "3.11.7")


def test_the_same_commit_with_uncommitted_changes_may_be_other_code() -> None:
    dirty = KEPT | {"git": {"commit": "a" * 40, "branch": "main", "dirty": True}}
    assert sections(settings(kept=dirty), settings(kept=dirty))["code"].uncertain
    assert not sections(settings(), settings())["code"].uncertain
    without = sections(settings(kept=dirty), settings(kept=dirty), settings(kept={}))
    assert not without["code"].uncertain  # nobody knows whether all have the same commit


def test_a_secret_is_compared_and_not_shown() -> None:
    one, other = (
        settings(f"--api_token {word}", environment={"WANDB_API_KEY": word})
        for word in ("abcdef123456", "fedcba654321")
    )
    found = differing(one, other)
    assert found["arguments"] == {"--api_token": (MASK, MASK)}
    assert {value for values in found["environment"].values() for value in values} == {MASK}


def test_changes_are_what_a_user_sets() -> None:
    before, after = settings("--lr 1", '{"a": 1}'), settings("--lr 2", '{"a": 2}', KEPT | {"python": "3.12"})
    assert [(part, one.key, one.values) for part, one in changes(before, after)] == [
        ("arguments", "--lr", ("1", "2")),
        ("config", "/a", ("1", "2")),
    ]


def test_a_search_compares_arguments_and_config_by_plain_keys_and_no_secret() -> None:
    found = searchable(settings("--learning-rate=1e-4 --api_token abcdef123456", '{"a": {"b": "cpu", "c": 5e8}}'))
    expected = {"learning_rate": "1e-4", "api_token": MASK, "a.b": "cpu", "a.c": "5e8"}
    assert {key: found[key] for key in expected} == expected


def test_the_first_differences_are_those_that_mean_most_and_some_are_of_the_config() -> None:
    words = "--output_dir {0} --logging_steps {0} --max_steps {0} --learning_rate {0} --seed {0} --bf16 {0}"
    config = """{{"steps_per_print": {0}, "wall_clock_breakdown": {0}, "gradient_clipping": {0},
        "zero_optimization": {{"stage": {0}, "offload_param": {{"device": "{0}"}}}}}}"""
    found = compared([settings(words.format(one), config.format(one)) for one in (2, 3)])
    assert [part.code for part in found[:2]] == ["config", "arguments"]
    apart = sorted((one.place, one.key) for part in found for one in part.settings if one.differs)
    assert [place for place, _ in apart] == list(range(11))
    assert [key for _, key in apart][:7] == [
        "/zero_optimization/stage",
        "/zero_optimization/offload_param/device",
        "/gradient_clipping",
        "/steps_per_print",
        "--bf16",
        "--learning_rate",
        "--seed",
    ]
    assert {key for _, key in apart[-4:]} >= {"--output_dir", "--logging_steps", "--max_steps"}


def test_of_what_means_as_much_what_both_set_comes_first() -> None:
    only = '{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}'
    found = compared([settings("--layers 2", only), settings("--layers 3")])
    places = {one.key: one.place for part in found for one in part.settings if one.differs}
    assert [places[key] for key in ("/a", "/d", "--layers", "/e")] == [0, 3, 4, 5]


def test_changes_begin_with_what_means_most() -> None:
    before, after = settings("--output_dir a", '{"zero_optimization": {"stage": 2}}'), settings("--output_dir b --bf16")
    assert [one.key for _, one in changes(before, after)] == ["/zero_optimization/stage", "--bf16", "--output_dir"]


def test_a_column_tells_an_option_without_a_value_from_one_that_is_not_set() -> None:
    found = column_values(settings("--bf16 --lr 1", '{"a": "", "b": "cpu"}'))
    assert {key: found.get(f"arguments:{key}") for key in ("bf16", "lr", "fp16")} == {
        "bf16": "",
        "lr": "1",
        "fp16": None,
    }
    assert (found["config:a"], found["config:b"]) == ('""', "cpu")
