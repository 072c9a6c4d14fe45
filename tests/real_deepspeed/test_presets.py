"""Every preset is strict JSON, fits the schema, and is accepted by the real DeepSpeed once its "auto" is filled."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Severity
from dsgui.core.texts.languages import CHINESE_TAG, LANGUAGES
from tests.support.cases import each_case

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "presets"
PRESETS = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in FOLDER.glob("*.json")
    if not path.name.endswith(".ds_config.json") and path.stem not in LANGUAGES
}
KEYS = {"id", "order", "group", "title", "purpose", "source", "integration", "context", "notes", "arguments"} | {
    "config_file"
}

TUTORIALS = ("Tutorials, HF Trainer", "Tutorials, native")
HF_LADDER, NATIVE_LADDER = "ZeRO ladder, HF Trainer", "ZeRO ladder, native"
# What each rung of the ladder sets: stage, device of the optimizer, device of the parameters.
RUNGS = {
    "zero0": (0, None, None),
    "zero1": (1, None, None),
    "zero2": (2, None, None),
    "zero2-offload": (2, "cpu", None),
    "zero3": (3, None, None),
    "zero3-offload-optimizer": (3, "cpu", None),
    "zero3-offload": (3, "cpu", "cpu"),
    "zero3-nvme": (3, "nvme", "nvme"),
}

each_preset = each_case("preset", PRESETS.values(), ids=PRESETS)


each_rung = each_case("rung", RUNGS)


def text_of(preset):
    return (FOLDER / preset["config_file"]).read_text("utf-8")


def without_duplicates(pairs):
    assert len(dict(pairs)) == len(pairs), f"duplicate key among {[key for key, _ in pairs]}"
    return dict(pairs)


def config_of(preset):
    return json.loads(text_of(preset), object_pairs_hook=without_duplicates)


def option(preset, name, otherwise):
    words = preset["arguments"].split()
    return type(otherwise)(words[words.index(name) + 1]) if name in words else otherwise


def filled(preset, ranks=1):
    """The config as the HF Trainer would hand it to DeepSpeed: batch terms, clipping, 16-bit switches.
    Other “auto” is for the engine, or for blocks that drop it."""
    config = config_of(preset)
    micro = option(preset, "--per_device_train_batch_size", 1)
    steps = option(preset, "--gradient_accumulation_steps", 1)
    values = {
        "train_batch_size": micro * steps * ranks,
        "train_micro_batch_size_per_gpu": micro,
        "gradient_accumulation_steps": steps,
        "gradient_clipping": 1.0,
    }
    if preset["integration"] == "hf":
        config.setdefault("gradient_accumulation_steps", 1)
    config |= {key: value for key, value in values.items() if config.get(key) == "auto"}
    for block in ("fp16", "bf16"):
        if config.get(block, {}).get("enabled") == "auto":
            config[block]["enabled"] = f"--{block}" in preset["arguments"].split()
    return config


@each_preset
def test_a_preset_says_what_it_is_for_where_it_comes_from_and_what_to_know(preset):
    assert preset.keys() - {"plans"} == KEYS
    assert PRESETS[preset["id"]] is preset
    assert preset["config_file"] == f"{preset['id']}.ds_config.json"
    assert preset["context"].keys() == {"gpus", "nodes", "model"}
    assert preset["integration"] in {"hf", "native"}
    assert len(preset["title"]) <= 60
    assert all(sentence.endswith((".", "json")) for sentence in [preset["purpose"], *preset["notes"]])
    assert preset["notes"]
    assert "/work" not in json.dumps(preset)
    assert "/tmp" not in json.dumps(preset)


def test_presets_have_an_order_and_telling_titles():
    assert sorted(preset["order"] for preset in PRESETS.values()) == list(range(1, len(PRESETS) + 1))
    assert len({preset["title"] for preset in PRESETS.values()}) == len(PRESETS) >= 7
    configs = {path.name for path in FOLDER.glob("*.ds_config.json")}
    assert configs == {preset["config_file"] for preset in PRESETS.values()}


@each_preset
def test_a_preset_is_told_in_chinese_with_the_same_options_and_keys(preset):
    told = json.loads((FOLDER / f"{CHINESE_TAG}.json").read_text("utf-8"))[preset["id"]]
    assert told.keys() == {"group", "title", "purpose", "source", "notes"} | ({"plans"} & preset.keys())
    assert len(told.get("plans", ())) == len(preset.get("plans", ()))
    assert len(told["notes"]) == len(preset["notes"])
    for english, chinese in zip(preset["notes"], told["notes"], strict=True):
        named = set(re.findall(r"--\w+|\w+_\w+", english))
        assert named <= set(re.findall(r"--\w+|\w+_\w+", chinese, re.ASCII)), chinese


@each_preset
def test_a_preset_is_strict_json_and_fits_the_schema(preset):
    schema = json.loads((ROOT / "schemas/ds_config.schema.json").read_text("utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(config_of(preset))) == []
    assert text_of(preset).endswith("}\n")


@each_preset
def test_dsgui_finds_no_error_in_a_preset_in_its_own_context(preset, checker):
    nodes, gpus = preset["context"]["nodes"], preset["context"]["gpus"]
    context = Context(Integration(preset["integration"]), nodes=nodes, gpus_per_node=gpus)
    assert not checker.has_error(Document(text_of(preset)), context)


def test_one_batch_of_64_has_the_three_plans_of_the_tutorial(checker, catalog):
    (preset,) = (preset for preset in catalog.presets() if preset.id == "native-batch-64")
    table = []
    for plan in preset.plans:
        document = Document(preset.planned(plan))
        context = Context(preset.integration, nodes=plan.nodes, gpus_per_node=plan.gpus)
        assert not checker.has_error(document, context)
        values = document.value
        micro, steps = values["train_micro_batch_size_per_gpu"], values["gradient_accumulation_steps"]
        assert micro * steps * plan.gpus * plan.nodes == values["train_batch_size"] == 64
        table.append((plan.nodes * plan.gpus, micro, steps))
    assert table == [(1, 8, 8), (4, 8, 2), (8, 8, 1)]


@each_preset
def test_only_a_preset_for_the_hf_trainer_says_auto(preset):
    assert ('"auto"' in text_of(preset)) == (preset["integration"] == "hf")


@pytest.mark.parametrize(
    ("id", "spelling"),
    [
        ("zero2-offload-t5", '"reduce_bucket_size": 2e8'),
        ("zero2-offload-two-gpus", '"steps_per_print": 1e5'),
        ("zero3-offload-t5-3b-before", '"stage3_max_live_parameters": 1e9'),
        ("zero3-offload-t5-3b-after", '"stage3_max_live_parameters": 3e10'),
        ("zero3-offload-concrete", '"stage3_prefetch_bucket_size": 0.94e6'),
        ("zero3-offload-bf16-flan-t5", '"stage3_gather_16bit_weights_on_model_save": false'),
        ("native-zero2-fp16-cosine", '"weight_decay": 1e-2'),
    ],
)
def test_numbers_are_spelt_as_the_tutorials_spell_them(id, spelling):
    assert spelling in text_of(PRESETS[id])


def test_the_t5_3b_presets_differ_in_two_values_only():
    before, after = (text_of(PRESETS[f"zero3-offload-t5-3b-{when}"]).splitlines() for when in ("before", "after"))
    changed = [new.strip() for old, new in zip(before, after, strict=True) if old != new]
    assert changed == ['"stage3_max_live_parameters": 3e10,', '"stage3_max_reuse_distance": 1e10,']


def test_the_tutorials_come_first_and_then_the_ladder_from_its_lowest_rung(catalog):
    presets = catalog.presets()
    groups = dict.fromkeys(preset.group for preset in presets)
    assert list(groups) == [*TUTORIALS, HF_LADDER, NATIVE_LADDER]
    assert presets[0].id == "zero2-offload-t5"
    for group, kind in ((HF_LADDER, "hf"), (NATIVE_LADDER, "native")):
        assert [preset.id for preset in presets if preset.group == group] == [f"{rung}-{kind}" for rung in RUNGS]


@each_rung
@each_case("kind", ["hf", "native"])
def test_a_rung_sets_the_stage_and_the_devices_of_its_name(rung, kind):
    zero = config_of(PRESETS[f"{rung}-{kind}"])["zero_optimization"]
    devices = (zero.get(f"offload_{what}", {}).get("device") for what in ("optimizer", "param"))
    assert (zero["stage"], *devices) == RUNGS[rung]


@each_rung
def test_the_two_variants_of_a_rung_differ_in_zero_only_where_the_trainer_fills_auto(rung):
    hf, native = (config_of(PRESETS[f"{rung}-{kind}"])["zero_optimization"] for kind in ("hf", "native"))
    assert hf.keys() == native.keys()
    assert {hf[key] for key in hf if key != "stage" and hf[key] != native[key]} <= {"auto"}


@each_rung
def test_a_native_rung_names_its_numbers_once_and_a_batch_for_any_number_of_gpus(rung):
    config = config_of(PRESETS[f"{rung}-native"])
    assert "train_batch_size" not in config
    assert config["train_micro_batch_size_per_gpu"] * config["gradient_accumulation_steps"] > 1
    assert config["scheduler"]["params"]["warmup_max_lr"] == config["optimizer"]["params"]["lr"]
    assert config["bf16"] == {"enabled": True}


@each_rung
def test_an_hf_rung_leaves_to_the_trainer_what_it_fills(rung):
    config = config_of(PRESETS[f"{rung}-hf"])
    terms = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "gradient_clipping")
    assert {config[term] for term in terms} == {config["bf16"]["enabled"], config["fp16"]["enabled"]} == {"auto"}
    assert "scheduler" not in config
    # accelerate gives the CPU optimizer it makes of the Trainer's only lr and weight decay; the block gives it all.
    assert set(config.get("optimizer", {"params": {}})["params"].values()) == ({"auto"} if RUNGS[rung][1] else set())


@each_rung
@each_case("kind", ["hf", "native"])
def test_a_rung_says_what_memory_it_takes_and_the_nvme_one_what_it_needs(rung, kind):
    preset = PRESETS[f"{rung}-{kind}"]
    notes = " ".join(preset["notes"])
    assert preset["source"].startswith("dsgui: ZeRO ladder (")
    assert "Ψ" in notes
    assert "V100" in notes
    assert ("nvme_path" in notes and "libaio" in notes and "aio" in config_of(preset)) == (rung == "zero3-nvme")


@each_rung
@each_case("kind", ["hf", "native"])
@each_case("release", ["0.14.5", "0.16.9", "0.19.8"])
def test_dsgui_finds_nothing_amiss_in_a_rung_whatever_the_release_and_the_gpus(rung, kind, release, checker):
    document = Document(text_of(PRESETS[f"{rung}-{kind}"]))
    for gpus in (1, 2, 8):
        context = Context(Integration(kind), gpus_per_node=gpus, deepspeed_version=release)
        findings = checker.findings(document, context)
        assert [finding for finding in findings if finding.severity is not Severity.NOTE] == []


ASK = """
import json, logging, os, sys
os.environ["DS_ACCELERATOR"] = "cpu"
answers, sys.stdout = sys.stdout, sys.stderr
from deepspeed.runtime.config import DeepSpeedConfig
logging.disable(logging.CRITICAL)
for name, config in json.load(sys.stdin).items():
    try:
        DeepSpeedConfig(config)
        answer = "ok"
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
    print(json.dumps([name, answer]), file=answers)
