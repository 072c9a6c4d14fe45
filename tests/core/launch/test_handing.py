"""How a script gets its config, told from its source; what is then in the command and the environment."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dsgui.cli import main
from dsgui.core.config.context import Integration
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.errors import PlaceError, PlanError
from dsgui.core.launch.command import argv, environment, shell_line, shown_command
from dsgui.core.launch.handing import handing, own_file, own_option
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines, remote_environment
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, Plan
from dsgui.core.launch.plan_json import plan_from_json, plan_to_json
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.preflight.handing_checks import Offer, offer
from dsgui.core.preflight.preflight import preflight
from dsgui.core.preflight.surroundings import Launch, Question, Surroundings
from dsgui.core.runs.clone import clone
from dsgui.core.script.script import script_facts
from dsgui.core.texts.saying import as_told, said
from dsgui.shell.preflight.scout import read_own_config
from tests.shell.machine.test_machine import CPU
from tests.support.cases import each_case
from tests.support.run_fixtures import Bench, bench

__all__ = ["bench"]

HF, NATIVE, OVERRIDE = ConfigArgument.HF, ConfigArgument.NATIVE, ConfigArgument.OVERRIDE
ACCELERATE, LIGHTNING = ConfigArgument.ACCELERATE, ConfigArgument.LIGHTNING
TRAINER, NONE = ConfigArgument.TRAINER, ConfigArgument.NONE
PARSER = "import argparse\np = argparse.ArgumentParser()\n"
PARSED = "args = p.parse_args()\n"
SWITCH_OR_FILE = "p.add_argument('--deepspeed', nargs='?', const=True)\np.add_argument('--deepspeed_config')\n"
DEEPSPEED = "import deepspeed\n" + PARSER + "deepspeed.add_config_arguments(p)\n" + PARSED
ACCELERATOR = "a = Accelerator(cpu=args.cpu)\nmodel, optimizer = a.prepare(model, optimizer)\n"
TRAINED = "from transformers import HfArgumentParser\n"
BY_FILE = "mine, its = HfArgumentParser((A, TrainingArguments)).parse_json_file(args.args_file)\n"
FACTORY = "from llamafactory.train.tuner import run_exp\nrun_exp()\n"
ALONE = (
    "from dataclasses import dataclass\n@dataclass\nclass My:\n    lr: float = 1\n"
    "(my,) = HfArgumentParser(My).parse_args_into_dataclasses()\n"
)
PATH = "/r/ds_config.json"

SCRIPTS = [
    ("print(1)", "", None, ""),
    (TRAINED, "--lr 1", HF, "HfArgumentParser"),
    (TRAINED, "settings.json", TRAINER, "all arguments are in settings.json"),
    (TRAINED + "Accelerator()", "", HF, "HfArgumentParser"),
    (ALONE + "TrainingArguments('o', deepspeed='x.json')", "", TRAINER, "TrainingArguments is given 'x.json'"),
    (ALONE + "TrainingArguments('o', deepspeed='x.json')", "s.json", TRAINER, "TrainingArguments is given 'x.json'"),
    (ALONE + "Accelerator()", "", ACCELERATE, "Accelerator, given no config"),
    (ALONE.replace("class My:", "class My(TrainingArguments):") + "Accelerator()", "", HF, "HfArgumentParser"),
    (ALONE.replace("lr: float", "deepspeed: str") + "Accelerator()", "", HF, "HfArgumentParser"),
    (ALONE.replace("(My)", "((My, TrainingArguments))") + "Accelerator()", "", HF, "HfArgumentParser"),
    (FACTORY, "examples/sft.yaml", OVERRIDE, "LLaMA-Factory reads examples/sft.yaml"),
    (FACTORY, "--stage sft", HF, "LLaMA-Factory, line 1"),
    (DEEPSPEED + "deepspeed.initialize(args=args, model=m)", "", NATIVE, "add_config_arguments"),
    (DEEPSPEED + "deepspeed.initialize(args=args, model=m, config=made(args))", "", NONE, "line 6: deepspeed.init"),
    (DEEPSPEED + "deepspeed.initialize(model=m, config=args.deepspeed_config)", "", NATIVE, "add_config_arguments"),
    ("deepspeed.initialize(model=m, config={'train_batch_size': 8})", "", NONE, "is given {'train_batch_size': 8}"),
    ("deepspeed.initialize(model=m)", "", None, ""),
    ("other.initialize(config=c)", "", None, ""),
    ("t = TrainingArguments('out', deepspeed='ds.json')", "", TRAINER, "line 1: TrainingArguments is given 'ds.json'"),
    ("t = Seq2SeqTrainingArguments('out', deepspeed=CONFIG)", "", TRAINER, "is given CONFIG"),
    ("t = SFTConfig('out', deepspeed='ds.json')", "", TRAINER, "is given 'ds.json'"),
    ("from trl.experimental.gold import GOLDConfig as G\nt = G('out')", "", ACCELERATE, "TrainingArguments, given no"),
    ("from trl import ModelConfig\nm = ModelConfig()", "", None, ""),
    (PARSER + PARSED + "trlx.train('gpt2', config=c)", "", ACCELERATE, "line 4: Accelerator"),
    (PARSER + "p.add_argument('--args_file')\n" + PARSED + TRAINED + BY_FILE, "--args_file a.json", TRAINER,
     "arguments are in a file"),
    ("t = TrainingArguments('out', deepspeed=None)", "", ACCELERATE, "TrainingArguments, given no config"),
    ("t = LoraConfig(r=8)", "", None, ""),
    (
        PARSER + "p.add_argument('--deepspeed')\n" + PARSED + "TrainingArguments('o', deepspeed=args.deepspeed)",
        "",
        HF,
        "its parser names --deepspeed",
    ),
    (PARSER + SWITCH_OR_FILE + PARSED + "deepspeed.initialize(model=m, config=config)", "", NATIVE, "parser names"),
    (PARSER + SWITCH_OR_FILE.replace("'?'", "'+'") + PARSED + "deepspeed.initialize(config=c)", "", NONE, "is given c"),
    (PARSER + "p.add_argument('--cpu')\n" + PARSED + ACCELERATOR, "", ACCELERATE, "line 5: Accelerator"),
    ("a = Accelerator(deepspeed_plugin=DeepSpeedPlugin(hf_ds_config='ds.json'))", "", TRAINER, "Plugin is given"),
    ("a = Accelerator(deepspeed_plugin=DeepSpeedPlugin(zero_stage=2))", "", ACCELERATE, "DeepSpeedPlugin, given no"),
    ("t = Trainer(strategy=DeepSpeedStrategy(config='ds.json'))", "", NONE, "strategy is given 'ds.json'"),
    ("t = L.Trainer(strategy='deepspeed_stage_2')", "", LIGHTNING, "strategy, given no config"),
    ("t = L.Trainer(strategy='ddp')", "", None, ""),
    ("t = Trainer(strategy=DeepSpeedStrategy(stage=3))", "", LIGHTNING, "strategy, given no config"),
    (PARSER + PARSED + "deepspeed.initialize(config=args.ds)", "--ds {config}", NONE, "{config} stands among"),
    ("TrainingArguments('o', deepspeed=sys.argv[1])", "{config}", TRAINER, "{config} stands among"),
    ("run(", "", None, ""),
]  # fmt: skip


@each_case(("source", "words", "argument", "because"), SCRIPTS, ids=range(len(SCRIPTS)))
def test_the_source_tells_how_a_script_gets_its_config(
    source: str, words: str, argument: ConfigArgument | None, because: str
) -> None:
    found = handing(script_facts(source), words.split())
    assert (found.argument if found else None) is argument
    assert because in str(found.because if found else "")


def test_a_parser_of_the_scripts_own_dataclasses_is_not_given_what_the_trainers_takes() -> None:
    assert not script_facts(ALONE).passes_local_rank
    assert script_facts(ALONE.replace("lr: float", "local_rank: int")).passes_local_rank
    assert script_facts(ALONE.replace("class My:", "class My(Base):")).passes_local_rank  # of another file
    own = ALONE.replace("class My:", "class Base(TrainingArguments): ...\n@dataclass\nclass My(Base):")
    assert script_facts(own).passes_local_rank


def test_where_nothing_tells_configure_does() -> None:
    for reader in Integration:
        found = handing(script_facts("run()"), ("{config}",), reader)
        assert found
        assert found.argument.integration is reader


def test_the_file_that_a_source_names_is_known_where_it_is_written_there_once() -> None:
    assert own_file(script_facts("C = 'ds.json'\nTrainingArguments('o', deepspeed=C)")) == "ds.json"
    assert own_file(script_facts("C = 'ds.json'\nC = other()\nTrainingArguments('o', deepspeed=C)")) == ""
    assert own_file(script_facts("C = {'a': 1}\nC['a'] = 2\ndeepspeed.initialize(config=C)")) == ""


def test_an_option_of_its_own_is_offered_until_it_is_given() -> None:
    facts = script_facts(PARSER + "p.add_argument('--ds_config')\np.add_argument('--lr')\n" + PARSED)
    assert own_option(facts, ()) == "--ds_config"
    assert own_option(facts, ("--ds_config", "x.json")) == ""
    assert own_option(script_facts(PARSER + "p.add_argument('--deepspeed', action='store_true')\n"), ()) == ""
    read = script_facts(PARSER + "p.add_argument('--my')\n" + PARSED + "deepspeed.initialize(config=args.my)")
    assert own_option(read, ()) == "--my"


# ------------------------------------------------------------------------------------------------------- the command
REQUEST = LaunchRequest(
    name="",
    script="train.py",
    arguments="--max_steps 5",
    ranks=2,
    gpu_indices=(),
    master_port=None,
    working_directory="/srv",
    config_text="{}",
    config_argument=HF,
    target_python="/env/bin/python",
    environment={},
    as_script_reads=True,
)


def plan(source: str, **changes: object) -> Plan:
    request = replace(REQUEST, **changes)  # type: ignore[arg-type]
    place = {"run_id": "20260131-235959-0a1b", "run_directory": "/r", "script_path": "/s/train.py"}
    return make_plan(request, **place, master_port=29500, script=script_facts(source))


COMMANDS = [
    (TRAINED, "--lr 1", ("--lr", "1", "--deepspeed", PATH), {}),
    (FACTORY, "x.yaml a=1", ("x.yaml", "a=1", f"deepspeed={PATH}"), {}),
    (
        ACCELERATOR,
        "--lr 1",
        ("--lr", "1"),
        {"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_CONFIG_FILE": PATH},
    ),
    ("L.Trainer(strategy='deepspeed')", "", (), {"PL_DEEPSPEED_CONFIG_PATH": PATH}),
    ("deepspeed.initialize(config=c)", "", (), {"DSGUI_CONFIG": PATH}),
    ("run()", "--ds {config} --note a{config}", ("--ds", PATH, "--note", f"a{PATH}"), {"DSGUI_CONFIG": PATH}),
]


@pytest.mark.parametrize(("source", "typed", "words", "variables"), COMMANDS, ids=range(len(COMMANDS)))
def test_what_is_told_is_in_the_command_and_in_every_place_that_trains(
    source: str, typed: str, words: tuple[str, ...], variables: dict[str, str]
) -> None:
    launch = plan(source, arguments=typed)
    script = argv(launch).index("/s/train.py")
    assert argv(launch)[script + 1 :] == words
    added = environment(launch, {})
    assert {name: added.get(name) for name in variables} == variables
    others = replace(launch, place=Machines("a slots=1\nb slots=1"))
    slurm = replace(launch, place=SlurmJob(1, 2, True))
    for name, value in variables.items():
        assert f"{name}={value}" in shell_line(launch)
        assert f"{name}={value}\n" in remote_environment(others)
        assert f"{name}={value}" in shown_command(slurm)
    assert all(word in shown_command(slurm) for word in words)
    assert {"ACCELERATE_USE_DEEPSPEED", "DSGUI_CONFIG"} & set(added) <= set(variables)


def test_a_users_own_variable_wins() -> None:
    added = environment(plan(ACCELERATOR, environment={"ACCELERATE_DEEPSPEED_CONFIG_FILE": "/mine.json"}), {})
    assert added["ACCELERATE_DEEPSPEED_CONFIG_FILE"] == "/mine.json"


def test_a_settings_file_stays_the_first_argument() -> None:
    """deepspeed/launcher/launch.py puts --local_rank before all others."""
    for source, typed, passes in (
        (FACTORY, "x.yaml", False),
        (FACTORY, "--stage sft", True),
        (TRAINED, "a.json", False),
    ):
        assert plan(source, arguments=typed).passes_local_rank is passes


def test_what_was_chosen_counts_more_than_what_the_source_tells() -> None:
    assert plan(ACCELERATOR, config_argument=NATIVE, as_script_reads=False).config_argument is NATIVE
    assert plan("run()", config_argument=NATIVE).config_argument is NATIVE


def test_a_place_that_other_shells_would_change_is_refused_in_the_environment_too() -> None:
    request = {"place": Machines("a slots=1\nb slots=1"), "ranks": 0}
    assert plan(ACCELERATOR, **request).config_argument is ACCELERATE
    with pytest.raises(PlanError, match="shells on the other hosts"):
        make_plan(
            replace(REQUEST, **request),  # type: ignore[arg-type]
            run_id="r",
            run_directory="/my runs/r",
            script_path="/s/train.py",
            master_port=29500,
            script=script_facts(ACCELERATOR),
        )


def test_a_clone_keeps_the_reader_and_the_words_as_typed() -> None:
    first = plan("deepspeed.initialize(config=c)", arguments="--ds {config}")
    again = clone(first, "{}").request
    assert (again.config_argument, again.arguments, again.as_script_reads) == (NONE, "--ds '{config}'", False)
    moved = make_plan(again, run_id="r2", run_directory="/r2", script_path="/s/train.py", master_port=29500)
    assert argv(moved)[-2:] == ("--ds", "/r2/ds_config.json")


def test_plans_of_every_reader_and_of_older_releases_are_read() -> None:
    for argument in ConfigArgument:
        kept = replace(plan("run()"), config_argument=argument)
        assert plan_from_json(json.loads(json.dumps(plan_to_json(kept)))) == kept
    for name in ("HF", "NATIVE", "NONE"):
        assert plan_from_json(plan_to_json(plan("run()")) | {"config_argument": name}).config_argument.name == name


# -------------------------------------------------------------------------------------------------------- the checks
CONFIG = {"train_batch_size": 8, "zero_optimization": {"stage": 1}}
OPTIMIZED = CONFIG | {"optimizer": {"type": "AdamW"}}
OWN_OPTION = PARSER + "p.add_argument('--ds')\n" + PARSED + "deepspeed.initialize(config=args.ds)"
AS_READ = Offer(said("offers", "pass_as_read"), None)
ADDED = Offer(said("offers", "add", words="--ds {config}"), None, ("--ds", "{config}"))
P, W, OK, U = Status.PROBLEM, Status.WARNING, Status.OK, Status.UNKNOWN


def question(
    source: str, argument: ConfigArgument, words: str = "", own: str | None = None, **launch: object
) -> Question:
    planned = {"config": CONFIG, "findings": (), "devices": "2 CPU ranks", "ranks": 2, "script": "/t.py"}
    planned |= {"config_argument": argument, "arguments": tuple(words.split())} | launch
    here = replace(CPU, environment=None)
    return Question(Launch(**planned), Surroundings(script_facts(source), here, own_config=own))  # type: ignore[arg-type]


def row(asked: Question, check: str = "takes_config") -> Row | None:
    return next((row for row in preflight(asked.launch, asked.around) if row.check == check), None)


JUDGED = [
    ((ACCELERATOR, ACCELERATE), OK, "it is given ACCELERATE_DEEPSPEED_CONFIG_FILE", None),
    (("run()", ACCELERATE), U, "can't be determined", None),
    (("L.Trainer(strategy='deepspeed')", LIGHTNING), OK, "PL_DEEPSPEED_CONFIG_PATH", None),
    ((FACTORY, OVERRIDE, "x.yaml"), OK, "deepspeed=FILE", None),
    ((FACTORY, HF, "x.yaml"), W, "another way (LLaMA-Factory reads x.yaml", AS_READ),
    ((ACCELERATOR, HF), W, "another way (line 1: Accelerator", AS_READ),
    ((TRAINED, NONE), U, "DSGUI_CONFIG", None),
    ((PARSER + PARSED, HF), P, "unrecognized arguments", Offer(said("offers", "loads_its_own"), TRAINER)),
    ((ALONE + "Accelerator()", HF), P, "are not used by the HfArgumentParser: ['--deepspeed', 'FILE']", AS_READ),
    ((ALONE.replace("lr: float", "ds_config: str"), HF), P, "none of its dataclasses has",
     Offer(said("offers", "add", words="--ds_config {config}"), None, ("--ds_config", "{config}"))),
    ((PARSER + PARSED, NATIVE), P, "unrecognized arguments", Offer(said("offers", "loads_its_own"), NONE)),
    ((PARSER + "p.add_argument('--ds_config')\n" + PARSED, HF), P, "unrecognized",
     Offer(said("offers", "add", words="--ds_config {config}"), None, ("--ds_config", "{config}"))),
    ((PARSER + "p.add_argument('--args_file')\n" + PARSED + TRAINED + BY_FILE, TRAINER, "--args_file a.json"), W,
     "the one that “deepspeed” names there", None),
    ((OWN_OPTION, NONE), W, "from --ds, which is not among", ADDED),
    ((OWN_OPTION, NONE, "--ds mine.json"), OK, "the script reads mine.json, from --ds", None),
    ((OWN_OPTION, NONE, "--ds {config}"), OK, "{config} among the arguments", None),
    (("run()", NONE), U, "DSGUI_CONFIG", None),
    ((f"deepspeed.initialize(config={CONFIG})", NONE), OK, "which is the same config", None),
    (("deepspeed.initialize(config={'train_batch_size': 8})", NONE), W, "differ in zero_optimization.stage", None),
    (("deepspeed.initialize(config=made())", NONE), W, "not this one.", None),
    (("deepspeed.initialize(config=os.environ['DSGUI_CONFIG'])", NONE), OK, "names this config", None),
    (("TrainingArguments('o', deepspeed='ds.json')", TRAINER, "", json.dumps(CONFIG)), OK, "the same config", None),
    (("TrainingArguments('o', deepspeed='ds.json')", TRAINER, "", "{}"), W, "differ in train_batch_size", None),
    (("TrainingArguments('o', deepspeed='ds.json')", TRAINER, "", "{"), W, "not this one.", None),
]  # fmt: skip


@each_case(("given", "status", "says", "offered"), JUDGED, ids=range(len(JUDGED)))
def test_each_way_is_judged_and_one_click_is_offered_where_it_is_the_wrong_one(
    given: tuple[object, ...], status: Status, says: str, offered: Offer | None
) -> None:
    asked = question(*given)  # type: ignore[arg-type]
    found = row(asked)
    assert found
    assert (found.status, offer(asked)) == (status, offered)
    assert says in found.seen


def test_an_offer_taken_leaves_nothing_to_offer() -> None:
    for given, _, _, offered in JUDGED:
        if offered is None:
            continue
        source, argument, *words = given
        typed = " ".join((*map(str, words), *offered.words))
        found = offered.argument or handing(script_facts(source), typed.split(), argument.integration).argument
        assert offer(question(source, found, typed)) is None


def test_a_config_that_the_script_is_not_given_stops_nothing() -> None:
    error = Finding(
        "DS001", Severity.ERROR, "/train_batch_size", as_told("100 is not 128."), (as_told("Set it to 128."),)
    )
    for argument, words, status in (
        (HF, "", P),
        (ACCELERATE, "", P),
        (NONE, "", W),
        (TRAINER, "", W),
        (NONE, "{config}", P),
    ):
        found = row(question("run()", argument, words, findings=(error,)), "config")
        assert found
        assert (found.status, "if the script reads this config" in found.seen) == (status, status is W)
    other = row(question("deepspeed.initialize(config=made())", NONE, findings=(error,)), "config")
    assert other
    assert other.status is U


def test_accelerate_is_not_given_what_it_refuses() -> None:
    found = row(question(ACCELERATOR, ACCELERATE, config=OPTIMIZED), "accelerate")
    assert found
    assert found.status is P
    assert "You cannot specify an optimizer in the config file and in the code at the same time." in found.seen
    for source, config in ((ACCELERATOR, CONFIG), ("DummyOptim(p)\n" + ACCELERATOR, OPTIMIZED)):
        sound = row(question(source, ACCELERATE, config=config, ranks=1), "accelerate")
        assert sound
        assert sound.status is OK
    for words, ranks, config, status, says in (
        ("--cpu", 1, CONFIG, W, "without DeepSpeed"),
        ("", 2, CONFIG, W, "each trains on all of the data"),
        ("", 2, CONFIG | {"train_batch_size": "auto"}, P, "which counts 2, refuses it"),
        ("gathers", 2, CONFIG, P, "gather fails for the other ranks"),
    ):
        source = ACCELERATOR + "a.gather_for_metrics(x)\n" if words == "gathers" else ACCELERATOR
        found = row(question(source, ACCELERATE, words, config=config, ranks=ranks), "accelerate")
        assert found
        assert (found.status, says in found.seen) == (status, True)
    assert row(question("TrainingArguments('o')\n" + ACCELERATOR, ACCELERATE, config=OPTIMIZED), "accelerate") is None


# ---------------------------------------------------------------------------------------------------------- end to end
def test_a_run_is_told_where_its_config_lies(bench: Bench) -> None:
    run_id = bench.start(
        "import os, sys\nprint(open(os.environ['DSGUI_CONFIG']).read() == open(sys.argv[2]).read(), sys.argv[1])\n",
        arguments="--config {config}",
        config_argument=NONE,
    )
    assert "True --config" in bench.ended(run_id).output


def test_the_command_line_starts_an_accelerate_script_as_accelerate_does(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    config, script = (
        bench.folder / "ds.json",
        bench.script("from accelerate import Accelerator\n" + PARSER + PARSED + ACCELERATOR),
    )
    config.write_text(json.dumps({"train_batch_size": "auto", "zero_optimization": {"stage": 2}}), encoding="utf-8")
    words = ["launch", "--runs-dir", str(bench.folder / "runs"), "--config", str(config), "--python", sys.executable]
    assert main([*words, "--dry-run", str(script)]) == 0
    line = capsys.readouterr().out
    assert "ACCELERATE_USE_DEEPSPEED=true ACCELERATE_DEEPSPEED_CONFIG_FILE=" in line
    assert "--deepspeed" not in line
    assert main([*words, "--dry-run", "--reader", "hf", str(script)]) == 1  # its parser has no such option
    assert "unrecognized arguments: --deepspeed FILE" in capsys.readouterr().err


def test_doctor_asks_the_script_too(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    config, script = bench.folder / "ds.json", bench.script("TrainingArguments('o', deepspeed='other.json')\n")
    (bench.folder / "other.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    config.write_text(json.dumps(CONFIG | {"gradient_clipping": 1.0}), encoding="utf-8")
    main(["doctor", "--config", str(config), "--script", str(script), "--ranks", "2", "--format", "json"])
    rows = json.loads(capsys.readouterr().out)["checks"]
    (found,) = [row for row in rows if row["check"] == "takes_config"]
    assert found["status"] == "warning"
    assert "they differ in gradient_clipping" in found["seen"]


def test_a_file_that_may_not_be_read_is_not_read(tmp_path: Path) -> None:
    def refuse(path: Path) -> None:
        raise PlaceError("no")

    (tmp_path / "ds.json").write_text("{}", encoding="utf-8")
    facts = script_facts("TrainingArguments('o', deepspeed='ds.json')")
    assert read_own_config(tmp_path, facts) == "{}"
    assert read_own_config(tmp_path, facts, refuse) is None
    assert read_own_config(tmp_path / "gone", facts) is None
