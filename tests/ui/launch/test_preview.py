"""What the Launch page shows of a run before its start: the command, or why there is none, and whether it may start."""

import json
import re
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import gradio as gr
import pytest

from dsgui.core.launch.plan import Here, LaunchRequest, Plan
from dsgui.core.launch.run_fields import BY_NAME, complete
from dsgui.core.machine.hardware import Target
from dsgui.core.machine.machine import Environment
from dsgui.core.machine.verdicts import Row, Status, saw
from dsgui.core.memory.fits.sharpened import Sharpened
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.preflight.surroundings import Surroundings
from dsgui.core.script.in_a_run.models_loaded import model_loaded
from dsgui.core.texts.saying import Said, as_told
from dsgui.core.validation.checker import Checker
from dsgui.shell.launch.asked_paths import script_source
from dsgui.ui.common.services import Services
from dsgui.ui.config.workbench import Workbench
from dsgui.ui.launch.asked_first import Answer, about, with_answer
from dsgui.ui.launch.desk import Desk
from dsgui.ui.launch.launch_page import _accepted
from dsgui.ui.launch.preview import Previewer
from tests.runs.test_archive import save_checkpoint
from tests.shell.machine.test_machine import SOUND
from tests.support.run_fixtures import Bench, bench

__all__ = ["bench"]

CONFIG = '{"train_batch_size": 8, "zero_optimization": {"stage": 1}}'
ACCELERATED = "from accelerate import Accelerator\nAccelerator().prepare(model, optimizer)\n"
TAKING = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--ds_config')\nargs = p.parse_args()\n"
STRICT = "import argparse\nargs = argparse.ArgumentParser().parse_args()\n"
VERSIONS = {"deepspeed": "0.19.8", "torch": "2.7.0", "transformers": "4.56.0", "accelerate": "1.10.0"}
# In the order of the page's outputs.
SHOWN = (
    *("command", "says", "checks", "offers", "tick", "stops", "launch", "previewed", "logs", "loaded"),
    *("differs", "take", "replan", "launched", "digest", "line", "named", "found", "instead", "saves"),
)
EARLIER: dict[str, Any] = {"arguments": "", "ranks": 1, "config_text": CONFIG, "target_python": sys.executable}
Page = Callable[..., dict[str, Any]]
LOADS = """
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
(args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
Trainer(model=AutoModelForCausalLM.from_pretrained("org/model"), args=args).train()
"""


def loading(plan: Plan, around: Surroundings) -> Surroundings:
    """As the scout tells it."""
    return replace(around, model_loaded=model_loaded(around.script.models, around.values(plan)))


@pytest.fixture
def preview(bench: Bench, checker: Checker) -> Previewer:
    """It is given the page's values as one mapping."""
    target = Target(sys.executable, versions=VERSIONS, accelerator="cpu", bf16=True)
    machine = replace(SOUND, gpus=(), environment=Environment(target))
    recipes = {name: bench.script("print(1)", f"{name}.py") for name in ("translation", "classification")}
    around = {"surroundings": lambda plan, text: loading(plan, Surroundings(script_source(plan.script), machine))}
    archive = SimpleNamespace(launched=lambda run_id: LaunchRequest(**EARLIER, script=recipes["translation"]))
    parts = {"archive": archive, "runs": bench.runs, "recipes": recipes, "target": lambda: target, "checker": checker}
    reads = {"machine": SimpleNamespace(current=lambda: machine), "dry_runs": SimpleNamespace(known=lambda of: None)}
    reads |= {"read_model": model_of_size, "nvme_folder": lambda folder: None, "sharpened": Sharpened}
    services = SimpleNamespace(**parts, **around, **reads, all_presets=lambda: ())
    desk = SimpleNamespace(values=lambda given: complete(given[0]), inputs=())
    return Previewer(cast(Services, services), Workbench(checker), cast(Desk, desk))


@pytest.fixture
def page(preview: Previewer) -> Page:
    """What is shown while these values stand on the page; `ticked`: what is in the way is accepted."""

    def page(
        stops: tuple[str, ...] = (),
        ticked: bool = False,
        named: tuple[str, ...] = (),
        pressed: bool = False,
        config: str = CONFIG,
        preset: str = "",
        answer: Any = None,
        **values: Any,
    ) -> dict[str, Any]:
        told = preview(stops, named, None, answer, config, preset, ticked, "hf", values, pressed=pressed)
        shown = dict(zip(SHOWN, told, strict=True))
        return shown | ({"named": named} if shown["named"] == gr.skip() else {})

    return page


def test_the_name_of_a_clone_is_written_only_where_it_is_another_than_what_stands_there(page: Page) -> None:
    """A late answer would take away what is typed meanwhile."""
    clone = {"what": "translation", "ranks": 2, "parent": "20261126-123943-b96b"}
    first = page(**clone, named=("x",), name="x")
    given = first["named"][-1]
    assert first["named"] == ("x", given)
    assert f'data-was="[&quot;x&quot;]" data-name="{given}"' in first["line"]
    assert given.startswith("translation · ")
    again = page(**clone, named=first["named"], name=given)
    assert again["named"] == first["named"]
    assert "data-name" not in again["line"]
    typed = page(**clone, named=first["named"], name="mine")
    assert (typed["named"], "data-name" in typed["line"]) == (first["named"], False)
    assert page(what="translation")["line"] == ""


