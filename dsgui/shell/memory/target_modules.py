"""Modules of the environment that trains, by name: dsgui's own process never has them.

Runs there, for the modules beside it."""

import importlib
from typing import Any


def load(name: str) -> Any:
    """Imports it. Raises ImportError."""
    return importlib.import_module(name)
