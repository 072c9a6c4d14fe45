"""Where a script asks for a GPU that the machine may not have, and where it asks first."""

import ast
from textwrap import dedent

from dsgui.core.script.cuda_calls import cuda_calls
from tests.support.cases import each_case


def found(source):
    return cuda_calls(ast.parse(dedent(source)))


ASKS = [
    (1, "torch.cuda.set_device(args.local_rank)", "torch.cuda.set_device"),
    (2, "from torch import cuda\ncuda.set_device(0)", "torch.cuda.set_device"),
    (1, "net = Net().cuda()", ".cuda()"),
    (1, "a, b = a.cuda(), 1", ".cuda()"),
    (1, "x = torch.zeros(3, device='cuda')", "device='cuda'"),
    (1, "x = torch.zeros(3, device=f'cuda:{rank}')", "device=f'cuda:{rank}'"),
    (1, "device = torch.device('cuda', args.local_rank)", "torch.device('cuda')"),
    (1, "device = torch.device('cuda:{}'.format(rank))", "torch.device('cuda:{}'.format(rank))"),
    (1, "device = 'cuda'", "device = 'cuda'"),
    (1, "self.device = 'cuda:' + str(rank)", "self.device = 'cuda:' + str(rank)"),
    (1, "model.to('cuda')", ".to('cuda')"),
    (1, "state = torch.load(path, map_location='cuda:0')", "map_location='cuda:0'"),
    (1, "dist.init_process_group(backend='nccl')", "init_process_group('nccl')"),
    (1, "deepspeed.init_distributed('nccl')", "init_distributed('nccl')"),
    (4, "def train():\n    for x in y:\n        with z:\n            x.cuda()", ".cuda()"),
    (3, "match kind:\n    case 1:\n        x.cuda()", ".cuda()"),
    (2, "if args.fp16:\n    model.cuda()", ".cuda()"),
    (2, "try:\n    model.cuda()\nfinally:\n    done()", ".cuda()"),
]


@each_case(("line", "source", "spelled"), ASKS)
def test_what_needs_a_gpu_is_found_with_its_line(line, source, spelled):
    assert found(source) == ((spelled, line),)


FREE = [
    "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
    "device = 'cuda' if torch.cuda.is_available() else 'cpu'",
    "x = torch.zeros(3, device='cuda' if torch.cuda.is_available() else 'cpu')",
    "if torch.cuda.is_available():\n    torch.cuda.set_device(0)\n    model = model.cuda()\nelse:\n    pass",
    "if torch.cuda.device_count() > 1:\n    model.cuda()",
    "use_cuda = not args.no_cuda and torch.cuda.is_available()\nif use_cuda:\n    model.cuda()",
    "args.gpu = torch.cuda.is_available()\nx = x.cuda() if args.gpu else x",
    "torch.cuda.is_available() and model.cuda()",
    "if device.type == 'cuda':\n    torch.cuda.set_device(device)",
    "def f(x):\n    if not torch.cuda.is_available():\n        return x\n    return x.cuda()",
    "try:\n    model.cuda()\nexcept (AssertionError, RuntimeError):\n    pass",
    "torch.cuda.empty_cache()\ntorch.cuda.manual_seed_all(1)\nprint(torch.cuda.memory_allocated())",
    "p.add_argument('--device', default='cuda')",
    "engine.to(get_accelerator().device_name())",
    "print('device=cuda')",
]


@each_case("source", FREE)
def test_what_asks_first_needs_none(source):
    assert found(source) == ()


def test_a_long_script_is_no_deep_one():
    chain = "if a == 0:\n    pass\n" + "".join(f"elif a == {n}:\n    x.cuda()\n" for n in range(1, 400))
    assert len(found(chain)) == 399
    assert found("x = " + " + ".join(["a"] * 800) + "\nx.cuda()") == ((".cuda()", 2),)
