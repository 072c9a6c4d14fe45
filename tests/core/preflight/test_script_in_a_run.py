"""What a script's source and the values of its options tell of one run, before it starts."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from dsgui.core.launch.command import environment, shell_line, shown_command
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, Plan
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.machine.machine import Environment
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.memory.question import Model
from dsgui.core.preflight.handing_checks import offer
from dsgui.core.preflight.judging import rows_around, with_config
from dsgui.core.preflight.surroundings import Launch, Question, Surroundings
from dsgui.core.script.in_a_run.config_sets import filling
from dsgui.core.script.in_a_run.worth import Values
from dsgui.core.script.script import script_facts
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.preflight.scout import Scout
from dsgui.shell.script import names_there
from dsgui.shell.script.script_answers import arguments_file
from tests.shell.machine.test_machine import CPU, target

IN_CODE = """
    import os
    from transformers import Trainer, TrainingArguments
    args = TrainingArguments(
        "out",
        bf16=True,
        per_device_train_batch_size=2,
        deepspeed=os.environ.get("DS_CONFIG"),
    )
    Trainer(args=args).train()
"""
BY_FILE = """
    import argparse
    from transformers import HfArgumentParser, Trainer, TrainingArguments
    parser = argparse.ArgumentParser()
    parser.add_argument("--args_file", default="args.json")
    given = parser.parse_args()
    (args,) = HfArgumentParser(TrainingArguments).parse_json_file(json_file=given.args_file)
    Trainer(args=args).train()
"""
ALONE = """
    import os, sys
    from dataclasses import dataclass, field
    from transformers import HfArgumentParser, Trainer, TrainingArguments
    @dataclass
    class Mine:
        model_name_or_path: str = field(default="none")
    parser = HfArgumentParser((Mine, TrainingArguments))
    if sys.argv[-1].endswith(".yaml"):
        mine, args = parser.parse_yaml_file(os.path.abspath(sys.argv[-1]))
    else:
        mine, args = parser.parse_args_into_dataclasses()
"""
JSON = '{\n "output_dir": "out",\n "fp16": true,\n "deepspeed": "ds.json"\n}'
CHOICES = """
    import argparse
    p = argparse.ArgumentParser()
    p.add_argument("--mode", choices=["full", "lora"])
    p.parse_args()
"""
LITERAL = """
    from dataclasses import dataclass
    from typing import Literal
    from transformers import HfArgumentParser, TrainingArguments
    @dataclass
    class Mine:
        mode: Literal["full", "lora"] = "full"
    parser = HfArgumentParser((Mine, TrainingArguments))
    mine, args = parser.parse_args_into_dataclasses()
"""
LOOP = """
    import argparse, json, deepspeed
    parser = argparse.ArgumentParser()
    parser.add_argument("--ds_file", default="ds.json")
    parser.add_argument("--batch", type=int, default=4)
    args = parser.parse_args()
    with open(args.ds_file) as file:
        ds_config = json.load(file)
    ds_config["train_micro_batch_size_per_gpu"] = args.batch
    ds_config["optimizer"]["params"]["lr"] = 1e-4
    {more}
    deepspeed.initialize(model=m, config=ds_config)