def test_a_page_that_has_not_written_the_last_name_yet_is_told_the_next_all_the_same(page: Page) -> None:
    """It asked again before that answer came: the first name still stands there, and nobody typed it."""
    clone = {"what": "translation", "ranks": 2, "parent": "20261126-123943-b96b"}
    given = page(**clone, named=("x",), name="x")["named"]
    late = page(**clone, named=given, name="x")
    assert late["named"] == given
    assert f'data-was="[&quot;x&quot;, &quot;{given[-1]}&quot;]" data-name="{given[-1]}"' in late["line"]


@pytest.mark.parametrize("named", [(), ("x", "mine")])
def test_an_answer_that_comes_after_a_clone_leaves_the_names_that_the_clone_gave(
    preview: Previewer, named: tuple[str, ...]
) -> None:
    """It was asked for before that clone, and gives no name."""
    told = preview((), named, None, None, CONFIG, "", False, "hf", {"what": "translation", "name": "mine"})
    assert told[SHOWN.index("named")] == gr.skip()


def test_what_has_one_right_fix_has_its_button_in_the_first_card_of_what_stops(page: Page) -> None:
    once = '{"train_batch_size": 8, "zero_optimization": {"stage": 2, "contiguous_gradient": true}}'
    told = page(what="translation", config=once)["checks"]
    assert told.count("data-fix") == told.count(">Rename to contiguous_gradients</button>") == 1
    twice = once.replace('"stage": 2', '"stage": 2, "reduce_bucket_siz": 1')
    told = page(what="translation", config=twice)["checks"]
    assert told.count("data-fix") == told.count(">Fix 2 config errors</button>") == 1
    assert "data-fix" not in page(what="translation")["checks"]


def test_what_is_no_json_is_started_by_no_tick(page: Page) -> None:
    shown = page(what="translation", config="{")
    assert "be read" in shown["checks"]
    assert (shown["launch"].interactive, shown["tick"].visible, shown["stops"]) == (False, False, ())
    again = page(what="translation", config="{", stops=shown["stops"], ticked=True)
    assert (again["launch"].interactive, again["previewed"].ready) == (False, False)


def button(shown: dict[str, Any]) -> tuple[str, str]:
    return shown["launch"].value, shown["launch"].variant


def test_a_missing_script_and_bad_ports_are_said_and_nothing_may_start(page: Page) -> None:
    assert page(what="translation")["launch"].interactive
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for values, says in (
            ({"script": "/no/such/train.py"}, "/no/such/train.py"),
            ({"what": "translation", "port": "http"}, "is not a port"),
            ({"what": "translation", "port": "80"}, "outside 1024"),
            ({"what": "translation", "port": str(taken.getsockname()[1])}, "in use"),
        ):
            shown = page(**values)
            assert says in shown["checks"]
            assert (shown["launch"].interactive, shown["previewed"], shown["command"]) == (False, None, "")
            assert button(shown) == ("Launch · 1 problem", "secondary")


@pytest.mark.parametrize(
    ("values", "needed", "refused", "lacks"),
    [
        (
            {"script": ""},
            "Script</span></p><p>A .py file on this machine",
            "Enter the path to your training script",
            "enter a script",
        ),
        (
            {"what": "translation", "where": "several", "hostfile": " "},
            "Hostfile</span></p><p>One host per line",
            "Add at least one host",
            "add a host",
        ),
    ],
)
def test_what_nobody_gave_yet_is_asked_for_and_wrong_only_once_launch_was_pressed(
    page: Page, values: dict[str, Any], needed: str, refused: str, lacks: str
) -> None:
    shown = page(**values)
    assert "Still needed" in shown["checks"]
    assert needed in shown["checks"]
    assert not any(one in shown["checks"] for one in ("ds-error", "data-field", refused))
    assert (shown["launch"].interactive, shown["previewed"], shown["command"]) == (True, None, "")
    assert button(shown) == (f"Launch · {lacks}", "secondary")
    pressed = page(**values, pressed=True)
    assert button(pressed) == button(shown)
    assert refused in pressed["checks"]
    assert "data-field" in pressed["checks"]
    assert (pressed["launch"].interactive, pressed["previewed"]) == (True, None)
    assert "Add at least one host" in page(what="translation", where="several", hostfile="# none")["checks"]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("from transformers import HfArgumentParser", "Found: HF Trainer · takes the config as --deepspeed FILE ("),
        (
            ACCELERATED,
            "Found: accelerate · takes the config from the environment (line 2: Accelerator, given no config)",
        ),
        (
            "import argparse, deepspeed\np = argparse.ArgumentParser()\ndeepspeed.add_config_arguments(p)\n"
            "p.parse_args()",
            "Found: native DeepSpeed · takes the config as --deepspeed --deepspeed_config FILE (",
        ),
        (
            "import deepspeed\ndeepspeed.initialize(model=m, config='a.json')",
            "native DeepSpeed · reads a config of its own",
        ),
        (
            STRICT,
            "Its source doesn’t show how it takes the config. Assumed: HF Trainer · takes the config as --deepspeed",
        ),
    ],
)
def test_a_script_is_told_by_what_was_found_in_it(page: Page, bench: Bench, source: str, says: str) -> None:
    script = str(bench.script(source))
    found = page(script=script)["found"]
    assert says in re.sub(r"<[^>]*>", "", found)
    assert found.count('<code class="ds-option">--deepspeed') == says.count("--deepspeed")  # no line ends within one
    assert page(script=script, reader="native")["found"] == ""  # the run gets what was chosen
    assert page(what="translation")["found"] == page(script="")["found"] == ""
    unnamed = page(script=script, where="several", hostfile="")  # what a script shows, it shows before a host is named
    assert (unnamed["found"], unnamed["logs"].visible) == (found, page(script=script)["logs"].visible)


