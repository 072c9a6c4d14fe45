"""The final config and the origin of each value: as a value, on the command line, in the findings and on the page."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dsgui.cli import main
from dsgui.core.config.arguments import EVERY_NAME, read_arguments, with_defaults
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.filling import FILLED_BY_TRAINER, Origin, Unknown, fill
from dsgui.core.launch.circumstances import run_context
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.plan import Here
from dsgui.core.launch.planned import Planned
from dsgui.core.machine.hardware import CARDS, Target
from dsgui.core.texts.saying import said
from dsgui.core.validation.check_report import subject
from dsgui.core.validation.resolve import final_json, resolve
from dsgui.ui.config.toolbox import TRAINER, Toolbox
from tests.support.cases import each_case

PRESETS = Path(__file__).parents[3] / "presets"
CARD = {card.id: card for card in CARDS}
AUTO = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "optimizer": {"type": "AdamW", "params": {"lr": "auto", "betas": "auto"}},
    "scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": "auto", "warmup_num_steps": "auto"}},
    "bf16": {"enabled": "auto"},
    "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto"},
}


def hf(text="", **fields):
    return Context(arguments=read_arguments(text), **fields)


def values(resolution):
    return {value.pointer: value for value in resolution.values}


def findings(checker, config, context, rule):
    return [f for f in checker.findings(Document(json.dumps(config)), context) if f.rule == rule]


# -------------------------------------------------------------------------------------------------------- the value
def test_each_value_says_where_it_comes_from(schema):
    found = values(resolve(AUTO, hf("--learning_rate 1e-4 --bf16 --hidden_size 64", gpus_per_node=4), schema))
    origins = {pointer: value.source.origin for pointer, value in found.items()}
    assert origins["/optimizer/type"] is Origin.FILE
    assert origins["/optimizer/params/lr"] is Origin.ARGUMENTS
    assert origins["/optimizer/params/betas"] is Origin.HF
    assert origins["/zero_optimization/reduce_bucket_size"] is Origin.MODEL
    assert origins["/fp16/enabled"] is Origin.ACCELERATE
    assert origins["/zero_optimization/sub_group_size"] is Origin.DEEPSPEED
    assert found["/train_batch_size"].value == 32
    assert found["/zero_optimization/stage3_prefetch_bucket_size"].value == int(0.9 * 64 * 64)
    assert found["/optimizer/params/lr"].was == "auto"


def test_the_final_config_has_no_auto_left(schema):
    config = resolve(AUTO, hf("--hidden_size 64 --max_steps 10"), schema).config
    assert "auto" not in json.dumps(config)
    assert json.loads(final_json(config))["steps_per_print"] == float("inf")
    assert "Infinity" not in final_json(config)


def test_what_only_the_model_or_the_data_tell_is_named_not_guessed(schema):
    resolution = resolve(AUTO, hf(), schema)
    found = values(resolution)
    assert found["/scheduler/params/total_num_steps"].value == Unknown(said("filling", "steps"))
    assert found["/zero_optimization/reduce_bucket_size"].text == "(hidden_size²)"
    assert json.loads(final_json(resolution.config))["zero_optimization"]["reduce_bucket_size"] is None


@each_case(
    "preset",
    [*PRESETS.glob("*-hf.ds_config.json"), PRESETS / "zero2-offload-t5.ds_config.json"],
    ids=lambda path: path.stem,
)
def test_arguments_that_the_script_computes_stop_no_preset(preset):
    computed = with_defaults({}, unknown=EVERY_NAME)
    filled = fill(json.loads(preset.read_text()), computed, Context(gpus_per_node=2))
    assert not filled.stops
    assert not filled.mismatches


@pytest.mark.parametrize(("beta2", "stops"), [(0.95, True), (0.98, False)])
def test_one_argument_of_two_is_compared_where_nobody_knows_the_other(beta2, stops):
    """The Trainer compares the list: one item that differs is enough."""
    config = {"optimizer": {"type": "AdamW", "params": {"betas": ["a", 0.98]}}, "zero_optimization": {}}
    known = replace(with_defaults({}, unknown=EVERY_NAME - {"adam_beta2"}), adam_beta2=beta2)
    found = fill(config, known, Context(gpus_per_node=2)).mismatches
    told = [(one.pointer, one.apart) for one in found]
    assert told == [("/optimizer/params/betas", (("adam_beta2", 0.95, 0.98),))] * stops
    assert all(one.said.endswith("vs hf adam_beta1+adam_beta2=…") for one in found)  # nobody knows what comes then


def test_accumulation_that_is_no_number_is_told_also_where_the_micro_batch_is_computed():
    config = {"train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": {}, "zero_optimization": {}}
    computed = with_defaults({}, unknown=EVERY_NAME)
    filled = fill(config, computed, Context(gpus_per_node=2))
    assert [stop.pointer for stop in filled.stops] == ["/gradient_accumulation_steps"]


def test_changed_values_come_first_and_defaults_last(schema):
    kinds = [
        (value.is_changed, value.source.origin is Origin.DEEPSPEED) for value in resolve(AUTO, hf(), schema).values
    ]
    assert kinds == sorted(kinds, key=lambda kind: (not kind[0], kind[1]))


def test_batch_terms_that_nobody_set_are_solved_as_deepspeed_does(schema):
    config = {"train_batch_size": 64, "zero_optimization": {"stage": 2}}
    found = values(resolve(config, Context(Integration.NATIVE, gpus_per_node=4), schema))
    assert (found["/train_micro_batch_size_per_gpu"].value, found["/gradient_accumulation_steps"].value) == (16, 1)


def test_defaults_are_those_of_the_release_and_of_what_is_on(schema):
    config = {"zero_optimization": {"stage": 2}, "optimizer": {"type": "Adam", "params": {}}}
    found = values(resolve(config, hf(deepspeed_version="0.16.9"), schema))
    assert found["/gradient_clipping"].value == 0.0
    assert values(resolve(config, hf(), schema))["/gradient_clipping"].value == 1.0
    assert "/zero_optimization/stage3_max_live_parameters" not in found
    assert "/optimizer/params/betas" in found
    assert "/optimizer/params/momentum" not in found  # SGD's


def test_natively_nothing_is_filled(schema):
    resolution = resolve(AUTO, Context(Integration.NATIVE), schema)
    assert resolution.config == AUTO
    assert resolution.findings == ()
    assert not any(value.is_changed for value in resolution.values)


@each_case("broken", [None, True, 3, "auto", [], [{}]])
@each_case("key", ["optimizer", "scheduler", "zero_optimization", "fp16", "checkpoint", "tensor_parallel"])
def test_a_block_of_any_other_shape_is_no_exception(key, broken, schema):
    arguments = hf("--save_on_each_node --bf16")
    assert resolve({**AUTO, key: broken}, arguments, schema).values
    assert resolve({**AUTO, key: {"params": broken, "type": broken, "enabled": broken}}, arguments, schema).values


# ----------------------------------------------------------------------------------------------------- the findings
def test_a_mismatch_is_quoted_and_goes_away_by_either_repair(checker):
    config = {**AUTO, "optimizer": {"type": "AdamW", "params": {"lr": 1e-3}}}
    context = hf("--learning_rate 1e-4")
    (finding,) = findings(checker, config, context, "DS013")
    assert "“Please correct the following DeepSpeed config values that mismatch TrainingArguments" in finding.message
    assert "- ds optimizer.params.lr=0.001 vs hf learning_rate=0.0001" in finding.message
    assert "Pass --learning_rate 0.001" in finding.advice
    assert findings(checker, finding.fix.apply(Document(json.dumps(config))).value, context, "DS013") == []
    assert findings(checker, config, hf("--learning_rate 0.001"), "DS013") == []


@pytest.mark.parametrize(
    ("key", "value", "advice"),
    [
        ("train_micro_batch_size_per_gpu", "8", "Write 8 without quotes"),
        ("train_batch_size", 64, "× world size 1 equal 64"),
        ("bf16", {"enabled": True}, "Pass --bf16,"),
        ("gradient_clipping", 0.5, "Pass --max_grad_norm 0.5,"),
    ],
)
def test_the_advice_fits_the_key(key, value, advice, checker):
    (finding,) = findings(checker, {**AUTO, key: value}, hf(), "DS013")
    assert advice in finding.advice


def test_what_no_argument_sets_is_told_as_the_trainers_default(checker):
    """Nobody wrote the 8 that the file is compared with."""
    config = {**AUTO, "train_micro_batch_size_per_gpu": 4}
    (finding,) = findings(checker, config, hf(), "DS013")
    said = "4 in the file, 8 by the HF Trainer’s default: no argument sets per_device_train_batch_size."
    assert said in finding.message
    (finding,) = findings(checker, config, hf("--per_device_train_batch_size 2"), "DS013")
    assert "4 in the file, 2 from the arguments." in finding.message
    (finding,) = findings(checker, {**AUTO, "train_batch_size": 64}, hf(), "DS013")
    assert "no argument sets per_device_train_batch_size and gradient_accumulation_steps" in finding.message


def test_no_argument_makes_a_warm_up_of_zero(checker):
    scheduler = {"type": "WarmupLR", "params": {"warmup_num_steps": 0}}
    (finding,) = findings(checker, {**AUTO, "scheduler": scheduler}, hf("--warmup_steps 0"), "DS013")
    assert "--warmup_steps" not in finding.advice


def test_known_arguments_that_agree_leave_nothing_to_say(checker):
    assert findings(checker, AUTO, hf("--bf16"), "DS012") == []
    assert findings(checker, AUTO, hf("--bf16"), "DS013") == []
    assert len(findings(checker, AUTO, Context(), "DS012")) == 1


def test_a_precision_chosen_by_the_arguments_is_held_against_the_device(checker):
    p100 = (CARD["p100"],)
    assert findings(checker, AUTO, hf("--bf16", hardware=p100), "DS030")
    assert findings(checker, AUTO, hf("--fp16", hardware=p100), "DS031")  # no fp16 block: accelerate adds one
    assert findings(checker, AUTO, hf("", hardware=p100), "DS030") == []


def test_the_fix_to_bf16_is_offered_where_the_hardware_has_it(checker):
    arguments = "--fp16 --model_name_or_path google/flan-t5-xl"
    config = {**AUTO, "fp16": {"enabled": "auto"}}
    (half,) = findings(checker, config, hf(arguments, hardware=(CARD["a100-80"],)), "DS033")
    assert half.fix is None  # --fp16 would have to change as well
    config["fp16"] = {"enabled": True}
    for hardware, offered in (((CARD["a100-80"],), True), ((), False), ((CARD["v100"],), False)):
        context = replace(hf(arguments, hardware=hardware), integration=Integration.NATIVE)
        (finding,) = findings(checker, config, context, "DS033")
        assert bool(finding.fix) is offered
        if finding.fix:
            assert finding.fix.apply(Document(json.dumps(config))).value["bf16"] == {"enabled": True}


@each_case(
    ("name", "is_one"),
    [
        ("google-t5/t5-small", True),
        ("/models/my_t5/", True),
        ("google/umt5-base", True),
        ("google/byt5-small", True),
        ("bigscience/T0_3B", True),
        ("google/paligemma2-3b-pt-224", True),
        ("google/t5gemma-2b-2b-ul2", True),
        ("Salesforce/codet5-base", False),
        ("gpt2", False),
        ("meta-llama/Llama-3.1-8B", False),
        ("google/t5/checkpoints/llama", False),
    ],
)
def test_model_families_are_told_by_their_names(name, is_one, checker):
    assert bool(findings(checker, AUTO, hf(f"--fp16 --model_name_or_path {name}"), "DS033")) is is_one


# ------------------------------------------------------------------------------------------------- the command line
@pytest.fixture
def command(tmp_path, capsys, monkeypatch):
    """Runs a dsgui command on a config; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(name, config, *options):
        Path("ds.json").write_text(json.dumps(config), "utf-8")
        code = main([name, "ds.json", *options])
        return code, *capsys.readouterr()

    return run


