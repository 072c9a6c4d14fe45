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
    (4, "def main():\n    train()\ndef train():\n    x.cuda()\nmain()", ".cuda()"),
    (2, "def rank():\n    return x.cuda()\ndevice = torch.device('cuda', rank())", ".cuda()"),
    (1, "x and model.cuda()", ".cuda()"),
    (6, "try:\n    pass\nexcept E:\n    pass\nelse:\n    model.cuda()", ".cuda()"),
    (4, "def f(x):\n    if x is None:\n        return x\n    return x.cuda()\nf(y)", ".cuda()"),
    (3, "if torch.cuda.is_available():\n    pass\nx.cuda()", ".cuda()"),
    (5, "if torch.cuda.is_available():\n    pass\nelse:\n    pass\nx.cuda()", ".cuda()"),
    (2, "import torch.cuda as c\nc.set_device(0)", "torch.cuda.set_device"),
    (2, "from torch import cuda as c\nc.set_device(0)", "torch.cuda.set_device"),
    (2, "from torch import device\nx.to(device('cuda'))", ".to(device('cuda'))"),
    (1, "x.to(device='cuda')", "device='cuda'"),
    (2, "with open(path):\n    model.cuda()", ".cuda()"),
    (3, "@command\ndef train():\n    x.cuda()", ".cuda()"),
    (3, "@hydra.main(config_path='.')\ndef train():\n    x.cuda()", ".cuda()"),
    (2, "if torch.cuda.amp is x:\n    y.cuda()", ".cuda()"),
    (2, "if mode == 'train':\n    x.cuda()", ".cuda()"),
    (1, "deepspeed.init_distributed(dist_backend='nccl')", "init_distributed('nccl')"),
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
    # what it is not
    "class Config:\n    device = 'cuda'\nx.to(device, Config)",
    "[c, n] = torch.cuda.is_available(), 1\nif c:\n    model.cuda()",
    "import numpy as np\nnp.cuda.synchronize()",
    "import cupy.cuda as c\nc.synchronize()",
    "backend = 'cuda'\nprint(backend)",
    "cuda()",
    "f('cuda')\nf('nccl')",
    "x.to(dtype=half)\nx.to(0)\nx.to(f'')\nx.to(format(y))\nx.to('cuda'.title())",
    "torch.f(kind='cuda')",
    "x.to(torch.dtype('cuda'))\nx.to(torch.device())\nx.to(jax.device('cuda'))",
    "torch.mps.synchronize()\nself.torch.cuda.synchronize()",
    "dist.init_process_group(backend)\ndist.init_process_group('gloo')",
    "torch.amp.autocast(device='cuda')",
    # what is perhaps not done
    "while torch.cuda.is_available():\n    x.cuda()",
    "match kind:\n    case 1 if torch.cuda.is_available():\n        x.cuda()",
    "match where:\n    case 'cuda':\n        model.cuda()",
    "match torch.cuda.is_available():\n    case True:\n        x.cuda()",
    "def f(x):\n    if not torch.cuda.is_available():\n        return x\n    return x.cuda()\nf(y)",
    "mp.start_processes(train, nprocs=torch.cuda.device_count())\ndef train(rank):\n    torch.cuda.set_device(rank)",
    "with pytest.raises(RuntimeError):\n    model.cuda()",
    "device = 'cuda'\nglobals().update(more)\nmodel.to(device)",
    "device = 'cuda'\nsetattr(args, 'device', f())\nmodel.to(device)",
    "self.device = 'cuda'\nself.device = f()\nx.to(self.device)",
    "async def unused():\n    x.cuda()",
    "x = {one.cuda() for one in x if args.gpu}",
    "x = list(one.cuda() for one in x if args.gpu)",
    "x = {1: one.cuda() for one in x if args.gpu}",
    "def forward(x):\n    return x.cuda()",
    "class Net:\n    def unused(self):\n        x.cuda()\nNet()",
    "class Net:\n    def start(self):\n        x.cuda()\nNet()\nstart()",
]


@each_case("source", FREE)
def test_what_asks_first_needs_none(source):
    assert found(source) == ()


NEEDS_ONE = (
    *("set_device", "current_device", "synchronize", "get_device_name", "get_device_capability", "mem_get_info"),
    *("get_device_properties", "reset_peak_memory_stats", "current_stream", "default_stream", "get_rng_state"),
    *("set_per_process_memory_fraction", "Stream", "current_blas_handle"),
)


@each_case("name", NEEDS_ONE)
def test_what_raises_without_a_gpu_asks_for_one(name):
    assert found(f"torch.cuda.{name}(x)") == ((f"torch.cuda.{name}", 1),)


@each_case("name", ["cuda", "cpu", "gpu", "gpus", "cpus", "device", "devices", "ngpu", "ngpus"])
def test_what_is_called_so_tells_where_it_trains(name):
    assert found(f"if args.use_{name}:\n    model.cuda()") == ()


@each_case("keeps", ["bool", "int", "str", "len", "max", "min", "range", "any", "all"])
def test_what_is_made_of_an_answer_is_one(keeps):
    assert found(f"n = {keeps}(torch.cuda.device_count())\nif n:\n    model.cuda()") == ()
    assert found("n = other(torch.cuda.device_count())\nif n:\n    model.cuda()") == ((".cuda()", 3),)


def test_what_is_asked_within_an_ask_is_found_too():
    source = "def f():\n    return x.cuda()\ntorch.cuda.set_device(f())"
    assert found(source) == ((".cuda()", 2), ("torch.cuda.set_device", 3))


def test_a_long_script_is_no_deep_one():
    chain = "if a == 0:\n    pass\n" + "".join(f"elif a == {n}:\n    x.cuda()\n" for n in range(1, 400))
    assert len(found(chain)) == 399
    assert found("x = " + " + ".join(["a"] * 800) + "\nx.cuda()") == ((".cuda()", 2),)


def test_a_deep_expression_is_not_spelled():
    assert found("x.to('cuda:' + a" + ".b" * 900 + ")") == ((".to(…)", 1),)
