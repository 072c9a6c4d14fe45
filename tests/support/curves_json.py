"""The curves that a page is told of, read back: a test of a run looks at its points and samples as they were logged."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any


def logged(curves: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The points of a first answer (one with all its `series`), in the order in which they were logged."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in curves["y"]:
        series = curves["series"][one["id"]]
        if series["kind"] == "sample":
            continue
        x = _axes(curves["x"][one["x"]])
        for place, value in enumerate(one["v"]):
            at = -1 if x["time"][place] is None else x["time"][place]
            key = (at, one["x"], place, series["kind"], str(series["rank"]), series["source"])
            empty = {"step": x["step"][place], "epoch": x["epoch"][place], "time": x["time"][place], "values": {}}
            row = rows.setdefault(key, empty | {name: series[name] for name in ("kind", "rank", "source")})
            row["values"][series["name"]] = float(value)
    return [rows[key] for key in sorted(rows)]


def sampled(curves: Mapping[str, Any], node: str = "") -> list[dict[str, Any]]:
    """The samples of one machine, each with what it told."""
    rows: dict[float, dict[str, Any]] = {}
    for one in curves["y"]:
        series = curves["series"][one["id"]]
        if series["kind"] == "sample" and series["node"] == node:
            for at, value in zip(_axes(curves["x"][one["x"]])["time"], one["v"], strict=True):
                rows.setdefault(at, {"elapsed_s": at})[series["name"]] = value
    return [rows[at] for at in sorted(rows)]


def _axes(x: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: _numbers(x[name]) for name in ("step", "time", "epoch")}


def _numbers(coded: Mapping[str, Any] | None) -> Any:
    if coded is None:
        return _Unknown()
    if "v" in coded:
        return coded["v"]
    return [value / 10 ** coded["k"] if coded["k"] else value for value in accumulate(coded["d"])]


class _Unknown:
    def __getitem__(self, place: int) -> None:
        return None