"""
AUTO = {
    "train_micro_batch_size_per_gpu": "auto",
    "optimizer": {"type": "Adam", "params": {"lr": "auto"}},
    "gradient_clipping": "auto",
}
BF16 = {"bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 1}}
FP16 = {"fp16": {"enabled": True}, "train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 1}}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_there, "TIMEOUT_S", 300.0)


def planned(folder: Path, source: str, arguments: str = "", **more: Any) -> Plan:
    """For a script of that source, as it takes its config by itself."""
    script = folder / "train.py"
    script.write_text(dedent(source))
    request = LaunchRequest(
        **{
            "script": str(script),
            "arguments": arguments,
            "ranks": 1,
            "target_python": sys.executable,
            "working_directory": str(folder),
            "config_text": "{}",
            "config_argument": ConfigArgument.HF,
            "as_script_reads": True,
        }
        | more
    )
    facts = script_facts(script.read_text())
    return make_plan(
        request, run_id="r", run_directory=str(folder / "run"), script_path=str(script), master_port=29600, script=facts
    )


def around(plan: Plan) -> Surroundings:
    known = Environment(target().environment.target)
    scout = Scout(lambda: CPU, lambda: known)
    return scout.surroundings(plan, script_facts(Path(plan.script).read_text()), False)


def judged(plan: Plan, config: Mapping[str, Any]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows_around(plan, json.dumps(config), around(plan), Checker(Catalog().schema())):
        found.setdefault(row.check, []).append(row)
    return found


def choosing(how: str) -> str:
    return CHOICES.replace('"--mode", choices=["full", "lora"]', f'"--o", {how}')


def told(rows: list[Row]) -> str:
    return " ".join(f"{row.all_seen} {row.advice}" for row in rows)


def variables(**named: str) -> dict[str, Any]:
    return {"environment": named}


# ------------------------------------------------------------------------------ the HF Trainer's, in code or in a file
def test_what_the_code_gives_the_trainer_is_held_against_the_config(tmp_path: Path) -> None:
    plan = planned(tmp_path, IN_CODE, **variables(DS_CONFIG="{config}"))
    wrong = told(judged(plan, FP16 | {"train_micro_batch_size_per_gpu": 4})["agreement"])
    assert "train.py, line 6" in wrong
    assert "per_device_train_batch_size=2" in wrong
    assert "train.py, line 7" in wrong
    assert "--per_device" not in wrong  # no option of a command line helps
    assert "agreement" not in judged(plan, BF16)


def test_a_value_of_the_code_that_an_option_decides_is_that_of_the_run(tmp_path: Path) -> None:
    source = """
        import argparse
        from transformers import TrainingArguments
        p = argparse.ArgumentParser()
        p.add_argument("--deepspeed"); p.add_argument("--batch", type=int, default=2)
        args = p.parse_args()
        TrainingArguments("out", bf16=True, per_device_train_batch_size=args.batch, deepspeed=args.deepspeed)
    """
    assert "agreement" not in judged(planned(tmp_path, source), BF16)
    assert "=2 vs hf per_device_train_batch_size=8" in told(
        judged(planned(tmp_path, source, "--batch 8"), BF16)["agreement"]
    )
    computed = source.replace("default=2)", "default=2)").replace("args.batch,", "found(),")
    assert "agreement" not in judged(planned(tmp_path, computed, "--batch 8"), BF16)


@pytest.mark.parametrize(
    ("source", "arguments", "name", "text"),
    [
        (BY_FILE, "", "args.json", '{\n "output_dir": "out",\n "fp16": true,\n "deepspeed": "ds.json"\n}'),
        (
            BY_FILE,
            "--args_file a.json",
            "a.json",
            '{\n "output_dir": "out",\n "fp16": true,\n "deepspeed": "ds.json"\n}',
        ),
        (ALONE, "a.yaml", "a.yaml", "output_dir: out\ndeepspeed: ds.json\nfp16: true\n"),
    ],
)
def test_what_a_file_gives_the_trainer_is_held_against_the_config_that_it_names(
    tmp_path: Path, source: str, arguments: str, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "ds.json").write_text(json.dumps(BF16 | {"train_micro_batch_size_per_gpu": 8}))
    found = judged(planned(tmp_path, source, arguments), {})
    assert f"{name}, line 3" in told(found["agreement"])
    assert "ds.json" in told(found["takes_config"])
    (tmp_path / "ds.json").write_text(json.dumps(FP16 | {"train_micro_batch_size_per_gpu": 8}))
    found = judged(planned(tmp_path, source, arguments), FP16 | {"train_micro_batch_size_per_gpu": 8})
    assert "agreement" not in found
    assert found["takes_config"][0].status is Status.OK


def test_a_file_of_arguments_without_a_config_trains_without_deepspeed(tmp_path: Path) -> None:
    (tmp_path / "args.json").write_text('{"output_dir": "out", "nonsense": 1}')
    found = judged(planned(tmp_path, BY_FILE), {})
    assert found["takes_config"][0].status is Status.WARNING
    assert "without DeepSpeed" in told(found["takes_config"])
    assert "nonsense" in told(found["arguments_file"])
    assert "output_dir" not in told(found["arguments_file"])


def test_the_model_that_a_file_of_arguments_names_is_read(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "gpt2"}')
    (tmp_path / "a.yaml").write_text(f"output_dir: out\nmodel_name_or_path: {model}\n")
    meets = around(planned(tmp_path, ALONE, "a.yaml"))
    assert meets.shape is not None
    assert meets.model.named == str(model)
    plan = planned(tmp_path, ALONE, "a.yaml")
    launch = with_config(Launch.of(plan, {}), json.dumps(BF16), meets, Checker(Catalog().schema()))
    assert launch.choice.model == str(model)


# ------------------------------------------------------------------------------------------ a config from the variables
def test_a_variable_that_is_not_set_leaves_the_run_without_deepspeed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DS_CONFIG", raising=False)
    plan = planned(tmp_path, IN_CODE)
    row = judged(plan, BF16)["takes_config"][0]
    assert row.status is Status.WARNING
    assert "DS_CONFIG is not set" in row.seen
    assert "without DeepSpeed" in row.seen
    assert "own config" not in told(judged(plan, BF16)["config"])
    found = offer(Question(Launch.of(plan, BF16), around(plan)))
    assert found is not None
    assert found.variables == (("DS_CONFIG", "{config}"),)
    assert str(found.label) == "Add DS_CONFIG={config} to the environment variables"
    monkeypatch.setenv("DS_CONFIG", str(tmp_path / "other.json"))
    (tmp_path / "other.json").write_text(json.dumps(FP16))
    assert "not this one" in told(judged(plan, BF16)["takes_config"])


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("import os, deepspeed\ndeepspeed.initialize(model=m, config=os.environ['DS'])", Status.WARNING),
        ("import os, deepspeed\npath = os.getenv('DS')\ndeepspeed.initialize(model=m, config=path)", Status.WARNING),
        ("import os, deepspeed\ndeepspeed.initialize(model=m, config=os.environ['DSGUI_CONFIG'])", Status.OK),
    ],
)
def test_so_does_a_loop_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, status: Status
) -> None:
    monkeypatch.delenv("DS", raising=False)
    row = judged(planned(tmp_path, script), BF16)["takes_config"][0]
    assert row.status is status
    assert ("DS is not set" in row.seen) is (status is Status.WARNING)


def test_an_imported_file_may_set_the_variable(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("")
    loop = "import os, deepspeed\ndeepspeed.initialize(model=m, config=os.environ.get('MY_DS'))"
    assert told(judged(planned(tmp_path, loop), {})["takes_config"]).count("the script gets no config. ") == 1
    unsure = told(judged(planned(tmp_path, f"import settings\n{loop}"), {})["takes_config"])
    assert "unless a file that it imports sets MY_DS" in unsure
    other = f"import settings\n{loop}".replace("'MY_DS')", "'MY_DS') or 'ds.json'")
    assert "MY_DS is not set" not in told(judged(planned(tmp_path, other), {})["takes_config"])


def test_the_place_of_the_config_is_put_into_variables_too(tmp_path: Path) -> None:
    plan = planned(tmp_path, IN_CODE, **variables(DS_CONFIG="{config}", LIST="a:{config}:b"))
    path = str(tmp_path / "run" / "ds_config.json")
    assert environment(plan, {})["DS_CONFIG"] == path
    assert environment(plan, {})["LIST"] == f"a:{path}:b"
    assert f"DS_CONFIG={path}" in shell_line(plan)
    assert f"DS_CONFIG={path}" in shown_command(plan)
    assert plan.environment["DS_CONFIG"] == "{config}"  # a clone gets its own
    batch = SlurmJob(nodes=1, per_node=1, partition="p")
    submitted = replace(plan, place=batch).place.script(replace(plan, place=batch))
    assert f"DS_CONFIG={path}" in submitted
    assert "{config}" not in submitted


# -------------------------------------------------------------------------------------------------- values of options
@pytest.mark.parametrize(
    ("source", "arguments", "text", "seen"),
    [
        (ALONE, "--output_dir o --optim adamw_hf", "", "argument --optim: invalid choice: 'adamw_hf'"),
        (ALONE, "--output_dir o --lr_scheduler_type cosin", "", "invalid choice: 'cosin'"),
        (ALONE, "--output_dir o --optim adamw_torch --eval_strategy no", "", ""),
        (ALONE, "a.yaml", "output_dir: o\noptim: adamw_hf\n", "a.yaml, line 2"),
        (ALONE, "a.yaml", "output_dir: o\nsave_strategy: no\n", "False is not a valid SaveStrategy"),
        (ALONE, "a.yaml", "output_dir: o\nsave_strategy: 'no'\n", ""),
        (ALONE, "a.yaml", "output_dir: o\n# optim: adamw_hf\n'optim': adamw_hf\n", "a.yaml, line 3"),
        (ALONE, "a.yaml", "{output_dir: 'with optim: x',\n optim: adamw_hf}\n", "a.yaml, line 2"),
        (IN_CODE.replace("bf16=True", "optim='adamw_hf'"), "", "", "train.py, line 6"),
        (IN_CODE, "", "", ""),
        (
            CHOICES,
            "--mode lorra",
            "",
            "argument --mode: invalid choice: 'lorra'",
        ),
        (choosing("type=float, choices=[1e-5, 2e-5]"), "--o 1e-5", "", ""),
        (choosing("type=float, choices=[1e-5, 2e-5]"), "--o 3e-5", "", "argument --o: invalid choice: 3e-05"),
        (choosing("type=int, choices=[1, 2]"), "--o 01", "", ""),
        (choosing("type=int, choices=[1, 2]"), "--o 3", "", "argument --o: invalid choice: 3"),
        (choosing("type=int, choices=[1, 2]"), "--o two", "", "argument --o: invalid int value: 'two'"),
        (choosing("type=bool, choices=[True, False]"), "--o yes", "", ""),
        (choosing("type=str2bool, choices=[True, False]"), "--o true", "", ""),
        (choosing("type=str.lower, choices=['adam', 'sgd']"), "--o Adam", "", ""),
        (choosing("type=lambda word: word.lower(), choices=['adam', 'sgd']"), "--o Adam", "", ""),
        (choosing("type=str, choices=['adam', 'sgd']"), "--o Adam", "", "argument --o: invalid choice: 'Adam'"),
        (LITERAL, "--output_dir o --mode lorra", "", "argument --mode: invalid choice: 'lorra'"),
        (LITERAL, "--output_dir o --mode lora", "", ""),
    ],
)  # fmt: skip
def test_a_value_that_an_enumeration_does_not_have_is_told_with_the_nearest(
    tmp_path: Path, source: str, arguments: str, text: str, seen: str
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    rows = judged(planned(tmp_path, source, arguments), {}).get("values", [])
    assert seen in told(rows)
    assert bool(rows) is bool(seen)
    nearest = {"adamw_hf": "adamw_torch", "cosin": "cosine", "lorra": "lora", "False": '"no"'}
    for wrong, right in nearest.items():
        if rows and wrong in rows[0].seen:
            assert f"Write {right}" in rows[0].advice


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"a": "x \\"b\\": 1",\n\n "b" : [1, {"c": 2}],\n "c": 3}', {"a": 1, "b": 3, "c": 4}),
        ('\n{\n}\n', {}),
    ],
)  # fmt: skip
def test_the_names_of_a_json_file_of_arguments_have_their_own_lines(
    tmp_path: Path, text: str, lines: Mapping[str, int]
) -> None:
    (tmp_path / "args.json").write_text(text)
    plan = planned(tmp_path, BY_FILE)
    found = arguments_file(plan, script_facts(dedent(BY_FILE)).command_line, lambda path: None)
    assert found.lines == lines


# ------------------------------------------------------------------------------------------------ what was not checked
OLD = "from transformers import Trainer\nimport transformers\n{}\nTrainer(model=m, tokenizer=t)\n"


@pytest.mark.parametrize(
    ("statement", "checked", "named"),
    [
        ("args = parse()\nfor name, value in more: setattr(args, name, value)", True, ""),
        ("training_args, rest = parse()\nfor name in rest: setattr(training_args, name, 1)", True, ""),
        ("def f(model_args, name): setattr(model_args, name, 1)\nf(a, n)", True, ""),
        ("for name in vars(args): print(name)", True, ""),
        ("for name in names: setattr(transformers, name, None)", False, "setattr(transformers, name, None) (line 3)"),
        ("def f(m, name): setattr(m, name, 1)\nf(transformers, n)", False, "setattr(m, name, 1) (line 3)"),
        ("from helpers import *", False, "from helpers import * (line 3)"),
        ("globals()[name] = value", False, "globals (line 3)"),
    ],
)  # fmt: skip
def test_what_a_computed_name_keeps_from_being_checked_is_told(
    tmp_path: Path, statement: str, checked: bool, named: str
) -> None:
    (tmp_path / "helpers.py").write_text("x = 1\n")
    row = judged(planned(tmp_path, OLD.format(statement)), {})["imports"][0]
    assert row.status is (Status.PROBLEM if checked else Status.UNKNOWN)
    assert ("tokenizer=" in row.seen) is checked
    assert named in row.seen


# ---------------------------------------------------------------------------------------- a loop that fills its config
@pytest.mark.parametrize(
    ("more", "errors", "severity"),
    [
        ("", {"gradient_clipping"}, Status.PROBLEM),
        ("ds_config['gradient_clipping'] = 1.0", set(), Status.OK),
        ("ds_config.update({'gradient_clipping': 1.0})", set(), Status.OK),
        ("if args.batch > 8: ds_config['gradient_clipping'] = 1.0", {"gradient_clipping"}, Status.PROBLEM),
        ("if ds_config['gradient_clipping'] == 'auto': ds_config['gradient_clipping'] = 1.0", set(), Status.OK),
        ("fill(ds_config)", {"gradient_clipping"}, Status.WARNING),
        ("del ds_config['gradient_clipping']", {"gradient_clipping"}, Status.WARNING),
        ("ds_config.pop('gradient_clipping')", {"gradient_clipping"}, Status.WARNING),
        ("ds_config = {**ds_config, 'gradient_clipping': 1.0}", set(), Status.OK),
        ("ds_config = {**ds_config, **more()}", {"gradient_clipping"}, Status.WARNING),
        ("ds_config |= {'gradient_clipping': 1.0}", set(), Status.OK),
        ("ds_config = ds_config | {'gradient_clipping': 1.0}", set(), Status.OK),
        ("ds_config = dict(ds_config, gradient_clipping=1.0)", set(), Status.OK),
        ("ds_config['gradient_clipping'], n = 1.0, 2", set(), Status.OK),
        ("same = ds_config; same['gradient_clipping'] = 1.0", set(), Status.OK),
        ("same = ds_config; same.update(gradient_clipping=1.0)", set(), Status.OK),
        ("for n in f(): same = ds_config; same.update(gradient_clipping=1.0)", {"gradient_clipping"}, Status.WARNING),
        ("wandb.init(config=ds_config); a = dict(ds_config), sorted(ds_config)", {"gradient_clipping"}, Status.PROBLEM),
        ("run(**ds_config)", {"gradient_clipping"}, Status.PROBLEM),
        ("ds_config.setdefault('gradient_clipping', 1.0)", {"gradient_clipping"}, Status.PROBLEM),  # it stands there
    ],
)
def test_auto_that_the_script_writes_itself_is_no_error(
    tmp_path: Path, more: str, errors: set[str], severity: Status
) -> None:
    plan = planned(tmp_path, LOOP.format(more=more), "--ds_file {config}")
    meets = around(plan)
    launch = with_config(Launch.of(plan, {}), json.dumps(AUTO), meets, Checker(Catalog().schema()))
    told_of = [one for one in launch.findings if one.severity.value in ("error", "warning")]
    assert {one.pointer.lstrip("/") for one in told_of} == errors
    assert all("HF Trainer”" not in one.advice for one in launch.findings)
    row = judged(plan, AUTO)["config"][0]
    assert row.status is severity
    assert "train_micro_batch_size_per_gpu (line 9)" in f"{row.seen} {row.advice}"
    assert ("gradient_clipping (line" in f"{row.seen} {row.advice}") is (not errors)
    if errors:
        assert "deepspeed.initialize itself" in row.advice


@pytest.mark.parametrize(
    ("written", "pointers"),
    [
        ("zero = ds['zero_optimization']\nzero['stage'] = 3\n{}", ["/zero_optimization/stage"]),
        ("ds.setdefault('fp16', {{}})['enabled'] = True\n{}", ["/fp16/enabled", "/fp16"]),
        ("ds['optimizer'].get('params')['lr'] = 1\n{}", ["/optimizer/params/lr"]),
        ("zero = ds['zero_optimization']\nzero = more()\nzero['stage'] = 3\n{}", [""]),
        ("{}\nds['train_batch_size'] = e.train_batch_size()", []),
        ("def f():\n  {}\n  ds['train_batch_size'] = 1", []),
        ("def f():\n  {}\ndef g():\n  ds['train_batch_size'] = 1", ["/train_batch_size"]),
        ("for n in (1, 2):\n  {}\n  ds['train_batch_size'] = n", ["/train_batch_size"]),
    ],
)
def test_a_key_is_written_as_long_as_the_config_may_still_be_handed_over(written: str, pointers: list[str]) -> None:
    call = "e, *_ = deepspeed.initialize(model=m, config=ds)"
    source = "import json, deepspeed\nds = json.load(open('ds.json'))\n" + written.format(call)
    assert [one.pointer for one in script_facts(source).config_sets] == pointers


def test_a_default_is_written_only_where_the_config_has_none() -> None:
    source = "import json, deepspeed\nds = json.load(open('ds.json'))\nds.setdefault('gradient_clipping', 1)\n"
    sets = script_facts(source + "deepspeed.initialize(model=m, config=ds)").config_sets
    assert filling(sets, Values({}), {"gradient_clipping": "auto"}).line_of("/gradient_clipping") == 0
    assert filling(sets, Values({}), {}).line_of("/gradient_clipping") == 3


NUMBERS = {"train_batch_size": 100, "train_micro_batch_size_per_gpu": 3, "gradient_accumulation_steps": 7}
READS = """
    import json, os, deepspeed
    {before}
    def main():
        with open(os.environ["DSGUI_CONFIG"]) as f:
            ds = json.load(f)
        {more}
        deepspeed.initialize(model=m, config=ds)
    main()
