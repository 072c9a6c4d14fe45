"""The real server as `app.py` starts it: refusals at the start, sockets that ask nothing, floods."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import select
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.answers.remembered import SERVER
from tests.support.app_server import ROOT, running_app
from tests.support.ports import free_port

pytestmark = pytest.mark.remembered(*SERVER)

BODY = b'--b\r\nContent-Disposition: form-data; name="files"; filename="c.json"\r\n\r\n{}\r\n--b--\r\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_app(tmp_path_factory.mktemp("runs")) as app:
        yield app


def ask(app, method, path, headers=None, body=None, token=True):
    """Status and body of one request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=60)
    credentials = {"Authorization": f"Bearer {app.token}"} if token else {}
    with contextlib.closing(connection):
        connection.request(method, path, body, {**credentials, **(headers or {})})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


def upload(app):
    """Where the server keeps a small config that its owner uploads."""
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    return Path(*json.loads(ask(app, "POST", "/gradio_api/upload", headers, BODY)[2]))


def start(*arguments, **environment):
    """The end of an app that does not start."""
    return subprocess.run(
        [sys.executable, "app.py", "--port", str(free_port()), *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=90,
    )


def test_without_a_token_only_loopback_is_served_and_the_refusal_says_how_to_do_it_right():
    done = start("--no-token", "--host", "0.0.0.0")
    assert done.returncode == 2
    for way in ("ssh -L", "--ssl-certfile", "proxy"):
        assert way in done.stderr


def test_a_weak_token_and_half_a_certificate_are_refused(tmp_path):
    assert "can be guessed" in start("--runs-dir", str(tmp_path), DSGUI_TOKEN="hunter2").stderr
    assert "Use both or neither" in start("--ssl-certfile", str(tmp_path / "c.pem")).stderr


def test_the_printed_address_holds_no_token_and_lets_in_one_browser(tmp_path):
    with running_app(tmp_path / "runs", environment={"PATH": os.environ["PATH"]}) as app:
        assert app.token not in app.printed
        path = f"/?login={app.code}&run=x"
        assert ask(app, "HEAD", path, token=False)[0] == 401, "looking does not use it up"
        status, headers, _ = ask(app, "GET", path, token=False)
        assert (status, headers["location"]) == (303, "/?run=x")
        cookie = {"Cookie": headers["set-cookie"].partition(";")[0]}
        assert ask(app, "GET", "/dsgui/runs", cookie, token=False)[0] == 200
        assert ask(app, "GET", path, cookie, token=False)[0] == 303, "reopened in the same browser"
        status, _, page = ask(app, "GET", path, token=False)
        assert status == 401
        assert "prints a new one where it was started" in page.decode()
        new = app.process.stdout.readline().partition("?login=")[2].strip()
        assert ask(app, "GET", f"/?login={new}", token=False)[0] == 303
        assert ask(app, "GET", f"/?login={new}", token=False)[0] == 401
        for _ in range(2):
            assert ask(app, "GET", f"/?token={app.token}", token=False)[0] == 303, "a token that was given stays good"


def test_the_address_with_the_token_lets_in_and_the_cookie_from_then_on(server):
    assert ask(server, "GET", "/", token=False)[0] == 401
    status, headers, _ = ask(server, "GET", f"/?token={server.token}&run=x", token=False)
    assert (status, headers["location"]) == (303, "/?run=x")
    cookie = headers["set-cookie"].partition(";")[0]
    status, _, page = ask(server, "GET", "/", {"Cookie": cookie}, token=False)
    assert status == 200
    assert server.token.encode() not in page


def test_a_sample_of_the_table_holds_on_the_wire(server):
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert ask(server, "GET", "/", headers)[0] == 403
    for method in ("OPTIONS", "TRACE", "DELETE", "PUT"):
        assert ask(server, method, "/", token=False)[0] == 401
        assert ask(server, method, "/")[0] == 405
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "13"}
    assert ask(server, "GET", "/gradio_api/queue/join", upgrade)[0] != 101
    assert ask(server, "GET", "/dsgui/static/..%2f..%2fpages.py")[0] == 404
    _, headers, _ = ask(server, "GET", "/", token=False)
    assert "server" not in {name.lower() for name in headers}


def test_a_thousand_uploads_at_once_are_bounded_and_the_page_goes_on_answering(server):
    headers = {"Content-Type": "multipart/form-data; boundary=b"}

    def upload(_):
        try:
            return ask(server, "POST", "/gradio_api/upload", headers, BODY)[0]
        except (OSError, http.client.HTTPException):  # turned away at the door
            return 0

    before = psutil.Process(server.process.pid).memory_info().rss
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(upload, range(1000)))
    assert set(answers) <= {0, 200, 503}
    assert answers.count(200) >= 100
    assert ask(server, "GET", "/dsgui/runs")[0] == 200
    assert psutil.Process(server.process.pid).memory_info().rss - before < 100 << 20


