"""What a script may change is never told for sure, in either direction."""

import pytest

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.script.command_line import Option
from dsgui.core.script.script import script_facts
from dsgui.core.script.taken import ScriptAnswers, taken, trainer_arguments, values_of
from tests.core.script.in_a_run.parts import part_trained

MAKES = "import argparse, os, sys\np = argparse.ArgumentParser()\n"
BOTH = "p.add_argument('--tune', action=argparse.BooleanOptionalAction, default=True)\n"
PARSES = "args = p.parse_args()\n"
IF_LORA = "if args.lora: get_peft_model(m)\n"
IF_TUNE = "if args.tune: get_peft_model(m)\n"
LORA = MAKES + "p.add_argument('--lora', action='store_true')\n"
SHARED = LORA + "p.add_argument('--no-lora', dest='lora', action='store_false')\n" + PARSES + IF_LORA
MODEL = MAKES + "p.add_argument('--model_type')\n" + PARSES
SEVERAL = MAKES + "p.add_argument('--lora', action='append')\n" + PARSES
HF = """
from transformers import HfArgumentParser
@dataclass
class Mine:
    tune: bool = True
(args,) = HfArgumentParser(Mine).parse_args_into_dataclasses()
"""
FIRE = "import fire\ndef train(tune=True, lora=False):\n  if tune: get_peft_model(m)\nfire.Fire(train)\n"
PLACES = "import fire\ndef train(base='', lora=False):\n  if lora: get_peft_model(m)\nfire.Fire(train)\n"
SUB = """
subs = p.add_subparsers()
one = subs.add_parser('one'); one.add_argument('--lora', action='store_true')
two = subs.add_parser('two'); two.add_argument('--lora', action='store_false')
"""
FREEZE = "if frozen:\n  for p in model.parameters(): p.requires_grad = False\n"
TURNS = "for n, q in model.named_parameters():\n  if args.lora and 'a' in n: q.requires_grad = False\n"
HANDED = "def main(args):\n  if args.lora: get_peft_model(m)\n"
GIVEN = PARSES.replace("args =", "given =")
TOGETHER = "args = argparse.Namespace({})\n"
KEPT = """
class T:
  def __init__(self):
    self.args = args
    if self.args.lora: get_peft_model(m)
"""
ASKS = "def g():\n  if frozen: get_peft_model(m)\ng()"
ENVIRON = "import os\n{}\nif os.environ.get('USE_LORA') == '1': get_peft_model(m)\n"
IN_FUNCTION = "def f(m):\n{}\n  return get_peft_model(m)\nf(m)\n"
NEVER = "def train():\n  get_peft_model(m)\n"
TRAINS = "import deepspeed\ndeepspeed.initialize(model=model, model_parameters={}, config='c.json')\n"
OTHERWISE = "given = model.parameters()\nif args.lora: given = some(model)\n"
REFERENCE = """
def load(path):
  model = M(path)
  for q in model.parameters(): q.requires_grad = False
  return model
def main():
  model = M('x')
  DPOTrainer(model=model, ref_model=load('x'))
main()
"""
TEACHER = """
class Teacher:
  def __init__(self, model):
    self.model = model
    self.model.requires_grad_(False)
t = Teacher(big)
Trainer(model=model)
"""
ENCODER = """
if not args.lora: text.requires_grad_(False)
if args.lora: net, text = accelerator.prepare(net, text)
else: net = accelerator.prepare(net)
"""
TRL = """
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser, get_peft_config
args, of_model = TrlParser((SFTConfig, ModelConfig)).parse_args_and_config()
SFTTrainer('x', args=args, peft_config={})
"""
FREE = "for q in {}.parameters(): q.requires_grad = True\nTrainer(model=model)"
DPO = "Trainer(model=model)\n{}.requires_grad_(False)\n"

RAISES = LORA + PARSES + "def f():\n  {}\n  get_peft_model(m)\nf()"
DEAD = "import transformers\n{}\nget_peft_model(m)\n"
ARGV = "import sys\nif {}: get_peft_model(m)\n"
RANK = MAKES + "p.add_argument('--local_rank', type=int, default=-1)\n" + PARSES
RANK += "if args.local_rank != -1: get_peft_model(m)\n"
COUNT = (
    MAKES + "p.add_argument('--n', type=int, default=0); p.add_argument('--names', nargs='*', default=[])\n" + PARSES
)
ENGINE = "import deepspeed\nmodel, *_ = deepspeed.initialize(model=model)\n"
SAVES = ENGINE + "from util import save\nsave(model, args)\n"
MORE = "def more():\n  deepspeed.initialize(model=other)\n"
TRAINER = "trainer = Trainer(model=model)\n"

