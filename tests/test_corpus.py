"""Real configs, and what the real DeepSpeed said of each: nothing is lost, no false error, no rejection missed.

The environment variable DSGUI_CORPUS names a folder of configs with their `verdicts.tsv` (columns file, version, mode,
world_size, verdict, stage, message); without it these tests are skipped.
"""

import csv
import json
import os
from pathlib import Path

import pytest

from dsgui.core.compare import flatten
from dsgui.core.context import Context, Integration
from dsgui.core.document import Document
from dsgui.core.errors import DocumentError
from dsgui.core.findings import Severity
from dsgui.core.loose_json import tidy

CORPUS = Path(os.environ.get("DSGUI_CORPUS", ""))
pytestmark = pytest.mark.skipif(not os.environ.get("DSGUI_CORPUS"), reason="DSGUI_CORPUS names no folder")
# The script may pass an optimizer of its own, so these are warnings.
NEEDS_AN_OPTIMIZER = ("requires an optimizer",)