def test_resolve_prints_a_table_and_then_what_stops_it(command):
    code, out, _ = command("resolve", AUTO, "--gpus", "4", "--training-args", '{"learning_rate": 1e-4}')
    assert code == 0
    head, *rows = [line for line in out.splitlines() if "  " in line]
    at = head.index("value")
    assert {row[:at].strip(): row[at:].split("  ")[0] for row in rows}["optimizer.params.lr"] == "0.0001"
    assert "no errors" in out
    code, out, _ = command("resolve", {**AUTO, "gradient_clipping": 0.5})
    assert code == 1
    assert out.splitlines()[-2].startswith("ds.json:1: error DS013 gradient_clipping")


def test_resolve_as_json_has_the_config_and_every_origin(command):
    code, out, _ = command(
        "resolve", AUTO, "--format", "json", "--hidden-size", "64", "--total-steps", "7", "--training-args=--bf16"
    )
    answer = json.loads(out)
    assert (code, answer["ok"], answer["integration"]) == (0, True, "hf")
    assert answer["training_arguments"] == {"bf16": True, "hidden_size": 64, "total_steps": 7}
    assert answer["config"]["zero_optimization"]["reduce_bucket_size"] == 4096
    rows = {row["pointer"]: row for row in answer["values"]}
    assert rows["/bf16/enabled"]["from"] == "TrainingArguments"
    assert rows["/scheduler/params/total_num_steps"]["value"] == 7
    assert {pointer for pointer in FILLED_BY_TRAINER if pointer in rows} <= rows.keys()