"""
SET = "ds['train_batch_size'] = 21"


@pytest.mark.parametrize(
    ("before", "more", "status"),
    [
        ("", SET, Status.OK),
        ("", f"if 'train_batch_size' not in ds: {SET}", Status.PROBLEM),
        ("", f"if ds.get('train_batch_size') == 'auto': {SET}", Status.PROBLEM),
        ("", f"if ds['train_batch_size'] != 'auto': {SET}", Status.OK),
        ("", f"if ranks() > 64: {SET}", Status.WARNING),
        ("", f"for n in sizes(): {SET}", Status.WARNING),
        ("def fix(d):\n        d['train_batch_size'] = 21", "fix(ds)", Status.WARNING),
        ("", "for k in list(ds): ds[k] = 1", Status.WARNING),
        ("", "ds.pop('train_batch_size')", Status.WARNING),
        ("", "del ds['train_batch_size']", Status.WARNING),
        ("", "del ds['train_batch_size']; ds.setdefault('train_batch_size', 21)", Status.WARNING),
        ("", "ds.pop('steps_per_print')", Status.PROBLEM),
        ("", "ds.__setitem__('train_batch_size', 21)", Status.WARNING),
        ("", "ds.merge(other)", Status.WARNING),
        ("", f"try: {SET}\n        except OSError: pass", Status.WARNING),
        ("", f"try: pass\n        finally: {SET}", Status.OK),
        ("", f"with contextlib.suppress(OSError): {SET}", Status.WARNING),
        ("", "ds['train_batch_size'] = size or ds['train_batch_size']", Status.WARNING),
        ("", "ds.update(train_batch_size=size or ds['train_batch_size'])", Status.WARNING),
        ("", "ds['train_batch_size'] = 7 * ds['train_micro_batch_size_per_gpu']", Status.OK),
        ("", "ds['train_batch_size'] *= 2", Status.WARNING),
        ("", "ds['train_batch_size'] = 'auto'", Status.WARNING),
        (f"def log():\n        ds = {{}}\n        {SET}\n    log()", "", Status.PROBLEM),
        ("", "with open('o.json', 'w') as f: json.dump(ds, f)", Status.PROBLEM),
        ("with open('v.json') as f: v = json.load(f)", "with open('v.json') as f: json.load(f)", Status.PROBLEM),
    ],
)  # fmt: skip
def test_an_error_of_a_key_that_the_script_may_leave_as_it_is_stays_told(
    tmp_path: Path, before: str, more: str, status: Status
) -> None:
    rows = judged(planned(tmp_path, READS.format(before=before, more=more)), NUMBERS)
    assert rows["takes_config"][0].status is Status.OK
    row = rows["config"][0]
    assert row.status is status
    assert ("of the script may change it" in row.advice) is (status is Status.WARNING)


@pytest.mark.parametrize(
    "more",
    [
        "ds['fp16']['enabled'] = False",
        "ds['bf16']['loss'] = 1; ds['fp16']['enabled'] = False",
        "ds['fp16'] = {**ds['fp16'], 'enabled': False}",
    ],
)
def test_an_error_of_two_keys_is_none_for_sure_once_the_script_writes_one(tmp_path: Path, more: str) -> None:
    config = {"train_batch_size": 2, "fp16": {"enabled": True}, "bf16": {"enabled": True}}
    row = judged(planned(tmp_path, READS.format(before="", more=more)), config)["config"][0]
    assert row.status is Status.WARNING
    assert "both on" in row.seen


@pytest.mark.parametrize("value", ["{**ds['zero_optimization'], 'stage': 2}", "ds.get('zero_optimization', {})"])
def test_an_error_in_a_block_that_the_script_carries_over_stays_told(tmp_path: Path, value: str) -> None:
    config = {"train_batch_size": 2, "zero_optimization": {"stage": 2, "reduce_bucket_size": -5}}
    script = READS.format(before="", more=f"ds['zero_optimization'] = {value}")
    row = judged(planned(tmp_path, script), config)["config"][0]
    assert row.status is Status.WARNING
    assert "reduce_bucket_size" in row.seen


@pytest.mark.parametrize(
    ("more", "perhaps"),
    [
        ("", 0),
        ("print(self.ds['a'], self.ds.get('a'))", 0),
        ("self.ds['a'] = 1", 2),
        ("self.ds['a']['b'] = 1", 2),
        ("self.ds.update(a=1)", 2),
        ("other.ds.copy()", 0),
    ],
)
def test_a_config_that_is_kept_in_an_attribute_may_be_written_there(more: str, perhaps: int) -> None:
    source = f"import deepspeed\n{more}\ndeepspeed.initialize(model=m, config=self.ds)"
    assert filling(script_facts(source).config_sets, Values({}), {"a": "auto"}).perhaps == perhaps


CONFIG = """
import json, deepspeed
def get_config(args):
    config = json.load(open(args.c))
    config["a"] = 1
    return config
