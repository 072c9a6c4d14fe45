"""The Launch page's own words."""

from dsgui.core.hardware import GIB, Gpu
from dsgui.ui.desk import gpu_label

CARD = Gpu(1, "NVIDIA H100", (9, 0), 80 * GIB)


def test_a_gpu_says_what_is_in_use_and_by_whom() -> None:
    assert gpu_label(CARD, 12 * GIB, ["t5"]) == "1: NVIDIA H100, 12 of 80 GiB in use, by run “t5”"
    assert gpu_label(CARD, None, []) == "1: NVIDIA H100, 80 GiB"
    assert gpu_label(Gpu(0, "Card", None, None), None, ["a", "b"]) == "0: Card, by run “a”, “b”"
