"""What the drawer of tutorials asks for, only while it is open: its texts once, how far the reader is, pictures."""

from typing import Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import JSONResponse

from dsgui.core.errors import RunError
from dsgui.core.learn.drawer_texts import told
from dsgui.runs.learning import Learning

_MOST_WORDS = 40


def add_learning(router: APIRouter, learning: Learning) -> None:
    """The tracks, the state of one, and the picture for where the sliders stand."""

    @router.get("/learn")
    def tracks() -> JSONResponse:
        return _json(told())

    @router.get("/learn/state")
    def state(track: str = Query(max_length=_MOST_WORDS)) -> JSONResponse:
        try:
            return _json(learning.state(track))
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/learn/picture")
    def picture(request: Request) -> JSONResponse:
        return _json(learning.picture(request.query_params))


def _json(value: Any) -> JSONResponse:
    return JSONResponse(value, headers={"Cache-Control": "no-store"})
