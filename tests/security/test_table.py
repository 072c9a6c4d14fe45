"""Method × route × token × Host × Origin over every route the app has, and junk to every event."""

import asyncio
import json
import os
import shutil

import gradio as gr
import httpx
import pytest

from dsgui.core.config.accelerate_yaml import read as read_yaml
from dsgui.core.errors import DocumentError, DsguiError, PlanError
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.plan_making import _shown as shown_name
from dsgui.core.launch.spec import _port
from dsgui.shell.files.folders import held, remove_abandoned
from dsgui.ui.site.server import MOST_SESSIONS
from tests.answers.remembered import SERVER
from tests.security.table import HOST, METHODS, TOKEN, bearer, routes, serve

WRONG = ({}, {"authorization": "Bearer wrong"}, {"cookie": "dsgui_7860=wrong"})
FOREIGN = (
    {"host": "evil.example:7860"},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
)
OURS = {"host": HOST, "origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
JUNK = (
    None, True, -1, 0, 1e14, "", "x" * 5000, "<script>alert(1)</script>", "../../etc/passwd", "\0", [], [[[]]], {},
    {"edits": ["/a"]}, {"edits": {"/train_batch_size": {}}}, {"edits": 5, "state": []},
    {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}},
    {"path": "http://evil.example/x.json", "meta": {"_type": "gradio.FileData"}},
)  # fmt: skip


class Inside:
    """What stands behind the guard in these tests: it notes who came through."""

    def __init__(self):
        self.came = []

    async def __call__(self, scope, receive, send):
        self.came.append((scope["method"], scope["path"]))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"inside"})


@pytest.fixture
def inside(served, monkeypatch):
    inside = Inside()
    monkeypatch.setattr(served.guard, "_app", inside)
    return inside


