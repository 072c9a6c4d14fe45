"""The command line speaks the terminal's language, or the one asked for; what a program reads keeps its codes."""

import json

import pytest

from dsgui.cli import main

CONFIG = '{"train_batch_size": 33, "train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 4}}'
TERMINALS = ("LC_ALL", "LC_MESSAGES", "LANG")


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A config with errors, for a terminal that says no language."""
    for name in TERMINALS:
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "ds_config.json"
    path.write_text(CONFIG, encoding="utf-8")
    return str(path)


def said(capsys, *words):
    code = main(words)
    printed = capsys.readouterr()
    return code, printed.out + printed.err


@pytest.mark.parametrize("option", [("--lang", "zh-CN"), ("--lang=zh-CN",)])
def test_the_option_says_the_language(capsys, config, option):
    code, text = said(capsys, *option, "validate", config)
    assert code == 1
    assert "错误 DS001" in text
    assert "检查对象：DeepSpeed" in text


@pytest.mark.parametrize("name", TERMINALS)
def test_the_terminal_says_the_language(capsys, config, monkeypatch, name):
    monkeypatch.setenv(name, "zh_CN.UTF-8")
    assert "错误 DS001" in said(capsys, "validate", config)[1]
    assert "error DS001" in said(capsys, "--lang", "en", "validate", config)[1]


def test_the_first_that_is_set_decides(capsys, config, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert "error DS001" in said(capsys, "validate", config)[1]


def test_without_either_it_is_english(capsys, config):
    assert "error DS001" in said(capsys, "validate", config)[1]
    assert "错误" not in said(capsys, "resolve", config)[1]


def test_what_a_program_reads_keeps_its_keys_and_codes(capsys, config):
    def facts(*words):
        entry = json.loads(said(capsys, *words, "validate", "--format", "json", config)[1])[0]
        return sorted(entry), [(one["rule"], one["code"], one["severity"], one["pointer"]) for one in entry["findings"]]

    assert facts("--lang", "zh-CN") == facts("--lang", "en")


def test_another_language_is_refused(capsys):
    code, text = said(capsys, "--lang", "tlh", "doctor")
    assert (code, "en, zh-CN" in text) == (2, True)