CASES = {
    # options that turn another off
    "a negated option": (MAKES + BOTH + PARSES + IF_TUNE, "--no-tune", False),
    "a negated option that is not given": (MAKES + BOTH + PARSES + IF_TUNE, "", True),
    "the last of both counts": (MAKES + BOTH + PARSES + IF_TUNE, "--no-tune --tune", True),
    "a negated field": (HF + IF_TUNE, "--no_tune", False),
    "a negated field, as it is": (HF + IF_TUNE, "", True),
    "a parameter of fire that is negated": (FIRE, "--notune", False),
    "a parameter of fire": (FIRE, "", True),
    "a word of fire without a name": (PLACES, "x True", None),
    # options that share a name
    "shared, the first given": (SHARED, "--lora", True),
    "shared, the other given": (SHARED, "--lora --no-lora", False),
    "shared, none given": (SHARED, "", False),
    "of two parsers": (MAKES + SUB + PARSES + IF_LORA, "", None),
    # options changed after they were read
    "as it was read": (LORA + PARSES + IF_LORA, "", False),
    "setattr": (LORA + PARSES + "for k, v in cfg.items(): setattr(args, k, v)\n" + IF_LORA, "", None),
    "setattr by name": (LORA + PARSES + "setattr(args, 'lora', f())\n" + IF_LORA, "", None),
    "setattr of another": (LORA + PARSES + "setattr(args, 'other', f())\n" + IF_LORA, "", False),
    "vars": (LORA + PARSES + "vars(args).update(load())\n" + IF_LORA, "", None),
    "vars under a name": (LORA + PARSES + "d = vars(args)\nd.update(load())\n" + IF_LORA, "", None),
    "vars only read": (LORA + PARSES + "print(vars(args)); log(config=vars(args))\n" + IF_LORA, "", False),
    "__dict__": (LORA + PARSES + "args.__dict__.update(load())\n" + IF_LORA, "", None),
    "a namespace": (LORA + "args = p.parse_args(namespace=ns)\n" + IF_LORA, "", None),
    "other words": (LORA + "args = p.parse_args(['--lora'])\n" + IF_LORA, "", None),
    "its own words": (LORA + "args = p.parse_args(sys.argv[1:])\n" + IF_LORA, "", False),
    "words of a parameter": (
        LORA + "def get(argv=None):\n  return p.parse_args(argv)\nargs = get()\n" + IF_LORA,
        "",
        False,
    ),
    "words of a parameter that is given": (
        LORA + "def get(argv=None):\n  return p.parse_args(argv)\nargs = get(['--lora'])\n" + IF_LORA,
        "",
        None,
    ),
    "changed words": (LORA + "sys.argv.append('--lora')\n" + PARSES + IF_LORA, "", None),
    "handed to a function of another file": (LORA + PARSES + "from util import fill\nfill(args)\n" + IF_LORA, "", None),
    "handed to another file": (LORA + PARSES + "import util as u\nu.fill(n, args=args)\n" + IF_LORA, "", None),
    "handed to a file beside it": (LORA + PARSES + "from .util import fill\nfill(args)\n" + IF_LORA, "", None),
    "one of them handed to another file": (
        LORA + PARSES + "import util\nutil.f(args.lora)\nTrainer(m)\n" + IF_LORA, "", False),
    "a default that is set anew": (LORA + "for one in p._actions: one.default = f()\n" + PARSES + IF_LORA, "", None),
    "its table handed to another file": (LORA + PARSES + "import util\nutil.f(vars(args))\n" + IF_LORA, "", None),
    "where it is no main": ("if __name__ == '__main__':\n  pass\nelse:\n  get_peft_model(m)\n", "", False),
    "where it is main": ("if __name__ == '__main__':\n  get_peft_model(m)\n", "", True),
    "handed to a function of an installed package": (
        LORA + PARSES + "from absl import logging\nlogging.info(args)\n" + IF_LORA, "", False),
    "handed to another file with the engine made": (LORA + PARSES + IF_LORA + SAVES, "", False),
    "handed to another file where more are made": (LORA + PARSES + IF_LORA + SAVES + MORE, "", None),
    "handed to a package": (LORA + PARSES + "import torch\ntorch.save(args, 'x')\n" + IF_LORA, "", False),
    "another value for the whole": (LORA + PARSES + "args = merged(args)\n" + IF_LORA, "", None),
    "a list that is added to": (SEVERAL + "args.lora.append('x')\nif len(args.lora) > 1: get_peft_model(m)", "", None),
    # names
    "a list": ("frozen = []\n" + FREEZE, "", False),
    "a list that is filled": ("frozen = []\nfor n in f(): frozen.append(n)\n" + FREEZE, "", None),
    "a list that a function fills": ("frozen = []\nfill(frozen)\n" + FREEZE, "", None),
    "a table that is filled": ("frozen = {}\nfrozen.update(load())\n" + FREEZE, "", None),
    "a table that is written": ("frozen = {}\nfrozen['a'] = 1\n" + FREEZE, "", None),
    "under two names": ("a = []\nfrozen = a\na.append(1)\n" + FREEZE, "", None),
    "exec": ("frozen = False\nexec(open('configurator.py').read())\n" + FREEZE, "", None),
    "globals": ("frozen = False\nglobals().update(load())\n" + FREEZE, "", None),
    "every name of a module": ("frozen = False\nfrom cfg import *\n" + FREEZE, "", None),
    "another function's": (
        "from cfg import *\ndef f():\n  frozen = False\n" + ASKS, "", None),
    "this function's": (
        "from cfg import *\n" + ASKS.replace("():", "():\n  frozen = False"), "", False),
    # whose attribute it is
    "a config's": (MODEL + "if config.model_type == 'llama': get_peft_model(m)", "", None),
    "a config's by name": (MODEL + "if getattr(config, 'model_type', None) == 'llama': get_peft_model(m)", "", None),
    "an option's": (MODEL + "if args.model_type == 'llama': get_peft_model(m)", "", False),
    "an option's by name": (MODEL + "if getattr(args, 'model_type', None) == 'llama': get_peft_model(m)", "", False),
    "handed to a function": (LORA + PARSES + HANDED + "main(args)", "", False),
    "handed to a function, parsed there": (LORA + HANDED + "main(p.parse_args())", "", False),
    "handed to a function, beside a method of its name": (
        LORA + PARSES + HANDED.replace("main", "train") + "model.train()\ntrain(args)", "", False),
    "put together": (LORA + GIVEN + TOGETHER.format("**vars(given)") + IF_LORA, "", False),
    "put together with another": (LORA + GIVEN + TOGETHER.format("**vars(given), lora=f()") + IF_LORA, "", None),
    "put together of another": (LORA + GIVEN + TOGETHER.format("**vars(config)") + IF_LORA, "", None),
    "another handed to a function": (LORA + PARSES + HANDED + "main(config)", "", None),
    "kept": (
        LORA + PARSES + KEPT + "T()", "", False),
    # variables that it sets
    "a variable": (ENVIRON.format(""), "", False),
    "a variable that is set": (ENVIRON.format("os.environ['USE_LORA'] = '1'"), "", None),
    "a variable that is set by default": (ENVIRON.format("os.environ.setdefault('USE_LORA', '1')"), "", None),
    "a variable that an imported file may set": (ENVIRON.format("import settings"), "", None),
    "a variable beside packages": (ENVIRON.format("import torch"), "", False),
    "another variable that is set": (ENVIRON.format("os.environ['OTHER'] = '1'"), "", False),
    "variables of a file": (ENVIRON.format("load_dotenv()"), "", None),
    "variables of a table": (ENVIRON.format("os.environ.update(load())"), "", None),
    "a computed variable": (ENVIRON.format("os.environ[name] = '1'"), "", None),
    # ways to a place
    "a case": ("match f():\n  case 1: get_peft_model(m)", "", None),
    "and": (LORA + PARSES + "args.lora and get_peft_model(m)", "", False),
    "and that holds": (LORA + PARSES + "args.lora and get_peft_model(m)", "--lora", True),
    "or": (LORA + PARSES + "args.lora or get_peft_model(m)", "--lora", False),
    "unknown and": ("f() and get_peft_model(m)", "", None),
    "an else that leaves": (LORA + PARSES + IN_FUNCTION.format("  if args.lora: pass\n  else: return m"), "", False),
    "an else that leaves, not taken": (
        LORA + PARSES + IN_FUNCTION.format("  if args.lora: pass\n  else: return m"),
        "--lora",
        True,
    ),
    "an elif that leaves": (IN_FUNCTION.format("  if f(): pass\n  elif g(): return m"), "", None),
    "an if within one": (IN_FUNCTION.format("  if f():\n    if g(): return m"), "", None),
    "a loop that leaves": (IN_FUNCTION.format("  for x in y:\n    if x: return m"), "", None),
    "a loop that leaves itself": (IN_FUNCTION.format("  for x in y:\n    if x: break"), "", True),
    "an error that is handled": ("try: f()\nexcept E: get_peft_model(m)", "", None),
    "what is asked of each turn": (LORA + PARSES + TURNS, "", False),
    "what is asked of each turn, on": (LORA + PARSES + TURNS, "--lora", True),
    "what a list asks": (LORA + PARSES + "x = [get_peft_model(m) for m in ms if args.lora]", "", False),
    "what a list asks of each turn": (
        "x = [p.requires_grad_(False) for n, p in model.named_parameters() if 'a' in n]", "", True),
    "what is asked of each turn by an option": (
        COUNT + "for n, q in model.named_parameters():\n  if n in args.names: q.requires_grad = False", "", None),
    "a loop of as many turns as an option says": (
        COUNT + "for i in range(args.n): model.layers[i].requires_grad_(False)", "", None),
    "a loop over what is written": ("for k in ('a', 'b'): model.head.requires_grad_(False)", "", True),
    "a loop over a switch that is written": ("for f in [False]:\n  if f: model.head.requires_grad_(False)", "", None),
    "a function that nobody calls": (NEVER, "", False),
    "a function that fire may call": ("import fire\n" + NEVER + "fire.Fire()", "", None),
    "a function that a command line may call": ("from jsonargparse import CLI\n" + NEVER + "CLI()", "", None),
    "a function that a command line calls": ("from jsonargparse import CLI\n" + NEVER + "CLI(train)", "", True),
    "a function that is called by its name": (NEVER + "globals()['train']()", "", None),
    "a function that is handed on": (NEVER + "start(train)", "", None),
    "a method of that name": (NEVER + "model.train()", "", False),
    "a file that is run": ("if __name__ == '__main__': get_peft_model(m)", "", True),
    "a file that is imported": ("if __name__ != '__main__': get_peft_model(m)", "", False),
    "behind an end": (DEAD.format("exit()"), "", False),
    "behind the end of another": ("client.quit()\nget_peft_model(m)", "", True),
    "behind an error in one case": (RAISES.format("if f(): raise E"), "", True),
    "behind an error in every other case": (RAISES.format("if args.lora: pass\n  else: raise E"), "", True),
    "behind an error or an end": (RAISES.format("if f(): raise E\n  elif g(): return"), "", None),
    "behind an end and an error": (RAISES.format("if f():\n    if g(): return\n    raise E"), "", None),
    "behind an error that a caller handles": (
        RAISES.format("if g(): raise E").replace("\nf()", "\ntry: f()\nexcept E: pass"), "", None),
    "behind an error that is handled": (
        "try:\n  if f(): raise E\n  get_peft_model(m)\nexcept E: pass", "", None),
    "behind an error that is let go": ("with suppress(E):\n  raise E\nget_peft_model(m)", "", None),
    "behind an end within": ("with f():\n  sys.exit(0)\nget_peft_model(m)", "", False),
    "behind an error": ("def f():\n  raise E\n  get_peft_model(m)\nf()", "", False),
    "behind the end of a turn": ("for x in y:\n  continue\n  m.requires_grad_(False)", "", False),
    # what it gives, and what is asked of it
    "unknown or one": ("if (f() or 1): get_peft_model(m)", "", True),
    "what unknown or one gives": ("if (f() or 4) == 4: get_peft_model(m)", "", None),
    "what unknown and none gives": ("if (f() and 0) == 0: get_peft_model(m)", "", None),
    "not both": ("if not (f() and 0): get_peft_model(m)", "", True),
    # the rank that the launcher adds
    "the first word": (ARGV.format("sys.argv[1] == 'x'"), "x", True),
    "the first word behind the rank": (ARGV.format("sys.argv[1] == 'x'"), "--local_rank= x", None),
    "the second word behind the rank": (ARGV.format("sys.argv[2] == 'x'"), "--local_rank= x", True),
    "how many words": (ARGV.format("len(sys.argv) == 3"), "--local_rank= x", True),
    "the rank": (RANK, "--local_rank=", None),
    "the rank as it is": (RANK, "", False),
    "the rank as it is typed": (RANK, "--local_rank= --local_rank 0", True),
    # several words
    "several": (SEVERAL + "if len(args.lora) > 1: get_peft_model(m)", "--lora a --lora b", True),
    "one of several": (SEVERAL + "if args.lora == ['q']: get_peft_model(m)", "--lora q", True),
    "none of several": (SEVERAL + "if args.lora: get_peft_model(m)", "", False),
    # which model it is
    "the model": (DPO.format("model"), "", True),
    "a part of it": (DPO.format("model.vision_tower"), "", True),
    "a reference": (DPO.format("ref_model"), "", None),
    "its parameters": ("Trainer(model=model)\nfor q in ref.parameters(): q.requires_grad = False", "", None),
    "a function's": (
        "Trainer(model=model)\ndef freeze(it):\n  for q in it.parameters(): q.requires_grad = False\nfreeze(ref)",
        "",
        None,
    ),
    "a function's own": (
        "Trainer(model=model)\ndef freeze(it):\n  for q in it.parameters(): q.requires_grad = False\nfreeze(model)",
        "",
        True,
    ),
    "one of that name in another function": (REFERENCE, "", None),
    "one of that name in a class": (TEACHER, "", None),
    "one that is handed over otherwise": (LORA + PARSES + ENCODER, "", False),
    "another by that name": ("model.requires_grad_(False)\nmodel = M()\nTrainer(model=model)", "", None),
    "the same, wrapped": ("model.requires_grad_(False)\nmodel = wrap(model)\nTrainer(model=model)", "", True),
    # what is frozen for some time
    "frozen and freed": ("model.requires_grad_(False)\n" + FREE.format("model"), "", None),
    "frozen and freed in part": ("model.requires_grad_(False)\n" + FREE.format("model.head"), "", True),
    "a part frozen and freed": ("model.head.requires_grad_(False)\n" + FREE.format("model.head"), "", None),
    "freed before": (FREE.format("model") + "\nmodel.requires_grad_(False)", "", True),
    "frozen after it was trained": (DPO.format("model").replace("\n", ".train()\n", 1), "", None),
    "frozen for evaluation": (
        "import deepspeed\nengine = deepspeed.initialize(model=model)\nmodel.requires_grad_(False)", "", None),
    # what others may do
    "a function that freezes": ("from util import freeze_layers\nfreeze_layers(model)\nTrainer(model)", "", None),
    "a function that may": ("from util import set_up\nset_up(model)\nTrainer(model=model)", "", None),
    "a model of another file": ("from util import build\nmodel = build(x)\nTrainer(model=model)", "", None),
    "a model of another file, among others": (
        "from util import build\ntok, (net) = build(x)\nTrainer(model=net)", "", None),
    "a model of another file, by its own function": (
        "from util import Net\ndef get():\n  net = Net().to(d)\n  return net, 1\nnet, n = get()\nTrainer(net)",
        "",
        None,
    ),
    "a model of another file, handed on": (
        "from util import build\ndef train(net):\n  net.train()\n  Trainer(net)\ntrain(build())", "", None),
    "a model of every name of another file": ("from nets import *\nnet = Net()\nTrainer(net)", "", None),
    "a model of another file, kept": (
        "from nets import Net\nclass T:\n  def f(self):\n    self.net = Net()\n    Trainer(self.net)\nT().f()",
        "",
        None,
    ),
    "data of another file": (
        "from util import load\nloader = load()\nnet, loader = accelerator.prepare(net, loader)\nshow(loader)",
        "",
        False,
    ),
    "data that another file gets": (
        "from util import show\nshow(loader)\nnet, loader = accelerator.prepare(net, loader)",
        "",
        False,
    ),
    "a model of a package": ("from torchvision.models import vgg\nnet = vgg()\nTrainer(net)", "", False),
    "a model of this file": ("import util\nclass Net: pass\nnet = Net()\nTrainer(net)", "", False),
    "a model that is read": ("from nets import Net\nnet = Net.from_pretrained(x)\nTrainer(net)", "", False),
    "a model that another file makes anew afterwards": (
        ENGINE + "from util import merge\nmodel = merge(x)", "", False),
    "what a loop of this file trains": ("from util import show\nshow(1)\nloss.backward()", "", False),
    "what another file trains": ("from util import train\ntrain()", "", None),
    "adapters by a function that gets": ("from my import get_lora\nget_lora(model)\nTrainer(model)", "", None),
    "adapters by a config": ("from my import apply_lora_config\napply_lora_config(model)\nTrainer(model)", "", None),
    "frozen by a function that gets": ("from my import get_frozen\nget_frozen(model)\nTrainer(model)", "", None),
    "adapters that are merged afterwards": (ENGINE + "model = convert_lora(model)", "", False),
    "adapters between two": (ENGINE + "model = convert_lora(model)\n" + ENGINE, "", None),
    "adapters before it trains": (TRAINER + "add_lora(model)\ntrainer.train()", "", None),
    "adapters after it has trained": (TRAINER + "trainer.train()\nadd_lora(model)", "", False),
    "a function of a package": ("import torch\ntorch.save(model, 'x')\nTrainer(model=model)", "", False),
    "a function that gets it afterwards": ("from util import show\nTrainer(model=model)\nshow(model)", "", False),
    "adapters that are read": ("model = PeftModel.from_pretrained(b, is_trainable=True)\nTrainer(model)", "", None),
    "adapters by another name": ("import loralib\nloralib.mark_only_lora_as_trainable(m)", "", None),
    "adapters of another file, off": (LORA + PARSES + "if args.lora: m = convert_to_lora(m)", "", False),
    "adapters of another file": (LORA + PARSES + "if args.lora: m = convert_to_lora(m)", "--lora", None),
    "what tells of adapters": ("get_peft_state(m); print_trainable_parameters(m); is_peft_available()", "", False),
    "TRL's": (TRL.format("get_peft_config(of_model)"), "", None),
    "TRL's of another": (TRL.format("make(of_model)"), "", None),
    "TRL's without": (TRL.format("None"), "", False),
    "adapters that are merely named": ("KINDS = {'lora': LoraConfig}\nTrainer(model=model)", "", None),
    "by setattr": ("for q in model.parameters(): setattr(q, 'requires_grad', False)\nTrainer(model=model)", "", True),
    "several at once": ("a.requires_grad, b.requires_grad = False, False\nTrainer(model=model)", "", None),
    "some parameters": (TRAINS.format("model.head.parameters()"), "", None),
    "parameters by name": (TRAINS.format("[p for n, p in model.named_parameters() if 'a' in n]"), "", None),
    "all parameters": (TRAINS.format("model.parameters()"), "", False),
    "some parameters in another case": (LORA + PARSES + OTHERWISE + TRAINS.format("given"), "", False),
    "some parameters in this case": (LORA + PARSES + OTHERWISE + TRAINS.format("given"), "--lora", None),
    "all that are trained": (TRAINS.format("filter(lambda p: p.requires_grad, model.parameters())"), "", False),
    "a list of all that are trained": (
        TRAINS.format("[p for p in model.parameters() if p.requires_grad]"), "", False),
    "a judge without a trainer": ("judge.requires_grad_(False)\nengine = run(model)", "", None),
    "one without a trainer": ("vae.requires_grad_(False)", "", None),
}  # fmt: skip