def main(args):
    ds = get_config(args)
    {more}
    deepspeed.initialize(model=m, config=ds)
main(args)
"""


@pytest.mark.parametrize(
    ("source", "sure"),
    [
        (CONFIG.format(more=""), True),
        (CONFIG.format(more="") + "get_config(more)", False),
        (CONFIG.format(more="ds = dict(ds, b=2)"), True),
        (CONFIG.format(more="ds = {**ds, 'a': {**ds['a'], 'b': 1}}").replace('    config["a"] = 1\n', ""), False),
        (CONFIG.format(more="ds = other()"), False),
        (CONFIG.format(more="x = 1") + "ds = 1\n" * 301, True),
        ("import deepspeed\n" + "ds = {**ds, 'b': 1}\n" * 301 + "ds['a'] = 1\ndeepspeed.initialize(config=ds)", False),
        ("import deepspeed\ntry:\n  ds['a'] = 1\n  deepspeed.initialize(config=ds)\nexcept OSError: pass", True),
        (CONFIG.format(more="deepspeed.initialize(model=critic, config=more)"), False),
        (CONFIG.replace("    return", "    if x: return args.c\n    return").format(more=""), False),
        ("import deepspeed\ndef main(c):\n  deepspeed.initialize(config=c)\nds['a'] = 1\nmain(ds)", False),
        ("from deepspeed import initialize as init\nds['a'] = 1\ninit(config=ds)", True),
        ("import deepspeed as lib\nds['a'] = 1\nlib.initialize(config=ds)", True),
        ("import deepspeed\nfor f in g():\n  deepspeed.initialize(config=ds)\nds['a'] = 1", False),
    ],
)
def test_what_is_written_surely_counts_only_where_it_surely_reaches_deepspeed(source: str, sure: bool) -> None:
    by = filling(script_facts(source).config_sets, Values({}), {"a": "auto"})
    assert bool(by.line_of("/a")) is sure
    assert bool(by.may_be_at("/a")) is not sure


def test_an_engine_by_another_name_reads_the_config(tmp_path: Path) -> None:
    source = READS.replace("deepspeed\n", "deepspeed as lib\n").replace("deepspeed.init", "lib.init")
    rows = judged(planned(tmp_path, source.format(before="", more="")), NUMBERS)
    assert rows["takes_config"][0].status is Status.OK


def test_the_option_that_names_the_file_of_a_loop_is_offered(tmp_path: Path) -> None:
    plan = planned(tmp_path, LOOP.format(more=""))
    assert "--ds_file {config}" in told(judged(plan, AUTO)["takes_config"])


@pytest.mark.parametrize(
    ("typed", "word"), [("--mode z --mode full", "z"), ("--mode full --mode z", "z"), ("--mode=", '""')]
)
def test_the_first_of_several_values_ends_a_parser(tmp_path: Path, typed: str, word: str) -> None:
    assert f"the value {word}:" in told(judged(planned(tmp_path, CHOICES, typed), {})["values"])


# ------------------------------------------------------------------------------------- what the launcher and dsgui add
BRANCH = """
    import argparse
    from transformers import Trainer, TrainingArguments
    p = argparse.ArgumentParser()
    p.add_argument("--deepspeed", default=None)
    p.add_argument("--local_rank", type=int, default=-1)
    args = p.parse_args()
    if args.deepspeed:
        ta = TrainingArguments("o", deepspeed=args.deepspeed, per_device_train_batch_size=2)
    else:
        ta = TrainingArguments("o", per_device_train_batch_size=16)
    Trainer(args=ta).train()
