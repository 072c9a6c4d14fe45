"""Checks of how a script gets its config: its parser takes what it is given, or it reads the config itself; what
accelerate refuses. None where there is nothing to judge. And what one click can do about it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dsgui.core.config.compare import differences
from dsgui.core.config.document import Document
from dsgui.core.config.pointer import dotted
from dsgui.core.errors import DocumentError
from dsgui.core.launch.command import CONFIG_VARIABLE
from dsgui.core.launch.handing import handing, mentions, own_config, own_option, shown
from dsgui.core.launch.plan import PLACEHOLDER, ConfigArgument, itself
from dsgui.core.machine.verdicts import Status, Verdict, ok, problem, unknown, warning
from dsgui.core.preflight.surroundings import Question
from dsgui.core.script.config_calls import Caller, ConfigCall
from dsgui.core.script.script import Parser, ScriptFacts
from dsgui.core.script.words import value_of

TAKES_CONFIG = "takes_config"
_SAY_HOW = (
    "Choose how the script takes its config (Launch: “How the script takes the config”; command line: --reader), or "
    "add the option to the script."
)
_ONE_ARGUMENT = "argument --deepspeed: expected one argument"
_MOST_DIFFERENCES = 4


@dataclass(frozen=True, slots=True)
class Offer:
    """What one click changes: the `argument`, None for what the script tells; options taken out of the script's
    arguments (`without`), where the argument stays as chosen; `words` added to them; and `variables` set in the run's
    environment. `stays`: the argument is as it was chosen."""

    label: str
    argument: ConfigArgument | None
    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    stays: bool = False


def offer(question: Question) -> Offer | None:
    """None where the script gets its config."""
    verdict, launch, script = takes_config(question), question.launch, question.around.script
    if verdict and not launch.config_argument.by_itself and _told_otherwise(question):
        return Offer("Pass the config as the script reads it", None)
    if verdict is None or verdict.status not in (Status.PROBLEM, Status.WARNING):
        return None
    option = own_option(script, launch.arguments)
    if option:
        return Offer(f"Add {option} {PLACEHOLDER} to the arguments", None, (option, PLACEHOLDER))
    if launch.config_argument.by_itself:
        return None
    return Offer("The script loads its own config", itself(launch.reader))


def takes_config(question: Question) -> Verdict | None:
    script, launch = question.around.script, question.launch
    if not launch.script or script.problem:
        return None
    if launch.config_argument.by_itself:
        return _reads_itself(question)
    judge = _BY_ARGUMENT.get(launch.config_argument, _by_parser)
    return judge(question)


# ---------------------------------------------------------------------------------------------- arguments are added
def _by_parser(question: Question) -> Verdict:
    script, launch = question.around.script, question.launch
    judged = _BY_PARSER[script.parser](script, launch.config_argument)
    otherwise = "" if judged.status is Status.PROBLEM else _told_otherwise(question)
    if not otherwise:
        return judged
    return warning(
        f"The script is given {launch.config_argument.value}, but its source suggests another way ({otherwise}).",
        "Choose “As the script reads it” (command line: --reader auto).",
    )


def _told_otherwise(question: Question) -> str:
    """What tells that the script gets its config in another way than it is given it, "" for nothing."""
    script, launch = question.around.script, question.launch
    found = handing(script, launch.arguments, launch.reader)
    return found.because if found and found.argument is not launch.config_argument else ""


def _no_parser(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if script.takes_deepspeed:
        return ok("its source names --deepspeed")
    return unknown(f"The script doesn’t seem to read a command line; it is given {argument.value}.")


def _elsewhere(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if script.takes_deepspeed:
        return ok("its source names --deepspeed")
    return warning(
        f"The script reads a command line and names no --deepspeed itself; it is given {argument.value}. Unless "
        "another file adds the option, it stops with exit code 2.",
        _SAY_HOW,
    )


def _lenient(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if _resolved(script.options, "--deepspeed"):
        return ok("its parser names --deepspeed")
    return unknown(
        "The script lets unknown arguments pass; whether it reads its config from --deepspeed can't be determined."
    )


def _known(script: ScriptFacts, argument: ConfigArgument, refuses: Callable[..., str]) -> Verdict:
    """Of a parser whose answer is certain; `refuses` gives argparse's words, "" where it takes the config."""
    words = refuses(script, argument)
    if not words:
        return ok(f"{script.parser.value}: it takes {argument.value}")
    return problem(f"The script is given {argument.value} and ends with exit code 2: “{words}”.", _SAY_HOW)