def test_what_stops_it_wherever_it_trains_is_told_before_a_host_is_named(page: Page, bench: Bench) -> None:
    script = str(bench.script(STRICT))
    values = {"script": script, "where": "several", "arguments": "--no_such 3", "reader": "none"}
    shown = page(**values, hostfile="")
    assert shown["launch"].value == "Launch · add a host"
    assert "<p>One host per line" in shown["checks"]
    assert "is not an option of this script" in shown["checks"]
    assert [offer.label.code for offer in shown["offers"]] == ["remove"]
    assert 'data-offer="options">' in shown["checks"]
    assert "is not an option" not in page(**values | {"arguments": ""}, hostfile="")["checks"]


def test_before_a_host_is_named_the_config_is_judged_as_the_script_reads_it(page: Page, bench: Bench) -> None:
    reads = "import argparse, deepspeed\np = deepspeed.add_config_arguments(argparse.ArgumentParser())\n"
    script = str(bench.script(reads + "args = p.parse_args()\ndeepspeed.initialize(args=args)\n"))
    config = '{"train_micro_batch_size_per_gpu": "auto", "optimizer": {"type": "AdamW", "params": {"lr": "auto"}}}'
    shown, here = (page(script=script, where=where, hostfile="", config=config) for where in ("several", "here"))
    assert shown["says"] == here["says"].replace("CPU rank", "rank")
    assert here["says"].endswith("Configure is set to HF Trainer.")
    # Of the Trainer it is no error. It stands below what is needed, and leads to where it is seen.
    checks = shown["checks"]
    assert "Still needed · 1 problem" in checks
    assert '<span class="ds-word">2 errors</span> The config' in checks
    assert checks.index("One host per line") < checks.index("2 errors")
    assert 'data-reads="native"' in checks
    assert '<a href="#findings">' in checks
    assert checks.count("data-goto") == 2
    assert shown["launch"].value == "Launch · add a host"


def test_before_a_host_is_named_what_the_script_fills_in_is_no_error(page: Page, bench: Bench) -> None:
    fills = "import json, deepspeed\nconfig = json.load(open('{config}'))\nconfig['optimizer']['params']['lr'] = 1e-4\n"
    script = str(bench.script(fills + "deepspeed.initialize(config=config)\n"))
    config = '{"train_batch_size": 8, "optimizer": {"type": "AdamW", "params": {"lr": "auto"}}}'
    for where in ("several", "here"):
        assert "“auto”" not in page(script=script, where=where, hostfile="", config=config)["checks"]


OWN_RATE = """\
import argparse
from transformers import Trainer, TrainingArguments
p = argparse.ArgumentParser()
p.add_argument("--deepspeed")
p.add_argument("--learning_rate", type=float)
a = p.parse_args()
args = TrainingArguments("out", per_device_train_batch_size=4, learning_rate=1e-4, deepspeed=a.deepspeed)
Trainer(model=model, args=args).train()
"""
FITS_IT = {
    "train_micro_batch_size_per_gpu": 4,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
    "zero_optimization": {"stage": 1},
}


def test_before_a_host_is_named_arguments_that_the_trainer_never_gets_are_no_error(page: Page, bench: Bench) -> None:
    script = str(bench.script(OWN_RATE))
    values = {"script": script, "hostfile": "", "config": json.dumps(FITS_IT), "arguments": "--learning_rate 3e-5"}
    for where in ("several", "here"):
        assert "ds-finding ds-error" not in page(where=where, **values)["checks"]


def test_before_a_host_is_named_as_much_stops_it_as_afterwards(page: Page, bench: Bench) -> None:
    script = str(bench.script(LOADS))
    values = {
        "script": script,
        "hostfile": "",
        "config": json.dumps(FITS_IT),
        "arguments": "--per_device_train_batch_size 8 --learning_rate 3e-5",
    }
    before, after = (page(where=where, **values)["checks"] for where in ("several", "here"))
    assert before.count('data-check="agreement"') == after.count('data-check="agreement"') == 1
    assert "Still needed · 1 problem" in before
    assert before.count(">2 errors</span>") == after.count(">2 errors</span>") == 1


