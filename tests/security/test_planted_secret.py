"""One secret, planted wherever a run can hold one: nothing that leaves the server or the commands has it."""

import json
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from textwrap import dedent
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from dsgui.cli import main
from dsgui.core.access.secrets import MASK
from dsgui.core.launch.plan import LaunchRequest
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.metrics.points import Event, Point
from dsgui.core.runs.news import Cursor
from dsgui.core.texts.saying import as_told
from dsgui.core.validation.checker import Checker
from dsgui.runs.afterwards import AfterTraining
from dsgui.runs.archive import Archive
from dsgui.runs.export import Exports
from dsgui.runs.inspection import Inspection
from dsgui.runs.learning import Learning
from dsgui.runs.report import Reports
from dsgui.runs.runs import Runs
from dsgui.runs.trying import TryIt
from dsgui.shell.access.browsing import listing
from dsgui.shell.access.places import Places
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.logs.records import Records
from dsgui.shell.runs.store import Store
from dsgui.ui.site.polls import Polls
from dsgui.ui.site.routes import make_routes
from tests.runs.test_archive import TRAINER, save_checkpoint

KNOWN = "correct-horse-battery"  # by its value
SHAPED = "hf_" + "aB3" * 10  # by its shape: a server that was started again knows no values
_FAILED = 'Traceback (most recent call last):\n  File "/w/{0}/t.py", line 1\nRuntimeError: {0} is wrong\n'


@pytest.fixture(params=[KNOWN, SHAPED])
def secret(request):
    return request.param


@pytest.fixture
def held():
    with ExitStack() as held:
        yield held


@pytest.fixture
def runs(tmp_path):
    return Runs(Store(tmp_path / "runs"), Launcher(), secrets=(KNOWN,))


def planted(runs, store, tmp_path, secret):
    """Two ended runs, the second a clone of the first, with the secret in all that tells of them."""
    folder = tmp_path / f"with {secret}"
    folder.mkdir()
    (folder / "train.py").write_text(dedent(TRAINER), encoding="utf-8")
    words = f"--output_dir '{folder}/out' --model_name_or_path 'my/{secret}' --note {secret}"
    config = json.dumps({"train_batch_size": 8, "comet": {"api_key": secret}, "note": secret, secret: 1})
    asked = LaunchRequest(
        name=f"name {secret}",
        script=str(folder / "train.py"),
        arguments=words,
        ranks=2,
        working_directory=str(folder),
        config_text=config,
        target_python="python3",
        environment={"PLAIN": secret, "MY_TOKEN": secret},
        preset=f"preset {secret}",
    )
    ids = []
    for parent in ("", f"x-{secret}"):
        plan = replace(runs.prepare(asked), parent=parent)
        directory = store.create(plan.run_id)
        directory.write_plan(plan, config)
        records = Records(directory, time.monotonic, lambda: 1.0)
        records.take_output(f"step 1 loss 2.5 q=1 {secret}\nLoading {secret}\n{_FAILED.format(secret)}".encode())
        records.take_points([Point(1, None, {f"loss of {secret}": 1.0}), Point(2, None, {f"loss of {secret}": 2.0})])
        records.take_event(Event("warning", f"about {secret}"))
        records.finish()
        told = {"title": f"It is {secret}", "text": secret, "evidence": [secret], "remedies": []}
        directory.write_diagnosis(told)
        directory.write_provenance(
            {"python": f"3.11 {secret}", "versions": {secret: secret}, "git": {"branch": secret}}
        )
        directory.write_status(
            RunStatus(RunState.FAILED, reasons=(as_told(f"for {secret}"),), started_at=time.time(),
                      ended_at=time.time() + 1, lacks=(as_told(f"note {secret}"),), exit_code=1)
        )  # fmt: skip
        ids.append(plan.run_id)
    save_checkpoint(folder / "out", 20, ranks=2)
    save_checkpoint(folder / "out" / secret, 30, ranks=4, missing=1)
    return ids


def leaks(text, secret):
    return secret in text or quote(secret) in text or json.dumps(secret)[1:-1] in text


