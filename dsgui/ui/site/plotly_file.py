"""plotly.js as the `plotly` package ships it, made ready for browsers; nothing is fetched from elsewhere, and plotly is
not imported."""

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from fastapi import HTTPException, Request
from fastapi.responses import Response

from dsgui.core.texts.saying import words

_DAY_S = 86_400
_LEVEL = 5  # 4.8 MB become 1.5 in 150 ms; higher ones take twice as long for a hundredth
_HEAD = 1000  # letters that the wrapper begins within
_LAZY, _EAGER = (b"this, () => {", b"}));"), (b"this, (() => {", b"})));")


@dataclass(frozen=True, slots=True)
class PlotlyFile:
    """What is sent, compressed, and the mark by which a browser asks whether what it has is still good."""

    packed: bytes
    mark: str


def answered(request: Request) -> Response:
    """plotly.js for who asks; only that nothing changed for who has it."""
    file = plotly_file()
    headers = {"Cache-Control": f"max-age={_DAY_S}", "ETag": file.mark, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == file.mark:
        return Response(status_code=304, headers=headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(gzip.decompress(file.packed), media_type="text/javascript", headers=headers)
    return Response(file.packed, media_type="text/javascript", headers={**headers, "Content-Encoding": "gzip"})


@cache
def plotly_file() -> PlotlyFile:
    """Made when first asked for. Raises HTTPException where plotly is not installed."""
    script = eager(_path().read_bytes())
    return PlotlyFile(gzip.compress(script, _LEVEL, mtime=0), f'"{blake2b(script, digest_size=12).hexdigest()}"')


def eager(script: bytes) -> bytes:
    """With the one function that everything is in between brackets: browsers take that for a function that is called at
    once, and compile it while it comes, beside the page, instead of a second time while the page stands still
    (https://v8.dev/blog/preparser#pife). A script of another shape stays as it is."""
    (opens, closes), (opened, closed) = _LAZY, _EAGER
    head, found, rest = script.partition(opens)
    body, ended, tail = rest.rpartition(closes)
    is_known = found and len(head) < _HEAD and ended and not tail.strip()
    return head + opened + body + closed + tail if is_known else script


def _path() -> Path:
    package = find_spec("plotly")
    if package is None or not package.submodule_search_locations:
        raise HTTPException(404, words("requests", "no_plotly"))
    return Path(package.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
