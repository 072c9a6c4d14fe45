"""Trying what a run trained, with tiny models of transformers in the real worker: answers, and what can't be tried."""

import json
from pathlib import Path

import pytest

from dsgui.cli import main
from dsgui.core.errors import PlaceError, PlanError
from dsgui.runs.afterwards import AfterTraining
from dsgui.runs.archive import Archive
from dsgui.runs.trying import TryIt
from dsgui.shell.access.places import Places
from tests.answers.remembered import SUPERVISION
from tests.support.run_fixtures import Bench, bench, wait_until
from tests.support.tiny_models import make_models

pytestmark = pytest.mark.remembered(*SUPERVISION)

__all__ = ["bench"]


@pytest.fixture
def run_id(bench: Bench) -> str:
    """A run that has ended, was started from `base`, and saved into `out`."""
    (bench.folder / "out").mkdir()
    return bench.past_run("--model_name_or_path base --output_dir out --source_prefix 'cat '")


@pytest.fixture
def box(bench: Bench):
    made = box_of(bench)
    yield made
    made.close()


def box_of(bench: Bench, *places: Path) -> TryIt:
    archive = Archive(bench.store, bench.runs)
    check = [Places([bench.store.runs_dir, *places]).check] if places else []
    return TryIt(bench.store, bench.runs, AfterTraining(bench.store, bench.runs, archive), {}, *check)


def answered(box: TryIt, run_id: str, **given: object) -> dict:
    box.begin(run_id, {"prompt": "the cat sat", "tokens": "6", **given})
    wait_until(lambda: not box.progress(run_id)["phase"])
    return box.progress(run_id)


@pytest.mark.remembered("dsgui/core/afterwards", "dsgui/shell/afterwards", "tests/support/tiny_models.py")
@pytest.mark.deepspeed
def test_each_kind_of_model_answers_beside_its_base(bench: Bench, run_id: str, box: TryIt) -> None:
    make_models(bench.folder, "out/gpt2", "base", "out/t5", "out/bert", "out/llama", "out/adapter")
    both = answered(box, run_id, source="gpt2", beside=True)
    assert both["problem"] == ""
    assert both["loaded"]
    assert "float32 on cpu" in both["facts"]
    assert both["answers"]["trained"]["text"]
    assert both["answers"]["trained"]["text"] != both["answers"]["base"]["text"]
    again = answered(box, run_id, source="gpt2", beside=True)
    assert again["answers"]["trained"]["text"] == both["answers"]["trained"]["text"]  # greedy
    sampled = [
        answered(box, run_id, source="gpt2", beside=True, temperature="2", seed=seed) for seed in ("1", "1", "2")
    ]
    texts = [one["answers"]["trained"]["text"] for one in sampled]
    assert texts[0] == texts[1] != texts[2]
    assert "33 tokens long, and the model has 32" in answered(box, run_id, source="gpt2", prompt="cat " * 33)["problem"]

    translated = answered(box, run_id, source="t5")
    assert (translated["problem"], translated["answers"].keys()) == ("", {"trained"})
    assert 0 < translated["answers"]["trained"]["tokens"] <= 6

    adapted = answered(box, run_id, source="adapter", beside=True)
    assert adapted["problem"] == ""
    assert "bfloat16 on cpu" in adapted["facts"]
    assert adapted["answers"]["trained"]["text"] != adapted["answers"]["base"]["text"]

    assert "doesn't generate text" in answered(box, run_id, source="bert")["problem"]
    for path in (bench.folder / "base").glob("tokenizer*"):
        path.unlink()
    for path in (bench.folder / "out/t5").glob("tokenizer*"):
        path.unlink()
    assert "no tokenizer" in answered(box, run_id, source="t5")["problem"]


@pytest.mark.deepspeed
def test_the_command_prints_both_answers(bench: Bench, run_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    make_models(bench.folder, "out/gpt2", "base")
    words = ["after", run_id, "try", "--prompt", "the cat", "--max-new-tokens", "4"]
    assert main([*words, "--runs-dir", str(bench.store.runs_dir)]) == 0
    told = capsys.readouterr()
    assert "Loading gpt2: takes about" in told.err
    assert [line for line in told.out.splitlines() if line.startswith("---")] == ["--- trained", "--- base model"]


def save(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_the_box_says_what_it_takes_and_how_the_training_put_its_prompts(bench: Bench, run_id: str, box: TryIt) -> None:
    save(bench.folder / "out/final", config__json="{}", model__safetensors="x" * (1 << 20))
    told = box.about(run_id, {})
    assert (told["name"], told["base"], told["has_base"], told["template"]) == ("final", "base", False, "cat {prompt}")
    alone = told["memory"]
    save(bench.folder / "base", config__json="{}", model__safetensors="x" * (200 << 20))
    told = box.about(run_id, {})
    assert told["has_base"]
    assert told["memory"] != alone
    assert box.about(run_id, {"beside": False})["memory"] == alone


def test_what_holds_no_weights_is_not_tried(bench: Bench, run_id: str, box: TryIt) -> None:
    save(bench.folder / "out/checkpoint-4/global_step4")
    save(bench.folder / "out/adapter", adapter_config__json="{}", adapter_model__safetensors="x")
    with pytest.raises(PlanError, match="neither a folder with weights"):
        box.begin(run_id, {"prompt": "x"})
    assert "neither a folder" in box.about(run_id, {})["refusal"]
    with pytest.raises(PlanError, match="auto, cpu or gpu"):
        box.begin(run_id, {"prompt": "x", "device": "tpu"})


def test_a_base_outside_the_allowed_folders_is_not_read(
    bench: Bench, run_id: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = save(tmp_path_factory.mktemp("away") / "m", config__json="{}", model__safetensors="x")
    save(bench.folder / "out/adapter", adapter_config__json=json.dumps({}), adapter_model__safetensors="x")
    box = box_of(bench, bench.folder)
    with pytest.raises(PlaceError):
        box.begin(run_id, {"prompt": "x", "base": str(outside)})