def test_no_route_tells_it(tmp_path, runs, secret, held):
    store = Store(tmp_path / "runs")
    first, second = planted(runs, store, tmp_path, secret)
    services = SimpleNamespace(
        checker=Checker(Catalog().schema()),
        form_texts=Catalog().form_texts,
        runs=runs,
        archive=Archive(store, runs),
        after=(after := AfterTraining(store, runs, Archive(store, runs))),
        box=TryIt(store, runs, after, {}),
        inspection=Inspection(store, runs),
        learning=Learning(store, runs, Checker(Catalog().schema()), {}),
        exports=Exports(store, runs),
        reports=Reports(store, runs),
        browse=partial(listing, Places((tmp_path / "runs",))),  # names of folders are told as they are: to be chosen
    )
    app, router = FastAPI(), make_routes(services)
    app.include_router(router)
    client = held.enter_context(TestClient(Polls(app, runs)))  # one event loop for all the questions
    queries = ["", "?words=q", "?words=Loading", "?errors=true", "?template=it%20{step}%20q={q}", "?offset=0"]
    queries += [
        "?ids=0&axis=step&low=0&high=9",
        f"?runs={first},{second}",
        f"?run={first}",
        "?release=0.19.8",
        "?wanted=folder&near=true",
        "?verb=consolidate&source=checkpoint-2",
        "?track=memory",
    ]
    answered = {}
    for route in router.routes:
        assert isinstance(route, APIRoute)
        for run_id in (first, second, f"none-{secret}") if "{run_id}" in route.path else (first,):
            for query in queries:
                path = route.path.replace("{run_id}", run_id).replace("{room}/{name}", "logs/log.js")
                answer = client.get(path + query)
                answered[route.path] = answered.get(route.path, False) or answer.status_code == 200
                if f"none-{secret}" != run_id:
                    assert not leaks(answer.text, secret), (route.path, query)
    for run_id in (first, second):
        assert not leaks(client.get(f"/dsgui/runs/{run_id}").text, secret)
    assert [path for path, once in answered.items() if not once] == []
    about = client.get(f"/dsgui/runs/{first}/about").json()
    assert about["checkpoints"]
    assert all(MASK in one["path"] for one in about["checkpoints"])
    made = services.archive.resumed(first, about["checkpoints"][-1]["path"])
    assert str(tmp_path) in made.request.arguments
    assert MASK not in made.request.arguments


def test_no_value_for_a_page_tells_it(tmp_path, runs, secret):
    store = Store(tmp_path / "runs")
    ids = planted(runs, store, tmp_path, secret)
    inspection = Inspection(store, runs)
    for run_id in ids:
        told = [
            runs.follow(run_id, Cursor()).to_json(),
            runs.summary(run_id).to_json(),
            Archive(store, runs).about(run_id),
            runs.shown_config(run_id),
            runs.output_end(run_id),
            inspection.search(run_id, "q="),
            inspection.output_around(run_id, 0),
            inspection.pattern(run_id, "it {step} q={q}"),
            inspection.compare(ids),
            Reports(store, runs).html([run_id]),
        ]
        for number, one in enumerate(told):
            assert not leaks(json.dumps(one, ensure_ascii=False), secret), number
    assert not leaks(json.dumps([run.to_json() for run in runs.list()]), secret)
    assert MASK in json.dumps([run.to_json() for run in runs.list()], ensure_ascii=False)


_COMMANDS = [["runs"], ["report", "ID", "-o", "told"], ["export", "ID", "--to", "csv", "told"]]


@pytest.mark.parametrize("command", _COMMANDS, ids=" ".join)
def test_no_command_tells_it(tmp_path, runs, secret, command, capfd, monkeypatch):
    store = Store(tmp_path / "runs")
    ids = planted(runs, store, tmp_path, secret)
    monkeypatch.setenv("MY_TOKEN", KNOWN)
    monkeypatch.chdir(tmp_path)
    words = [ids[0] if word == "ID" else word for word in command]
    with suppress(SystemExit):
        main([*words, "--runs-dir", str(store.runs_dir)])
    out, err = capfd.readouterr()
    written = (tmp_path / "told").read_text("utf-8") if "told" in command else ""
    assert written or "name" in out, err
    assert not leaks(out + err + written, secret)
