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
    (1, "device = torch.device('cuda', args.local_rank)\nx.to(device)", "torch.device('cuda')"),
    (1, "at = torch.device('cuda:{}'.format(rank))\nx.to(at)", "torch.device('cuda:{}'.format(rank))"),
    (1, "device = 'cuda'\nmodel.to(device)", "device = 'cuda'"),
    (1, "self.device = 'cuda:' + str(rank)\nx.to(self.device)", "self.device = 'cuda:' + str(rank)"),
    (1, "model.to('cuda')", ".to('cuda')"),
    (1, "model.to(torch.device('cuda'))", ".to(torch.device('cuda'))"),
    (2, "import torch as th\nth.cuda.synchronize()", "torch.cuda.synchronize"),
    (1, "state = torch.load(path, map_location='cuda:0')", "map_location='cuda:0'"),
    (1, "dist.init_process_group(backend='nccl')", "init_process_group('nccl')"),
    (1, "deepspeed.init_distributed('nccl')", "init_distributed('nccl')"),
    (4, "def train():\n    for x in y:\n        with z:\n            x.cuda()\ntrain()", ".cuda()"),
    (2, "def train():\n    x.cuda()\ndef main():\n    mp.spawn(train)\nmain()", ".cuda()"),
    (3, "class Net:\n    def forward(self, x):\n        return x.cuda()\nNet()", ".cuda()"),
    (3, "@app.command()\ndef train():\n    x.cuda()", ".cuda()"),
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
    "device = 'cuda'\nif not torch.cuda.is_available():\n    device = 'cpu'\nmodel.to(device)",
    "device = torch.device('cuda')\nif not torch.cuda.is_available():\n    device = torch.device('cpu')\nx.to(device)",
    "device = torch.device('cuda')\nif torch.cuda.is_available():\n    x.to(device)",
    "device = 'cuda'\nexec(open('configurator.py').read())\nmodel.to(device)",
    "class Config:\n    device = 'cuda'\nx.to(Config().device)",
    "TrainConfig(device='cuda')\np.set_defaults(device='cuda')",
    "scaler = torch.amp.GradScaler(device='cuda')",
    "has: bool = torch.cuda.is_available()\nif has:\n    model.cuda()",
    "if has := torch.cuda.is_available():\n    pass\nif has:\n    model.cuda()",
    "def has():\n    return torch.cuda.is_available()\nif has():\n    model.cuda()",
    "has = lambda: torch.cuda.is_available()\nif has():\n    model.cuda()",
    "def where():\n    if torch.cuda.is_available():\n        return 1\n    return 0\nif where():\n    model.cuda()",
    "c = torch.cuda.is_available()\nfast = c and x\nif fast:\n    model.cuda()",
    "c, n = torch.cuda.is_available(), 1\nif c:\n    model.cuda()",
    "if not torch.cuda.is_available():\n    args.half = False\nif args.half:\n    model.cuda()",
    "n = int(torch.cuda.device_count() > 0)\nmodel = model.cuda() if n else model",
    "def train(fast):\n    if fast:\n        model.cuda()\ntrain(fast=torch.cuda.is_available())",
    "if device != 'cpu':\n    model.cuda()",
    "if args.where in ('cpu', 'mps'):\n    pass\nelse:\n    model.cuda()",
    "if args.no_cuda:\n    pass\nelse:\n    model.cuda()",
    "if args.use_cpu:\n    device = 'cpu'\nelse:\n    device = 'cuda'\nmodel.to(device)",
    "if not args.cpu:\n    torch.cuda.set_device(0)",
    "x = [one.cuda() for one in x if args.gpu]",
    "x and torch.cuda.is_available() and model.cuda()",
    "for n in range(torch.cuda.device_count()):\n    torch.cuda.set_device(n)",
    "match device:\n    case 'cuda':\n        model.cuda()",
    "def main():\n    assert torch.cuda.is_available()\n    model.cuda()\nmain()",
    "if torch.cuda.is_available():\n    pass\nelse:\n    sys.exit()\nmodel.cuda()",
    "with suppress(RuntimeError):\n    model.cuda()",
    "def unused():\n    model.cuda()",
    "def unused():\n    return used()\ndef used():\n    model.cuda()",
    "def on_gpu():\n    model.cuda()\nif torch.cuda.is_available():\n    on_gpu()",
    "class Unused:\n    def __init__(self):\n        x.cuda()",
    "def train():\n    x.cuda()\nmodel.train()",
    "mp.spawn(train, nprocs=torch.cuda.device_count())\ndef train(rank):\n    torch.cuda.set_device(rank)",
    "self.cuda.synchronize()\nmodel.cuda.set_device(1)",
]


@each_case("source", FREE)
def test_what_asks_first_needs_none(source):
    assert found(source) == ()


def test_a_long_script_is_no_deep_one():
    chain = "if a == 0:\n    pass\n" + "".join(f"elif a == {n}:\n    x.cuda()\n" for n in range(1, 400))
    assert len(found(chain)) == 399
    assert found("x = " + " + ".join(["a"] * 800) + "\nx.cuda()") == ((".cuda()", 2),)


def test_a_deep_expression_is_not_spelled():
    assert found("x.to('cuda:' + a" + ".b" * 900 + ")") == ((".to(…)", 1),)
