"""Sources that are long or deep are read in a moment, and what is too deep to be followed is not known."""

import time
from threading import Thread

import pytest

from dsgui.core.script.in_a_run.config_sets import filling
from dsgui.core.script.in_a_run.worth import Values
from dsgui.core.script.script import ScriptFacts, script_facts
from tests.core.script.in_a_run.parts import part_trained

NAMES = "\n".join(f"a{place} = {' + '.join([f'a{place - 1}'] * 4)}" for place in range(1, 10))
LONG = {
    "a text of many parts": 'PROMPT = "a"' + ' + "a"' * 400 + "\nif PROMPT: m = get_peft_model(m, c)",
    "an argument of many parts": f"TrainingArguments('o', run_name={'+'.join(f'a{one}' for one in range(400))})\n"
    "if f(): get_peft_model(m)",
    "a deep attribute": f"if x{'.a' * 900}: get_peft_model(m)",
    "a name within its own value": "from cfg import *\nname = name.split('/')[-1] if '/' in name else name\n"
    "if name: get_peft_model(m)",
    "names that are several of others": f"a0 = f'{{x}}'\n{NAMES}\nif a9: get_peft_model(m)",
    "many branches": "if x == 0: pass\n" + "\n".join(f"elif x == {one}: get_peft_model(m)" for one in range(1, 300)),
    "functions that call each other": "\n".join(
        f"def f{one}():\n  get_peft_model(m)\n" + "\n".join(f"  if x: f{other}()" for other in range(12))
        for one in range(12)
    ),
    "a long list": f"x = [{'1,' * 200_000}]\nif 2 in x: get_peft_model(m)",
    "a long table": f"x = {{{'1:[2,3],' * 30_000}}}\nif x[1] == 3: get_peft_model(m)",
    "many statements that may leave": "def f():\n"
    + "\n".join(f"  if x == {one}: return\n  get_peft_model(m)" for one in range(300))
    + "\nf()",
}


@pytest.mark.parametrize("source", LONG.values(), ids=LONG.keys())
@pytest.mark.parametrize("in_a_thread", [False, True])
def test_a_long_source_is_read_in_a_moment(source: str, in_a_thread: bool) -> None:
    found, took = list[ScriptFacts](), list[float]()

    def read() -> None:
        began = time.thread_time()  # of the reader alone, whatever else the process does
        found.append(script_facts(source))
        took.append(time.thread_time() - began)

    if in_a_thread:
        thread = Thread(target=read)
        thread.start()
        thread.join(30)
    else:
        read()
    assert took[0] < 3
    assert found[0].problem == ""
    part = part_trained(found[0], ())
    assert part.trains is None or "PROMPT" in source
    assert part.trains is not False


DEEP = "+".join(["a"] * 1500)


@pytest.mark.parametrize(
    "source",
    [
        f"import deepspeed\ndeepspeed.initialize(model=m, config={DEEP})",
        f"model.requires_grad_({DEEP})\nTrainer(model=model)",
        f"model{'.a' * 1500}.requires_grad_(False)\nTrainer(model=model)",
        f"from util import freeze\nfreeze(model, {DEEP})\nTrainer(model=model)",
        f"@dataclass({DEEP})\nclass A: pass",
        f"from transformers import HfArgumentParser\nHfArgumentParser(A).parse_json_file(x)\nif x == {DEEP}: pass",
    ],
)
def test_a_deep_expression_is_no_reason_to_call_a_source_unreadable(source: str) -> None:
    compile(source, "train.py", "exec")
    assert script_facts(source).problem == ""


CONFIG = "import json, deepspeed\nds = json.load(f)\n{more}\ndeepspeed.initialize(model=m, config=ds)"
WRITES = {
    "made anew": 'ds = {{**ds, "k{one}": 1}}',
    "under a condition of its own": 'if ds["k{one}"] == "auto": ds["k{one}"] = 1',
}


@pytest.mark.parametrize("line", WRITES.values(), ids=WRITES.keys())
def test_a_config_that_many_lines_write_is_read_in_a_moment(line: str) -> None:
    source = CONFIG.format(more="\n".join(line.format(one=one) for one in range(1500)))
    began = time.process_time()
    by = filling(script_facts(source).config_sets, Values({}), {"k9": "auto"})
    assert time.process_time() - began < 3
    assert by.line_of("/k9") or by.may_be_at("/k9")
