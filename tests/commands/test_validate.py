"""`python -m dsgui validate`: the same findings as the page, in four formats, with exit codes for CI."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.cli import main

ROOT = Path(__file__).parents[2]
BROKEN = """{
  "train_batch_size": 100,
  "train_micro_batch_size_per_gpu": 4,
  "gradient_accumulation_steps": 8,
  "optimizer": {"type": "AdamW", "params": {"lr": 1e-3}},
  "zero_optimization": {"stge": 2}
}
"""
SOUND = BROKEN.replace("100", "32").replace("stge", "stage")


@pytest.fixture
def validate(tmp_path, capsys, monkeypatch):
    """Writes `text` to ds.json and checks it; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(text, *options, name="ds.json"):
        (tmp_path / name).write_text(text, "utf-8")
        code = main(["validate", name, *options])
        return code, *capsys.readouterr()

    return run


def test_the_exit_code_tells_errors_from_none_and_from_not_checked(validate):
    assert validate(SOUND)[0] == 0
    assert validate(BROKEN)[0] == 1
    code, out, err = validate('{"a": 1,, }')
    assert (code, out) == (2, "")
    assert "ds.json" in err
    assert "Line 1" in err


def test_text_names_file_line_rule_and_what_to_do(validate):
    _, out, _ = validate(BROKEN)
    assert "ds.json:2: error DS010 train_batch_size: 100 is not" in out
    assert "    Set it to 32" in out
    assert "ds.json:6: error DS002 zero_optimization.stge" in out
    assert out.splitlines()[-1].startswith("ds.json: 2 errors")


def test_the_context_is_what_the_options_say(validate):
    assert validate(SOUND, "--gpus", "2")[0] == 1
    assert validate(SOUND.replace("32", "128"), "--gpus", "2", "--nodes", "2")[0] == 0
    bf16 = SOUND.replace('"optimizer"', '"bf16": {"enabled": true},\n  "optimizer"')
    assert validate(bf16, "--device", "p100")[1] != validate(bf16, "--device", "h100")[1]
    amp = SOUND.replace('"optimizer"', '"amp": {"enabled": false},\n  "optimizer"')
    assert validate(amp, "--target-version", "0.16.9")[0] == 0
    assert validate(amp, "--target-version", "0.19.8")[0] == 1


def test_auto_means_the_trainer_unless_told_otherwise(validate):
    auto = '{"train_batch_size": "auto", "zero_optimization": {"stage": 2}}'
    assert validate(auto)[0] == 0
    assert validate(auto, "--integration", "native")[0] == 1


def test_json_has_everything_a_program_needs(validate):
    _, out, _ = validate(BROKEN, "--format", "json", "--device", "v100")
    (entry,) = json.loads(out)
    assert (entry["file"], entry["ok"], entry["integration"], entry["devices"]) == (
        "ds.json",
        False,
        "native",
        ["v100"],
    )
    first = next(f for f in entry["findings"] if f["rule"] == "DS010")
    assert (first["severity"], first["pointer"], first["line"]) == ("error", "/train_batch_size", 2)
    assert first["fix"]["changes"] == [{"set": "/train_batch_size", "to": "32"}]
    second = next(f for f in entry["findings"] if f["rule"] == "DS002")
    assert second["fix"]["changes"] == [{"rename": "/zero_optimization/stge", "to": "stage"}]
    # Its advice is to set it or to clear it: the one is the fix, the other a choice beside it.
    assert [(one["label"], one["changes"]) for one in first["choices"]] == [
        ("Clear train_batch_size", [{"remove": "/train_batch_size"}])
    ]
    assert [finding["rule"] for finding in entry["findings"] if "choices" in finding] == ["DS010"]
    _, out, _ = validate('{"train_batch_size": 8, "zero_optimization": {"stage": 9}}', "--format", "json")
    (wrong,) = (f for f in json.loads(out)[0]["findings"] if f["severity"] == "error")
    assert (wrong["fix"], [one["label"] for one in wrong["choices"]]) == (
        None,
        [*(f"Use {n}" for n in range(4)), "Clear stage"],
    )
    assert wrong["choices"][2]["changes"] == [{"set": "/zero_optimization/stage", "to": "2"}]


def test_github_annotations_are_one_line_each_and_escaped(validate):
    _, out, _ = validate(BROKEN.replace('"stge"', '"st%\\nge"'), "--format", "github", name="ds 1,2.json")
    lines = out.splitlines()
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    assert lines[0].startswith("::error file=ds 1%2C2.json,line=2,title=DS010::train_batch_size: 100 is not")
    assert any("st%25%0Age" in line for line in lines)


