"""Run by path in the Python that will train: prints one JSON line on which names its packages do not have.

`ask_names.py MODULE:NAME…` answers {"module:name": why}: it imports each as the script would, which is the only way to
know of packages that make their names when asked for them. `MODULE:NAME:KEYWORD` asks whether a class takes a keyword.
Needs nothing of dsgui there.
"""

import importlib
import inspect
import json
import sys


def why_not(module: str, name: str) -> str:
    """Why it can't be imported; "" where it can, or where something else than its absence is wrong."""
    try:
        found = importlib.import_module(module)
        if not name or name == "*" or hasattr(found, name):
            return ""
        importlib.import_module(module + "." + name)
    except ModuleNotFoundError as error:
        absent = error.name or ""
        return str(error) if module == absent or (module + "." + name) == absent else ""
    except Exception:  # noqa: BLE001 — it can't be loaded here, which says nothing of a run
        return ""
    return ""


def why_refused(module: str, name: str, keyword: str) -> str:
    """Why the class does not take it; "" where it does, or where its signature does not say so: what wraps its
    `__init__` may translate the keyword, as transformers does with renamed ones."""
    try:
        made = getattr(importlib.import_module(module), name)
        init = made.__init__
        plain = inspect.isclass(made) and type(made).__call__ is type.__call__ and made.__new__ is object.__new__
        if not plain or not inspect.isfunction(init) or hasattr(init, "__wrapped__"):
            return ""
        signature = inspect.signature(init, follow_wrapped=False)
    except Exception:  # noqa: BLE001 — as above
        return ""
    try:
        signature.bind_partial(None, **{keyword: None})
    except TypeError as error:
        return f"{name}.__init__() {error}"
    return ""


def main() -> None:
    """Print the answer as the last line."""
    answers = {one: _answer(*one.split(":")) for one in sys.argv[1:]}
    print("\n" + json.dumps({one: why for one, why in answers.items() if why}), flush=True)


def _answer(module: str, name: str, keyword: str = "") -> str:
    return why_refused(module, name, keyword) if keyword else why_not(module, name)


if __name__ == "__main__":
    main()
