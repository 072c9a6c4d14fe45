"""The device of a dry run casts as torch does on CUDA (pytorch.org/docs/stable/amp.html), the same operators of which
torch itself has a table."""

import json
import subprocess
import sys

import pytest

_SCRIPT = """
import json, torch
from torch._subclasses.fake_tensor import FakeTensorMode
from dsgui.shell.memory import autocast, fake_machine
fake_machine.register_device()
autocast.install()
F = torch.nn.functional
CALLS = {
    "linear": lambda x, w: F.linear(x, w), "matmul": lambda x, w: x @ w, "addmm": lambda x, w: torch.addmm(x, x, w),
    "bmm": lambda x, w: torch.bmm(x[None], w[None]), "softmax": lambda x, w: torch.softmax(x @ w, -1),
    "layer_norm": lambda x, w: F.layer_norm(x @ w, (8,)), "pow": lambda x, w: (x @ w).pow(2),
    "rsqrt": lambda x, w: torch.rsqrt(x @ w), "sum": lambda x, w: (x @ w).sum(), "gelu": lambda x, w: F.gelu(x @ w),
    "silu": lambda x, w: F.silu(x @ w), "add": lambda x, w: x + x @ w, "exp": lambda x, w: torch.exp(x @ w),
    "sum as": lambda x, w: (x @ w).sum(-1, dtype=torch.float16), "mean": lambda x, w: (x @ w).mean(),
    "addcmul": lambda x, w: torch.addcmul(x, x @ w, w), "loss": lambda x, w: F.mse_loss(x @ w, x @ w),
    "nll": lambda x, w: F.cross_entropy(x @ w, torch.zeros(8, dtype=torch.long, device=x.device)),
}
found = {"unknown": autocast.unknown()}
with FakeTensorMode():
    device = fake_machine.NAME
    x, w = torch.empty(8, 8, device=device), torch.nn.Parameter(torch.empty(8, 8, device=device))
    torch.set_autocast_enabled(device, True)
    torch.set_autocast_dtype(device, torch.bfloat16)
    found["given"] = {name: str(call(x, w).dtype)[6:] for name, call in CALLS.items()}
    torch.set_autocast_enabled(device, False)
    found["kept"] = [autocast.kept()]
    autocast.forget()
    found["kept"] += [autocast.kept()]
print(json.dumps(found))
"""


NARROW = {"linear", "matmul", "addmm", "bmm", "gelu", "silu", "mean"}  # the last three as what they are given
WIDE = {"softmax", "layer_norm", "pow", "rsqrt", "sum", "add", "exp", "addcmul", "loss", "nll"}


@pytest.mark.remembered("dsgui/shell/memory")
def test_every_operator_gives_what_it_gives_on_cuda_and_a_weight_is_cast_once():
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["unknown"] == []
    expected = dict.fromkeys(NARROW, "bfloat16") | dict.fromkeys(WIDE, "float32") | {"sum as": "float16"}
    assert found["given"] == expected
    assert found["kept"] == [1, 0]