"""


def test_what_is_made_without_the_config_that_the_script_is_given_is_not_held_against_it(tmp_path: Path) -> None:
    plan = planned(tmp_path, BRANCH)
    assert "agreement" not in judged(plan, {"train_micro_batch_size_per_gpu": 2})
    wrong = told(judged(plan, {"train_micro_batch_size_per_gpu": 4})["agreement"])
    assert "vs hf per_device_train_batch_size=2" in wrong


HANDED = """
    import argparse, deepspeed
    p = argparse.ArgumentParser()
    p.add_argument("--ds_config")
    args = p.parse_args()
    if {}:
        model.requires_grad_(False)
    deepspeed.initialize(model=model, config=args.ds_config)
"""


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("args.ds_config.endswith('.json')", True),
        ("args.ds_config == 'ds_config.json'", False),
        ("args.ds_config and args.ds_config is not None", True),
        ("args.ds_config.startswith('/')", None),
        ("'zero3' in args.ds_config", None),
        ("len(args.ds_config) > 40", None),
    ],
)
def test_of_the_place_of_the_config_only_its_end_is_known(tmp_path: Path, asked: str, part: bool | None) -> None:
    plan = planned(tmp_path, HANDED.format(asked), "--ds_config {config}")
    assert around(plan).part_trained(plan).trains is part


POST_INIT = """
    from transformers import HfArgumentParser, Trainer, TrainingArguments
    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    if {}:
        model.requires_grad_(False)
    Trainer(model=model, args=args).train()
