"""The cards of the table by the names that drivers give them."""

import pytest

from dsgui.core.machine.hardware import card_of
from dsgui.core.sizes import GIB

NAMED = [
    ("NVIDIA H200", 140, "h200"),
    ("NVIDIA A100-SXM4-80GB", 79, "a100-80"),
    ("NVIDIA A100-SXM4-40GB", 40, "a100-40"),
    ("NVIDIA H100 80GB HBM3", 80, "h100"),
    ("NVIDIA H100 NVL", 93, "h100-nvl"),
    ("NVIDIA GeForce RTX 4090", 24, "rtx4090"),
    ("Tesla V100-SXM2-16GB", 16, "v100-16"),
    ("NVIDIA L40S", 45, "l40s"),
    ("NVIDIA RTX A6000", 48, "a6000"),
    ("NVIDIA A10G", 22, "a10g"),
    ("AMD Instinct MI300X", 192, "mi300x"),
]


@pytest.mark.parametrize(("name", "gib", "card"), NAMED)
def test_a_card_is_known_by_what_its_driver_calls_it(name: str, gib: int, card: str) -> None:
    found = card_of(name, gib * GIB)
    assert found is not None
    assert found.id == card


@pytest.mark.parametrize(
    ("name", "gib"), [("NVIDIA H200", 80), ("NVIDIA GH200 480GB", 144), ("NVIDIA Unheard Of", 80), ("", 80)]
)
def test_another_card_is_none_of_them(name: str, gib: int) -> None:
    assert card_of(name, gib * GIB) is None
