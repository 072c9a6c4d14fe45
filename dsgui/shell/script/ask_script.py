"""Run by path in the Python that will train: prints one JSON line on where modules are found, imports none of them.

`ask_script.py FOLDER WORKING_DIRECTORY MODULE…` answers {module: {"file": …, "folders": […]}} for top-level modules as
a script in FOLDER would import them, null for one that is not there. Needs nothing of dsgui there.
"""

import importlib.util
import json
import sys


def place(module: str) -> "dict[str, object] | None":
    """Of one module; what a stranger's finder raises counts as being there, for nothing is known then."""
    try:
        spec = importlib.util.find_spec(module)
    except Exception:  # noqa: BLE001
        return {"file": "", "folders": []}
    if spec is None:
        return None
    origin = spec.origin if spec.has_location and spec.origin else ""
    return {"file": origin, "folders": [str(folder) for folder in spec.submodule_search_locations or ()]}


def main() -> None:
    """Print the answer as the last line. Python itself puts the script's folder first, then what is in PYTHONPATH; the
    working directory is "" where no launcher adds it to that."""
    folder, working_directory, *modules = sys.argv[1:]
    sys.path[:] = [folder, *([working_directory] if working_directory else []), *sys.path[1:]]
    print("\n" + json.dumps({module: place(module) for module in modules}), flush=True)


if __name__ == "__main__":
    main()
