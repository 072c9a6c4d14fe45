"""How a script resumes, read from its source; and what its arguments become."""

from dataclasses import replace
from itertools import pairwise
from textwrap import dedent
from time import process_time

import pytest

from dsgui.core.launch.checkpoint import Checkpoint, SavedBy
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, Plan
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.launch.resume import can_load, note_on, options_for, way_of
from dsgui.core.script.resume_options import Resuming
from dsgui.core.script.script import script_facts
from dsgui.core.script.words import with_option
from tests.support.cases import each_case

ENGINE = Checkpoint("/w/out/global_step8", 8, SavedBy.ENGINE, 2, True)
OLDER = replace(ENGINE, path="/w/out/global_step4", step=4, newest=False)
OF_TRAINER = Checkpoint("/w/out/checkpoint-8", 8, SavedBy.TRAINER, 2, True)
OF_ACCELERATE = Checkpoint("/w/out/step_8", 8, SavedBy.ACCELERATE, 2, True)
ARGPARSE = "import argparse\nparser = argparse.ArgumentParser()\n"
PARSED = "args = parser.parse_args()\n"


def script(options: str, body: str) -> str:
    return ARGPARSE + dedent(options) + PARSED + dedent(body)


def option(*names: str, rest: str = "") -> str:
    return "".join(f"parser.add_argument('{name}'{rest})\n" for name in names)


SWITCH = ", action='store_true'"
SCRIPTS = {
    "DeepSpeed's own tutorial": (
        script(option("--load_dir", "--ckpt_id", "--save_dir"), "engine.load_checkpoint(args.load_dir, args.ckpt_id)"),
        "--save_dir out",
        "--save_dir out --load_dir /w/out --ckpt_id global_step8",
    ),
    "a folder alone": (
        script(
            option("--load-dir"), "if args.load_dir:\n    _, state = engine.load_checkpoint(load_dir=args.load_dir)"
        ),
        "",
        "--load-dir /w/out",
    ),
    "a switch, from where it saves": (
        script(
            option("--resume", rest=SWITCH) + option("--save_dir"),
            "if args.resume:\n    engine.load_checkpoint(args.save_dir)\nengine.save_checkpoint(args.save_dir)",
        ),
        "--save_dir out --lr 1",
        "--save_dir /w/out --lr 1 --resume",
    ),
    "a switch, from a folder in the source": (
        script(option("--resume", rest=SWITCH), "if args.resume:\n    engine.load_checkpoint('ckpt')"),
        "--lr 1",
        "--lr 1 --resume",
    ),
    "a switch around the call of its own function": (
        script(
            option("--resume", rest=SWITCH) + option("--output"),
            """
            def restore(engine, place):
                return engine.load_checkpoint(place)
            engine.save_checkpoint(args.output)
            if args.resume:
                restore(engine, args.output)
            """,
        ),
        "--output out",
        "--output /w/out --resume",
    ),
    "a start with a model's weights is no resuming": (
        script(
            option("--init", "--resume_dir"),
            """
            if args.new:
                engine.load_checkpoint(args.init, load_module_only=True)
            else:
                engine.load_checkpoint(args.resume_dir)
            """,
        ),
        "--init base",
        "--init base --resume_dir /w/out",
    ),
    "of two that load, the one that says so": (
        script(
            option("--first_weights", "--resume_folder"),
            """
            engine.load_checkpoint(args.first_weights)
            for one in ():
                engine.load_checkpoint(args.resume_folder)
            """,
        ),
        "",
        "--resume_folder /w/out",
    ),
    "a number is no place": (
        script(
            option("--epochs", rest=", type=float") + option("--from_here"),
            "place = join(args.epochs, args.from_here)\nengine.load_checkpoint(place)",
        ),
        "--epochs 3",
        "--epochs 3 --from_here /w/out",
    ),
    "the checkpoint's own path, divided": (
        script(
            option("--resume"),
            "place, tag = os.path.split(args.resume.rstrip('/'))\nengine.load_checkpoint(place, tag=tag)",
        ),
        "",
        "--resume /w/out/global_step8",
    ),
    "the HF Trainer's name for a folder": (
        script(option("--resume_from_checkpoint"), "engine.load_checkpoint(args.resume_from_checkpoint)"),
        "",
        "--resume_from_checkpoint /w/out",
    ),
    "fire, and two options that exclude each other": (
        """
import fire
def train(checkpoint_dir=None, load_checkpoint_dir=None, steps=10):
    if checkpoint_dir is not None and load_checkpoint_dir is not None:
        print("not both")
        return
    place = pathlib.Path(load_checkpoint_dir)
    engine.load_checkpoint(load_dir=place)
    engine.save_checkpoint(checkpoint_dir)
fire.Fire(train)
""",
        "--checkpoint_dir out --steps 5",
        "--steps 5 --load_checkpoint_dir /w/out",
    ),
    "click": (
        "@click.option('--load-dir')\n@click.option('--keep/--drop', is_flag=True)\ndef main(load_dir, keep):\n"
        "    engine.load_checkpoint(load_dir)\n",
        "",
        "--load-dir /w/out",
    ),
    "a group of which one is given": (
        script(
            "group = parser.add_mutually_exclusive_group()\ngroup.add_argument('--resume')\n"
            "group.add_argument('--fresh', action='store_true')\n",
            "engine.load_checkpoint(args.resume)",
        ),
        "--fresh",
        "--resume /w/out",
    ),
    "another file loads, the option has a usual name": (script(option("--load"), "train(args)"), "", "--load /w/out"),
    "another file has the parser, the run was given the option": (
        "from megatron import run\nrun()\n",
        "--load a",
        "--load /w/out",
    ),
}


