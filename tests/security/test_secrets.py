"""Secrets are seen by their value, the name before them, or their shape; what is none stays readable."""

import json
import os
import stat
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.access import secrets
from dsgui.core.access.secrets import (
    MASK,
    Masker,
    finished,
    is_secret_name,
    mask,
    mask_bytes,
    secret_arguments,
    secret_values,
)
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.state import Asked, RunState, RunStatus
from dsgui.core.machine.machine import Host, Machine
from dsgui.core.metrics.points import Event, Point
from dsgui.core.preflight.preflight import preflight
from dsgui.core.preflight.surroundings import Launch, Surroundings
from dsgui.core.runs.news import Cursor
from dsgui.core.script.script import script_facts
from dsgui.core.texts.saying import as_told
from dsgui.runs.archive import Archive
from dsgui.runs.inspection import Inspection
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import NOT_HANDED_ON, Launcher
from dsgui.shell.logs.records import Records
from dsgui.shell.processes.processes import boot_id
from dsgui.shell.runs.store import Store
from tests.support.cases import each_case

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


@each_case(
    ("before", "after"),
    [
        ('{"api_key": "', '", "project": "t5"}'),
        ("{'apiKey': '", "'}"),
        ('{"HF_TOKEN": "', '"}'),
        ('\\"client_secret\\": \\"', '\\"'),
        ("api_key: ", ""),
        ("Authorization: Bearer ", ""),
        ("authorization: ", ""),
        ("{'Authorization': 'Basic ", "'}"),
        ("sent with bearer ", ", and then"),
        ("GET /v1/models?access_token=", "&page=2"),
        ("https://host/path?page=2&sig=", " done"),
        ("TrainingArguments(hub_token=", ", seed=1)"),
        ("export MY_PASSWORD=", ""),
        ("curl -H 'X-Api-Key: ", "'"),
        ("--wandb-api-key=", " --seed 1"),
        ("postgres://me:", "@host/db"),
        ("spawned with command: ['t.py', '--hub_token', '", "', '--seed', '1']"),
        ('["--api-key", "', '"]'),
    ],
)
def test_a_value_is_hidden_for_the_way_it_is_written(before, after):
    value = "Zq3" * 6
    assert mask(f"{before}{value}{after}") == f"{before}{MASK}{after}"


@each_case(
    "token",
    [
        "hf_" + "aB3" * 10,
        "AIza" + "Sy1_x" * 7,
        "npm_" + "a1B2c3" * 6,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    ],
)
@each_case("colour", ["\x1b[1m", "\x1b[38;5;196m", "\x1b[0;31m\x1b[K", "\x1b]0;title\x07"])
@each_case("cut", [1, 3, 8])
def test_colours_in_the_middle_of_a_token_hide_it_from_nobody(token, colour, cut):
    shown = mask(f"token: {token[:cut]}{colour}{token[cut:]}\x1b[0m.")
    assert shown == f"token: {MASK}{colour}\x1b[0m."
    assert mask(f"{SECRET[:cut]}{colour}{SECRET[cut:]}", (SECRET,)) == MASK + colour


@each_case(
    "line",
    [
        "{'loss': '14.29', 'num_tokens': '1234567890', 'epoch': '0.04'}",
        "tokens per second: 123456789",
        "pad_token_id=0 eos_token='</s>'",
        "step=12345678 key errors: none",
        "  5%|▌         | 5/100 [00:01<00:19,  4.98it/s]",
        "--tokenizer_name google-t5/t5-small",
        "KeyError: 'optimizer'",
        '"pad_token": "<|endoftext|>", "eos_token_id": 50256, "bos_token": "beginning-of-text"',
        "tokens=[12345678, 23456789] total_tokens=1234567890",
        "hub_token=<HUB_TOKEN>, hub_private_repo=None",
        "{'train_tokens_per_second': '1234567.89', 'num_input_tokens_seen': 12345678}",
        "[rank0]: key: layer.0.attention.weight",
        "https://example.org/docs/page?page=12345678&lang=en#section-one",
        "secretary=12345678 keyboard=12345678 monkey=12345678",
        'HF_TOKEN="$HF_TOKEN" WANDB_API_KEY=$WANDB_API_KEY',
        "Loading tokenizer from /data/models/tokenizer-of-mine",
    ],
)
def test_ordinary_output_is_left_alone(line):
    assert mask(line, (SECRET,)) == line


