"""Where the scripts are that run in the environment that trained."""

from pathlib import Path

WEIGHTS_WORKER = Path(__file__).with_name("weights_worker.py")
TRY_WORKER = Path(__file__).with_name("try_worker.py")
# Ours: they may be started wherever the pages may name files.
OWN_SCRIPTS = frozenset(map(str, (WEIGHTS_WORKER, TRY_WORKER)))
