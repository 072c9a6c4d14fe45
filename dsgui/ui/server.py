"""The web server: our plain routes, then Gradio's app at the root."""

import gradio as gr
from fastapi import FastAPI

from dsgui.ui.pages import STATIC, build_pages
from dsgui.ui.routes import make_routes
from dsgui.ui.services import Services

# Gradio's own 600 weight holds a handful of letters only, so bold text takes the 700 one.
_SANS = gr.themes.LocalFont("Source Sans Pro", weights=(400, 700))
_MONO = gr.themes.LocalFont("IBM Plex Mono", weights=(400, 700))
_THEME = gr.themes.Default(
    primary_hue="teal",
    neutral_hue="slate",
    spacing_size="sm",
    radius_size="sm",
    font=(_SANS, "system-ui", "sans-serif"),
    font_mono=(_MONO, "ui-monospace", "monospace"),
).set(body_text_color_subdued="*neutral_500", body_text_color_subdued_dark="*neutral_400")
MAX_UPLOAD = "1mb"


def make_app(services: Services, host: str, port: int) -> FastAPI:
    """The ASGI app. Nothing runs in it beyond answering requests."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(make_routes(services))
    mounted: FastAPI = gr.mount_gradio_app(
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
    return mounted