def test_short_values_hide_nothing():
    assert secret_values({"USE_TOKEN": "true", "HF_TOKEN": SECRET, "HOME": "/home/me/there"}) == (SECRET,)


@each_case("cut", range(1, len(SECRET)))
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
    request = LaunchRequest(
        name="",
        script=str(script),
        arguments=words,
        ranks=1,
        gpu_indices=(),
        master_port=None,
        working_directory="",
        config_text="{}",
        config_argument=ConfigArgument.NONE,
        target_python="python3",
        environment={},
    )
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
        request = LaunchRequest(
            name="",
            script=str(script),
            arguments="",
            ranks=1,
            gpu_indices=(),
            master_port=None,
            working_directory="",
            config_text=text,
            config_argument=ConfigArgument.NONE,
            target_python="python3",
            environment={},
        )
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
    request = LaunchRequest(
        name="",
        script=str(script),
        arguments="",
        ranks=1,
        gpu_indices=(),
        master_port=None,
        working_directory="",
        config_text="{}",
        config_argument=ConfigArgument.NONE,
        target_python="python3",
        environment={},
    )
    plan = runs.prepare(request)
    runs.start(plan, "{}", {"HF_TOKEN": "", "MY_KEY": "1", "API_KEY": SECRET})
    assert runs.shown_command(replace(plan, arguments=("--note", "plain", f"{SECRET}x"))).endswith(f"plain {MASK}")


def test_nobody_else_reads_a_runs_folder(tmp_path):
    store = Store(tmp_path / "runs")
    runs = Runs(store, Launcher())
    (tmp_path / "t.py").write_text("")
    request = LaunchRequest(
        name="",
        script=str(tmp_path / "t.py"),
        arguments="",
        ranks=1,
        gpu_indices=(),
        master_port=None,
        working_directory="",
        config_text="{}",
        config_argument=ConfigArgument.NONE,
        target_python="python3",
        environment={},
    )
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


_PIECES = st.sampled_from(
    [
        SECRET,
        SECRET[:9],
        "hf_" + "aB3" * 10,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "api_key",
        '"api_key": ',
        "HF_TOKEN=",
        "--hub_token ",
        "Authorization: Bearer ",
        "https://me:",
        "@host/path",
        "?access_token=",
        "Zq3Zq3Zq3Zq3Zq3",
        "\x1b[1m",
        "\x1b[0m",
        "\n",
        "\r",
        " ",
        '"',
        ".",
        "-",
        "loss 2.3",
        "üser",
    ]
)


@given(st.lists(_PIECES, max_size=14), st.data())
def test_a_masker_hides_the_same_however_the_output_is_cut(pieces, data):
    raw = "".join(pieces).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    masker, told = Masker([SECRET]), b""
    for begin, end in pairwise((0, *cuts, len(raw))):
        told += masker.feed(raw[begin:end])
    told += masker.finish()
    assert told == mask_bytes(raw, (SECRET.encode(),))
    assert SECRET.encode() not in told


def test_a_word_without_end_is_not_held_for_ever():
    masker = Masker([SECRET])
    told = b"".join(masker.feed(b"a" * 1000) for _ in range(100))
    assert len(told) > 60_000


