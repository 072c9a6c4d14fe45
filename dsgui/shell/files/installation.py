"""How this dsgui is installed: where its documents lie, and what it can be completed with."""

import site
import sys
from pathlib import Path

import dsgui
from dsgui.core.texts.saying import words

_PACKAGE = Path(dsgui.__file__).resolve().parent
# A wheel has the documents built into the package; in a checkout they lie beside it.
IS_CHECKOUT = not (_PACKAGE / "schemas").is_dir()
DOCUMENTS = _PACKAGE.parent if IS_CHECKOUT else _PACKAGE
# Starts a module of ours in a process of its own, from the folder around the package. Where that is site-packages,
# it must not come before Python's own modules: a stray dataclasses.py there would be taken for the real one.
_SITES = {Path(folder).resolve() for folder in (*site.getsitepackages(), site.getusersitepackages())}
FOLDER = _PACKAGE.parent
MODULE = ("-P", "-m") if FOLDER in _SITES else ("-m",)
# What an import can lack, by the extra that brings it. pyproject.toml says which releases.
_APP = ("gradio", "gradio_client", "fastapi", "starlette", "uvicorn", "httptools", "orjson", "plotly")


def missing(module: str, needed_by: str) -> str:
    """What to do about a module that can't be imported; "" for one that no extra brings."""
    package = module.partition(".")[0]
    return words("requests", "missing", program=needed_by, package=package, how=_install()) if package in _APP else ""


def _install() -> str:
    if IS_CHECKOUT:
        return words("requests", "make_setup", folder=str(DOCUMENTS))
    return words("requests", "install", command=f"{sys.executable} -m pip install 'dsgui[app]'")
