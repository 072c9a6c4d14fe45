"""Where the source of modules lies, by what the training environment says of the packages they are in."""

import os
from collections.abc import Mapping

Found = Mapping[str, Mapping[str, object] | None]
_INSTALLED = ("site-packages", "dist-packages")


def absolute(source: str, place: str, found: Found) -> str:
    """`.training_args` seen from `transformers.trainer` → `transformers.training_args`; "" where it is none."""
    dots = len(source) - len(source.lstrip("."))
    if not dots:
        return source
    package = place.split(".") if file_of(place, found).endswith("__init__.py") else place.split(".")[:-1]
    kept = package[: len(package) - dots + 1]
    return ".".join([*kept, source.lstrip(".")]).rstrip(".") if kept else ""


def file_of(module: str, found: Found) -> str:
    """The source of a module, "" where there is none to read."""
    top, *rest = module.split(".")
    place = found.get(top) or {}
    if not rest:
        return str(place.get("file") or "")
    for folder in folders_of(top, found):
        base = os.path.join(folder, *rest)
        for path in (os.path.join(base, "__init__.py"), f"{base}.py"):  # as Python prefers
            if os.path.isfile(path):
                return path
    return ""


def folders_of(package: str, found: Found) -> list[str]:
    folders = (found.get(package) or {}).get("folders")
    return [str(folder) for folder in folders] if isinstance(folders, list) else []


def is_installed(path: str) -> bool:
    """Whether it is a package's of the environment, and not one's own."""
    return any(f"{os.sep}{one}{os.sep}" in path for one in _INSTALLED)
