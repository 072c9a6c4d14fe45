"""Plain routes beside Gradio's: the form's field list, our static files, and the runs as JSON, in deltas.

A plain route costs a fraction of a Gradio event, and a poll's cost depends on what changed, not on the run's length.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse

from dsgui.core.access.folder_list import ENDINGS
from dsgui.core.afterwards.pruning import Rule
from dsgui.core.config.form import Form
from dsgui.core.config.versions import at_version
from dsgui.core.errors import DsguiError, PlaceError, RunError
from dsgui.core.runs.listing import SORTS
from dsgui.core.runs.news import Window
from dsgui.core.texts.languages import CHINESE_TAG, ENGLISH_TAG, spoken
from dsgui.core.texts.saying import words
from dsgui.runs.afterwards import AfterTraining
from dsgui.runs.archive import Archive
from dsgui.runs.export import Exports
from dsgui.runs.inspection import Inspection
from dsgui.runs.report import Reports
from dsgui.runs.runs import Runs
from dsgui.runs.trying import TryIt
from dsgui.ui.common.services import Services
from dsgui.ui.config.workbench import form_model
from dsgui.ui.learn.learn_routes import add_learning
from dsgui.ui.site.pages import STATIC
from dsgui.ui.site.plotly_file import answered

_TYPES = {".js": "text/javascript", ".css": "text/css"}
_MOST_ROWS = 200
_MOST = 1 << 60
_RUN_ID_OR_NONE = r"^[0-9a-f-]{0,40}$"
_RUN_IDS = r"^[0-9a-f-]+(,[0-9a-f-]+)*$"
_ID = r"[0-9]{1,9}(\.[0-9]{1,9})?"  # a curve of the run, or a table's column
_IDS = rf"^{_ID}(,{_ID})*$"
_LONGEST = 4000
_MOST_MORE = 6000
_SORTS = f"^({'|'.join(SORTS)}|(config|arguments|metrics):.{{1,300}})?$"
_WANTED = f"^({'|'.join(ENDINGS)})$"
_RELEASE = r"^\d{1,4}(\.[0-9a-z+]{1,12}){0,4}$"


def make_routes(services: Services) -> APIRouter:
    """Everything under `/dsgui/`."""
    router = APIRouter(prefix="/dsgui")
    model = form_model(services.checker.schema)

    @cache
    def told(tag: str) -> list[dict[str, Any]]:
        others = services.form_texts(CHINESE_TAG if tag == ENGLISH_TAG else tag)
        return others.beside(model) if tag == ENGLISH_TAG else others.told(model)

    @router.get("/form.json")
    def form() -> list[dict[str, Any]]:
        return told(spoken())

    @router.get("/release.json")
    def release(release: str = Query(pattern=_RELEASE)) -> dict[str, dict[str, str]]:
        form = Form(services.checker.schema, release)
        return {"absent": form.absent, "defaults": form.defaults}

    @router.get("/schema.json")
    def schema(release: str = Query("", pattern=f"{_RELEASE}|^$")) -> Response:
        document = services.checker.schema.document
        return JSONResponse(at_version(document, release) if release else dict(document))

    router.get("/static/plotly.min.js")(answered)

    @router.get("/static/texts/catalogue.js")
    def catalogue() -> FileResponse:
        tag = spoken()
        name = "catalogue.js" if tag == ENGLISH_TAG else f"catalogue.{tag}.js"
        headers = {"Cache-Control": "no-cache", "Vary": "Cookie, Accept-Language", "Content-Language": tag}
        return FileResponse(STATIC / "texts" / name, media_type=_TYPES[".js"], headers=headers)

    served = {path.relative_to(STATIC).as_posix(): path for path in STATIC.glob("*/*") if path.suffix in _TYPES}

    @router.get("/static/{room}/{name}")
    def static(room: str, name: str) -> FileResponse:
        path = served.get(f"{room}/{name}")
        if path is None:
            raise HTTPException(404, words("requests", "no_file"))
        return FileResponse(path, media_type=_TYPES[path.suffix], headers={"Cache-Control": "no-cache"})

    @router.get("/folder")
    def folder(
        path: str = Query("", max_length=4096), wanted: str = Query(pattern=_WANTED), near: bool = False
    ) -> Response:
        try:
            return _json(services.browse(path, wanted, near).to_json())
        except PlaceError as error:
            raise HTTPException(404, str(error)) from error

    _add_runs(router, services.runs)
    _add_archive(router, services.archive)
    _add_after(router, services.after)
    _add_box(router, services.box)
    _add_inspection(router, services.inspection)
    _add_exports(router, services.exports)
    _add_reports(router, services.reports)
    add_learning(router, services.learning)
    return router


def _add_runs(router: APIRouter, runs: Runs) -> None:
    @router.get("/runs")
    def listed(
        first: int = Query(0, ge=0, lt=_MOST),
        count: int = Query(50, ge=1, le=_MOST_ROWS),
        words: str = Query("", max_length=200),
        since: str = Query("", max_length=80),
        find: str = Query("", max_length=80),
        sort: str = Query("", pattern=_SORTS),
        down: bool = False,
        archived: bool = False,
        baseline: str = Query("", max_length=80),
        held: str = Query("", max_length=500),
        more: str = Query("", max_length=_MOST_MORE),
    ) -> Response:
        shown, columns = tuple(filter(None, held.split(","))), tuple(filter(None, more.split("\n")))
        asked = tuple(words.lower().split())
        window = Window(first, count, asked, since, find, sort, down, archived, baseline, shown, columns)
        return _json(runs.listed(window).to_json())

    @router.get("/columns")
    def columns(words: str = Query("", max_length=200), archived: bool = False) -> Response:
        return _json(runs.columns(Window(words=tuple(words.lower().split()), archived=archived)))

    @router.get("/runs/{run_id}/window")
    def window(
        run_id: str,
        ids: str = Query(pattern=_IDS, max_length=_LONGEST),
        axis: str = Query(pattern="^(step|epoch|time)$"),
        low: float = Query(allow_inf_nan=False),
        high: float = Query(allow_inf_nan=False),
    ) -> Response:
        try:
            return _json(runs.window(run_id, ids.split(","), axis, low, high))
        except RunError as error:
            raise HTTPException(404, str(error)) from error


def _add_archive(router: APIRouter, archive: Archive) -> None:
    @router.get("/runs/{run_id}/about")
    def about(run_id: str) -> Response:
        try:
            return _json(archive.about(run_id))
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/runs/{run_id}/judged")
    def judged(run_id: str) -> Response:
        try:
            return _json(archive.judged(run_id))
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/runs/{run_id}/stake")
    def stake(run_id: str) -> Response:
        try:
            return _json(archive.stake(run_id))
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/runs/{run_id}/removal")
    def removal(run_id: str) -> Response:
        try:
            return _json(archive.removal(run_id).to_json())
        except RunError as error:
            raise HTTPException(409, str(error)) from error


def _add_after(router: APIRouter, after: AfterTraining) -> None:
    @router.get("/runs/{run_id}/after")
    def told(run_id: str) -> Response:
        try:
            return _json(after.told(run_id))
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/runs/{run_id}/after/job")
    def job(
        run_id: str,
        verb: str = Query(max_length=20),
        source: str = Query(max_length=_LONGEST),
        dtype: str = Query("", max_length=10),
        shard: str = Query("", max_length=20),
        base: str = Query("", max_length=_LONGEST),
        to: str = Query("", max_length=_LONGEST),
    ) -> Response:
        given = {"verb": verb, "source": source, "dtype": dtype, "shard": shard, "base": base, "to": to}
        try:
            return _json(after.asked(run_id, given))
        except DsguiError as error:  # an answer to what was typed
            return _json({"problem": str(error)})

    @router.get("/runs/{run_id}/after/old")
    def old(
        run_id: str,
        last: str = Query("1", max_length=20),
        every: str = Query("0", max_length=20),
        best: bool = True,
    ) -> Response:
        try:
            return _json(after.old_told(run_id, Rule.of(last, every, best)))
        except DsguiError as error:  # an answer to what was typed
            return _json({"problem": str(error)})


def _add_box(router: APIRouter, box: TryIt) -> None:
    @router.get("/runs/{run_id}/after/try_about")
    def about(
        run_id: str,
        source: str = Query("", max_length=_LONGEST),
        base: str = Query("", max_length=_LONGEST),
        beside: bool = True,
    ) -> Response:
        try:
            return _json(box.about(run_id, {"source": source, "base": base, "beside": beside}))
        except DsguiError as error:  # an answer to what was typed
            return _json({"problem": str(error)})

    @router.get("/runs/{run_id}/after/try_answer")
    def answer(run_id: str) -> Response:
        return _json(box.progress(run_id))


def _add_inspection(router: APIRouter, inspection: Inspection) -> None:
    @router.get("/runs/{run_id}/search")
    def searched(run_id: str, words: str = Query("", max_length=500), errors: bool = False) -> Response:
        try:
            found = inspection.search(run_id, words, errors) if words or errors else {"matches": [], "total": 0}
            return _json(found)
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/runs/{run_id}/slow")
    def slow(run_id: str) -> Response:
        try:
            return _json(inspection.slow(run_id))
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/runs/{run_id}/pattern")
    def pattern(run_id: str, template: str = Query("", max_length=400)) -> Response:
        try:
            return _json(inspection.pattern(run_id, template))
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/runs/{run_id}/output")
    def output(run_id: str, offset: int = Query(ge=-1, lt=_MOST)) -> Response:
        try:
            return _json(inspection.output_around(run_id, offset))
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/compare")
    def compared(runs: str = Query(pattern=_RUN_IDS, max_length=250)) -> Response:
        try:
            return _json(inspection.compare(runs.split(",")))
        except RunError as error:
            raise HTTPException(404, str(error)) from error


def _add_exports(router: APIRouter, exports: Exports) -> None:
    @router.get("/runs/{run_id}/points.csv")
    def csv(run_id: str, ids: str = Query("", pattern=f"^$|{_IDS}", max_length=_LONGEST)) -> Response:
        try:
            return _download(exports.csv(run_id, ids.split(",") if ids else ()), "text/csv", f"{run_id}.csv")
        except RunError as error:
            raise HTTPException(404, str(error)) from error

    @router.get("/runs/{run_id}/tensorboard.zip")
    def tensorboard(run_id: str) -> Response:
        try:
            return _download(exports.tensorboard(run_id), "application/zip", f"{run_id}-tensorboard.zip")
        except RunError as error:
            raise HTTPException(404, str(error)) from error


def _add_reports(router: APIRouter, reports: Reports) -> None:
    @router.get("/report")
    def report(
        runs: str = Query(pattern=_RUN_IDS, max_length=850), baseline: str = Query("", pattern=_RUN_ID_OR_NONE)
    ) -> Response:
        run_ids = runs.split(",")
        try:
            page = reports.html(run_ids, baseline).encode("utf-8", "replace")
            name = reports.file_name(run_ids)
        except RunError as error:
            raise HTTPException(404, str(error)) from error
        return _download(iter([page]), "text/html; charset=utf-8", name)


def _download(pieces: Iterator[bytes], media_type: str, name: str) -> Response:
    """`name` needs no quoting: it is of letters, digits, dots, hyphens and underscores."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces, media_type=media_type, headers=headers)


def _json(value: Any) -> Response:
    return JSONResponse(value, headers={"Cache-Control": "no-store"})
