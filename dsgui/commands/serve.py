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
from dsgui.shell.access.access_token import LoginCode, choose_token
from dsgui.shell.files.folders import default_presets_dir, default_runs_dir, held, remove_abandoned

HELP = "serve the pages (the default command)"
FIRST_PORT = 7860
PORTS_TRIED = 100
CANNOT_START = 2
KEEP_ALIVE_S = 5
UPLOADS = "dsgui-uploads-"
ACCEPTED_AT_ONCE = 64  # before anything counts them
EXPOSED = (
    "dsgui: warning: {host} is reached from other machines, and without TLS whoever is on the way can read the token. "
    "Safer: listen on 127.0.0.1 and use an SSH tunnel (ssh -L {port}:127.0.0.1:{port} THIS_MACHINE), or give "
    "--ssl-certfile and --ssl-keyfile."
)
OPEN_DOOR = (
    "dsgui: warning: --no-token: every user of this machine, and every program that any of them runs, can start "
    "programs here as you."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `serve`."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, help=f"port (default: {FIRST_PORT}, or the next free one)")
    _add_access(parser)
    parser.add_argument(
        "--allow",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="another folder whose scripts and configs the page may name; may be repeated (always allowed: your home "
        "folder, the folder dsgui was started in, the runs)",
    )
    parser.add_argument(
        "--runs-dir", type=Path, default=default_runs_dir(), help="folder of the runs (default: %(default)s)"
    )
    parser.add_argument(
        "--presets-dir",
        type=Path,
        default=default_presets_dir(),
        help="folder of your presets (default: %(default)s)",
    )
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="Python of the training environment, with DeepSpeed installed (default: the one that runs dsgui)",
    )


def _add_access(parser: argparse.ArgumentParser) -> None:
    """Who is let in, and by which name."""
    token = parser.add_mutually_exclusive_group()
    token.add_argument(
        "--token",
        metavar="TOKEN",
        help="what programs send and ?token=… logs in with (default: the printed address, good once); other users can "
        "read a command line, so --token-file or $DSGUI_TOKEN is better",
    )
    token.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="a private file that holds the token; created with a new token if missing",
    )
    token.add_argument(
        "--no-token", action="store_true", help="allow every user of this machine; needs a loopback --host"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="additional host name of this server, e.g. behind a proxy; may be repeated",
    )
    parser.add_argument(
        "--trust-proxy",
        metavar="ADDRESS",
        default="",
        help="believe the X-Forwarded-Proto and -For of a proxy at ADDRESS, so that its "
        "TLS counts as ours (default: nobody)",
    )
    parser.add_argument("--ssl-certfile", type=Path, metavar="FILE", help="serve HTTPS with this certificate")
    parser.add_argument("--ssl-keyfile", type=Path, metavar="FILE", help="the certificate's private key")


def bind(host: str, port: int | None) -> socket.socket:
    """A listening socket: on `port` if given, else on the first free port from 7860. Raises OSError."""
    candidates = [port] if port is not None else range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)
    last: OSError | None = None
    for candidate in candidates:
        try:
            listener = socket.create_server((host, candidate), family=_family(host), backlog=ACCEPTED_AT_ONCE)
        except OSError as error:
            last = error
        else:
            # Its connections inherit it. Without, the body of an answer waits 40 ms until the browser has acknowledged
            # its head: asyncio sets it only on sockets that say they are TCP.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listener
    raise last or OSError("no port to try")


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
        print(f"dsgui: can't listen on {where}: {error}. Choose another --port, or leave it out.", file=sys.stderr)
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
        return (
            f"--no-token with --host {options.host}: whoever reaches that address could run programs here as you. "
            "Leave --no-token out; or listen on 127.0.0.1 and come in by an SSH tunnel "
            "(ssh -L 7860:127.0.0.1:7860 THIS_MACHINE), or by a proxy that asks who is there. With a token, "
            "--ssl-certfile and --ssl-keyfile keep it from being read on the way."
        )
    if bool(options.ssl_certfile) != bool(options.ssl_keyfile):
        return "--ssl-certfile and --ssl-keyfile: only one was given. Use both or neither."
    missing = [str(file) for file in (options.ssl_certfile, options.ssl_keyfile) if file and not file.is_file()]
    return f"{missing[0]} does not exist. Check --ssl-certfile and --ssl-keyfile." if missing else ""


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
        print(
            f"dsgui: --ssl-certfile and --ssl-keyfile: {error}. Expected PEM files that belong together. Check them.",
            file=sys.stderr,
        )
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
    code = LoginCode(lambda new: _say(f"dsgui: that link was used; for another browser: {address(new)}"))
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
    _say(f"dsgui is running at {address(code.current if options.token else '')} (stop it with Ctrl+C; runs go on)")
    try:
        Server(config, connections).run(sockets=[listener])
    finally:
        services.oracle.close()
        services.dry_runs.close()
    return 0


def _say(line: str) -> None:
    """A terminal that was closed is no reason to stop."""
    with suppress(OSError):
        print(line, flush=True)


def _warn(options: argparse.Namespace, host: str, port: int) -> None:
    """What the options make less safe."""
    if not shutil.which(options.python):
        print(
            f"dsgui: warning: --python {options.python}: there is no such program. Configs can be written; nothing can "
            "be started or asked. Give the Python that has DeepSpeed.",
            file=sys.stderr,
        )
    if options.no_token:
        print(OPEN_DOOR, file=sys.stderr)
    if options.shown_by_ps:
        print("dsgui: warning: --token can be read by other users with ps; --token-file can't.", file=sys.stderr)
    if not is_loopback(host) and not options.ssl_certfile:
        print(EXPOSED.format(host=host, port=port), file=sys.stderr, flush=True)
