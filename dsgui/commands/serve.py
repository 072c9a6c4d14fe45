"""`dsgui serve`, and `dsgui` alone: the pages, at the URL it prints."""

import argparse
import asyncio
import os
import shutil
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast
from urllib.parse import urlencode

from dsgui.core.access.access import is_loopback
from dsgui.core.errors import TokenError
from dsgui.core.texts.languages import speaking, spoken
from dsgui.core.texts.saying import words, wrong
from dsgui.shell.access.access_token import LoginCode, choose_token
from dsgui.shell.files.folders import default_presets_dir, default_runs_dir, held, remove_abandoned

FIRST_PORT = 7860
PORTS_TRIED = 100
LAST_PORT = 65_535
CANNOT_START = 2
KEEP_ALIVE_S = 5
UPLOADS = "dsgui-uploads-"
QUEUED = 128  # connections that the kernel keeps for the server
# In one turn of the event loop. Those of three turns are open before the first is counted and room is made for it.
ACCEPTED_AT_ONCE = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `serve`."""
    parser.add_argument("--host", default="127.0.0.1", help=words("options", "host"))
    parser.add_argument("--port", type=_port, help=words("options", "port", port=str(FIRST_PORT)))
    _add_access(parser)
    parser.add_argument(
        "--allow",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help=words("options", "allow"),
    )
    parser.add_argument("--runs-dir", type=Path, default=default_runs_dir(), help=words("options", "runs_dir"))
    parser.add_argument("--presets-dir", type=Path, default=default_presets_dir(), help=words("options", "presets_dir"))
    parser.add_argument("--python", default=sys.executable, help=words("options", "serve_python"))


def _port(text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) <= LAST_PORT:
        return int(text)
    raise argparse.ArgumentTypeError(wrong("options.no_count", text=text, least="0", most=str(LAST_PORT)))


def _add_access(parser: argparse.ArgumentParser) -> None:
    """Who is let in, and by which name."""
    token = parser.add_mutually_exclusive_group()
    token.add_argument("--token", metavar="TOKEN", help=words("options", "token"))
    token.add_argument("--token-file", type=Path, metavar="FILE", help=words("options", "token_file"))
    token.add_argument("--no-token", action="store_true", help=words("options", "no_token"))
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help=words("options", "allow_host")
    )
    parser.add_argument("--trust-proxy", metavar="ADDRESS", default="", help=words("options", "trust_proxy"))
    parser.add_argument("--ssl-certfile", type=Path, metavar="FILE", help=words("options", "certfile"))
    parser.add_argument("--ssl-keyfile", type=Path, metavar="FILE", help=words("options", "keyfile"))


def bind(host: str, port: int | None) -> socket.socket:
    """A listening socket: on `port` if given, else on the first free port from 7860. Raises OSError."""
    candidates = [port] if port is not None else range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)
    last: OSError | None = None
    for candidate in candidates:
        try:
            listener = socket.create_server((host, candidate), family=_family(host), backlog=QUEUED)
        except OSError as error:
            last = error
        else:
            # Its connections inherit it. Without, the body of an answer waits 40 ms until the browser has acknowledged
            # its head: asyncio sets it only on sockets that say they are TCP.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listener
    raise last or OSError(words("commands", "no_port"))


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def url_of(host: str, port: int, code: str = "", scheme: str = "http") -> str:
    """What to open: an address that means "all of them" is reached through loopback."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    name = f"[{name}]" if ":" in name else name
    return f"{scheme}://{name}:{port}/" + (f"?{urlencode({'login': code})}" if code else "")


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted. Returns the exit status."""
    if refusal := _refusal(options):
        print(f"dsgui: {refusal}", file=sys.stderr)
        return CANNOT_START
    try:
        options.shown_by_ps = options.token is not None
        options.token = "" if options.no_token else choose_token(options.token, options.token_file)
    except TokenError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return CANNOT_START
    try:
        listener = bind(options.host, options.port)
    except (OSError, OverflowError) as error:
        where = f"{options.host}:{options.port or FIRST_PORT}"
        print("dsgui: " + words("commands", "not_listening", address=where, why=str(error)), file=sys.stderr)
        return CANNOT_START
    with (
        suppress(KeyboardInterrupt),
        listener,
        tempfile.TemporaryDirectory(prefix=UPLOADS, ignore_cleanup_errors=True) as uploads,
        held(Path(uploads)),
    ):  # Around all of it: Ctrl+C can come before uvicorn has its handlers in place.
        remove_abandoned(Path(uploads).parent, UPLOADS)
        os.environ["GRADIO_TEMP_DIR"] = uploads
        return serve(options, listener)
    return 0


def _refusal(options: argparse.Namespace) -> str:
    """Why options can't be served as they are; "" when they can."""
    if options.no_token and not is_loopback(options.host):
        return words("commands", "open_host", host=options.host)
    if bool(options.ssl_certfile) != bool(options.ssl_keyfile):
        return words("commands", "half_tls")
    missing = [str(file) for file in (options.ssl_certfile, options.ssl_keyfile) if file and not file.is_file()]
    return words("commands", "no_tls_file", file=missing[0]) if missing else ""