def plan_of(words: str) -> Plan:
    request = LaunchRequest(
        name="",
        script="/w/t.py",
        arguments=words,
        ranks=2,
        gpu_indices=(),
        master_port=None,
        working_directory="/w",
        config_text="{}",
        config_argument=ConfigArgument.NATIVE,
        target_python="/bin/python",
        environment={},
    )
    return make_plan(request, run_id="1", run_directory="/runs/1", script_path="/w/t.py", master_port=20_001)


def resumed(source: str, words: str, one: Checkpoint) -> str:
    plan = plan_of(words)
    way = way_of(script_facts(source).resuming, plan.arguments)
    assert can_load(way, one), way
    changed = plan.arguments
    for name, value in options_for(way, one, plan):
        changed = with_option(changed, name, value)
    return " ".join(changed)


@each_case("case", SCRIPTS)
def test_a_native_script_is_resumed_by_the_options_that_reach_its_call(case: str) -> None:
    source, words, expected = SCRIPTS[case]
    assert resumed(source, words, ENGINE) == expected


TRAINER = """
from transformers import HfArgumentParser
_, training_args = HfArgumentParser((Model, TrainingArguments)).parse_args_into_dataclasses()
"""


@pytest.mark.parametrize(
    ("source", "one", "expected"),
    [
        (
            TRAINER + "last = training_args.resume_from_checkpoint\ntrainer.train(resume_from_checkpoint=last)\n",
            OF_TRAINER,
            "--resume_from_checkpoint /w/out/checkpoint-8",
        ),
        (TRAINER + "run(training_args)\n", OF_TRAINER, "--resume_from_checkpoint /w/out/checkpoint-8"),
        (
            script(option("--resume_from_checkpoint"), "accelerator.load_state(args.resume_from_checkpoint)"),
            OF_ACCELERATE,
            "--resume_from_checkpoint /w/out/step_8",
        ),
    ],
    ids=["run_clm's way", "trained in another file", "accelerate"],
)
def test_the_trainer_and_accelerate_are_given_the_checkpoints_own_path(
    source: str, one: Checkpoint, expected: str
) -> None:
    assert resumed(source, "", one) == expected


OWN_CLASS = """
from transformers import HfArgumentParser
@dataclass
class Mine:
    lr: float = 1e-5
(args,) = HfArgumentParser(Mine).parse_args_into_dataclasses()
Trainer(args=TrainingArguments("out")){}
"""
ITSELF = script(option("--out"), "engine.load_checkpoint(args.out)\nengine.save_checkpoint(args.out)")


