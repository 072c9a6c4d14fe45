"""Which bundled recipe a script is: also one of another installation."""

from collections.abc import Mapping
from pathlib import Path


def recipe_of(recipes: Mapping[str, Path], script: str) -> str:
    """The name among `recipes`, "" for none. `recipes/NAME.py` of another installation is the same one while it and its
    parts have the same content: with another, it trains otherwise."""
    path = Path(script)
    ours = recipes.get(path.stem)
    if ours is None or path == ours:
        return path.stem if ours else ""
    if path.parent.name != "recipes":
        return ""
    files = (ours, *ours.parent.glob("parts/*.py"))
    return path.stem if all(_alike(path.parent / one.relative_to(ours.parent), one) for one in files) else ""


def recipe_instead(recipes: Mapping[str, Path], script: str) -> str:
    """The recipe with the file name of a script that is gone, "" for none."""
    path = Path(script)
    return path.stem if path.suffix == ".py" and path.stem in recipes and not _is_file(path) else ""


def _alike(path: Path, ours: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size == ours.stat().st_size and path.read_bytes() == ours.read_bytes()
    except (OSError, ValueError):
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