"""


@pytest.mark.deepspeed
@pytest.mark.remembered("presets", "tests/support/oracles/deepspeed_oracle.py")
@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed")
def test_the_real_deepspeed_accepts_every_preset_and_refuses_the_concrete_one_without_its_batch_size():
    questions = {id: filled(preset) for id, preset in PRESETS.items()}
    as_printed = config_of(PRESETS["zero3-offload-concrete"])
    del as_printed["train_micro_batch_size_per_gpu"]
    questions["as printed"] = as_printed
    run = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    answers = dict(map(json.loads, run.stdout.splitlines()))
    assert "needs to be provided" in answers.pop("as printed")
    assert answers == dict.fromkeys(PRESETS, "ok")


@pytest.mark.deepspeed
@pytest.mark.remembered("presets", "tests/support/oracles/deepspeed_oracle.py")
@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed")
def test_the_real_deepspeed_solves_the_batch_of_every_rung_on_one_two_and_eight_gpus():
    cases = [
        (preset | {"arguments": f"--{precision} --per_device_train_batch_size 3"}, ranks)
        for preset in PRESETS.values()
        if preset["group"] not in TUTORIALS
        for precision in ("bf16", "fp16")
        for ranks in (1, 2, 8)
    ]
    questions = [{"config": filled(preset, ranks), "world_size": ranks} for preset, ranks in cases]
    run = subprocess.run(
        [sys.executable, ROOT / "tests/support/oracles/deepspeed_oracle.py"],
        input="".join(json.dumps(question) + "\n" for question in questions),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    for (preset, ranks), line in zip(cases, run.stdout.splitlines(), strict=True):
        config = config_of(preset)
        hf = preset["integration"] == "hf"
        micro = 3 if hf else config["train_micro_batch_size_per_gpu"]
        steps = 1 if hf else config["gradient_accumulation_steps"]
        expected = {"verdict": "ok", "batch": [micro * steps * ranks, micro, steps]}
        assert json.loads(line) == expected, (preset["id"], ranks)