@pytest.mark.parametrize("config", ["{", "[]"])
def test_before_a_host_is_named_a_text_that_is_no_config_stops_it(page: Page, config: str) -> None:
    before, after = (page(what="translation", where=w, hostfile="", config=config) for w in ("several", "here"))
    assert 'data-check="config"' in before["checks"]
    assert "Still needed · 1 problem" in before["checks"]
    assert before["says"] == after["says"]


def test_before_a_host_is_named_a_script_that_brings_this_config_is_not_told_to_use_another(
    page: Page, bench: Bench
) -> None:
    script = str(bench.script("import deepspeed\ndeepspeed.initialize(config={'train_batch_size': 8})\n"))
    shown = page(script=script, where="several", hostfile="", reader="none", config='{"train_batch_size": 8}')
    assert "own config" not in shown["says"]


@pytest.mark.parametrize("config", ['{"train_batch_size": "x"}', "{"])
@pytest.mark.parametrize(
    "missing", [{"script": ""}, {"script": "/no/such.py"}, {"script": "/no/such.py", "parent": "20261126-123943-b96b"}]
)
def test_without_a_script_what_stops_the_config_is_counted_among_the_checks(
    page: Page, missing: Mapping[str, str], config: str
) -> None:
    """Once, and by the count that stands on the button: above it there were “3 errors” beside “1 problem”."""
    shown = page(what="own", config=config, **missing)
    assert "error" not in shown["says"]
    assert shown["checks"].count("ds-finding ds-error") == (2 if missing["script"] else 1)
    problems = "2 problems" if missing["script"] else "1 problem"
    assert problems in shown["checks"]
    pressed = page(what="own", config=config, pressed=True, **missing)
    assert pressed["launch"].value == "Launch · 2 problems" if missing["script"] else "Launch · enter a script"
    fine = page(what="own", config=json.dumps(FITS_IT), **missing)["checks"]
    assert ("1 problem" in fine) is bool(missing["script"])
    itself = page(what="own", config=config, reader="none", **missing)["checks"]
    assert itself.count("ds-finding ds-error") == (1 if missing["script"] else 0)


@pytest.mark.parametrize("given", [{"where": "several", "hostfile": ""}, {"script": ""}])
def test_without_a_plan_the_config_is_converted_and_fixed_as_with_one(
    page: Page, bench: Bench, given: Mapping[str, str]
) -> None:
    auto = '{"train_micro_batch_size_per_gpu": "auto", "gradient_clipping": "auto", "bf16": {"enabled": true}}'
    script = str(bench.script("import deepspeed\ndeepspeed.initialize(config='x')\n"))
    values = {"what": "own", "script": script, "reader": "native"} | given
    assert "data-convert" in page(config=auto, **values)["checks"]
    wrong = '{"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2, "overlap_com": true}}'
    assert "data-fix" not in page(config=wrong, **values)["checks"]  # 1 · Configure is set to the HF Trainer
    assert "data-fix" in page(config=wrong, **values | {"reader": "hf"})["checks"]
    native = {"what": "pretraining", "script": "", "where": "several", "hostfile": ""}
    assert "ds-error" in page(config=wrong, **native)["checks"]
    assert "data-fix" not in page(config=wrong, **native)["checks"]  # the same of a recipe


def test_before_a_host_is_named_a_recipe_offers_its_preset_for_another_config(page: Page) -> None:
    shown = page(what="translation", **TWO_LACK, config='{"train_batch_size": "x"}')
    assert 'data-press="recipe-preset"' in shown["checks"]


def test_before_a_host_is_named_a_config_that_the_script_does_not_read_is_told_of_as_afterwards(
    page: Page, bench: Bench
) -> None:
    script = str(bench.script("import deepspeed\ndeepspeed.initialize(config={'train_batch_size': 8})\n"))
    said = [
        page(script=script, where=where, hostfile="", reader="none")["says"].split("  \n")[-1]
        for where in ("several", "here")
    ]
    assert said[0] == said[1]
    assert "Checked for" not in said[0]


TWO_LACK = {"where": "several", "hostfile": ""}
MISSING = "/no/such.py"


def test_all_that_lets_no_run_be_planned_is_told_at_once(page: Page) -> None:
    def told(**values: Any) -> tuple[list[str], str]:
        shown = page(**values)
        return re.findall(r'data-field="([^"]*)"', shown["checks"]), shown["launch"].value

    assert told(script="", **TWO_LACK, pressed=True) == (["script", "hostfile"], "Launch · enter a script")
    assert told(script=MISSING, **TWO_LACK, pressed=True) == (["script", "hostfile"], "Launch · 2 problems")
    assert told(script=MISSING, arguments="'a", environment="1=2") == (
        ["script", "environment", "arguments"],
        "Launch · 3 problems",
    )
    assert told(script=MISSING) == (["script"], "Launch · 1 problem")


