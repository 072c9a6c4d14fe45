"""The counter of a dry run, held to what autograd does where nothing counts. torch is imported by the test: who only
collects the tests does not wait for it."""

import gc
import weakref

from dsgui.shell.memory import counting
from dsgui.shell.memory.rehearsal import uncollected

SIZE = 4 * 1000


def loss_of_two_branches():
    """A tensor that two branches use, so that its gradient is a sum."""
    import torch

    weight = torch.ones(1000, requires_grad=True)
    both = weight * 2
    return (both * torch.full((1000,), 3.0)).sum() + (both * torch.full((1000,), 5.0)).sum()


def operations_of(backward):
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as found:
        backward()
    return [event.name for event in found.events()]


def test_gradients_of_one_tensor_are_summed_in_place_as_autograd_does_it():
    operations = operations_of(loss_of_two_branches().backward)
    assert "aten::add_" in operations
    assert "aten::add" not in operations
    counter = counting.counter(counting.Whose(""), lambda tensor: counting.HOST, lambda *_: NotImplemented)
    with counter:
        loss = loss_of_two_branches()
        before = len(counter.record.sizes)
        loss.backward()
    made = counter.record.sizes[before:].tolist()
    assert made.count(SIZE) == 3  # a gradient of each branch, and the weight's; no third for their sum


class Cycle:
    def __init__(self):
        self.itself = self


def test_what_only_the_collector_frees_stays_until_the_engine_is_there_and_is_gone_then():
    with uncollected():
        kept = weakref.ref(Cycle())
        assert not gc.isenabled()
        assert kept() is not None
    assert gc.isenabled()
    assert kept() is None
