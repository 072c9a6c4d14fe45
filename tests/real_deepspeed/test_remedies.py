"""Each change that a diagnosis offers, made and run for real: the failure it is for is gone, and the run succeeds.

A change that was seen to succeed is run again when it, its script or a release differs, and by `make test-all`."""

import inspect
import json
from dataclasses import asdict, replace

import pytest

from dsgui.core.diagnosis.remedies import Remedy
from dsgui.core.runs.clone import changed_config, changed_words
from tests.answers.remembered import TRAINING
from tests.core.diagnosis.test_diagnosis import diagnosed
from tests.support.record_failures import FAILURES, Failure, record, run

pytestmark = [pytest.mark.deepspeed, pytest.mark.remembered(*TRAINING)]

SUCCEED = (
    "use-cpu-batch",
    "use-cpu-mismatch",
    "use-cpu-bf16",
    "hf-fp16-cpu",
    "hf-mismatch-calculated",
    "option-gone",
    "option-unknown",
    "zero-block-missing",
    "config-twice-option",
    "batch-identity",
    "untested-optimizer",
)


def changed(failure: Failure, remedy: Remedy) -> Failure:
    text, _ = changed_config(json.dumps(failure.config), remedy)
    words, _ = changed_words(failure.words, remedy)
    return replace(failure, config=json.loads(text), words=words)


@pytest.mark.parametrize("name", SUCCEED)
def test_the_change_that_is_offered_first_makes_the_run_succeed(name, tmp_path, confirmed):
    remedy = diagnosed(name).remedy
    assert remedy
    tried = changed(FAILURES[name], remedy)

    def succeeds():
        code, output = record(tried, tmp_path)
        assert code == 0, output[-2000:]

    confirmed.check(f"remedy {name}", [asdict(tried), inspect.getsource(run)], succeeds)