def test_what_is_still_needed_stands_beside_what_is_wrong(page: Page) -> None:
    both = page(script="", **TWO_LACK)
    assert both["checks"].count("ds-finding ds-note") == 2
    assert "Still needed" in both["checks"]
    assert (both["launch"].value, both["launch"].interactive) == ("Launch · enter a script", True)
    one = page(script=MISSING, **TWO_LACK)
    assert (one["checks"].count("ds-finding ds-note"), one["checks"].count("ds-finding ds-error")) == (1, 1)
    assert (one["launch"].value, one["launch"].interactive) == ("Launch · 1 problem", False)


def test_what_stops_it_besides_is_counted_with_what_is_wrong(page: Page, bench: Bench) -> None:
    script = str(bench.script(STRICT))
    shown = page(script=script, **TWO_LACK, arguments="--no_such 3", reader="none", pressed=True)
    assert "Pre-flight: 2 problems" in shown["checks"]
    assert shown["launch"].value == "Launch · add a host"


def test_each_problem_that_one_click_mends_has_its_button(page: Page, bench: Bench) -> None:
    shown = page(script=str(bench.script(STRICT)), arguments="--no_such 3")
    assert [offer.at for offer in shown["offers"]] == ["takes_config", "options"]
    assert shown["checks"].count("data-offer") == 2


@pytest.mark.parametrize("source", [STRICT, TAKING])
def test_a_second_press_of_what_was_offered_does_no_more_and_leaves_the_way_back(
    page: Page, bench: Bench, source: str
) -> None:
    (offer,) = page(script=str(bench.script(source)))["offers"]
    reader, arguments, environment, before, _ = _accepted(offer, "auto", "", "")
    assert before == ("auto", "", "")
    again = _accepted(offer, reader, arguments, environment)
    assert again[:3] == (reader, arguments, environment)
    assert again[3:] == (gr.skip(), gr.skip())


def test_what_is_found_of_a_plan_that_stands_in_is_not_told(page: Page, bench: Bench) -> None:
    """A checkpoint of eight ranks is none of one rank, and the hosts may have eight."""
    checkpoint = save_checkpoint(bench.folder / "out", 10, ranks=8)
    script = str(bench.script(LOADS))
    words = f"--resume_from_checkpoint {checkpoint} --output_dir {checkpoint.parent}"
    here = page(script=script, arguments=words)
    assert "8 ranks" in here["checks"]
    asked = page(script=script, arguments=words, where="several", hostfile="")
    assert (asked["launch"].value, "8 ranks" in asked["checks"]) == ("Launch · add a host", False)


def test_a_script_that_is_gone_offers_the_recipe_of_its_name(page: Page) -> None:
    shown = page(script="/old/recipes/translation.py", parent="20261126-123943-b96b")
    assert "The script of this run is gone" in shown["checks"]
    assert (shown["instead"].value, shown["instead"].visible) == (
        "Use the bundled recipe: T5 translates number words",
        True,
    )
    assert not page(script="/old/train.py", parent="20261126-123943-b96b")["instead"].visible
    assert "gone" not in page(script="/old/train.py")["checks"]  # typed, no run's
    assert not page(what="translation")["instead"].visible


def test_the_hosts_that_are_planned_are_offered_to_be_named(page: Page) -> None:
    planned = {"what": "translation", "where": "several", "planned_nodes": 2, "planned_gpus": 4}
    fills, shown = "Fill in 2 hosts with 4 slots each", page(**planned)
    assert (shown["take"].value, shown["take"].visible) == (fills, "hidden")
    assert f'data-press="take-plan">{fills}</button>' in shown["checks"]
    pressed = page(**planned, pressed=True)
    assert (pressed["take"].value, pressed["take"].visible) == (fills, True)  # it is a problem by then
    assert "data-press" in page(where="several", planned_nodes=2)["checks"]  # a script is asked for as well
    shown = page(**planned, hostfile="<host-1> slots=4\nb slots=4\n")
    assert (button(shown)[0], shown["take"].visible) == ("Launch · name the hosts", False)
    assert "Replace &lt;host-1&gt; with host names or addresses." in shown["checks"]
    assert "ds-error" not in shown["checks"]
    assert "Pre-flight: 1 problem" in page(**planned, hostfile="<host-1> slots=4", pressed=True)["checks"]
    assert not page(**(planned | {"planned_nodes": 1}))["take"].visible


def test_what_is_wrong_names_its_field_and_says_so_once(page: Page) -> None:
    shown = page(script="/no/such/train.py")
    assert "train.py" not in shown["says"]
    assert "[1 note](#findings)" in shown["says"]  # what is known of the config stays told
    assert 'data-field="script" data-says="No file at /no/such/train.py"' in shown["checks"]
    assert "Pre-flight: 1 problem" in shown["checks"]
    assert 'data-field="hostfile"' in page(what="translation", where="several", hostfile="a b c")["checks"]
    assert "data-field" not in page(what="translation", ranks=2, where="nowhere")["checks"]


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        *(("slurm_nodes", 0), ("slurm_per_node", 5000), ("slurm_partition", "a b"), ("slurm_account", "a b")),
        *(("slurm_time", "soon"), ("slurm_cpus", "x"), ("slurm_memory", "64GB"), ("slurm_gpu_type", "a:1")),
        *(("slurm_options", "rm"), ("directory", "/my work")),
    ],
)
def test_what_slurm_would_not_take_names_its_field(page: Page, name: str, typed: object) -> None:
    checks = page(what="translation", where="slurm", **{name: typed})["checks"]
    assert f'data-field="{BY_NAME[name].id}"' in checks


