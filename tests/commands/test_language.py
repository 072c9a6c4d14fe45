"""The command line speaks the terminal's language, or the one asked for; what a program reads keeps its codes."""

import argparse
import ast
import inspect
import json
import re

import pytest

from dsgui.cli import COMMANDS, main
from dsgui.core.texts.columns import width
from dsgui.core.texts.english import TEXTS
from tests.core.texts.test_languages import HAN, left_in_english

CONFIG = '{"train_batch_size": 33, "train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 4}}'
TERMINALS = ("LC_ALL", "LC_MESSAGES", "LANG")
OF_PROGRAMMERS = frozenset(
    (
        ".__call__() not defined",
        "'required' is an invalid argument for positionals",
        "mutually exclusive arguments must be optional",
        "%r is not callable",
        "can't open '%(filename)s': %(error)s",
        "cannot merge actions - two groups are named %r",
        "invalid option string %(option)r: must start with a character %(prefix_chars)r",
        "dest= is required for options like %r",
        "invalid conflict_resolution value: %r",
        "cannot have multiple subparser arguments",
        "conflicting subparser: %s",
        "conflicting subparser alias: %s",
        'argument "-" with mode %r',
        "unexpected option string: %s",
    )
)


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


@pytest.mark.parametrize("option", [("--lang", "zh-CN"), ("--lang=zh-CN",), ("--lang", "zh"), ("--lang=zh_CN",)])
def test_the_option_says_the_language(capsys, config, option):
    code, text = said(capsys, *option, "validate", config)
    assert code == 1
    assert "错误 DS001" in text
    assert "检查对象：DeepSpeed" in text


@pytest.mark.parametrize("place", [1, 2])
def test_the_option_counts_behind_the_command_too(capsys, config, place):
    asked = ["validate", config]
    assert "错误 DS001" in said(capsys, *asked[:place], "--lang", "zh", *asked[place:])[1]
    assert not HAN.search(said(capsys, *asked, "--", "--lang", "zh")[1])  # files of these names


def test_a_script_keeps_its_own_option(capsys, config):
    lang, launched = ("--lang", "zh"), ("--config", config, "/no/such.py")
    own, before = (said(capsys, "launch", *words) for words in ((*launched, *lang), (*lang, *launched)))
    assert not HAN.search(own[1])
    assert HAN.search(before[1])


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


def test_an_unknown_language_is_told_in_the_terminals(capsys, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert HAN.search(said(capsys, "--lang", "tlh", "doctor")[1])


def test_what_the_system_refuses_is_told_in_the_terminals_language(capsys, config, tmp_path):
    asked = ("launch", "--config", config, "--hostfile", str(tmp_path / "none"), "train.py")
    told = [said(capsys, "--lang", tag, *asked)[1] for tag in ("en", "zh")]
    assert ("No such file or directory" in told[0], "文件或目录不存在" in told[1]) == (True, True)


VERBS = [f"after last {verb}" for verb in ("list", "consolidate", "merge", "universal", "clean")]


@pytest.mark.parametrize("command", ["", *COMMANDS, *VERBS])
def test_help_is_told_in_the_terminals_language(capsys, command):
    def help_of(tag):
        with pytest.raises(SystemExit) as ended:
            main(["--lang", tag, *command.split(), "--help"])
        assert ended.value.code == 0
        return capsys.readouterr().out

    chinese, english = help_of("zh-CN"), help_of("en")
    assert "用法：" in chinese
    assert not HAN.search(english)
    explained = re.findall(r"^  (?:[-\w].*?)  +(\S.*)$", chinese, re.MULTILINE)
    assert explained
    assert [one for one in explained if left_in_english(one)] == []


def test_every_line_of_the_usage_starts_in_the_same_column_and_fits(capsys):
    """argparse counts characters, and a Chinese one takes two columns."""
    with pytest.raises(SystemExit):
        main(["--lang", "zh-CN", "validate", "--help"])
    first, *rest = capsys.readouterr().out.split("\n\n")[0].splitlines()
    start = width("用法：dsgui validate ")
    assert len(rest) > 3
    assert {len(line) - len(line.lstrip()) for line in rest} == {start}
    assert max(map(width, [first, *rest])) <= 80


@pytest.mark.parametrize(
    ("words", "told", "english"),
    [
        (["validate"], "缺少以下参数：FILE", "the following arguments are required: FILE"),
        (["validate", "--gpus", "0", "x"], "参数 --gpus：“0”不是 1 到 100000 的整数", "not a whole number from 1 to"),
        (["serve", "--port", "x"], "参数 --port：“x”不是 0 到 65535 的整数", "not a whole number from 0 to 65535"),
        (["serve", "--port", "99999"], "参数 --port：“99999”不是", "argument --port: “99999” is not"),
        (["stop", "--foo", "x"], "无法识别的参数：--foo", "unrecognized arguments: --foo"),
    ],
)
def test_a_wrong_command_line_is_told_in_the_terminals_language(capsys, words, told, english):
    for tag, expected in (("zh-CN", told), ("en", english)):
        with pytest.raises(SystemExit):
            main(["--lang", tag, *words])
        assert expected in capsys.readouterr().err


def test_argparse_says_what_the_catalogue_has():
    """A message that another Python words differently would be told in English. Those that only a fault in a parser
    brings, or what no command uses, are left out."""
    tree = ast.parse(inspect.getsource(argparse))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "_")
    said_there = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    told = set(TEXTS["argparse"].values())
    assert told - said_there == set()
    assert said_there - told - OF_PROGRAMMERS == set()


def test_rules_are_explained_in_the_terminals_language(capsys, config):
    assert "规则" in said(capsys, "--lang", "zh-CN", "rules", "DS999")[1]
    assert "DS012" in said(capsys, "--lang", "zh-CN", "rules", "DS012")[1]
