"""Starts dsgui: `python app.py`, then open the URL it prints."""

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

# No request may leave the machine: Gradio's version check and the hub's telemetry are off before either is imported.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"

FIRST_PORT = 7860
PORTS_TRIED = 100
CANNOT_START = 2
EXPOSED = (
    "dsgui: warning: there is no password yet, so whoever reaches {host} can run programs here as you. "
    "An SSH tunnel to 127.0.0.1 is the safe way."
)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="app.py", description="Author a DeepSpeed config, launch it, watch it.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, help=f"port (default: {FIRST_PORT}, or the next free one)")
    parser.add_argument(
        "--runs-dir", type=Path, default=default_runs_dir(), help="where runs are kept (default: %(default)s)"
    )
    parser.add_argument(
        "--presets-dir",
        type=Path,
        default=default_presets_dir(),
        help="where your own presets are kept (default: %(default)s)",
    )
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="the interpreter that trains, with DeepSpeed installed (default: the one that runs dsgui)",
    )
    return parser.parse_args(arguments)


def default_runs_dir() -> Path:
    """`$XDG_DATA_HOME/dsgui/runs`: outside the checkout, so that an update of dsgui touches no run."""
    return _data_home() / "runs"


def default_presets_dir() -> Path:
    """Beside the runs, for the same reason."""
    return _data_home() / "presets"


def _data_home() -> Path:
    data_home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data_home) / "dsgui"


def bind(host: str, port: int | None) -> socket.socket:
    """A listening socket: on `port` if given, else on the first free port from 7860. Raises OSError."""
    candidates = [port] if port is not None else range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)
    last: OSError | None = None
    for candidate in candidates:
        try:
            return socket.create_server((host, candidate), family=_family(host), backlog=256)
        except OSError as error:
            last = error
    raise last or OSError("no port to try")


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def url_of(host: str, port: int) -> str:
    """What to open: an address that means "all of them" is reached through loopback."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    return host.startswith("127.") or host in ("::1", "localhost")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted. Returns the exit status."""
    options = parse_arguments(arguments)
    try:
        listener = bind(options.host, options.port)
    except (OSError, OverflowError) as error:
        where = f"{options.host}:{options.port or FIRST_PORT}"
        print(f"dsgui: can't listen on {where}: {error}. Choose another --port, or leave it out.", file=sys.stderr)
        return CANNOT_START
    with (
        suppress(KeyboardInterrupt),
        listener,
    ):  # Around all of it: Ctrl+C can come before uvicorn has its handlers in place.
        return serve(options, listener)
    return 0


def serve(options: argparse.Namespace, listener: socket.socket) -> int:
    """Join the parts and run the web server on `listener`."""
    import uvicorn

    from dsgui.compose import make_services
    from dsgui.core.errors import DsguiError
    from dsgui.ui.server import make_app

    host, port = listener.getsockname()[:2]
    try:
        services = make_services(options.python, options.runs_dir, options.presets_dir)
        app = make_app(services, host, port)
    except DsguiError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return CANNOT_START
    if not is_loopback(host):
        print(EXPOSED.format(host=host), file=sys.stderr)
    print(f"dsgui is running at {url_of(host, port)} (stop it with Ctrl+C; runs go on)", flush=True)
    try:
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
    finally:
        services.oracle.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