def test_saving_on_a_stop_is_offered_where_the_hf_trainer_may_take_its_option(page: Page, bench: Bench) -> None:
    """The tick of a recipe before adds nothing to one that trains natively; of a script of one's own it can be taken
    away."""
    native = {"script": str(bench.script("import deepspeed\nx = deepspeed.initialize()\n" + STRICT))}
    assert page(what="translation")["saves"].visible
    assert not page(what="classification", saves=True)["saves"].visible
    assert "jit_checkpoint" not in page(what="classification", saves=True)["command"]
    assert "jit_checkpoint" in page(what="translation", saves=True)["command"]
    assert page(script="")["saves"].visible
    assert not page(**native, reader="native")["saves"].visible
    assert page(**native, reader="native", saves=True)["saves"].visible


def test_the_config_is_told_by_its_name_with_the_way_to_its_findings(page: Page) -> None:
    assert page(what="translation")["says"].startswith("**Your config** · 1 CPU rank · ")
    assert page(what="translation")["says"].endswith("](#findings)")


def test_the_cure_of_a_config_that_is_not_the_recipes_is_the_preset_it_is_made_for(page: Page) -> None:
    """At the problem, in place of other advice, and once."""
    load = (
        '<button type="button" class="ds-fix" data-press="recipe-preset">Load the preset for “T5 translates”</button>'
    )
    refused = page(what="translation", config='{"train_batch_size": "x"}')["checks"]
    assert refused.count(load) == 1
    assert '<p class="ds-advice"></p>' + load in refused
    for shown in (
        page(what="translation"),
        page(what="translation", preset="zero2-offload-t5", config='{"train_batch_size": "x"}'),
        page(script="", config='{"train_batch_size": "x"}'),
    ):
        assert "data-press" not in shown["checks"]


def test_what_the_config_stops_leads_back_to_where_it_is_mended(page: Page) -> None:
    back = '<a href="#findings">Show it in 1 · Configure</a></p></li>'
    for config in ('{"train_batch_size": "x"}', '{"train_batch_size": 8,'):
        refused = page(what="translation", config=config)
        assert refused["checks"].count(back) == 1
        assert not refused["launch"].interactive
    assert back not in page(what="translation")["checks"]
    for config in ("", " {\n}"):
        says = page(what="translation", config=config)["says"]
        assert says == "**The config is empty.** [Choose a preset in 1 · Configure](#preset)"


def test_the_button_says_what_it_does_where_the_run_trains(page: Page) -> None:
    assert button(page(what="translation")) == ("Launch", "primary")
    submitted = page(what="translation", where="slurm")
    assert submitted["launch"].value == "Submit job"
    assert submitted["tick"].label == "Submit anyway"
    assert page(what="translation")["tick"].label == "Launch anyway"


def test_what_was_planned_for_elsewhere_is_said_where_it_would_train_here(page: Page) -> None:
    planned = {"what": "translation", "device": "a100-80", "planned_gpus": 4, "ranks": 4}
    assert page(**planned)["differs"].value == (
        "Planned for 4 × A100 80 GB; this machine has no GPU: [launch over ssh](#where-several), "
        "[submit with Slurm](#where-slurm), or plan for this machine in 1 · Configure."
    )
    assert page(**planned | {"planned_nodes": 2})["differs"].value.startswith("Planned for 2 × 4 × A100 80 GB;")
    assert "Planned for" in page(**planned | {"what": "own", "script": ""})["differs"].value
    assert page(**planned | {"device": "this"})["differs"].value == ""
    assert page(**planned | {"device": "cpu"})["differs"].value.endswith("Choose where it trains.")
    assert page(**planned | {"where": "slurm", "slurm_per_node": 4})["differs"].value == ""


def test_a_job_for_gpus_is_told_that_no_model_of_them_is_chosen(page: Page) -> None:
    job = {"what": "translation", "where": "slurm", "planned_gpus": 2, "slurm_per_node": 2}
    for device in ("this", "cpu"):
        assert "[choose it](#device)" in page(**job, device=device)["differs"].value
        assert page(**job, device=device, slurm_on_cpu=True)["differs"].value == ""
    assert page(**job, device="a100-80")["differs"].value == ""