# Cheaper: fewer loads, under a higher limit; that sessions are bounded, test_table.py::test_sessions_are_bounded….
@pytest.mark.parametrize(
    ("loads", "most_mib"), [(60, 200), pytest.param(500, 60, marks=pytest.mark.complete, id="until it has settled")]
)
def test_fifty_tabs_reloaded_again_and_again_leave_the_server_small_and_answering(server, loads, most_mib):
    """Half of the loads come first: no more than 250 sessions are kept, and the memory settles after as many."""
    config = json.loads(ask(server, "GET", "/config")[2])
    first = [d for d in config["dependencies"] if any(target[1] == "load" for target in d["targets"])]
    props = {component["id"]: component["props"] for component in config["components"]}
    edited = next(d for d in config["dependencies"] if any(target[1] == "edit" for target in d["targets"]))
    assert first

    def load(number):
        """One tab, once: the page, what it asks for when it opens, and the text shown; the answers that are none."""
        session = f"tab{number % 50}load{number // 50}"
        asked = [("GET", path) for path in ("/", "/dsgui/form.json")]
        for event in (*(event for event in first if event["backend_fn"]), edited):
            data = [props[id].get("value") for id in event["inputs"]]
            body = json.dumps({"data": data, "fn_index": event["id"], "session_hash": session, "event_data": None})
            asked.append(("POST", "/gradio_api/run/predict", {"Content-Type": "application/json"}, body))
        answers = [(words, ask(server, *words)) for words in asked]
        return [(words, status, body[:500]) for words, (status, _, body) in answers if status != 200]

    process = psutil.Process(server.process.pid)
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        assert [one for wrong in pool.map(load, range(loads // 2)) for one in wrong] == []
        before = process.memory_info().rss
        assert [one for wrong in pool.map(load, range(loads // 2, loads)) for one in wrong] == []
    assert process.memory_info().rss - before < most_mib << 20
    began = time.monotonic()
    assert ask(server, "GET", "/dsgui/runs")[0] == 200
    assert time.monotonic() - began < 20


def certified(tmp_path):
    """A certificate for this machine, and its key."""
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, ("--ssl-certfile", str(certificate), "--ssl-keyfile", str(key))


def limited(command):
    """As on a machine that gives a process few files."""
    return ["bash", "-c", 'ulimit -n 256; exec "$@"', "-", *command]


def test_silent_strangers_under_tls_keep_nobody_out_and_grow_no_log(tmp_path):
    """With 256 open files for the server, which 190 connections and what it has open itself come near to."""
    certificate, files = certified(tmp_path)
    trusts = ssl.create_default_context(cafile=certificate)
    with contextlib.ExitStack() as held:
        app = held.enter_context(running_app(tmp_path / "runs", *files, around=limited))
        for n in range(300):
            stranger = held.enter_context(contextlib.closing(socket.create_connection(("127.0.0.1", app.port))))
            if n % 3 == 0:
                with contextlib.suppress(OSError):  # closed already, to make room
                    stranger.sendall(b"\x16\x03\x01" if n % 2 else b"no handshake at all")
        began = time.monotonic()
        with contextlib.closing(
            http.client.HTTPSConnection("127.0.0.1", app.port, context=trusts, timeout=20)
        ) as connection:
            connection.request("GET", "/dsgui/runs", headers={"Authorization": f"Bearer {app.token}"})
            assert connection.getresponse().status == 200
        assert time.monotonic() - began < 20
        assert len(psutil.Process(app.process.pid).net_connections()) < 140
        assert stranger.recv(1) == b"", "the last one, which came late, is given up as well"
        assert len(_printed(app)) < 1000


def _printed(app):
    """What the app wrote since it was up, without waiting for more."""
    written = b""
    while select.select([app.process.stdout], [], [], 0)[0] and (part := os.read(app.process.stdout.fileno(), 1 << 16)):
        written += part
    return written


def test_a_certificate_makes_everything_travel_encrypted(tmp_path):
    certificate, files = certified(tmp_path)
    with running_app(tmp_path / "runs", *files) as app:
        assert app.url.startswith("https://")
        trusts = ssl.create_default_context(cafile=certificate)
        with contextlib.closing(http.client.HTTPSConnection("127.0.0.1", app.port, context=trusts)) as connection:
            connection.request("GET", f"/?token={app.token}")
            cookie = connection.getresponse().headers["set-cookie"]
        assert "Secure" in cookie
        assert "HttpOnly" in cookie
        with contextlib.closing(http.client.HTTPSConnection("127.0.0.1", app.port, context=trusts)) as connection:
            connection.request("GET", "/dsgui/runs", headers={"Cookie": cookie.partition(";")[0]})
            assert connection.getresponse().status == 200
        with pytest.raises((OSError, http.client.HTTPException)):
            ask(app, "GET", "/")


def test_strangers_who_hold_connections_open_do_not_keep_the_owner_out(server):
    with contextlib.ExitStack() as held:
        for n in range(600):
            stranger = held.enter_context(contextlib.closing(socket.create_connection(("127.0.0.1", server.port))))
            with contextlib.suppress(OSError):  # closed already, to make room
                stranger.sendall(b"GET / HTTP/1.1\r\nHost: 127" if n % 2 else b"")
        began = time.monotonic()
        assert ask(server, "GET", "/dsgui/runs")[0] == 200
        assert time.monotonic() - began < 10
        assert len(psutil.Process(server.process.pid).net_connections()) < 450


def test_a_connection_that_asks_nothing_is_closed(server):
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=30)) as idle:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: 127.0")
        assert idle.recv(1) == b""


_HEAD = b"POST /dsgui/x HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"GET /", b"x"),
        (b"GET / HTTP/1.1\r\nX: ", b"x"),
        (b"GET / HTTP/1.1\r\nX", b"x"),
        (b"GET / HTTP/1.1\r\n", b"X: 12345678\r\n"),
        (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: 12345678\r\n"),
        (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"x"),
        (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
    ],
    ids=["address", "value", "name", "headers", "trailers", "trailer", "chunk"],
)
def test_a_request_whose_head_has_no_end_is_cut_off(server, begin, more):
    """In small pieces and in one; after at most a mebibyte, which what lies between may hold."""
    for piece in (more * 500, more * 100_000):
        with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=30)) as stranger:
            stranger.sendall(begin)
            sent = 0
            with contextlib.suppress(ConnectionError):
                while sent < 8 << 20 and not _has_answered(stranger):
                    stranger.sendall(piece)
                    sent += len(piece)
            assert sent < 8 << 20
    assert ask(server, "GET", "/dsgui/runs")[0] == 200


def _has_answered(connection):
    return bool(select.select([connection], [], [], 0.01)[0])


def test_requests_sent_ahead_are_few(server):
    """Each would be kept until those before it are answered."""
    asks = f"GET /dsgui/form.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode()
    process = psutil.Process(server.process.pid)
    before = process.memory_info().rss
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=30)) as ahead:
        sent = 0
        with contextlib.suppress(OSError):
            for _ in range(200):
                ahead.sendall(asks * 1000)
                sent += 1
        assert sent < 200
    assert process.memory_info().rss - before < 100 << 20
    assert ask(server, "GET", "/dsgui/runs")[0] == 200


