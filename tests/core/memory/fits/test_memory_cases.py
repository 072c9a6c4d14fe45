"""The table of published cases is what the formula says of them now."""

from benchmarks.memory_cases import CASES, PAGE, fitted, page, told
from dsgui.core.memory.answer import CannotSay, Device
from dsgui.core.memory.fits.verdict import Fit

NAMED = {case.name: case for case in CASES}


def test_the_page_is_what_the_formula_says():
    assert PAGE.read_text("utf-8") == page(), "run python -m benchmarks.memory_cases"


def test_what_ran_out_of_gpu_memory_is_not_said_to_fit():
    for name in ("llama-3-8b", "llama-7b"):
        assert fitted(NAMED[name]).verdict.fit_of(Device.GPU) in (Fit.TIGHT, Fit.SHORT)
    assert fitted(NAMED["llama-3-8b-offload"]).verdict.fit_of(Device.GPU) is Fit.FITS


def test_the_tutorials_change_takes_gpu_memory_and_no_host_memory():
    before, after = (fitted(NAMED[name]).answer for name in ("t5-3b-before", "t5-3b-after"))
    assert after.worst(Device.GPU).count > 2 * before.worst(Device.GPU).count
    assert after.worst(Device.HOST).count == before.worst(Device.HOST).count


def test_a_case_that_nothing_can_be_said_of_says_so():
    unsaid = [case for case in CASES if case.why or isinstance(fitted(case), CannotSay)]
    assert [case.name for case in unsaid] == ["fragmentation", "pinned"]
    assert all(told(case).startswith("can’t say. ") for case in unsaid)