def test_as_long_as_a_script_is_missing_the_config_has_the_verdict_of_its_plan(page: Page) -> None:
    own = {"what": "own", "script": "", "device": "rtx4090", "planned_gpus": 2, "config": CONFIG}
    assert page(**own)["says"] == (
        "**Your config** · 2 GPUs (RTX 4090 24 GB) · [2 notes](#findings) · "
        "[memory not checked: no model named](#memory-model)"
    )
    assert page(**own, model="0.5B")["says"].endswith(" · [2 notes](#findings) · [memory fits (estimate)](#memory)")
    says = page(**own, model="13B")["says"]
    assert re.search(r" · \[doesn’t fit: \d+ GiB short on each GPU \(estimate\)\]\(#memory\)$", says)
    assert "memory" not in page(what="translation", where="several")["says"]  # a recipe's model is small
    assert page(**own | {"config": ""})["says"] == ""
    # As on 1 · Configure: of other machines, and with the arguments typed so far.
    hosts = {"what": "translation", "where": "several", "planned_nodes": 2, "planned_gpus": 8}
    assert " · 2 nodes × 8 ranks" in page(**hosts)["says"]
    assert " · 2 nodes × 8 GPUs (RTX 4090 24 GB)" in page(**hosts, device="rtx4090")["says"]
    assert page(**own, model="13B", arguments="--gradient_checkpointing")["says"] != says


def test_a_script_that_accelerate_configures_is_told_by_the_environment(page: Page, bench: Bench) -> None:
    shown = page(script=str(bench.script(ACCELERATED)))
    assert "ACCELERATE_USE_DEEPSPEED=true" in shown["command"]
    assert "--deepspeed" not in shown["command"]
    assert not shown["offers"]


def test_a_script_that_brings_its_own_config_starts_after_one_click(page: Page, bench: Bench) -> None:
    script = str(bench.script(STRICT))
    shown = page(script=script)
    (offer,) = shown["offers"]
    assert (str(offer.label), shown["launch"].interactive) == ("The script loads its own config", False)
    assert 'data-offer="takes_config">The script loads its own config</button>' in shown["checks"]
    reader, arguments, *_ = _accepted(offer, "auto", "", "")
    labels = {value: label for label, value in BY_NAME["reader"].choices}
    assert labels[reader] == "The script reads its own config (HF Trainer or accelerate)"
    shown = page(script=script, reader=reader, arguments=arguments)
    assert "DSGUI_CONFIG=" in shown["command"]
    assert "The script doesn’t get this config." in shown["says"]
    assert (shown["launch"].interactive, shown["offers"]) == (True, ())


def test_what_stands_in_the_way_is_accepted_for_this_script_alone(page: Page, bench: Bench) -> None:
    script = str(bench.script(STRICT))
    stops = page(script=script)["stops"]
    assert not page(script=script)["previewed"].ready
    accepted = page(stops, True, script=script)
    assert (accepted["launch"].interactive, accepted["previewed"].ready) == (True, True)
    assert button(accepted) == ("Launch · 1 problem", "primary")
    other = str(bench.script(STRICT, "other.py"))
    assert not page(stops, True, script=other)["launch"].interactive


def test_only_a_name_that_nobody_typed_is_numbered(page: Page) -> None:
    of_recipe = page(what="translation")["previewed"]
    assert (of_recipe.plan.name, of_recipe.numbered) == ("T5 translates", True)
    typed = page(what="translation", name="T5 translates")["previewed"]
    assert (typed.plan.name, typed.numbered) == ("T5 translates", False)
    assert page(what="translation", name="T5 translates 2", named="T5 translates 2")["previewed"].numbered  # a clone's


def test_that_no_model_is_named_leads_to_where_it_is(page: Page, bench: Bench) -> None:
    says = page(script=str(bench.script("print(1)")))["says"]
    assert says.endswith("[memory not checked: no model named](#memory-model)")


def test_a_plan_of_fewer_nodes_takes_no_host_away_that_somebody_named(page: Page) -> None:
    hosts = {"what": "translation", "where": "several", "hostfile": "node-a slots=4\nnode-b slots=4"}
    shown = page(**hosts, planned_nodes=1, planned_gpus=2)
    assert "this run has 2 nodes × 4 ranks" in shown["differs"].value
    assert (shown["take"].value, shown["take"].visible) == ("", False)
    assert page(**hosts, planned_nodes=2, planned_gpus=8)["take"].visible  # more of the same
    assert (shown["replan"].value, shown["replan"].visible) == ("Plan for 2 nodes × 4 ranks", True)
    assert not page(**hosts, planned_nodes=2, planned_gpus=4)["replan"].visible


HOSTS = {"what": "translation", "where": "several", "hostfile": "node-a slots=2\nnode-b slots=2"}


def answered(shown: dict[str, Any], *rows: tuple[str, Status], told: Said | None = None, ago_s: float = 0.0) -> Answer:
    seen = (told or saw("host.one_gpu", slot="3"),)
    given = tuple(Row("machine", as_told(name), status, seen) for name, status in rows)
    return Answer(about(shown["previewed"].plan), given, time.time() - ago_s)


