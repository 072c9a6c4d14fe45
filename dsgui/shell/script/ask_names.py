"""Run by path in the Python that will train: prints one JSON line on which names its packages do not have.

`ask_names.py MODULE:NAME…` answers {"module:name": why}: it imports each as the script would, which is the only way to
know of packages that make their names when asked for them. Needs nothing of dsgui there.
"""

import importlib
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


def main() -> None:
    """Print the answer as the last line."""
    asked = [pair.partition(":")[::2] for pair in sys.argv[1:]]
    answers = {f"{module}:{name}": why_not(module, name) for module, name in asked}
    print("\n" + json.dumps({pair: why for pair, why in answers.items() if why}), flush=True)


if __name__ == "__main__":
    main()