@pytest.mark.parametrize(("source", "arguments", "part"), CASES.values(), ids=CASES.keys())
def test_what_a_script_may_change_is_not_sure(source: str, arguments: str, part: bool | None) -> None:
    facts = script_facts(source)
    words = tuple(arguments.split())
    if "environ" in source:  # of which it is known that it is not set
        values = values_of(facts.command_line, taken(facts.command_line, ScriptAnswers(), words), {"USE_LORA": None})
        found = facts.part_trained(words, values)
    else:
        found = part_trained(facts, words)
    assert found.trains is part
    assert found.on is None or found.on.shown


def test_what_may_be_done_is_shown_itself_and_not_what_is_asked_before_it() -> None:
    source = LORA + PARSES + "from util import set_up\nif args.lora:\n  set_up(model)\nTrainer(model=model)"
    found = part_trained(script_facts(source), ("--lora",))
    assert found.on is not None
    assert (found.on.shown, found.on.line) == ("set_up(model)", source[: source.index("set_up(m")].count("\n") + 1)


def in_code(source: str) -> TrainingArguments | None:
    line = script_facts(source).command_line
    return trainer_arguments(line, ScriptAnswers(made_known=True), taken(line, ScriptAnswers(), ()))


KW = "kw = dict(per_device_train_batch_size=4)\n{}\nTrainingArguments('o', **kw)"
MADE = "t = TrainingArguments('o', per_device_train_batch_size=4)\n{}"


