"""`dsgui runs add`: what was found is told, in both languages; bad input is one sentence."""

import json

import pytest

from dsgui.cli import main

STATE = {"log_history": [{"loss": 2.0, "step": 5}, {"loss": 1.0, "step": 10}], "global_step": 10, "max_steps": 10}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "trainer_state.json").write_text(json.dumps(STATE))
    (tmp_path / "out" / "training_args.bin").write_bytes(b"\x80\x04.")
    return tmp_path / "out"


def run(tmp_path, capsys, *words):
    code = main([*words, "--runs-dir", str(tmp_path / "runs")])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_a_folder_is_added_told_of_and_read_again(tmp_path, folder, capsys):
    code, told, _ = run(tmp_path, capsys, "runs", "add", str(folder), "--name", "first try")
    assert code == 0
    assert "first try: trainer_state.json: added as " in told
    assert "training_args.bin is not opened" in told
    code, told, _ = run(tmp_path, capsys, "runs", "add", str(folder))
    assert "nothing new" in told
    code, told, _ = run(tmp_path, capsys, "runs")
    assert "added" in told
    assert "first try" in told
    code, told, _ = run(tmp_path, capsys, "runs", "show", "last")
    assert "10 / 10" in told
    assert "speed" not in told  # nobody sampled it
    code, told, _ = run(tmp_path, capsys, "after", "last", "list")
    assert "dsgui only reads it" in told
    code, told, _ = run(tmp_path, capsys, "runs", "add", str(folder), "--format", "json")
    assert json.loads(told)["added"][0]["again"]


def test_it_is_told_in_chinese_too(tmp_path, folder, capsys):
    _, told, _ = run(tmp_path, capsys, "--lang", "zh-CN", "runs", "add", str(folder))
    assert "已添加为" in told
    with pytest.raises(SystemExit):
        main(["--lang", "zh-CN", "runs", "--help"])
    assert "add FOLDER" in capsys.readouterr().out


def test_what_is_no_training_is_one_sentence(tmp_path, capsys):
    code, told, error = run(tmp_path, capsys, "runs", "add", str(tmp_path / "missing"))
    assert (code, told) == (2, "")
    assert error == f"dsgui: {tmp_path}/missing: no such folder or file. Check the path.\n"