def test_sarif_names_rules_levels_and_places(validate):
    _, out, _ = validate(BROKEN, "--format", "sarif")
    sarif = json.loads(out)
    (run,) = sarif["runs"]
    assert sarif["version"] == "2.1.0"
    declared = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} == declared >= {"DS002", "DS010"}
    place = run["results"][0]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "ds.json"
    assert place["physicalLocation"]["region"] == {"startLine": 2}


def test_a_file_that_import_rewrites_has_no_lines_of_its_own(validate):
    _, out, _ = validate("// a note\n" + BROKEN)
    assert "ds.json: error DS010" in out


LOOSE = {"comment": "// a note\n" + SOUND, "trailing comma": SOUND.replace("}\n}", "},\n}"), "mark": "\ufeff" + SOUND}


@pytest.mark.parametrize("text", LOOSE.values(), ids=LOOSE)
def test_what_json_load_stops_at_is_an_error_for_the_trainer_alone(validate, text):
    code, out, _ = validate(text, "--integration", "hf")
    assert code == 1
    with pytest.raises(json.JSONDecodeError) as stopped:
        json.loads(text)
    assert "error DS018 The file is not strict JSON: the HF Trainer" in out
    assert f"“{stopped.value}”" in out
    assert "Native DeepSpeed reads hjson and can read it." in out
    assert validate(text)[0] == 0


def test_a_config_in_a_file_that_a_yaml_points_to_is_read_by_json_load_too(validate, tmp_path):
    (tmp_path / "zero.json").write_text("// a note\n" + SOUND, "utf-8")
    yaml = "distributed_type: DEEPSPEED\nnum_processes: 1\ndeepspeed_config:\n  deepspeed_config_file: zero.json\n"
    code, out, _ = validate(yaml, name="acc.yaml")
    assert code == 1
    assert "DS018" in out


def test_a_key_that_stands_twice_is_refused_natively_and_the_trainer_keeps_the_last(validate):
    twice = SOUND.replace('{"stage": 2}', '{"stage": 7, "stage": 2}')
    code, out, _ = validate(twice)
    assert code == 1
    assert "error DS019 zero_optimization.stage: the key appears twice, on line 6. DeepSpeed refuses the file" in out
    code, out, _ = validate(twice, "--integration", "hf")
    assert code == 0
    assert "warning DS019" in out
    assert validate(SOUND.replace('{"stage": 2}', '{"stage": 2, "stage": 7}'), "--integration", "hf")[0] == 1


def test_an_accelerate_yaml_brings_its_ranks(validate):
    yaml = (
        "distributed_type: DEEPSPEED\nnum_machines: 2\nnum_processes: 8\nmixed_precision: bf16\n"
        "deepspeed_config:\n  zero_stage: 3\n"
    )
    _, out, _ = validate(yaml, name="acc.yaml")
    assert "HF Trainer, 2 nodes × 4 GPUs" in out


@pytest.mark.parametrize("option", ["--gpus 0", "--gpus x", "--target-version new", "--device abacus", "--format xml"])
def test_an_option_that_means_nothing_ends_with_code_2(option, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["validate", "ds.json", *option.split()])
    assert caught.value.code == 2
    assert option.split()[0] in capsys.readouterr().err


def test_one_unreadable_file_among_many_does_not_hide_the_others(validate, tmp_path, capsys):
    validate(BROKEN)
    assert main(["validate", "gone.json", "ds.json"]) == 2
    out, err = capsys.readouterr()
    assert "DS010" in out
    assert "gone.json" in err


def test_it_starts_as_a_program_and_imports_nothing_heavy(tmp_path):
    (tmp_path / "ds.json").write_text(SOUND)
    code = (
        "import sys; from dsgui.cli import main; main(['validate', sys.argv[1]]); "
        "print([m for m in ('gradio', 'torch', 'deepspeed', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "ds.json")], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
    program = [sys.executable, "-m", "dsgui", "validate", str(tmp_path / "ds.json"), "--gpus", "3"]
    assert subprocess.run(program, cwd=ROOT, capture_output=True, check=False).returncode == 1


def test_this_machine_is_asked_once_for_all_files(tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("dsgui.shell.machine.target.ask", lambda *given: asked.append(given) or {})
    files = [tmp_path / name for name in ("one.json", "two.json", "three.json")]
    for path in files:
        path.write_text(SOUND, "utf-8")
    for times in (1, 2):
        main(["validate", "--device", "this", *map(str, files)])
        assert len(asked) == times
    assert capsys.readouterr().out.count("checked for") == 6