@pytest.mark.parametrize(
    ("source", "known"),
    [
        (KW.format(""), True),
        (KW.format("print(kw)"), True),
        (KW.format("kw['per_device_train_batch_size'] = int(sys.argv[1])"), False),
        (KW.format("if x: kw.update(load())"), False),
        (KW.format("change(kw)"), False),
        (KW.format("kw |= more"), False),
        (MADE.format(""), True),
        (MADE.format("t.per_device_train_batch_size = 16"), False),
        (MADE.format("setattr(t, name, 16)"), False),
        (MADE.format("t.set_training(batch_size=16)"), False),
        (MADE.format("t = replace(t, per_device_train_batch_size=16)"), False),
        (MADE.format("from mine import tune\ntune(t)"), False),
        (MADE.format("from mine import tune\ntune(other)"), True),
        (MADE.format("import torch\ntorch.save(t)"), True),
        ("bs = 4\nTrainingArguments('o', per_device_train_batch_size=bs)", True),
        ("bs = 4\nexec(open('configurator.py').read())\nTrainingArguments('o', per_device_train_batch_size=bs)", False),
        (
            "from cfg import *\ndef f():\n  bs = 4\ndef g(): TrainingArguments(per_device_train_batch_size=bs)\ng()",
            False,
        ),
    ],
)
def test_a_batch_size_that_the_code_may_change_is_not_known(source: str, known: bool) -> None:
    found = in_code(source)
    assert found is not None
    assert ("per_device_train_batch_size" not in found.unknown) is known
    assert not known or found.per_device_train_batch_size == 4


