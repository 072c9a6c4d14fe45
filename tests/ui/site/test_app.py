"""The app as a user starts it: one URL, honest refusals, nothing heavy imported."""

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from dsgui.cli import main
from dsgui.commands import serve
from tests.answers.remembered import SERVER
from tests.core.memory.test_dry_run import RECORD
from tests.support import rehearsing_python
from tests.support.app_server import ROOT, running_app
from tests.support.ports import free_port
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.remembered(*SERVER)

# numpy, pandas and pyarrow are not here: Gradio itself imports them.
HEAVY = {"torch", "deepspeed", "transformers", "datasets", "accelerate", "matplotlib", "plotly", "scipy"}


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """Started without a port, for all tests that change nothing; the last of them ends it."""
    with running_app(tmp_path_factory.mktemp("runs"), port=None, cold=True) as app:
        yield app


def test_it_prints_one_url_and_serves_the_page(app):
    assert b"gradio" in app.get().read()
    assert app.printed.count("http://") == 1


def test_no_event_tells_the_page_of_its_progress(app):
    """Gradio reads all components within an output, the whole page within `tabs`, at each later event's ends."""
    page = json.load(app.get("config"))
    kinds = {component["id"]: component["type"] for component in page["components"]}
    sent = [event for event in page["dependencies"] if event["backend_fn"]]
    told = [kinds[shown] for event in sent for shown in event["outputs"] if event["show_progress_on"] is None]
    assert told == []
    assert [shown for event in sent for shown in event["show_progress_on"] or []] == []
    assert len(sent) > 50


def test_the_port_asked_for_is_refused_in_one_sentence_when_it_is_taken(app):
    done = subprocess.run(
        [sys.executable, "app.py", "--port", str(app.port)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert f"can't listen on 127.0.0.1:{app.port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_port_the_next_free_one_is_taken(app, tmp_path):
    with running_app(tmp_path, port=None) as second:
        assert app.port != second.port
        assert second.get().status == 200


def test_a_python_that_does_not_exist_is_said_in_the_page_and_the_app_goes_on(tmp_path):
    with running_app(tmp_path, "--python", str(tmp_path / "nowhere")) as app:
        page = app.get().read().decode()
    assert "does not exist" in page


def test_a_runs_directory_that_cannot_be_made_is_said_at_once(tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    done = subprocess.run(
        [sys.executable, "app.py", "--port", str(free_port()), "--runs-dir", str(blocked / "runs")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert str(blocked) in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_before_the_server_has_its_handlers_ends_it_too(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(serve, "serve", interrupted)
    assert main(["--port", str(free_port()), "--runs-dir", str(tmp_path)]) == 0


def test_listening_for_everybody_is_warned_about_and_still_prints_a_url_to_open(tmp_path):
    with running_app(tmp_path, "--host", "0.0.0.0") as app:
        assert app.get().status == 200
        assert "without TLS" in app.printed


def test_the_first_page_is_small(app):
    assert len(app.get().read()) <= 290_000


def test_the_first_page_has_the_list_of_presets_once(app):
    assert app.get().read().decode().count("Bloomz-7B LoRA: ZeRO-2, optimizer offload") == 1


def test_starting_imports_nothing_that_trains_or_plots_and_opens_no_stub_of_gradios(tmp_path):
    script = (
        "import sys, json; sys.argv = ['app.py']\n"
        "from pathlib import Path\n"
        "stubs = []\n"
        "note = lambda path: stubs.append(path) if str(path).endswith('.pyi') else None\n"
        "sys.addaudithook(lambda event, given: note(given[0]) if event == 'open' else None)\n"
        "from dsgui.compose import make_services\n"
        "from dsgui.ui.site.server import make_app\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "make_app(make_services(sys.executable, folder, folder / 'presets'), '127.0.0.1', 7860)\n"
        "print(json.dumps([sorted(sys.modules), stubs]))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    loaded, stubs = json.loads(done.stdout.splitlines()[-1])
    assert not set(loaded) & HEAVY
    assert stubs == []


def test_files_outside_the_static_folder_are_not_served(app):
    for name in ("..%2Fpages.py", "%2Fetc%2Fpasswd", "pages.py", "nothing.js"):
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            app.get(f"dsgui/static/{name}")
        refused.value.close()


def test_the_schema_of_one_release_is_served_and_a_strange_release_is_refused(app):
    newest = json.loads(app.get("dsgui/schema.json").read())
    old = json.loads(app.get("dsgui/schema.json?release=0.14.5").read())
    with pytest.raises(urllib.error.HTTPError, match="422") as refused:
        app.get("dsgui/schema.json?release=../etc")
    refused.value.close()
    assert "torch_autocast" in newest["properties"]
    assert "torch_autocast" not in old["properties"]


def test_the_end_of_the_server_ends_a_dry_run(tmp_path):
    python = rehearsing_python.made_up(tmp_path, RECORD)
    with running_app(tmp_path / "runs", "--python", str(python)) as app:
        page = json.load(app.get("config"))
        asks = next(one for one in page["dependencies"] if any(target[1] == "rehearse" for target in one["targets"]))
        props = {component["id"]: component["props"] for component in page["components"]}
        config = {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}}
        typed = {"config-json": json.dumps(config), "memory-model": "7B"}
        data = [typed.get(props[id].get("elem_id"), props[id].get("value")) for id in asks["inputs"]]
        body = json.dumps({"data": data, "fn_index": asks["id"], "session_hash": "page", "event_data": None})
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {app.token}"}
        request = urllib.request.Request(f"{app.url}gradio_api/run/predict", body.encode(), headers)

        def press():
            """Again, while the training environment has not answered."""
            urllib.request.urlopen(request, timeout=60).close()
            return rehearsing_python.running(tmp_path)

        wait_until(press)
    assert not rehearsing_python.running(tmp_path)


def test_the_findings_and_the_bars_follow_a_field_before_the_command_is_built(app):
    """Gradio runs an event's listeners in turn, each to its answer, and a command may take seconds."""
    page = json.load(app.get("config"))
    ids = {component["props"].get("elem_id"): component["id"] for component in page["components"]}
    for field in ("memory-model", "memory-length"):
        heard = [one for one in page["dependencies"] if [ids[field], "change"] in one["targets"]]
        told = [next((part for part in ("findings", "command") if ids[part] in one["outputs"]), "") for one in heard]
        assert [one for one in told if one] == ["findings", "command"]


def test_ctrl_c_ends_it_without_a_traceback(app):
    """The last test of this module: it ends the server that the others use."""
    app.process.send_signal(signal.SIGINT)
    assert app.process.wait(timeout=60) == 0
    assert "Traceback" not in app.process.stdout.read()
