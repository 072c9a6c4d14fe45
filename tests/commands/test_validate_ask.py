"""`validate --ask`: DeepSpeed's answer beside dsgui's findings, and an exit code that says which of the two failed."""

import json
import sys

import pytest

from dsgui.cli import main
from dsgui.core.config.context import LATEST_KNOWN
from tests.answers.remembered import SUPERVISION

GOOD = '{"train_batch_size": 8, "optimizer": {"type": "SGD", "params": {"lr": 0.01}}}'
BAD = '{"train_batch_size": 9, "train_micro_batch_size_per_gpu": 2}'
DONE = {"stage": "done", "seconds": {"parse": 0.25, "initialize": 0.25}, "versions": {"deepspeed": LATEST_KNOWN}}
REFUSED = {**DONE, "stage": "parse", "error": {"type": "ValueError", "message": "steps_per_print is odd", "frames": []}}


@pytest.fixture
def asked(tmp_path, capsys):
    """Runs `validate --ask` against an interpreter that answers every question alike; returns (code, out, err)."""

    def run(text, answer, *options, release=LATEST_KNOWN):
        file, python = tmp_path / "ds.json", tmp_path / "python"
        installed = {"deepspeed": release} if release else {}
        file.write_text(text)
        python.write_text(
            f"#!{sys.executable}\nimport json, sys\nanswer = json.loads({json.dumps(json.dumps(answer))})\n"
            f"versions = {installed!r}\n"
            "if 'versions' in sys.argv:\n"
            "    print(json.dumps({'versions': versions})); sys.exit()\n"
            "print(json.dumps({'hello': {}}), flush=True)\n"
            "for line in sys.stdin:\n"
            f"    open({str(tmp_path / 'questions')!r}, 'a').write(line)\n"
            "    print(json.dumps({'id': json.loads(line)['id'], 'answer': answer}), flush=True)\n"
        )
        python.chmod(0o755)
        code = main(["validate", str(file), "--ask", "--python", str(python), *options])
        return code, *capsys.readouterr()

    return run


def test_an_accepted_config_passes_and_one_line_says_what_was_asked(asked):
    code, out, _ = asked(GOOD, {**DONE, "steps": 2})
    assert code == 0
    assert out.splitlines()[-1].endswith(
        f"Asked DeepSpeed {LATEST_KNOWN}: accepted (parse, initialize, 2 steps; 1.0 s)"
    )


def test_a_refusal_that_no_rule_saw_is_an_error(asked):
    code, out, _ = asked(GOOD, REFUSED)
    assert code == 1
    assert "error DS900 " in out
    assert "ValueError: steps_per_print is odd" in out
    assert f"Asked DeepSpeed {LATEST_KNOWN}: refused at parse" in out


def test_where_deepspeed_accepts_what_a_rule_refuses_deepspeed_is_right(asked):
    code, out, _ = asked(BAD, DONE)
    assert code == 0
    assert "note DS010 dsgui's rules say: train_batch_size: 9 is not" in out


def test_deepspeed_is_right_after_training_where_no_device_is_named(asked):
    odd = GOOD.replace("{", '{"fp16": {"enabled": false, "loss_scale": -1}, "steps_per_print": 0, ', 1)
    trained = {**DONE, "steps": 2}
    code, out, _ = asked(odd, trained, "--device", "any")
    assert (code, " error " in out) == (0, False)
    assert "dsgui's rules say: steps_per_print" in out
    code, out, _ = asked(odd, trained, "--device", "h100")
    assert code == 1
    assert "The errors of dsgui's rules (DS001) stand: they are about what could not be tried here." in out


def test_deepspeeds_own_words_stand_beside_a_rule_that_says_so_too(asked):
    code, out, _ = asked(GOOD.replace("{", '{"steps_per_print": 0, ', 1), REFUSED)
    assert code == 1
    assert "DS900" not in out
    assert "DeepSpeed's own words: ValueError: steps_per_print is odd" in out


@pytest.mark.parametrize("format", ["json", "sarif", "github"])
def test_the_answer_is_in_every_format(asked, format):
    _, out, _ = asked(GOOD, REFUSED, "--format", format)
    assert "DS900" in out
    if format == "json":
        assert json.loads(out)[0]["asked"][0].startswith("Asked DeepSpeed")


def test_deepspeed_gets_the_text_of_the_file_as_it_is(asked, tmp_path):
    text = '{\n  // all of them\n  "train_batch_size": 8,\n}\n'
    assert asked(text, DONE)[0] == 0
    question = json.loads((tmp_path / "questions").read_text().splitlines()[0])
    assert (question["text"], question["reader"], question["lend"]) == (text, "native", True)


@pytest.mark.parametrize(
    ("answer", "options", "release", "told"),
    [
        ({"stage": "read", "missing": "No module named 'transformers'"}, [], LATEST_KNOWN, "lacks what is needed"),
        (DONE, ["--target-version", "0.14.5"], LATEST_KNOWN, "Leave out --target-version"),
        (DONE, [], "", "has no DeepSpeed to ask"),
    ],
)
def test_a_config_that_could_not_be_asked_is_not_checked(asked, answer, options, release, told):
    code, _, err = asked(GOOD, answer, *options, release=release)
    assert code == 2
    assert told in err


def test_the_release_that_answers_is_the_one_the_rules_hold_for(asked):
    assert "DeepSpeed 0.16.9" in asked(GOOD, {**DONE, "versions": {"deepspeed": "0.16.9"}}, release="0.16.9")[1]


def test_a_limit_that_is_no_number_of_seconds_is_refused(asked, capsys):
    with pytest.raises(SystemExit):
        asked(GOOD, DONE, "--ask-timeout", "soon")
    assert "“soon” is not a number of seconds" in capsys.readouterr().err


@pytest.mark.deepspeed
@pytest.mark.remembered(*SUPERVISION)
def test_the_real_deepspeed_is_asked(tmp_path, capsys):
    (tmp_path / "ds.json").write_text(GOOD.replace("SGD", "Foo"))
    code = main(["validate", str(tmp_path / "ds.json"), "--ask", "--device", "cpu"])
    out = capsys.readouterr().out
    assert code == 1
    assert "refused at initialize" in out
    assert [line.split()[2] for line in out.splitlines() if ": error " in line] == ["DS050"]  # says the same


def test_who_stopped_it_is_named(asked):
    frames = [{"module": "transformers.integrations.deepspeed", "function": "fill_match"}]
    stopped = {**REFUSED, "stage": "fill", "error": {"type": "ValueError", "message": "no such", "frames": frames}}
    _, out, _ = asked('{"zero_optimization": {}, "train_micro_batch_size_per_gpu": "auto"}', stopped)
    assert "error DS900 The HF Trainer refuses this (fill): " in out
    assert "These are the HF Trainer's own words" in out
    assert f"Asked DeepSpeed {LATEST_KNOWN}: refused by the HF Trainer at the Trainer's fill" in out