SFT = "from trl import SFTConfig\na = SFTConfig('o'{})\n"
BF16, FP16 = Option("bf16", ("--bf16",), default=None), Option("fp16", ("--fp16",), default=False)


@pytest.mark.parametrize(
    ("source", "bf16"),
    [
        (SFT.format(""), True),
        (SFT.format(", fp16=True"), False),
        (SFT.format(", bf16=False"), False),
        (SFT.format(", bf16=f()"), None),
        (SFT.format(", fp16=f()"), None),
        (SFT.format(", **more"), None),
        (SFT.format(", bf16=True, **more"), True),
        (SFT.format("") + "a.bf16 = f()", None),
    ],
)
def test_what_trl_makes_of_bf16_is_the_same_in_code(source: str, bf16: bool | None) -> None:
    line = script_facts(source).command_line
    answers = ScriptAnswers(made=(BF16, FP16), made_known=True)
    found = trainer_arguments(line, answers, taken(line, answers, ()))
    assert found is not None
    assert (None if "bf16" in found.unknown else found.bf16) is bf16


def test_a_file_of_arguments_that_was_not_read_leaves_what_it_may_say_open() -> None:
    source = HF.replace("tune: bool = True", "lora: bool = False").replace(
        "parse_args_into_dataclasses()", "parse_json_file(sys.argv[1])"
    )
    assert part_trained(script_facts(source + IF_LORA), ("args.json",)).trains is None


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("if f(): TrainingArguments('o')", False),
        ("if f() or 1: TrainingArguments('o')", True),
        ("if f(): TrainingArguments('o')\nelse: TrainingArguments('p')", False),
        ("if f() and 0: TrainingArguments('o')\nelse: TrainingArguments('p')", True),
        ("TrainingArguments('o')\nexit()\nTrainingArguments('p')", True),
    ],
)
def test_what_is_made_in_one_case_is_not_what_is_made(source: str, known: bool) -> None:
    assert (in_code(source) is not None) is known


def test_what_unknown_or_a_number_gives_the_trainer_is_not_known() -> None:
    found = in_code("TrainingArguments('o', per_device_train_batch_size=cfg.get('bs') or 4)")
    assert found is not None
    assert "per_device_train_batch_size" in found.unknown
