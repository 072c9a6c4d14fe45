"""Secrets are seen by their value, the name before them, or their shape; what is none stays readable."""

import json
import os
import stat
import time
from dataclasses import replace

import pytest

from dsgui.core.news import Cursor
from dsgui.core.plan import ConfigArgument, LaunchRequest
from dsgui.core.points import Event, Point
from dsgui.core.secrets import MASK, finished, is_secret_name, mask, secret_values
from dsgui.core.state import Asked
from dsgui.inspection import Inspection
from dsgui.runs import Runs
from dsgui.shell.launcher import NOT_HANDED_ON, Launcher
from dsgui.shell.processes import boot_id
from dsgui.shell.records import Records
from dsgui.shell.store import Store

SECRET = "correct-horse-battery"


class _StartsNothing(Launcher):
    def start(self, directory, secrets):
        pass


@pytest.mark.parametrize(
    "name",
    ["HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "db_password", "GOOGLE_APPLICATION_CREDENTIALS", "APIKEY"],
)
def test_names_of_secrets(name):
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["TOKENIZERS_PARALLELISM", "MONKEY", "PATH", "KEYBOARD", "CUDA_VISIBLE_DEVICES"])
def test_names_of_no_secrets(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    [
        f"logged in with {SECRET}!",
        f"MY_SERVICE_TOKEN={SECRET}x",
        f"train.py --hub_token {SECRET}x --max_steps 5",
        f"train.py --api-key='{SECRET}x'",
        f"https://me:{SECRET}x@host/path",
    ],
)
def test_a_secret_is_hidden_and_the_rest_stays(text):
    shown = mask(text, (SECRET,) if text.startswith("logged") else ())
    assert SECRET not in shown
    assert MASK in shown
    assert shown[:6] == text[:6]


@pytest.mark.parametrize(
    "token", ["hf_" + "aB3" * 10, "ghp_" + "x1" * 15, "AKIA" + "A1B2C3D4E5F6G7H8", "sk-" + "q" * 30]
)
def test_tokens_of_known_services_are_hidden_wherever_they_are(token):
    assert mask(f"using {token}.") == f"using {MASK}."


@pytest.mark.parametrize(
    "line",
    [
        "{'loss': '14.29', 'num_tokens': '1234567890', 'epoch': '0.04'}",
        "tokens per second: 123456789",
        "pad_token_id=0 eos_token='</s>'",
        "step=12345678 key errors: none",
        "  5%|▌         | 5/100 [00:01<00:19,  4.98it/s]",
        "--tokenizer_name google-t5/t5-small",
        "KeyError: 'optimizer'",
    ],
)
def test_ordinary_output_is_left_alone(line):
    assert mask(line, (SECRET,)) == line


def test_short_values_hide_nothing():
    assert secret_values({"USE_TOKEN": "true", "HF_TOKEN": SECRET, "HOME": "/home/me/there"}) == (SECRET,)


@pytest.mark.parametrize("cut", range(1, len(SECRET)))
def test_half_a_secret_waits_for_its_other_half(cut):
    text = f"signed in as {SECRET[:cut]}"
    assert text[: finished(text, (SECRET,))] == "signed in as "
    assert finished("HF_TOKEN=abc") == 0
    assert finished("nothing here") == len("nothing here")


def test_a_runs_output_and_command_are_shown_without_secrets_in_any_chunks(tmp_path):
    store = Store(tmp_path / "runs")
    runs = Runs(store, Launcher(), secrets=(SECRET,))
    script = tmp_path / "train.py"
    script.write_text("")
    words = f"--hub_token {SECRET} --note {SECRET}"
    request = LaunchRequest("", str(script), words, 1, (), None, "", "{}", ConfigArgument.NONE, "python3", {})
    plan = runs.prepare(request)
    directory = store.create(plan.run_id)
    store.write_plan(directory, plan, "{}", Asked(1, time.monotonic(), boot_id()))  # its supervisor is about to begin
    output = f"begin\nüser {SECRET} and\n" * 3 + "end"
    seen, cursor = "", Cursor(output=0)
    for byte in output.encode():
        with open(directory.output_file, "ab") as file:
            file.write(bytes([byte]))
        delta = runs.follow(plan.run_id, cursor)
        seen, cursor = seen + delta.output, delta.cursor
    assert seen == output.replace(SECRET, MASK)
    assert SECRET not in runs.follow(plan.run_id, Cursor()).about["command"]
    assert SECRET not in runs.shown_command(plan)
    assert SECRET in directory.command_file.read_text("utf-8")


def test_what_a_script_names_its_curves_and_prints_in_events_is_shown_without_secrets(tmp_path):
    store = Store(tmp_path / "runs")
    runs = Runs(store, Launcher(), secrets=(SECRET,))
    script = tmp_path / "train.py"
    script.write_text("")
    config = f'{{"comet": {{"api_key": "{SECRET}"}}}}'
    ids = []
    for text in (config, "{}"):
        request = LaunchRequest("", str(script), "", 1, (), None, "", text, ConfigArgument.NONE, "python3", {})
        plan = runs.prepare(request)
        directory = store.create(plan.run_id)
        store.write_plan(directory, plan, text, Asked(1, time.monotonic(), boot_id()))
        ids.append(plan.run_id)
    records = Records(store.open(ids[0]), time.monotonic, lambda: 0.0)
    records.take_points([Point(1, None, {f"loss of {SECRET}": 1.0})])
    records.take_event(Event("warning", f"the key {SECRET} is old"))
    records.take_output(f"it 1 q=1 {SECRET}\n".encode())
    inspection = Inspection(store, runs)
    shown = json.dumps(
        [
            runs.follow(ids[0], Cursor()).to_json(),
            inspection.pattern(ids[0], "it {step} q={quality}"),
            inspection.search(ids[0], "q="),
            inspection.output_around(ids[0], 0),
            inspection.compare(ids),
        ],
        ensure_ascii=False,
    )
    assert MASK in shown
    assert "quality" in shown
    assert SECRET not in shown


def test_an_empty_or_short_secret_typed_for_a_run_garbles_nothing(tmp_path):
    runs = Runs(Store(tmp_path / "runs"), _StartsNothing(), secrets=(f"{SECRET}x",))
    script = tmp_path / "train.py"
    script.write_text("")
    request = LaunchRequest("", str(script), "", 1, (), None, "", "{}", ConfigArgument.NONE, "python3", {})
    plan = runs.prepare(request)
    runs.start(plan, "{}", {"HF_TOKEN": "", "MY_KEY": "1", "API_KEY": SECRET})
    assert runs.shown_command(replace(plan, arguments=("--note", "plain", f"{SECRET}x"))).endswith(f"plain {MASK}")


def test_nobody_else_reads_a_runs_folder(tmp_path):
    store = Store(tmp_path / "runs")
    runs = Runs(store, Launcher())
    (tmp_path / "t.py").write_text("")
    request = LaunchRequest("", str(tmp_path / "t.py"), "", 1, (), None, "", "{}", ConfigArgument.NONE, "python3", {})
    old = os.umask(0)
    try:
        plan = runs.prepare(request)
        directory = store.create(plan.run_id)
        store.write_plan(directory, plan, "{}")
    finally:
        os.umask(old)
    assert stat.S_IMODE(store.runs_dir.stat().st_mode) == stat.S_IMODE(directory.path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in directory.path.iterdir()} == {0o600}


def test_the_servers_own_variables_are_not_handed_on():
    assert {"DSGUI_TOKEN", "GRADIO_TEMP_DIR"} <= NOT_HANDED_ON
