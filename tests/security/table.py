"""The real app behind its guard, in this process, and every route and event it has."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.routing import Mount

from dsgui.compose import make_services
from dsgui.core.access.access import Access
from dsgui.ui.access.guard import Guard
from dsgui.ui.site.server import guarded, make_app

TOKEN = "a-token-that-only-the-owner-knows"
HOST = "127.0.0.1:7860"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND")


@dataclass(frozen=True)
class Served:
    """The app, its guard, and what it was made from."""

    app: object
    guard: Guard
    services: object
    runs_dir: Path

    @property
    def handlers(self):
        return self.app.state.pages.fns

    def ask(self, method, path, headers=None, content=b"", host=HOST, scheme="http"):
        """The answer to one request."""
        return asyncio.run(self._ask(method, path, headers, content, host, scheme))

    async def _ask(self, method, path, headers, content, host, scheme):
        transport = httpx.ASGITransport(self.guard, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=f"{scheme}://{HOST}") as client:
            request = client.build_request(method, path, headers={"host": host, **(headers or {})}, content=content)
            return await client.send(request)

    def rules(self):
        return self.guard._rules


def serve(folder, token=TOKEN, allowed=(), **limits):
    """The app as `app.py` puts it together, but for the listening."""
    services = make_services(sys.executable, folder / "runs", folder / "presets", allowed)
    app = asyncio.run(_made(services))
    guard = guarded(app, Access(token), **{"guess_delay_s": 0.0, "body_timeout_s": 0.3, **limits})
    return Served(app, guard, services, folder / "runs")


async def _made(services):
    """In a running loop: without one Gradio makes several, and leaves them open."""
    return make_app(services, "127.0.0.1", 7860)


def routes(app, prefix=""):
    """Method and path of every route, the mounted apps' and included routers' too; parameters filled with a word."""
    for route in app.routes:
        inner = getattr(route, "original_router", None) or (route.app if isinstance(route, Mount) else None)
        if inner is not None:
            below = route.path if isinstance(route, Mount) else ""
            yield from routes(inner, prefix + below)
        else:
            for method in getattr(route, "methods", None) or ("GET",):
                yield method, prefix + _filled(route.path)


def _filled(path):
    parts = []
    for part in path.replace("{path:path}", "word").split("{"):
        head, brace, tail = part.partition("}")
        parts.append(f"word{tail}" if brace else head)
    return "".join(parts)


def bearer(token=TOKEN):
    return {"authorization": f"Bearer {token}"}