def ask_all(served, asked):
    """The status of the answer to each (method, path, headers), straight to the guard: there are thousands."""

    async def ask(method, path, headers):
        sent = []
        scope = {
            "type": "http", "method": method, "scheme": "http", "path": path, "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip

        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        await served.guard(scope, receive, send)
        return sent[0]["status"]

    async def ask_each():
        return [await ask(*one) for one in asked]

    return asyncio.run(ask_each())


def every_path(served):
    paths = {path for _, path in routes(served.app)} | {"/dsgui/runs/word"}  # the polls are no route of the app's
    assert len(paths) > 60, "the routes were not found"
    assert {"/", "/config", "/dsgui/runs", "/gradio_api/upload", "/gradio_api/run/word"} <= paths
    return sorted(paths)


def test_no_route_answers_without_the_token_by_any_method(served, inside):
    asked = [(m, p, {"host": HOST, **wrong}) for p in every_path(served) for m in METHODS for wrong in WRONG]
    answers = ask_all(served, asked)
    assert set(answers) == {401}
    assert inside.came == []


def test_no_route_answers_a_foreign_host_or_site_with_the_right_token(served, inside):
    asked = [
        (m, p, {"host": HOST, **bearer(), **foreign})
        for p in every_path(served)
        for m in METHODS
        for foreign in FOREIGN
    ]
    answers = ask_all(served, asked)
    assert set(answers) == {403}
    assert inside.came == []


def test_the_right_token_opens_what_the_page_uses_and_nothing_else(served, inside):
    asked = [(m, p, {**OURS, **bearer()}) for p in every_path(served) for m in METHODS]
    answers = ask_all(served, asked)
    opened = {(m, p) for (m, p, _), status in zip(asked, answers, strict=True) if status == 200}
    assert {m for m, _ in opened} == {"GET", "HEAD"}  # a POST needs its kind of content
    assert ("GET", "/") in opened
    closed = {p for p in every_path(served) if ("GET", p) not in opened}
    for part in (
        "proxy=",
        "file=",
        "component_server",
        "vibe",
        "monitoring",
        "openapi",
        "login",
        "call",
        "stream",
        "dev",
    ):
        assert any(part in p for p in closed) or not any(part in p for p in every_path(served))
        assert not any(part in p for _, p in opened)


def test_refusals_say_what_to_do_and_nothing_of_what_was_asked(served):
    for headers in (
        {},
        {"host": "<b>evil</b>"},
        {**bearer("<b>evil</b>")},
        {**bearer(), "origin": "http://<b>evil</b>"},
    ):
        answer = served.ask("GET", "/%3Cb%3Eevil?<b>evil</b>", headers)
        assert answer.status_code in (401, 403)
        assert "evil" not in answer.text
        assert len(answer.text) < 1500
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_websockets_are_closed_at_once(served, inside):
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(served.guard({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert [message["type"] for message in sent] == ["websocket.close"]
    assert inside.came == []


def test_every_answer_has_the_headers_that_bind_the_browser(served):
    for path in ("/", "/theme.css", "/dsgui/form.json", "/dsgui/static/config/form.js", "/nothing"):
        headers = served.ask("GET", path, bearer()).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers


def test_each_page_marks_its_scripts_anew(served):
    first, second = (served.ask("GET", "/", bearer()) for _ in range(2))
    policy = first.headers["content-security-policy"]
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert f'<script nonce="{nonce}"' in first.text
    assert "<script>" not in first.text
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert nonce not in second.text


def post(served, event, path="/gradio_api/run/predict", **headers):
    content = event if isinstance(event, bytes) else json.dumps(event).encode()
    return served.ask("POST", path, {**OURS, **bearer(), "content-type": "application/json", **headers}, content)


def post_all(served, events):
    headers = {**OURS, **bearer(), "content-type": "application/json"}

    async def post():
        transport = httpx.ASGITransport(served.guard, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=headers) as client:
            bodies = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
            return [await client.post("/gradio_api/run/predict", content=body) for body in bodies]

    return asyncio.run(post())


@pytest.mark.remembered(*SERVER)
def test_junk_to_every_event_gives_no_traceback_and_starts_nothing(served):
    bodies = [b"", b"[", b"null", b"[]", b'{"data":[NaN],"fn_index":0,"session_hash":"s"}', b"[" * 10_000, b"\xff"]
    for number, handler in served.handlers.items():
        width = len(handler.inputs)
        for n, junk in enumerate(JUNK):
            data = [junk] * width if n % 2 else [junk, *[None] * width][:width]
            bodies.append(
                {"data": data, "fn_index": number, "session_hash": "s", "event_data": junk, "trigger_id": None}
            )
    for body, answer in zip(bodies, post_all(served, bodies), strict=True):
        assert answer.status_code in (200, 422, 500, 404), body
        for trace in ("Traceback", 'File "', ".py"):
            assert trace not in answer.text, body
    assert [p.name for p in served.runs_dir.iterdir()] == []
    assert not (served.runs_dir.parent / "presets").exists()


@pytest.mark.parametrize("number", [-1, 10_000, 1.5, "0", True, None, [0]])
def test_an_event_the_page_has_not_is_refused(served, number):
    assert post(served, {"data": [], "fn_index": number, "session_hash": "s"}).status_code == 422


@pytest.mark.parametrize("session", ["", "x" * 65, "a b", "../x", None, 5, ["s"]])
def test_a_session_has_a_short_plain_name(served, session):
    number = next(n for n, handler in served.handlers.items() if not handler.inputs and handler.fn)
    assert post(served, {"data": [], "fn_index": number, "session_hash": session}).status_code == 422


def test_a_plan_can_not_be_sent_by_the_browser(served):
    (number,) = (n for n, h in served.handlers.items() if h.fn and h.fn.__qualname__.endswith("<locals>.press"))
    inputs = served.handlers[number].inputs
    nothing = [None if one.stateful else one.value for one in inputs]
    sent = {"fn_index": number, "session_hash": "s"}
    stateful = [place for place, one in enumerate(inputs) if one.stateful]
    assert stateful
    for place in stateful:
        data = [{"argv": ["id"]} if at == place else value for at, value in enumerate(nothing)]
        assert post(served, {"data": data, **sent}).status_code == 422
    assert list(served.runs_dir.iterdir()) == []


def test_sessions_are_bounded_however_many_tabs_come_and_go(served, monkeypatch):
    sessions = served.app.state.pages.state_holder
    assert sessions.capacity == MOST_SESSIONS
    monkeypatch.setattr(sessions, "capacity", 3)
    number = next(n for n, handler in served.handlers.items() if not handler.inputs and handler.fn)
    tabs = [{"data": [], "fn_index": number, "session_hash": f"tab{n}"} for n in range(8)]
    sessions.session_data.clear()
    assert {answer.status_code for answer in post_all(served, tabs)} == {200}
    assert len(sessions.session_data) == 3


def test_a_body_that_never_ends_or_never_comes_is_given_up(served):
    async def endless():
        while True:
            await asyncio.sleep(0)
            yield b" " * 65_536

    async def silent():
        yield b"{"
        await asyncio.sleep(30)

    async def ask(body):
        sent = []
        parts = body()

        async def receive():
            return {"type": "http.request", "body": await anext(parts), "more_body": True}

        async def send(message):
            sent.append(message)

        headers = {**OURS, **bearer(), "content-type": "application/json"}
        scope = {
            "type": "http", "method": "POST", "scheme": "http", "path": "/gradio_api/run/predict",
            "query_string": b"", "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        }  # fmt: skip
        await asyncio.wait_for(served.guard(scope, receive, send), 10)
        return sent[0]["status"]

    assert asyncio.run(ask(endless)) == 413
    assert asyncio.run(ask(silent)) == 408


def test_wrong_tokens_are_slowed_and_bounded_while_the_owner_comes_in(tmp_path, served, inside, monkeypatch):
    monkeypatch.setattr(served.guard, "_guess_delay_s", 0.5)

    async def storm():
        transport = httpx.ASGITransport(served.guard)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            guesses = [asyncio.create_task(client.get("/", headers=bearer(f"guess {n}"))) for n in range(100)]
            await asyncio.sleep(0.1)
            owner = await asyncio.wait_for(client.get("/dsgui/runs", headers=bearer()), 0.35)
            return owner.status_code, [(await guess).status_code for guess in guesses]

    owner, guesses = asyncio.run(storm())
    assert owner == 200
    assert set(guesses) == {401, 429}
    assert guesses.count(401) == 32


# --- uploads ----------------------------------------------------------------------------------------------------------


def upload(served, name, content, field="files"):
    boundary = "x1x2x3"
    disposition = f'form-data; name="{field}"; filename="{name}"'
    body = f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n".encode() + content
    headers = {**OURS, **bearer(), "content-type": f"multipart/form-data; boundary={boundary}"}
    return served.ask("POST", "/gradio_api/upload", headers, body + f"\r\n--{boundary}--\r\n".encode())


@pytest.fixture(scope="module")
def uploading(tmp_path_factory):
    """An app, and the folder for what is uploaded to it."""
    folder = tmp_path_factory.mktemp("uploading")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADIO_TEMP_DIR", str(folder / "uploads"))
        yield serve(folder), folder / "uploads"


@pytest.fixture
def uploads(uploading):
    """The same, as nobody has uploaded anything."""
    shutil.rmtree(uploading[1], ignore_errors=True)
    return uploading


def test_uploads_are_config_files_kept_for_a_while_where_their_owner_alone_reads_them(uploads):
    served, folder = uploads
    for n in range(20):
        answer = upload(served, f"config{n}.json", b"{}")
        assert answer.status_code == 200
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert len(kept) == 16
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}
    [path] = answer.json()
    assert os.path.dirname(os.path.dirname(path)) == str(folder)
    before = len(kept)
    for name in ("run.py", "x", "a.json.sh", ".json", "y.json\u2028", "n" * 200 + ".json", "a.tar.gz"):
        assert upload(served, name, b"{}").status_code in (400, 415), name
    assert upload(served, "big.json", b" " * ((1 << 20) + 1)).status_code in (400, 413)
    assert upload(served, "wrong-field.json", b"{}", field="file").status_code == 400
    assert [p for p in folder.rglob("*") if p.is_file()].__len__() == before
    for name in ("../../evil.json", "/etc/evil.json", "..\\..\\evil.json"):
        [path] = upload(served, name, b"{}").json()
        assert path.startswith(str(folder))
        assert path.endswith("/evil.json")


def _opened(served, path, **more):
    """What the upload event answers to a file at `path`."""
    (number,) = (n for n, h in served.handlers.items() if "UploadButton" in [type(b).__name__ for b in h.inputs])
    value = {"path": str(path), "meta": {"_type": "gradio.FileData"}, **more}
    return post(served, {"data": [value, "", ""], "fn_index": number, "session_hash": "s"})


def test_an_upload_opens(uploads):
    served, _ = uploads
    [path] = upload(served, "mine.json", b'{"train_batch_size": 64}').json()
    answer = _opened(served, path, url=f"/gradio_api/file={path}", orig_name="mine.json", size=24, is_stream=False)
    assert "train_batch_size" in answer.json()["data"][0]
    assert _opened(served, path).status_code == 200, "once more"


@pytest.mark.parametrize("name", ["/proc/self/environ", "/dev/zero", "/etc/hostname", "relative.json", "", "/nul\0l"])
def test_no_file_but_an_upload_can_be_named_in_its_place(uploads, name):
    served, folder = uploads
    assert _opened(served, name).status_code == 422
    assert not folder.exists(), "Gradio copied it"


def test_what_lies_beside_or_in_place_of_an_upload_is_not_opened(uploads, tmp_path):
    served, folder = uploads
    secret = tmp_path / "secret.json"
    secret.write_text('{"secret": 1}')
    [path] = upload(served, "mine.json", b"{}").json()
    planted = folder / "planted.json"
    planted.symlink_to(secret)
    for odd in (
        secret,
        planted,
        folder,
        f"{folder}/../secret.json",
        f"{path}/",
        f"{folder}//{path[len(str(folder)) + 1 :]}",
    ):
        assert _opened(served, odd).status_code == 422, odd
    for replace in (lambda: os.symlink(secret, path), lambda: os.mkfifo(path), lambda: os.mkdir(path)):
        os.path.lexists(path) and os.unlink(path)
        replace()
        assert _opened(served, path).status_code == 422
    with_address = {"url": "http://127.0.0.1:1/x", "is_stream": True}
    [path] = upload(served, "other.json", b"{}").json()
    assert _opened(served, path, **with_address).status_code == 422


def test_the_handler_itself_reads_nothing_but_uploads(uploads, tmp_path):
    served, _ = uploads
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    (handler,) = (h.fn for h in served.handlers.values() if "UploadButton" in [type(b).__name__ for b in h.inputs])
    with pytest.raises(gr.Error, match="no longer available"):
        handler(str(outside))


def test_folders_above_are_for_their_owner_alone_whatever_the_umask(tmp_path):
    old = os.umask(0)
    try:
        serve(tmp_path / "a" / "b")
    finally:
        os.umask(old)
    for folder in (tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "runs"):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_folders_are_listed_to_those_alone_who_may_launch(served, tmp_path):
    asked = f"/dsgui/folder?wanted=script&path={tmp_path}"
    assert served.ask("GET", asked).status_code == 401
    assert served.ask("GET", asked, {**bearer(), "sec-fetch-site": "cross-site"}).status_code == 403
    assert served.ask("GET", "/dsgui/folder?wanted=script&path=/etc", {**OURS, **bearer()}).status_code == 404
    assert served.ask("GET", "/dsgui/folder?wanted=all&near=true", {**OURS, **bearer()}).status_code == 422
    told = json.loads(served.ask("GET", "/dsgui/folder?wanted=script&near=true", {**OURS, **bearer()}).text)
    assert told["folder"] in told["starts"]


def test_the_token_is_nowhere_in_what_the_browser_gets(served):
    for path in ("/", "/config", "/dsgui/form.json", "/dsgui/runs"):
        assert TOKEN not in served.ask("GET", path, bearer()).text


@pytest.mark.parametrize("ids", [".1", "1.", "1..2", ".", "1,.2", "\u0663", "9" * 30])
def test_ids_of_curves_that_are_none_are_refused(served, ids):
    query = f"ids={ids}&axis=step&low=0&high=1"
    answer = served.ask("GET", f"/dsgui/runs/20260101-000000-0a1b/window?{query}", {**OURS, **bearer()})
    assert answer.status_code == 422


def test_the_page_names_no_manifest_which_browsers_ask_for_without_the_cookie(served):
    assert "manifest.json" not in served.ask("GET", "/", bearer()).text


def test_digits_of_other_scripts_are_no_numbers_and_a_name_reads_as_what_it_is(tmp_path):
    with pytest.raises(PlanError):
        _port("\u0661\u0662\u0663\u0664")
    with pytest.raises(DsguiError):
        SlurmJob(time="\u0661:00").check_options()
    assert shown_name("evil\u202egpj.py\u200b") == "evilgpj.py"


def test_an_integer_too_long_to_write_is_said_and_no_traceback():
    for number in ("1" + ":59" * 3000, "0x" + "f" * 5000):
        with pytest.raises(DocumentError):
            read_yaml(f"distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 2\nnum_processes: {number}\n")


def test_uploads_of_a_server_that_was_killed_are_removed_and_a_living_ones_stay(tmp_path):
    dead, alive, other = (tmp_path / name for name in ("dsgui-uploads-1", "dsgui-uploads-2", "other"))
    for folder in (dead, alive, other):
        folder.mkdir()
        (folder / "config.json").write_text("{}")
    (tmp_path / "dsgui-uploads-3").symlink_to(other)
    with held(alive):
        remove_abandoned(tmp_path, "dsgui-uploads-")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dsgui-uploads-2", "dsgui-uploads-3", "other"]
    assert (other / "config.json").exists()
