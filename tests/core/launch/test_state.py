"""Why a run is in its state is kept as codes, beside the words."""

import json
from typing import Any

from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.texts.saying import as_told, said
from tests.support.cases import each_case

LEFT = said("reasons", "nothing_left", elsewhere=said("reasons", "here_or_on", hosts="worker-1"))
REASONS = (said("reasons", "stopped", left=LEFT), as_told("In nobody's words."))


def kept(status: RunStatus) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(status.to_json()))
    return found


def nested(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "reasons", "code": "nowhere_else"}
    for _ in range(depth):
        found = {"kind": "reasons", "code": "stopped", "given": {"left": found}}
    return found


def test_reasons_survive_the_way_to_the_disk() -> None:
    status = RunStatus(RunState.STOPPED, reasons=REASONS)
    assert RunStatus.from_json(kept(status)) == status
    assert status.reason == "Stopped on request: no processes are left here or on worker-1. In nobody's words."
    assert kept(status)["reason"] == status.reason


@each_case(
    "codes",
    [
        None,
        "stopped",
        [],
        [{"code": "stopped"}],
        [{"kind": "reasons", "code": "of_a_later_dsgui"}],
        [{"kind": "reasons", "code": "stopped"}],
        [{"kind": "reasons", "code": "stopped", "given": {"left": 3}}],
        [{"kind": "reasons", "code": "stopped", "given": [1]}],
        [{"kind": ["reasons"], "code": {}}],
        [nested(500)],
    ],
)
def test_a_state_without_codes_that_are_known_here_is_told_in_its_words(codes: Any) -> None:
    """As a dsgui without codes wrote it, or a later one, or anybody."""
    found = RunStatus.from_json({"state": "failed", "reason": "It fell over.", "reasons": codes})
    assert (found.state, found.reason) == (RunState.FAILED, "It fell over.")


def test_no_reason_is_none() -> None:
    assert RunStatus.from_json(kept(RunStatus(RunState.RUNNING))).reasons == ()