@each_case(
    ("source", "one", "says"),
    [
        (script(option("--save_dir"), "engine.save_checkpoint(args.save_dir)"), ENGINE, 'load_checkpoint("/w/out")'),
        (TRAINER + "trainer.train()\n", OF_TRAINER, "accepts --resume_from_checkpoint but never uses it"),
        ("trainer.train()\nmodel.train(True)\n", OF_TRAINER, 'resume_from_checkpoint="/w/out/checkpoint-8"'),
        (script(option("--lr"), "x.save_state(place)"), OF_ACCELERATE, 'accelerator.load_state("/w/out/step_8")'),
        ("args = get_args()\nengine.load_checkpoint(args.from_here)\n", ENGINE, "the option that names one"),
        (ITSELF, OF_TRAINER, "by itself"),
        ("", ENGINE, "has no option to resume"),
        (OWN_CLASS.format(".train()"), OF_TRAINER, 'resume_from_checkpoint="/w/out/checkpoint-8"'),
        (OWN_CLASS.format(""), OF_TRAINER, 'resume_from_checkpoint="/w/out/checkpoint-8"'),
        ("def load(engine, place):\n    engine.load_checkpoint(place)\nmain()", ENGINE, "has no option to resume"),
        ("e.load_checkpoint(args.base, load_optimizer_states=False)", ENGINE, "has no option to resume"),
    ],
)
def test_where_no_option_can_do_it_the_page_says_how_such_a_script_resumes(
    source: str, one: Checkpoint, says: str
) -> None:
    way = way_of(script_facts(source).resuming, ())
    assert not can_load(way, one)
    assert says in str(note_on(way, [one]))


def test_an_option_of_the_scripts_own_that_names_its_model_is_no_place_to_resume_from() -> None:
    """Megatron's parser is in another file and calls the folder so."""
    source, words = (
        script(option("--load"), "m = M.from_pretrained(args.load)\ntrainer.train()"),
        ("--load", "org/model"),
    )
    facts = script_facts(source)
    assert way_of(facts.resuming, words, facts.options) == Resuming()
    assert way_of(Resuming(), words).folder == "--load"


def test_without_a_tag_only_the_newest_is_offered() -> None:
    source = script(option("--load_dir"), "engine.load_checkpoint(args.load_dir)")
    way = script_facts(source).resuming
    assert [can_load(way, one) for one in (ENGINE, OLDER)] == [True, False]
    assert "always loads the newest" in str(note_on(way, [ENGINE, OLDER]))
    assert "another run’s by now" in str(note_on(way, [OLDER]))
    with_tag = script_facts(
        script(option("--load_dir", "--tag"), "e.load_checkpoint(args.load_dir, args.tag)")
    ).resuming
    assert can_load(with_tag, OLDER)
    assert note_on(with_tag, [ENGINE, OLDER]) is None


def test_a_script_that_loads_where_nothing_is_told_changes_nothing_else() -> None:
    assert script_facts("x = 1").resuming == Resuming()
    assert note_on(Resuming(), []) is None
    assert note_on(Resuming(), [replace(ENGINE, complete=False)]) is None


def test_the_option_that_it_saves_to_is_known_by_its_call() -> None:
    source = script(option("--where_out", "--lr"), "folder = join(args.where_out, 'x')\nengine.save_checkpoint(folder)")
    assert script_facts(source).resuming.saving == ("--where_out",)


def test_each_function_is_looked_at_once_however_many_paths_lead_to_the_call() -> None:
    lines = ["def load(engine):", "    engine.load_checkpoint('out')"]
    for caller, function in pairwise(("load", "start", "prepare", "train")):
        lines += [f"def {function}(engine):", *[f"    {caller}(engine)"] * 100]
    source = script(option("--resume", rest=SWITCH), "\n".join([*lines, "if args.resume:", "    train(engine)"]))
    began = process_time()
    assert script_facts(source).resuming.switches == ()  # four levels away
    assert script_facts(source.replace("    train(", "    prepare(")).resuming.switches == ("--resume",)
    assert process_time() - began < 20
