"""What stands in for functions of torch does what they do. torch is imported by the test: who only collects the tests
does not wait for it."""

import pytest

from dsgui.shell.memory import patched


@pytest.mark.parametrize("index", [[], [1], [2, 0], [True, False, True], (slice(None), []), ([0, 2], [1, 0])])
def test_a_list_is_the_index_that_it_is_to_torch(index):
    import torch

    given = torch.arange(6).reshape(3, 2)
    indexed = patched.listed(torch.Tensor.__getitem__, patched.Setting(None, lambda _: False))
    assert torch.equal(indexed(given, index), given[index])