_HOSTILE = [
    "-a",
    "A_",
    "Ala-Gly-",
    "3-5-7-",
    "eyJ",
    "-eyJ",
    "eyJ.",
    "eyJaaaaaaaaaaaa.",
    "TOKEN",
    "TOKEN=",
    "TOKEN_",
    "key ",
    "key:",
    "api_key ",
    '"api_key":',
    "--key ",
    "-key-",
    "Authorization:",
    "Bearer ",
    "bearer",
    "://",
    "://a:",
    "a://",
    "://a:b@",
    "hf_",
    "sk-",
    "-sk-",
    "ghp_a",
    "?sig=",
    "&key=",
    "'",
    '\\"',
    "\x1b[",
    "\x1b[1m",
    "\x1b]0;",
    "\x1b]",
    "a",
    " ",
    "secret\x1b[1m",
    "iter",
    "apikey=a ",
]


@each_case("piece", _HOSTILE)
def test_what_a_stranger_prints_costs_in_proportion_to_its_length(piece):
    """By ratio: four times the text may take no more than eight times as long. Quadratic work takes sixteen."""
    short, long = (piece * (size // len(piece)) for size in (20_000, 80_000))
    ratios = []
    for _ in range(5):
        begun = time.process_time()
        mask(short, (SECRET,))
        finished(short, (SECRET,))
        middle = time.process_time()
        mask(long, (SECRET,))
        finished(long, (SECRET,))
        ratios.append((time.process_time() - middle) / max(middle - begun, 1e-3))
        if ratios[-1] < 8:
            return
    pytest.fail(f"{piece!r}: {ratios}")


def test_a_search_cuts_a_line_once_nothing_is_in_it_to_hide(tmp_path):
    store = Store(tmp_path / "runs")
    runs = Runs(store, Launcher())
    run_id = _written(store, runs, tmp_path)
    token = "hf_" + "aB3" * 200
    Records(store.open(run_id), time.monotonic, lambda: 0.0)._output.write(f"{token} needle {token}\n".encode())
    [found] = Inspection(store, runs).search(run_id, "needle")["matches"]
    assert found["line"] == f"{MASK} needle {MASK}"


def _written(store, runs, tmp_path, **changes):
    (tmp_path / "t.py").write_text("")
    request = LaunchRequest(
        name="",
        script=str(tmp_path / "t.py"),
        arguments="",
        ranks=1,
        gpu_indices=(),
        master_port=None,
        working_directory="",
        config_text="{}",
        config_argument=ConfigArgument.NONE,
        target_python="python3",
        environment={},
    )
    plan = replace(runs.prepare(request), **changes)
    directory = store.create(plan.run_id)
    store.write_plan(directory, plan, request.config_text, Asked(1, time.monotonic(), boot_id()))
    return plan.run_id


def test_what_is_written_of_a_run_holds_no_secret_that_its_supervisor_knows(tmp_path):
    """Whoever reads the folder later, a server that was started again among them, has never seen the value."""
    store = Store(tmp_path / "runs")
    run_id = _written(store, Runs(store, Launcher()), tmp_path)
    directory = store.open(run_id)
    records = Records(directory, time.monotonic, lambda: 0.0, Masker([SECRET]))
    half, rest = SECRET[:7], SECRET[7:]
    for chunk in (f"step=1 loss=2.0 {half}", f"\x1b[1m{rest}\x1b[0m=1.5\n", f"Saved a checkpoint to /out/{SECRET}\n"):
        records.take_output(chunk.encode())
    records.take_output(f'Traceback (most recent call last):\n  File "t.py", line 1\nValueError: {SECRET}\n'.encode())
    records.take_points([Point(2, None, {f"{SECRET}/loss": 1.0}, source="tensorboard")])
    records.finish()
    told = {path.name: path.read_bytes() for path in directory.path.iterdir() if path.is_file()}
    assert [name for name, content in told.items() if SECRET.encode() in content or rest.encode() in content] == []
    assert MASK.encode() in told["output.log"]


def test_names_models_diagnosis_and_config_are_shown_without_secrets(tmp_path):
    token = "hf_" + "aB3" * 10
    store = Store(tmp_path / "runs")
    runs = Runs(store, Launcher(), secrets=(SECRET,))
    run_id = _written(store, runs, tmp_path, name=f"with {SECRET}", arguments=("--model_name_or_path", f"/m/{token}"))
    directory = store.open(run_id)
    store.write_status(directory, RunStatus(RunState.FAILED, reasons=(as_told(f"because of {SECRET}"),)))
    (directory.path / "ds_config.json").write_text(f'{{"comet": {{"api_key": "plain-{"x" * 12}"}}, "note": "{token}"}}')
    (directory.path / "provenance.json").write_text(json.dumps({"python": "3.11", "versions": {"x": token}}))
    about = Archive(store, runs).about(run_id)
    shown = json.dumps([about, [run.to_json() for run in runs.list()], runs.summary(run_id).to_json()])
    assert SECRET not in shown
    assert token not in shown
    assert "x" * 12 not in shown


def test_options_that_name_a_secret_give_their_values_away() -> None:
    words = ["--hub_token", "abcdefgh1234", "--wandb_key=hunter2hunter2", "--label_key", "sentiment", "--eos_token"]
    assert set(secret_arguments([*words, "<|endoftext|>", "--password", "correct horse"])) == {
        "abcdefgh1234",
        "hunter2hunter2",
        "correct horse",
    }


def test_checks_before_a_start_quote_no_secret() -> None:
    source = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--hub_tokn')\np.parse_args()\n"
    words = ("--hub_token", "s3cretvalue99", "stray-but-fine")
    launch = Launch({}, (), "", 1, script="t.py", arguments=words)
    rows = preflight(launch, Surroundings(script_facts(source), Machine(Host())))
    told = json.dumps([(row.seen, row.advice, row.command) for row in rows])
    assert "stray-but-fine" in told
    assert "s3cretvalue99" not in told + repr(rows)


@each_case("secret", [SECRET, "hf_" + "aB3" * 10, 'password="correct horse"', "--hub_token Zq3Zq3Zq3Zq3"])
@each_case("place", [0, 500, 999])
def test_a_secret_on_one_of_many_lines_that_are_alike_is_hidden(secret, place):
    lines = [f"step {number} loss 2.{number} tokens 12345{number}\n" for number in range(1000)]
    lines[place] = f"step {place} {secret}\n"
    text = "".join(lines)
    masker = Masker([SECRET])
    told = b"".join(masker.feed(text[at : at + 9000].encode()) for at in range(0, len(text), 9000)) + masker.finish()
    assert told.decode() == mask(text, (SECRET,))
    assert told.decode().count(MASK) == 1
    assert secret[-8:-1] not in told.decode()


_ENDLESS = ["API_KEY=" + "x" * 30_000, "x" * 30_000, "5/100 [00:01]\r" * 2000]


@pytest.mark.parametrize("line", _ENDLESS, ids=["key", "word", "bar"])
def test_a_line_without_end_is_read_a_bounded_number_of_times(line, monkeypatch):
    """In small writes; an open secret is the worst there is."""
    read, real, raw = list[int](), secrets.find, f"{line}\n".encode() * 12
    monkeypatch.setattr(secrets, "find", lambda text, values=(): read.append(len(text)) or real(text, values))
    monkeypatch.setattr(secrets, "_MOST_CREDIT_BYTES", 1 << 17)
    masker = Masker([SECRET])
    told = b"".join(masker.feed(raw[at : at + 64]) for at in range(0, len(raw), 64)) + masker.finish()
    assert told == mask_bytes(raw)
    assert sum(read) <= 18 * len(raw) + (1 << 18)


def test_a_short_line_is_told_at_once_and_a_large_chunk_too():
    masker = Masker([SECRET])
    assert masker.feed(b"Enter a number: ") == b"Enter a number: "
    large = b"loss 2.5 step 1\n" * (1 << 19)
    assert masker.feed(large) == large
