"""The web server: our plain routes, then Gradio's app at the root."""

import gradio as gr
from fastapi import FastAPI

from dsgui.ui.pages import STATIC, build_pages
from dsgui.ui.routes import make_routes
from dsgui.ui.services import Services

_THEME = gr.themes.Default(primary_hue="teal", neutral_hue="slate", spacing_size="sm", radius_size="sm")
MAX_UPLOAD = "1mb"


def make_app(services: Services, host: str, port: int) -> FastAPI:
    """The ASGI app. Nothing runs in it beyond answering requests."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(make_routes(services))
    return gr.mount_gradio_app(
        app,
        build_pages(services),
        path="",
        server_name=host,
        server_port=port,
        footer_links=[],
        run_history=False,
        max_file_size=MAX_UPLOAD,
        ssr_mode=False,
        theme=_THEME,
        css=(STATIC / "style.css").read_text("utf-8"),
        show_error=False,
    )