"""


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("args.do_eval", None),  # which --eval_strategy steps turns on
        ("not args.deepspeed", False),
        ("args.local_rank == -1", None),
        ("args.bf16", False),
    ],
)
def test_what_the_trainers_arguments_set_anew_is_not_what_was_typed(
    tmp_path: Path, asked: str, part: bool | None
) -> None:
    plan = planned(tmp_path, POST_INIT.format(asked), "--output_dir o --eval_strategy steps")
    assert around(plan).part_trained(plan).trains is part


# ------------------------------------------------------------------------------------------------------- python-fire
FIRE = """
    import fire
    from transformers import TrainingArguments
    def train(base_model: str = "", micro_batch_size: int = 4, group: bool = False):
        TrainingArguments("out", per_device_train_batch_size=micro_batch_size, fp16=True)
    fire.Fire(train)
"""


def test_a_command_of_fire_takes_its_parameters_and_nothing_else(tmp_path: Path) -> None:
    right = judged(planned(tmp_path, FIRE, "--base_model=x --micro-batch-size 8 --group"), {})
    assert right["options"][0].status is Status.OK
    short = judged(planned(tmp_path, FIRE, "-b x -m=8 -group"), {})
    assert short["options"][0].status is Status.OK
    wrong = judged(planned(tmp_path, FIRE, "--base_model x --use_cpu"), {})["options"][0]
    assert wrong.status is Status.PROBLEM
    assert "Could not consume arg: --use_cpu" in wrong.seen


def test_the_values_that_fire_gives_reach_the_trainer(tmp_path: Path) -> None:
    for typed in ("--micro_batch_size 2", "-m 2", "-micro-batch-size=2"):
        assert "agreement" not in judged(planned(tmp_path, FIRE, typed), FP16)
    assert "vs hf per_device_train_batch_size=4" in told(judged(planned(tmp_path, FIRE), FP16)["agreement"])


# ----------------------------------------------------------------------------------------------- the model it loads
LOADS = """
    import argparse
    from transformers import AutoModelForCausalLM, AutoTokenizer, T5ForConditionalGeneration
    NAME = "tiny"
    p = argparse.ArgumentParser()
    p.add_argument("--checkpoint", default="other")
    p.add_argument("--teacher")
    args = p.parse_args()
    tokenizer = AutoTokenizer.from_pretrained("tokens")
    {}
