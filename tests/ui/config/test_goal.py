"""The start from a goal: what is offered for what a page sent."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from dsgui.core.machine.hardware import Target
from dsgui.core.machine.machine import Host, Machine
from dsgui.core.memory.fits.sharpened import Sharpened
from dsgui.core.memory.guessed import model_of_size
from dsgui.shell.config.catalog import Catalog
from dsgui.ui.common.services import Services
from dsgui.ui.config.goal import found_for

ASKED = {"framework": "hf", "model": "70B", "device": "rtx4090", "gpus": 1, "nodes": 1, "length": 512, "micro_batch": 1}


@pytest.fixture
def services(checker):
    parts = {"checker": checker, "presets": Catalog().presets(), "read_model": model_of_size, "sharpened": Sharpened}
    here = {"target": lambda: Target("python"), "machine": SimpleNamespace(current=lambda: Machine(Host()))}
    return cast(Services, SimpleNamespace(**parts, **here))


def test_beside_what_needs_a_host_that_few_have_is_what_needs_none(services):
    found: dict[str, Any] = found_for(services, ASKED)
    assert [one["role"] for one in found["choices"]] == ["only"]
    assert found["choices"][0]["verdict"]["host_asked"] > 10**12
    assert found["ways"]["gpus"]["gpus"] == 8
    # With a host that was described there is nothing to ask for.
    assert "ways" not in found_for(services, ASKED | {"host": 4096})


def test_what_fits_without_such_a_host_is_offered_alone(services):
    assert "ways" not in found_for(services, ASKED | {"model": "0.5B"})