def test_a_header_that_follows_a_body_counts_for_nothing(server):
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=30)) as stranger:
        head = b"POST /gradio_api/upload HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        stranger.sendall(head + f"1\r\nA\r\n0\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
        assert stranger.recv(1 << 16).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "request_",
    [
        b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /dsgui/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"POST /dsgui/x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
    ],
)
def test_odd_requests_are_refused_and_never_with_a_page(server, request_):
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=30)) as stranger:
        stranger.sendall(request_)
        answer = stranger.recv(1 << 16)
    assert answer.startswith((b"HTTP/1.1 40", b"HTTP/1.1 50")) or not answer
    assert b"Traceback" not in answer
    assert ask(server, "GET", "/dsgui/runs")[0] == 200


@pytest.mark.parametrize(
    "host", ["localhost:" + "1" * 5000, "localhost:٣", "[" * 5000, "a" * 20_000, "localhost:" + "0" * 99]
)
def test_a_strange_host_gets_a_page_with_the_headers_and_no_traceback(server, host):
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=30)) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: " + host.encode() + b"\r\n\r\n")
        answer = stranger.recv(1 << 16).lower()
    assert answer.startswith((b"http/1.1 400", b"http/1.1 403"))
    assert b"content-security-policy" in answer


def test_a_request_that_is_none_is_answered_with_the_headers_and_written_nowhere(server):
    _printed(server)
    for _ in range(50):
        with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=30)) as stranger:
            stranger.sendall(b"nonsense\r\n\r\n")
            answer = stranger.recv(1 << 16).lower()
            assert answer.startswith(b"http/1.1 400")
            for header in (b"content-security-policy", b"x-content-type-options", b"x-frame-options", b"no-store"):
                assert header in answer
    assert _printed(server) == b""


def test_nobody_is_believed_about_where_a_request_comes_from(server):
    """What is let in is a connection, whatever address it gives itself."""
    owners = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {"Authorization": f"Bearer {server.token}", "X-Forwarded-For": "1.2.3.4", "X-Forwarded-Proto": "https"}
    with contextlib.closing(owners), contextlib.ExitStack() as held:
        owners.connect()
        kept = owners.sock
        for stranger in range(601):
            if stranger % 50 == 0:  # a connection that asks nothing for long is closed, the owner's too
                owners.request("GET", "/dsgui/runs", headers=headers)
                assert owners.getresponse().read() is not None
            held.enter_context(contextlib.closing(socket.create_connection(("127.0.0.1", server.port))))
        assert owners.sock is kept, "it was closed to make room for strangers"
    assert (
        "Secure" not in ask(server, "GET", f"/?token={server.token}", {"X-Forwarded-Proto": "https"})[1]["set-cookie"]
    )


def test_what_was_uploaded_is_gone_when_the_server_ends(server):
    """The last test of this module: it ends the server that the others use."""
    folder = upload(server).parent.parent
    assert folder.stat().st_mode & 0o777 == 0o700
    server.process.terminate()
    server.process.wait(timeout=30)
    assert not folder.exists()
