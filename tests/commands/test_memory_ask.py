"""`dsgui memory --ask`: the dry run beside the formula; which one counts, and what is said of the other."""

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dsgui.cli import main
from dsgui.commands import memory_asking
from dsgui.core.config.context import LATEST_KNOWN
from dsgui.core.memory import instant
from dsgui.core.memory.answer import CannotSay, Source
from dsgui.core.texts.saying import said
from tests.answers.remembered import SUPERVISION
from tests.commands.test_memory import CONFIG, model
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.remembered(*SUPERVISION)

ONE_B = ("--model", "1B", "--gpus", "2", "--device", "a100-80", "--ask")


def rehearsed(question, made, share=1.0):
    """As a dry run would answer that finds `share` of the formula's bytes: two lines for each part, no keys."""
    formula = instant.answer(question, made)

    def lines(part):
        first = round(part.count * share / 3)
        parts = replace(part, count=first, keys=(), line="a.py:1"), replace(part, line="b.py:2", keys=())
        return parts[0], replace(parts[1], count=round(part.count * share) - first)

    peaks = (replace(peak, parts=tuple(line for part in peak.parts for line in lines(part))) for peak in formula.peaks)
    return replace(formula, source=Source.DRY_RUN, peaks=tuple(peaks))


@pytest.fixture
def ask(tmp_path, capsys, monkeypatch):
    """Runs the command with `dry_run` in place of the real one; its exit code, what it printed, what it told. Ctrl-C
    does what it does in a terminal, whoever started the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))

    def ask(dry_run, *options, **changes):
        Path("ds_config.json").write_text(json.dumps(CONFIG | changes), "utf-8")
        if dry_run:
            monkeypatch.setattr(memory_asking, "dry_run", dry_run)
            monkeypatch.setattr(memory_asking, "release_of", lambda python: LATEST_KNOWN)
        code = main(["memory", "ds_config.json", *options])
        out, err = capsys.readouterr()
        return code, out, err

    yield ask
    signal.signal(signal.SIGINT, before)


def answering(share=1.0):
    def dry_run(question, python, *, made, progress, **bounds):
        for phase, step in (("model", 0), ("init", 0), ("forward", 0), ("backward", 2), ("end", 0)):
            progress(phase, step)
        return rehearsed(question, made, share)

    return dry_run


def never(*given, **named):
    raise AssertionError("nothing is to be asked")


def rows_of(out):
    return [line for line in out.splitlines() if line.startswith("  ")]


def test_it_is_the_same_table_where_both_agree(ask):
    code, out, err = ask(answering(), *ONE_B)
    assert code == 0
    assert f"by dry run of DeepSpeed {LATEST_KNOWN}" in out
    by_formula = ask(None, *ONE_B[:-1])[1]
    assert f"DeepSpeed {LATEST_KNOWN}; by formula" in by_formula
    assert rows_of(out) == rows_of(by_formula)
    assert "The dry run counts" not in out
    assert err.splitlines() == [
        "dry run: model",
        "dry run: initialize",
        "dry run: step 1 of 3: forward",
        "dry run: step 3 of 3: backward",
    ]


def test_the_dry_run_wins_and_a_difference_is_said(ask):
    assert "The dry run counts" not in ask(answering(1.019), *ONE_B)[1]
    code, out, _ = ask(answering(1.03), *ONE_B)
    assert code == 0
    lines = [line for line in out.splitlines() if "The dry run counts" in line]
    assert [line.partition(":")[0] for line in lines] == ["GPU", "Host"]
    code, out, _ = ask(answering(20), *ONE_B)
    assert code == 1
    assert "1B: doesn’t fit (GPU " in out


def test_a_dry_run_that_can_not_say_leaves_the_formula(ask):
    code, out, _ = ask(lambda *given, **named: CannotSay(said("memory_notes", "too_long")), *ONE_B)
    assert code == 0
    assert "; by formula" in out
    assert out.splitlines()[-1] == f"{said('memory_notes', 'too_long')} The formula’s answer stands."


def test_ctrl_c_cancels_the_dry_run_alone(ask):
    before = signal.getsignal(signal.SIGINT)

    def pressed(*given, cancelled, **named):
        assert not cancelled()
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(cancelled)
        return CannotSay(said("memory_notes", "cancelled"))

    code, out, _ = ask(pressed, *ONE_B)
    assert code == 0
    assert "The dry run was cancelled. The formula’s answer stands." in out
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_pressed_again_ends_the_command(ask):
    def deaf(*given, cancelled, **named):
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(cancelled)  # two at once would be one
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(lambda: False)

    assert ask(deaf, *ONE_B)[0] == 130


def test_json_has_both(ask):
    told = json.loads(ask(answering(1.5), *ONE_B, "--format", "json")[1])
    both = told["asked"]
    assert (told["source"], both["formula"]["source"], both["dry_run"]["source"]) == ("dry_run", "formula", "dry_run")
    assert both["dry_run"]["devices"] == told["devices"] != both["formula"]["devices"]
    assert [one["code"] for one in both["remarks"]] == ["differs", "differs"]
    assert "asked" not in json.loads(ask(None, *ONE_B[:-1], "--format", "json")[1])


def test_json_says_why_there_is_no_dry_run(ask):
    told = json.loads(ask(None, *ONE_B, "--python", "/nowhere/python", "--format", "json")[1])
    assert (told["source"], told["asked"]["dry_run"]["fit"]) == ("formula", "cannot_say")
    assert "/nowhere/python does not exist" in told["asked"]["dry_run"]["why"]["text"]


def test_another_release_than_the_one_there_is_not_asked(ask):
    code, out, _ = ask(never, *ONE_B, "--target-version", "0.17.0", "--python", sys.executable)
    assert code == 0
    assert f"checked for DeepSpeed 0.17.0, and {sys.executable} has {LATEST_KNOWN}" in out
    assert "The formula’s answer stands." in out


def test_a_model_without_a_formula_is_asked(ask, tmp_path):
    model(tmp_path / "unknown", model_type="nobodys")

    def dry_run(question, python, *, made, **named):
        known = replace(question, model=replace(question.model, config=question.model.config | {"model_type": "llama"}))
        return rehearsed(known, made)

    code, out, _ = ask(dry_run, "--model", "unknown", *ONE_B[2:])
    assert code == 0
    assert "Only the dry run covers this: there is no formula for models of type" in out


@pytest.mark.parametrize(
    ("options", "changes"), [(("--model", "1B"), {"zero_optimization": {"stage": 7}}), (("--model", "no/body"), {})]
)
def test_what_can_not_be_asked_is_one_sentence(ask, options, changes):
    code, out, err = ask(never, *options, "--ask", "--device", "a100-80", **changes)
    assert (code, out, len(err.splitlines())) == (2, "", 1)


def test_neither_has_a_number(ask, tmp_path):
    model(tmp_path / "unknown", model_type="nobodys")
    why = CannotSay(said("memory_notes", "unknown_model", type="nobodys", release="5.0"))
    code, out, err = ask(lambda *given, **named: why, "--model", "unknown", *ONE_B[2:])
    assert (code, out) == (2, "")
    assert "no formula for models of type" in err
    assert str(why.why) in err


@pytest.mark.deepspeed
@pytest.mark.parametrize(("integration", "copies"), [("hf", 0.5), ("native", 1)])
def test_the_real_deepspeed_answers(ask, tmp_path, integration, copies):
    """At stage 3 the HF Trainer has each rank load its half of the model; a script of one's own loads all of it."""
    model(tmp_path / "llama", hidden_size=256, intermediate_size=688, num_hidden_layers=2, vocab_size=1024)
    options = ("--model", "llama", *ONE_B[2:], "--length", "64", "--integration", integration, "--format", "json")
    code, out, err = ask(None, *options, zero_optimization={"stage": 3, "reduce_bucket_size": 1 << 20})
    told = json.loads(out)
    assert (code, told["source"]) == (0, "dry_run")
    assert [one["code"] for one in told["asked"]["remarks"]] == ["reserved"]  # and no difference
    assert "dry run: step 3 of 3: step" in err
    host = next(one for one in told["devices"] if one["device"] == "host")
    beside = ("interpreter", "system")
    parts = host["moments"][0]["parts"]
    tensors = sum(part["bytes"] for part in parts if part["part"] not in beside)
    assert tensors == pytest.approx(2 * copies * 2 * told["parameters"], rel=0.01)  # of 2 ranks; bf16
