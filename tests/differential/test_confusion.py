"""`python -m benchmarks.confusion`: the right column for each verdict, and an exit code for CI."""

import json

import pytest

from benchmarks.confusion import main
from differential.corpus import matching_arguments

SOUND = {"train_batch_size": 8, "optimizer": {"type": "AdamW", "params": {"lr": 0.001}}}
BROKEN = {**SOUND, "zero_optimization": {"stage": 7}}
HEAD = "file\tversion\tmode\tworld_size\tverdict\tstage\texception\tmessage\thf_args\n"


@pytest.fixture
def corpus(tmp_path):
    """Writes configs and their verdicts; returns the folder."""

    def write(*cases):
        lines = [HEAD]
        for number, (config, verdict, message) in enumerate(cases):
            (tmp_path / f"{number}.json").write_text(json.dumps(config), "utf-8")
            lines.append(f"{number}.json\t0.19.8\tinit\t1\t{verdict}\tinitialize\t\t{message}\t\n")
        (tmp_path / "verdicts.tsv").write_text("".join(lines), "utf-8")
        return tmp_path

    return write


def counts(out):
    """Column → number, of the line for all."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines() if line.startswith("|")]
    return dict(zip(cells[0][3:], map(int, cells[-1][3:]), strict=True))


def test_what_both_say_alike_is_counted_and_passes(corpus, capsys):
    folder = corpus((SOUND, "ok", ""), (BROKEN, "reject", "ValidationError"), (BROKEN, "env", "no libaio"))
    assert main(["--corpus", str(folder)]) == 0
    found = counts(capsys.readouterr().out)
    assert (found["accepted, silent"], found["refused, found"], found["not judged"]) == (1, 1, 1)
    assert found["false error"] == found["missed"] == 0


def test_a_false_error_is_listed_with_the_rule_and_fails(corpus, capsys):
    folder = corpus((BROKEN, "ok", ""))
    assert main(["--corpus", str(folder)]) == 1
    out = capsys.readouterr().out
    assert counts(out)["false error"] == 1
    assert "**false error**: 0.json (0.19.8 init on 1)" in out
    assert "DS001 zero_optimization.stage: 7" in out


def test_a_refusal_without_a_finding_fails_unless_there_is_a_reason(corpus, capsys):
    assert main(["--corpus", str(corpus((SOUND, "reject", "ValueError: new")))]) == 1
    assert "no reason is known" in capsys.readouterr().out
    script = {"train_batch_size": 8, "zero_optimization": {"stage": 2}}
    assert main(["--corpus", str(corpus((script, "reject", "zero stage 2 requires an optimizer")))]) == 0
    assert "depends on the optimizer that the script passes" in capsys.readouterr().out


def test_a_folder_that_is_none_is_told(capsys):
    with pytest.raises(SystemExit):
        main(["--corpus", "/no/such/folder"])
    assert "is no folder" in capsys.readouterr().err


def test_the_trainers_arguments_are_taken_from_the_file():
    config = {
        "train_batch_size": 32,
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": 2,
        "bf16": {"enabled": "auto"},
        "optimizer": {"params": {"lr": 3e-5, "betas": [0.8, 0.99]}},
    }
    given = matching_arguments(json.dumps(config), 4)
    assert given["per_device_train_batch_size"] == 4
    assert (given["learning_rate"], given["adam_beta1"], given["adam_beta2"]) == (3e-5, 0.8, 0.99)
    assert given["bf16"] is True


@pytest.mark.complete  # a benchmark's own way to ask
@pytest.mark.deepspeed
def test_a_folder_without_verdicts_is_put_to_the_real_deepspeed(tmp_path, capsys):
    hf = {"train_micro_batch_size_per_gpu": "auto", "gradient_clipping": "auto", "zero_optimization": {"stage": 2}}
    for name, config in (("sound", SOUND), ("broken", BROKEN), ("hf", hf)):
        (tmp_path / f"{name}.json").write_text(json.dumps(config), "utf-8")
    assert main(["--corpus", str(tmp_path)]) == 0
    found = counts(capsys.readouterr().out)
    assert found["refused, found"] + found["accepted, silent"] == 3 * 2 * 3
    assert found["accepted, silent"] == 3 + 3
