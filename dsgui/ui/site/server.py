"""The web server: our plain routes, then Gradio's app at the root, and the guard in front of both."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from fastapi import FastAPI
from gradio.utils import get_upload_folder

from dsgui.core.access.access import Access
from dsgui.ui.access.events_in import problem_of
from dsgui.ui.access.guard import Guard
from dsgui.ui.access.uploads import MAX_UPLOAD_BYTES, Uploads, make_uploads
from dsgui.ui.common.services import Services
from dsgui.ui.site.pages import STATIC, build_pages
from dsgui.ui.site.polls import Polls
from dsgui.ui.site.routes import make_routes
from dsgui.ui.site.theme import make_theme

DESIGN = STATIC / "styles" / "design.css"
SHEETS = (STATIC / "style.css", *sorted((STATIC / "styles").glob("[!d]*.css")))
# Gradio looks for events a thousand times a second, which takes a tenth of a core from whoever trains.
_EVENTS_EVERY_S, _PROGRESS_EVERY_S = 0.03, 0.5
MOST_SESSIONS = 200  # a quarter of a MiB each; the one used least lately goes


def make_app(services: Services, host: str, port: int) -> FastAPI:
    """The ASGI app. Nothing runs in it beyond answering requests. It asks nobody who they are: `guarded` does."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.runs, app.state.growing = services.runs, services.growing
    app.include_router(make_routes(services))
    app.state.uploads = Uploads(Path(get_upload_folder()))
    app.include_router(make_uploads(app.state.uploads))  # before Gradio's own, which it hides
    pages = build_pages(services)
    pages.state_session_capacity = MOST_SESSIONS
    app.state.pages = pages
    _look_less_often(pages)
    mounted: FastAPI = gr.mount_gradio_app(
        app,
        pages,
        path="",
        server_name=host,
        server_port=port,
        footer_links=[],
        run_history=False,
        max_file_size=MAX_UPLOAD_BYTES,
        enable_monitoring=False,
        mcp_server=False,
        pwa=False,
        ssr_mode=False,
        theme=make_theme(),
        # Of `css` Gradio puts each selector below its own, within @media the root's, too: high contrast was lost.
        head=f"<style>{packed(DESIGN.read_text('utf-8'))}</style>",
        css="".join(packed(sheet.read_text("utf-8")) for sheet in SHEETS),
        show_error=False,
    )
    return mounted


def packed(sheet: str) -> str:
    """A sheet without its comments and the space that says nothing: it is sent with the first page."""
    begun, *commented = sheet.split("/*")
    bare = begun + "".join(part.partition("*/")[2] for part in commented)
    lines = "\n".join(filter(None, (line.strip() for line in bare.splitlines())))
    # Not in what is quoted, the odd parts.
    return '"'.join(part if number % 2 else _tight(part) for number, part in enumerate(lines.split('"')))


def _tight(rules: str) -> str:
    for brace in "{};":
        rules = rules.replace(f"{brace}\n", brace).replace(f"{brace} ", brace).replace(f" {brace}", brace)
    for long, short in ((": ", ":"), (",\n", ","), (", ", ","), (" > ", ">"), (" !", "!"), (";}", "}")):
        rules = rules.replace(long, short)
    return rules


def _look_less_often(pages: gr.Blocks) -> None:
    """Raises AttributeError where another Gradio waits in another way (gradio/queueing.py, `Queue`)."""
    for name, pause_s in (("sleep_when_free", _EVENTS_EVERY_S), ("progress_update_sleep_when_free", _PROGRESS_EVERY_S)):
        getattr(pages._queue, name)
        setattr(pages._queue, name, pause_s)


def guarded(app: FastAPI, rules: Access, let_in: Callable[[Any], None] = lambda client: None, **limits: float) -> Guard:
    """What `make_app` made, and the polls, behind `rules`. `let_in` is told the address of each client that had the
    token."""
    handlers = app.state.pages.fns
    inputs = {number: [type(block).__name__ for block in handler.inputs] for number, handler in handlers.items()}
    polled = Polls(app, app.state.runs, app.state.growing)
    problem = partial(problem_of, inputs=inputs, is_stored=app.state.uploads.has)
    return Guard(polled, rules, problem, let_in=let_in, **limits)
