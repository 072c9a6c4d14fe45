"""Uploads, in place of Gradio's own route: one text file of a config's size at a time, kept until others push it out.

Gradio's takes a thousand files of any name a request, and keeps them all.
"""

import os
import secrets
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

MAX_UPLOAD_BYTES = 1 << 20
MOST_KEPT = 16
TYPES = (".json", ".hjson", ".yaml", ".yml")
_LONGEST_NAME = 100
_PROGRESS = 'data: {"msg": "done"}\n\n'


def make_uploads(folder: Path) -> APIRouter:
    """The routes that Gradio's upload button asks for. `folder`: where Gradio looks for what was uploaded."""
    router = APIRouter(prefix="/gradio_api")

    @router.post("/upload")
    async def upload(request: Request) -> Response:
        try:
            async with request.form(max_files=1, max_fields=0) as form:
                [file] = form.getlist("files")
                if not isinstance(file, UploadFile):
                    raise HTTPException(400, "Expected a file.")
                name, content = _name(file.filename or ""), await file.read(MAX_UPLOAD_BYTES + 1)
        except (ValueError, MultiPartException) as error:
            raise HTTPException(400, "Expected one file in a form upload.") from error
        if len(content) > MAX_UPLOAD_BYTES:
            raise HTTPException(413, f"Expected a config of at most {MAX_UPLOAD_BYTES >> 20} MiB.")
        return JSONResponse([str(keep(folder, name, content))])

    @router.get("/upload_progress")
    def progress() -> Response:
        # A config arrives at once: there is nothing to tell on the way.
        return Response(_PROGRESS, media_type="text/event-stream")

    return router


def keep(folder: Path, name: str, content: bytes) -> Path:
    """Writes an upload where its owner alone reads it, and removes the oldest ones. Returns its path."""
    own = folder / secrets.token_hex(16)
    own.mkdir(mode=0o700, parents=True)
    path = own / name
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
        file.write(content)
    _remove_oldest(folder)
    return path


def _name(given: str) -> str:
    """The file's own name, which the page shows; no part of a path, and of a type that is read here."""
    name = given.replace("\\", "/").rpartition("/")[2]
    if not name.lower().endswith(TYPES) or len(name) > _LONGEST_NAME or not name.isprintable() or name.startswith("."):
        raise HTTPException(415, f"Expected a file called …{', …'.join(TYPES)}.")
    return name


def _remove_oldest(folder: Path) -> None:
    """Gradio copies what it hands to a handler, so there are more files here than were uploaded."""
    files = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
    for path in files[:-MOST_KEPT]:
        path.unlink(missing_ok=True)
        if path.parent != folder and not any(path.parent.iterdir()):
            path.parent.rmdir()