def test_validate_takes_the_arguments_too_and_then_means_the_trainer(command):
    config = {"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2}}
    assert "DS013" not in command("validate", config)[1]
    code, out, _ = command("validate", config, "--training-args", "{}")
    assert (code, "error DS013 train_micro_batch_size_per_gpu" in out) == (1, True)
    assert "HF Trainer with its arguments" in out
    Path("args.yaml").write_text("per_device_train_batch_size: 4\n")
    assert command("validate", config, "--training-args", "args.yaml")[0] == 0


@pytest.mark.parametrize("name", ["resolve", "validate"])
def test_arguments_that_can_not_be_read_end_with_code_2(name, command):
    code, out, err = command(name, AUTO, "--training-args", "gone.yaml")
    assert (code, out) == (2, "")
    assert "gone.yaml" in err
    assert command(name, AUTO, "--training-args", "{broken")[0] == 2
    assert command(name, AUTO, "--training-args=--learning_rate abc")[0] == 1


def test_resolve_tells_a_file_that_can_not_be_read(command, capsys):
    assert main(["resolve", "gone.json"]) == 2
    assert "gone.json" in capsys.readouterr().err


# -------------------------------------------------------------------------------------------------------- the page
def test_the_tool_shows_what_was_read_and_escapes_it(checker):
    toolbox = Toolbox(checker, lambda: ())
    context = Context(arguments=read_arguments("--bf16 --model_name_or_path '<b>x'"))
    html = toolbox.panel(TRAINER, TRAINER, json.dumps({**AUTO, "<i>": "<u>"}), context)
    assert "bf16 true" in html
    assert "&lt;b&gt;x" in html
    assert not any(tag in html for tag in ("<b>", "<i>", "<u>"))
    assert "gets the file unchanged" in toolbox.panel(TRAINER, TRAINER, "{}", Context(Integration.NATIVE))


@pytest.mark.parametrize(
    ("place", "device", "says"),
    [
        (SlurmJob(1, 2), "this", "2 GPUs (of another machine, model not chosen)"),
        (SlurmJob(1, 2), "any", "2 GPUs (any device)"),
        (SlurmJob(1, 2), "a100-80", "2 GPUs (A100 80 GB)"),
        (Here(), "this", ", 2 CPU ranks"),
    ],
)
def test_that_nobody_chose_the_device_of_other_machines_is_said(place, device, says):
    context = run_context(Target(""), Integration.HF, 1, 2, place=place, planned=Planned(device))
    assert subject(context).endswith(says)