"""
LOADED = "model = AutoModelForCausalLM.from_pretrained({})"


@pytest.mark.parametrize(
    ("loads", "arguments", "named"),
    [
        (LOADED.format("'tiny'"), "", "tiny"),
        (LOADED.format("NAME, num_labels=2"), "", "tiny"),
        (LOADED.format("args.checkpoint"), "--checkpoint tiny", "tiny"),  # by an option of a name of its own
        (LOADED.format("args.checkpoint"), "", "other"),  # its default
        (LOADED.format("pretrained_model_name_or_path=args.checkpoint"), "", "other"),
        (LOADED.format("'tiny'"), "--model_name_or_path given", "given"),  # as scripts usually name it
        ("T5ForConditionalGeneration.from_pretrained('tiny'); " + LOADED.format("NAME"), "", "tiny"),
        ("T5ForConditionalGeneration.from_pretrained('big'); " + LOADED.format("NAME"), "", ""),  # which of them?
        (LOADED.format("args.teacher"), "", ""),
        (LOADED.format("open('name').read()"), "", ""),
        (LOADED.format("NAME") + "; AutoModelForCausalLM.from_pretrained(open('name').read())", "", ""),
        ("model = PeftModel.from_pretrained(model, 'adapters')", "", ""),
        (LOADED.format("NAME") + "; model = AutoModelForCausalLM.from_config(c)", "", ""),  # which one is trained?
        (LOADED.format("NAME, subfolder='text_encoder'"), "", ""),  # a part of something larger
    ],
)
def test_the_model_is_the_one_that_the_script_loads(tmp_path: Path, loads: str, arguments: str, named: str) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "config.json").write_text('{"model_type": "t5"}')
    surroundings = around(planned(tmp_path, LOADS.format(loads), arguments))
    assert surroundings.model.named == named
    assert isinstance(surroundings.shape, Model) is (named == "tiny")
    assert (surroundings.shape is None) is (named == "")