def serve(options: argparse.Namespace, listener: socket.socket) -> int:
    """Join the parts and run the web server on `listener`."""
    import ssl

    # No request may leave the machine: Gradio's version check and the hub's telemetry are off before they are imported.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"

    import uvicorn

    from dsgui.compose import make_services
    from dsgui.core.access.access import Access
    from dsgui.core.errors import DsguiError
    from dsgui.ui.access.connections import Connections, Server
    from dsgui.ui.access.server_log import keep_short
    from dsgui.ui.site.server import guarded, make_app

    host, port = listener.getsockname()[:2]
    tls = None
    try:
        if options.ssl_certfile:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(options.ssl_certfile, options.ssl_keyfile)
    except OSError as error:
        print("dsgui: " + words("commands", "bad_tls", why=str(error)), file=sys.stderr)
        return CANNOT_START
    try:
        services = make_services(options.python, options.runs_dir, options.presets_dir, options.allow)
        app = make_app(services, host, port)
    except DsguiError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return CANNOT_START
    everywhere = host in ("0.0.0.0", "::")
    names = frozenset(name.lower().strip("[]") for name in (options.host, host, *options.allow_host))
    connections = Connections(tls=tls)
    address = partial(url_of, host, port, scheme="https" if tls else "http")
    tag = spoken()  # the terminal's: a request is answered in its reader's

    def announce(new: str) -> None:
        with speaking(tag):
            _say("dsgui: " + words("commands", "link_used", address=address(new)))

    code = LoginCode(announce)
    config = uvicorn.Config(
        guarded(app, Access(options.token, names, everywhere, code.spend), connections.let_in),
        log_level="warning",
        access_log=False,  # prepared for each answer even where nobody reads it
        http=cast(type[asyncio.Protocol], connections.protocol()),  # uvicorn only calls it
        ws="none",
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        backlog=ACCEPTED_AT_ONCE,
        proxy_headers=bool(options.trust_proxy),
        forwarded_allow_ips=options.trust_proxy,
    )
    keep_short()
    _warn(options, host, port)
    # So that what was made for this start is removed at its end; uvicorn hands the signal back when it is done.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    _say(words("commands", "running_at", address=address(code.current if options.token else "")))
    try:
        Server(config, connections, QUEUED).run(sockets=[listener])
    finally:
        services.oracle.close()
        services.dry_runs.close()
        services.box.close()
    return 0


def _say(line: str) -> None:
    """A terminal that was closed is no reason to stop."""
    with suppress(OSError):
        print(line, flush=True)


def _warn(options: argparse.Namespace, host: str, port: int) -> None:
    """What the options make less safe."""
    if not shutil.which(options.python):
        _warn_of(words("commands", "no_program", python=options.python))
    if options.no_token:
        _warn_of(words("commands", "open_door"))
    if options.shown_by_ps:
        _warn_of(words("commands", "token_seen"))
    if not is_loopback(host) and not options.ssl_certfile:
        _warn_of(words("commands", "exposed", host=host, port=str(port)))


def _warn_of(what: str) -> None:
    print("dsgui: " + words("commands", "warning", what=what), file=sys.stderr, flush=True)