def test_hosts_that_were_not_asked_are_asked_before_the_start(page: Page) -> None:
    """Launch is what comes second: it says why, and may be pressed all the same."""
    shown = page(**HOSTS)
    assert button(shown) == ("Launch · hosts not checked", "secondary")
    assert shown["launch"].interactive
    assert "whether ssh reaches node-a, node-b" in shown["checks"]
    assert 'data-press="ask-machines"' in shown["checks"]
    wrong = page(**HOSTS, config="{")["checks"]  # what stops it comes before that
    assert "ds-error" in wrong.partition("<ul>")[2].partition("</ul>")[0]
    assert wrong.index('class="ds-finding ds-error"') < wrong.index('data-press="ask-machines"')
    fine = page(**HOSTS, answer=answered(shown, ("node-a", Status.OK), ("node-b", Status.OK)))
    assert button(fine) == ("Launch", "primary")
    assert "node-b" in fine["checks"]
    assert fine["checks"].index("Check hosts again") > fine["checks"].index("<details")  # hosts go down later, too
    old = page(**HOSTS, answer=answered(shown, ("node-a", Status.OK), ago_s=3600))
    assert button(old) == ("Launch · hosts not checked", "secondary")


def test_hosts_come_first_whatever_is_warned_of_but_not_before_a_problem(page: Page) -> None:
    warned = json.dumps(json.loads(CONFIG) | {"flops_profiler": {"enable": True}})
    shown = page(**HOSTS, config=warned)
    assert shown["checks"].index('data-press="ask-machines"') < shown["checks"].index('class="ds-finding ds-warning"')
    assert button(shown) == ("Launch · hosts not checked", "secondary")
    refused = page(**HOSTS, config='{"train_batch_size": "x"}')
    assert button(refused)[0].startswith("Launch · 1 problem")


def test_a_problem_of_another_host_is_another_problem(page: Page) -> None:
    shown = page(**HOSTS)
    one = answered(shown, ("node-a", Status.OK), ("node-b", Status.PROBLEM))
    accepted = page(**HOSTS, answer=one)["stops"]
    assert page(**HOSTS, answer=one, stops=accepted, ticked=True)["launch"].interactive
    other = answered(shown, ("node-a", Status.PROBLEM), ("node-b", Status.OK))
    assert not page(**HOSTS, answer=other, stops=accepted, ticked=True)["launch"].interactive


def test_a_port_that_is_taken_is_one_no_more_once_another_is_used(page: Page) -> None:
    shown = page(**HOSTS, port="29511")
    taken = saw("host.port_taken", port="29511")
    said = answered(shown, ("node-a", Status.PROBLEM), told=taken)
    assert "29511 is in use" in page(**HOSTS, port="29511", answer=said)["checks"]
    other = page(**HOSTS, port="29777", answer=said)
    assert "this run has another one, which was not checked" in other["checks"]
    assert button(other) == ("Launch", "primary")


def test_a_place_of_ones_own_that_can_be_asked_has_the_button_and_its_own_words(page: Page) -> None:
    class Box(Here):
        CAN_BE_ASKED = "box"

    told = with_answer((), replace(page(what="translation")["previewed"].plan, place=Box()), None, 0.0)
    ((row, way),) = told.ways.items()
    assert (row.seen, told.unasked) == ("Not checked yet.", True)
    assert 'data-press="ask-box"' in way
    assert "Check box" in way


def test_the_model_that_a_script_loads_is_told_whatever_else_is_wrong(page: Page, bench: Bench) -> None:
    script = str(bench.script(LOADS))
    for values in ({}, {"config": '{"train_batch_size": "x"}'}, {"where": "several", "hostfile": ""}):
        assert page(script=script, **values)["loaded"] == "org/model"
    assert "no model named" not in page(script=script, where="several", hostfile="")["says"]
    assert page(script=script, port="80")["loaded"] == gr.skip()  # nothing is known anew
    assert page(script="/no/such.py")["loaded"] == page(what="translation")["loaded"] == ""


def test_what_a_host_answered_stands_among_the_checks_until_what_was_asked_about_changes(page: Page) -> None:
    shown = page(**HOSTS)
    said = answered(shown, ("node-a", Status.OK), ("node-b", Status.PROBLEM))
    wrong = page(**HOSTS, answer=said)
    assert button(wrong) == ("Launch · 1 problem", "secondary")
    assert not wrong["launch"].interactive
    assert wrong["checks"].count("Check hosts again") == 1
    assert page(**HOSTS, answer=said, stops=wrong["stops"], ticked=True)["launch"].interactive
    for changed in ({"hostfile": "node-a slots=2\nnode-c slots=2"}, {"environment": "GLOO_SOCKET_IFNAME=eth0"}):
        assert button(page(**{**HOSTS, **changed}, answer=said)) == ("Launch · hosts not checked", "secondary")
    assert button(page(what="translation", answer=said)) == ("Launch", "primary")  # here, nobody is asked
    # Nobody was asked about these: typed while the hosts are being asked, they make no answer void.
    assert button(page(**HOSTS, master_addr="10.0.0.1", arguments="--lr 1", answer=said)) == button(wrong)


def test_the_same_answer_again_is_drawn_anew(page: Page) -> None:
    """Else the button would say that it is still being checked."""
    shown = page(**HOSTS)
    first, second = (answered(shown, ("node-a", Status.WARNING)) for _ in range(2))
    assert page(**HOSTS, answer=first)["checks"] != page(**HOSTS, answer=second)["checks"]
