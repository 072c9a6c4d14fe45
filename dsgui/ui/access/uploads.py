"""Uploads, in place of Gradio's own route: one text file of a config's size at a time, kept until others push it out.

Gradio's takes a thousand files of any name a request, and keeps them all.
"""

import os
import secrets
import stat
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from dsgui.core.errors import PlaceError
from dsgui.core.texts.saying import listed, said, words

MAX_UPLOAD_BYTES = 1 << 20
MOST_KEPT = 16
TYPES = (".json", ".hjson", ".yaml", ".yml")
_LONGEST_NAME = 100
_PROGRESS = 'data: {"msg": "done"}\n\n'


class Uploads:
    """What was stored of uploads, in `folder`, where Gradio looks for it. An event may name nothing else: Gradio copies
    whatever file it is named."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stored: dict[str, None] = {}  # the oldest first

    def keep(self, name: str, content: bytes) -> Path:
        """Writes an upload where its owner alone reads it, and removes the oldest ones. Returns its path."""
        own = self._folder / secrets.token_hex(16)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        own.mkdir(mode=0o700)
        path = own / name
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(content)
        self._stored[str(path)] = None
        while len(self._stored) > MOST_KEPT:
            self._stored.pop(next(iter(self._stored)))
        _remove_oldest(self._folder)
        return path

    def has(self, path: str) -> bool:
        """Whether `path` is, letter by letter, what `keep` returned, and still a plain file of an upload's size in
        the folder."""
        return path in self._stored and _lies_in(self._folder, path) and _is_small_file(path)


def inside_uploads(folder: Path, path: Path) -> Path:
    """`path`, which is an upload or Gradio's copy of one. Raises `PlaceError` for everything else."""
    if not _lies_in(folder, str(path)):
        raise PlaceError(said("requests", "no_upload"))
    return path


def make_uploads(uploads: Uploads) -> APIRouter:
    """The routes that Gradio's upload button asks for."""
    router = APIRouter(prefix="/gradio_api")

    @router.post("/upload")
    async def upload(request: Request) -> Response:
        try:
            async with request.form(max_files=1, max_fields=0) as form:
                [file] = form.getlist("files")
                if not isinstance(file, UploadFile):
                    raise HTTPException(400, words("requests", "file"))
                name, content = _name(file.filename or ""), await file.read(MAX_UPLOAD_BYTES + 1)
        except (ValueError, MultiPartException) as error:
            raise HTTPException(400, words("requests", "one_file")) from error
        if len(content) > MAX_UPLOAD_BYTES:
            raise HTTPException(413, words("requests", "large_file", most=str(MAX_UPLOAD_BYTES >> 20)))
        return JSONResponse([str(uploads.keep(name, content))])

    @router.get("/upload_progress")
    def progress() -> Response:
        # A config arrives at once: there is nothing to tell on the way.
        return Response(_PROGRESS, media_type="text/event-stream")

    return router


def _lies_in(folder: Path, path: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _is_small_file(path: str) -> bool:
    """Looked at through a descriptor: neither a link is followed nor a pipe waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_UPLOAD_BYTES


def _name(given: str) -> str:
    """The file's own name, which the page shows; no part of a path, and of a type that is read here."""
    name = given.replace("\\", "/").rpartition("/")[2]
    if not name.lower().endswith(TYPES) or len(name) > _LONGEST_NAME or not name.isprintable() or name.startswith("."):
        raise HTTPException(415, words("requests", "file_name", endings=listed(f"…{ending}" for ending in TYPES)))
    return name


def _remove_oldest(folder: Path) -> None:
    """Gradio copies what it hands to a handler, so there are more files here than were uploaded."""
    files = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
    for path in files[:-MOST_KEPT]:
        path.unlink(missing_ok=True)
        if path.parent != folder and not any(path.parent.iterdir()):
            path.parent.rmdir()