def _dataclasses(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if not script.strict:
        return unknown(
            "The script lets arguments that its dataclasses do not have pass; what it does with them is unknown."
        )
    left = argument.value.split()
    return problem(
        f"The script is given {argument.value}, which none of its dataclasses has: it ends with “Some specified "
        f"arguments are not used by the HfArgumentParser: {left}”.",
        _SAY_HOW,
    )


def _trainer_refuses(script: ScriptFacts, argument: ConfigArgument) -> str:
    """HfArgumentParser with TrainingArguments: --deepspeed has a value."""
    return "" if argument is ConfigArgument.HF else _ONE_ARGUMENT


def _deepspeed_refuses(script: ScriptFacts, argument: ConfigArgument) -> str:
    """deepspeed.add_config_arguments: --deepspeed is a switch."""
    return "" if argument is ConfigArgument.NATIVE else "unrecognized arguments: FILE"


def _argparse_refuses(script: ScriptFacts, argument: ConfigArgument) -> str:
    config = _resolved(script.options, "--deepspeed_config")
    named = _resolved(script.options, "--deepspeed")
    native = argument is ConfigArgument.NATIVE
    if not named:
        return f"unrecognized arguments: {argument.value}"
    takes_value = script.options[named]
    if not native:
        return "" if takes_value else "unrecognized arguments: FILE"
    if takes_value:
        return _ONE_ARGUMENT if named == "--deepspeed" else f"argument {named}: expected one argument"
    return "" if config else "unrecognized arguments: --deepspeed_config FILE"


def _resolved(options: Mapping[str, bool], word: str) -> str:
    """The option that argparse takes `word` for: its own name, or the only one that begins so."""
    if word in options:
        return word
    begun = [option for option in options if option.startswith(word)]
    return begun[0] if len(begun) == 1 else ""


_BY_PARSER: dict[Parser, Callable[[ScriptFacts, ConfigArgument], Verdict]] = {
    Parser.NONE: _no_parser,
    Parser.ELSEWHERE: _elsewhere,
    Parser.LENIENT: _lenient,
    Parser.TRAINER: partial(_known, refuses=_trainer_refuses),
    Parser.DATACLASSES: _dataclasses,
    Parser.DEEPSPEED: partial(_known, refuses=_deepspeed_refuses),
    Parser.ARGPARSE: partial(_known, refuses=_argparse_refuses),
}


# ----------------------------------------------------------------------------------------- another way is foreseen
def _by_foreseen(question: Question, otherwise: str) -> Verdict:
    """`otherwise`: what is said where the source tells nothing of the way that was chosen."""
    argument = question.launch.config_argument
    found = handing(question.around.script, question.launch.arguments, question.launch.reader)
    if found and found.argument is argument:
        return ok(f"{found.because}; it is given {argument.value}")
    if found:
        return warning(
            f"The script is given {argument.value}, but its source suggests another way ({found.because}).",
            "Choose “As the script reads it” (command line: --reader auto).",
        )
    return unknown(otherwise)


_UNSEEN = "{} whether the script reads it there can't be determined from its source."
_BY_ARGUMENT: dict[ConfigArgument, Callable[[Question], Verdict]] = {
    ConfigArgument.OVERRIDE: partial(_by_foreseen, otherwise=_UNSEEN.format("It is given deepspeed=FILE;")),
    ConfigArgument.ACCELERATE: partial(
        _by_foreseen, otherwise=_UNSEEN.format("The environment tells accelerate of the config;")
    ),
    ConfigArgument.LIGHTNING: partial(
        _by_foreseen, otherwise=_UNSEEN.format("The environment tells Lightning of the config;")
    ),
}


# ------------------------------------------------------------------------------------------------- it reads it itself
def _reads_itself(question: Question) -> Verdict:
    script, launch = question.around.script, question.launch
    if mentions(launch.arguments):
        return ok(f"{PLACEHOLDER} among the arguments stands for the config’s place")
    own = own_config(script)
    option = own_option(script, launch.arguments)
    if option and (own is None or own.value is None):
        return warning(
            f"The script takes its config from {option}, which is not among the arguments.",
            f"Add {option} {PLACEHOLDER} to the arguments: {PLACEHOLDER} stands for this config’s place.",
        )
    if own is None and script.by_file:
        return warning(
            "The script reads the HF Trainer’s arguments from a file, and its config is the one that “deepspeed” names "
            "there.",
            f"Write this config’s path as “deepspeed” into that file, or let the script read "
            f'os.environ["{CONFIG_VARIABLE}"].',
        )
    if own is None:
        return unknown(f"The script finds its config itself; only {CONFIG_VARIABLE} in its environment names this one.")
    return _its_own(question, own)


def reads_another(question: Question) -> bool:
    """Whether the script reads a config of its own, as far as its source shows, that is not the launch's."""
    verdict = takes_config(question) if question.launch.config_argument.by_itself else None
    return verdict is not None and verdict.status is Status.WARNING


def _its_own(question: Question, own: ConfigCall) -> Verdict:
    given = value_of(question.launch.arguments, (f"--{own.option}",)) if own.option else None
    if CONFIG_VARIABLE in own.config:
        return ok(f"{shown(own)}, which names this config")
    if given:
        return ok(f"the script reads {given}, from --{own.option}")
    other = _other(question, own)
    if other is None:
        return ok(f"{shown(own)}, which is the same config")
    return warning(
        f"The script reads a config of its own ({shown(own)}), not this one{other}.",
        f'To train with this config, let the script read os.environ["{CONFIG_VARIABLE}"]. To check the other one, '
        "open it on 1 · Configure.",
    )


def _other(question: Question, own: ConfigCall) -> str | None:
    """How the script's own config differs, in words; "" where it can't be seen, None where it is the same."""
    its = own.value if isinstance(own.value, dict) else _read(question.around.own_config)
    if its is None:
        return ""
    try:
        found = differences(Document(json.dumps(its)), Document(json.dumps(question.config)))
    except (DocumentError, TypeError, ValueError):
        return ""
    if not found:
        return None
    names = [dotted(one.pointer) for one in found]
    more = f" and {len(names) - _MOST_DIFFERENCES} more" if len(names) > _MOST_DIFFERENCES else ""
    return f"; they differ in {', '.join(names[:_MOST_DIFFERENCES])}{more}"


def _read(text: str | None) -> Any:
    try:
        return None if text is None else Document(text).value
    except DocumentError:
        return None


# ---------------------------------------------------------------------------------------------------------- accelerate
_STAND_INS = {
    "optimizer": ("DummyOptim", "an optimizer", "optim"),
    "scheduler": ("DummyScheduler", "a scheduler", "sch"),
}


def accelerate(question: Question) -> Verdict | None:
    """accelerate/accelerator.py: `_prepare_deepspeed`."""
    launch, script = question.launch, question.around.script
    uses = any(call.caller is Caller.ACCELERATOR for call in script.config_calls)
    by_trainer = any(call.caller is Caller.TRAINING_ARGUMENTS for call in script.config_calls)
    if launch.config_argument is not ConfigArgument.ACCELERATE or not uses or by_trainer:
        return None
    if value_of(launch.arguments, ("--cpu",)) is not None:
        return warning(
            "--cpu: with Accelerator(cpu=True) accelerate trains without DeepSpeed.",
            "Remove --cpu: on a machine without a GPU accelerate trains on the CPU anyway.",
        )
    clashes = [block for block in _STAND_INS if _made_twice(question, block)]
    if clashes:
        stand_ins, one = " and ".join(_STAND_INS[block][0] for block in clashes), _STAND_INS[clashes[0]][1]
        return problem(
            f"Both the config and the script have {one}; accelerate stops: “You cannot specify {one} in the config "
            "file and in the code at the same time.”",
            f"Remove {' and '.join(clashes)} from the config, or let the script make accelerate’s {stand_ins}.",
        )
    if launch.ranks > 1 and _on_cpu(question):
        return _alone(question)
    return ok("config and script do not both make the optimizer or the scheduler")


def _on_cpu(question: Question) -> bool:
    environment = question.around.machine.environment
    named = environment.target.accelerator if environment else None
    return not question.launch.elsewhere and not question.around.machine.gpus and named in (None, "cpu")


def _alone(question: Question) -> Verdict:
    """accelerate/state.py: without a GPU there is no backend, and then `num_processes = 1`."""
    ranks = question.launch.ranks
    said = f"Without a GPU accelerate treats each of the {ranks} ranks as the only one"
    if question.config.get("train_batch_size") == "auto":
        return problem(
            f"{said}: “auto” for train_batch_size becomes the batch of one rank, and DeepSpeed, which counts {ranks}, "
            "refuses it.",
            "Leave train_batch_size out of the config, or launch 1 rank.",
        )
    if question.around.script.gathers:
        return problem(
            f"{said}: each trains on all of the data, and gather fails for the other ranks.", "Launch 1 rank."
        )
    return warning(f"{said}: each trains on all of the data.", "Launch 1 rank, or use this run only as a test.")


def _made_twice(question: Question, block: str) -> bool:
    """Whether `prepare` is given a real one, as far as names tell, while the config has a block for it."""
    script = question.around.script
    stand_in, _, beginning = _STAND_INS[block]
    given: Sequence[str] = [name for name in script.prepared if beginning in name.lower()]
    return block in question.config and stand_in not in script.stand_ins and bool(given)
