"""Checks of how a script gets its config: its parser takes what it is given, or it reads the config itself; what
accelerate refuses. None where there is nothing to judge. And what one click can do about it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dsgui.core.config.compare import differences
from dsgui.core.config.document import Document
from dsgui.core.config.pointer import dotted
from dsgui.core.errors import DocumentError
from dsgui.core.launch.command import CONFIG_VARIABLE
from dsgui.core.launch.handing import handing, mentions, own_config, own_option, own_worth, shown
from dsgui.core.launch.plan import PLACEHOLDER, ConfigArgument, itself
from dsgui.core.machine.verdicts import Status, Verdict, advise, ok, problem, saw, unknown, warning
from dsgui.core.preflight.surroundings import Question
from dsgui.core.script.command_line import EXPECTED, ONE, OPTIONAL, SOME, UNSET
from dsgui.core.script.config_calls import Caller, ConfigCall
from dsgui.core.script.in_a_run.worth import variables_in
from dsgui.core.script.script import Parser, ScriptFacts
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, listed, said

TAKES_CONFIG = "takes_config"
_ONE_ARGUMENT = "argument --deepspeed: expected one argument"
_MOST_DIFFERENCES = 4


Swap = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Offer:
    """What one click changes: the `argument`, None for what the script tells; options taken out of the script's
    arguments (`without`), where the argument stays as chosen; `words` added to them; and `variables` set in the run's
    environment. `swaps`: of the arguments, runs of words as they were typed, and what each becomes in its place, where
    the rest stays as it is. `stays`: the argument is as it was chosen. `at`: the check whose row it mends."""

    label: Said
    argument: ConfigArgument | None
    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    swaps: tuple[Swap, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    stays: bool = False
    at: str = TAKES_CONFIG


def offer(question: Question) -> Offer | None:
    """None where the script gets its config."""
    verdict, launch, script = takes_config(question), question.launch, question.around.script
    if verdict and not launch.config_argument.by_itself and _told_otherwise(question):
        return Offer(said("offers", "pass_as_read"), None)
    if verdict is None or verdict.status not in (Status.PROBLEM, Status.WARNING):
        return None
    option = own_option(script, launch.arguments)
    own = own_config(script)
    variable = _unset(question, own) if own and launch.config_argument.by_itself else ""
    if variable and not question.around.is_handed(launch):
        return Offer(
            said("offers", "add_variable", words=f"{variable}={PLACEHOLDER}"),
            launch.config_argument,
            variables=((variable, PLACEHOLDER),),
            stays=True,
        )
    if option:
        return Offer(said("offers", "add", words=f"{option} {PLACEHOLDER}"), None, (option, PLACEHOLDER))
    if launch.config_argument.by_itself:
        return None
    return Offer(said("offers", "loads_its_own"), itself(launch.reader))


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
    otherwise = None if judged.status is Status.PROBLEM else _told_otherwise(question)
    return _another_way(launch.config_argument, otherwise) if otherwise else judged


def _another_way(argument: ConfigArgument, because: Said) -> Verdict:
    return warning(
        saw("takes_config.another_way", argument=argument.value, because=because), advise("takes_config.as_it_reads")
    )


def _told_otherwise(question: Question) -> Said | None:
    """What tells that the script gets its config in another way than it is given it, None for nothing."""
    script, launch = question.around.script, question.launch
    found = handing(script, launch.arguments, launch.reader)
    return found.because if found and found.argument is not launch.config_argument else None


def _no_parser(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if script.takes_deepspeed:
        return ok(saw("takes_config.source_names"))
    return unknown(saw("takes_config.no_command_line", argument=argument.value))


def _elsewhere(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if script.takes_deepspeed:
        return ok(saw("takes_config.source_names"))
    return warning(saw("takes_config.names_none", argument=argument.value), advise("takes_config.choose"))


def _lenient(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if _resolved(script.options, "--deepspeed"):
        return ok(saw("takes_config.parser_names"))
    return unknown(saw("takes_config.lets_pass"))


def _known(script: ScriptFacts, argument: ConfigArgument, refuses: Callable[..., str]) -> Verdict:
    """Of a parser whose answer is certain; `refuses` gives argparse's words, "" where it takes the config."""
    words = refuses(script, argument)
    if not words:
        return ok(_takes(script.parser, argument))
    return problem(saw("takes_config.refused", argument=argument.value, words=words), advise("takes_config.choose"))


def _takes(parser: Parser, argument: ConfigArgument) -> Said:
    if parser is Parser.TRAINER:
        return saw("takes_config.by_trainer", argument=argument.value)
    if parser is Parser.DEEPSPEED:
        return saw("takes_config.by_deepspeed", argument=argument.value)
    if parser is Parser.FIRE:
        return saw("takes_config.by_fire", argument=argument.value)
    return saw("takes_config.by_argparse", argument=argument.value)


def _dataclasses(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if not script.strict:
        return unknown(saw("takes_config.dataclasses_let_pass"))
    return problem(
        saw("takes_config.not_in_dataclasses", argument=argument.value, words=str(argument.value.split())),
        advise("takes_config.choose"),
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
    wanted = script.values_of(named)
    if wanted not in OPTIONAL:
        return f"argument {named}: {EXPECTED[SOME if wanted == SOME else ONE]}"
    return "" if config else "unrecognized arguments: --deepspeed_config FILE"


def _fire_refuses(script: ScriptFacts, argument: ConfigArgument) -> str:
    """python-fire takes the function's parameters alone."""
    option = argument.value.split()[-2]
    return "" if option in script.options else f"Could not consume arg: {argument.value.split()[0]}"


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
    Parser.FIRE: partial(_known, refuses=_fire_refuses),
}


# ----------------------------------------------------------------------------------------- another way is foreseen
def _by_foreseen(question: Question, otherwise: Said) -> Verdict:
    """`otherwise`: what is said where the source tells nothing of the way that was chosen."""
    argument = question.launch.config_argument
    found = handing(question.around.script, question.launch.arguments, question.launch.reader)
    if found and found.argument is argument:
        return ok(saw("takes_config.foreseen", because=found.because, argument=argument.value))
    return _another_way(argument, found.because) if found else unknown(otherwise)


_BY_ARGUMENT: dict[ConfigArgument, Callable[[Question], Verdict]] = {
    ConfigArgument.OVERRIDE: partial(_by_foreseen, otherwise=saw("takes_config.override_unseen")),
    ConfigArgument.ACCELERATE: partial(_by_foreseen, otherwise=saw("takes_config.accelerate_unseen")),
    ConfigArgument.LIGHTNING: partial(_by_foreseen, otherwise=saw("takes_config.lightning_unseen")),
}


# ------------------------------------------------------------------------------------------------- it reads it itself
def _reads_itself(question: Question) -> Verdict:
    script, launch = question.around.script, question.launch
    if mentions(launch.arguments):
        return ok(saw("takes_config.placeholder", placeholder=PLACEHOLDER))
    own = own_config(script)
    if own and question.around.names_this(launch):
        return ok(saw("takes_config.names_this", call=shown(own)))
    if mentions(launch.environment.values()):
        return ok(saw("takes_config.placeholder_in_variable", placeholder=PLACEHOLDER))
    if own and (variable := _unset(question, own)):
        return _given_none(question, own, variable)
    if own is None and (by_file := _by_file(question)):
        return by_file
    option = own_option(script, launch.arguments)
    if option and (own is None or own.value is None):
        return warning(
            saw("takes_config.own_option", option=option),
            advise("takes_config.add_option", option=option, placeholder=PLACEHOLDER),
        )
    if own is None and script.by_file:
        return warning(
            saw("takes_config.file_names_it"), advise("takes_config.write_into_file", variable=CONFIG_VARIABLE)
        )
    if own is None:
        return unknown(saw("takes_config.finds_it", variable=CONFIG_VARIABLE))
    return _its_own(question, own)


def _by_file(question: Question) -> Verdict | None:
    """Where the HF Trainer's arguments are in a file that could be read, its `deepspeed` is the config."""
    file = question.taken.file
    if not file.path or file.problem or not file.was_read or file.converts:
        return None
    named = file.values.get("deepspeed")
    advice = advise("takes_config.write_into_file", variable=CONFIG_VARIABLE)
    if named is None:
        return warning(saw("takes_config.file_names_none", path=file.path), advice)
    if not isinstance(named, str):
        return None
    differing = _differing_of(question, its_own_config(question))
    if differing == []:
        return ok(saw("takes_config.file_names_same", path=file.path, config=named))
    return warning(saw("takes_config.file_names", path=file.path, config=named), advise("takes_config.open_other"))


def _unset(question: Question, own: ConfigCall) -> str:
    """The variable that the script looks its config up in, if that is known not to be set, so that it gets none; ""
    where it gets one, or nobody knows."""
    found = question.around.values(question.launch)
    # As if no imported file set it.
    values = replace(found, variables={n: None if value is UNSET else value for n, value in found.variables.items()})
    named = sorted(variables_in(own.expression))
    unset = [name for name in named if name in values.variables and values.variables[name] is None]
    return unset[0] if unset and own_worth(own, values) in (None, UNSET) else ""


def _given_none(question: Question, own: ConfigCall, variable: str) -> Verdict:
    """transformers/training_args.py: without `deepspeed` nothing of DeepSpeed is used; deepspeed/__init__.py: a config
    has to be there."""
    given: dict[str, str | Said] = {"call": shown(own), "variable": variable}
    advice = advise("takes_config.set_variable", variable=variable, placeholder=PLACEHOLDER)
    if question.around.script.command_line.changes.unread:
        return warning(saw("takes_config.variable_perhaps", **given), advice)
    if own_worth(own, question.around.values(question.launch)) is UNSET:
        return warning(saw("takes_config.variable_unset", **given), advice)
    if own.caller is Caller.TRAINING_ARGUMENTS:
        return warning(saw("takes_config.without_deepspeed", **given), advice)
    return warning(saw("takes_config.given_nothing", **given), advice)


def reads_another(question: Question) -> bool:
    """Whether the script reads a config of its own, as far as its source shows, that is not the launch's."""
    verdict = takes_config(question) if question.launch.config_argument.by_itself else None
    return verdict is not None and verdict.status is Status.WARNING and not gets_none(question)


def gets_none(question: Question) -> bool:
    """Whether the variable that names the script's config is not set, so that it gets none."""
    launch, own = question.launch, own_config(question.around.script)
    asks = launch.config_argument.by_itself and own is not None and not question.around.is_handed(launch)
    return asks and own is not None and bool(_unset(question, own))


def _its_own(question: Question, own: ConfigCall) -> Verdict:
    given = value_of(question.launch.arguments, (f"--{own.option}",)) if own.option else None
    if given:
        return ok(saw("takes_config.from_option", config=given, option=f"--{own.option}"))
    differing = _differing(question, own)
    if differing == []:
        return ok(saw("takes_config.same", call=shown(own)))
    return warning(_another(own, differing), advise("takes_config.read_variable", variable=CONFIG_VARIABLE))


def _another(own: ConfigCall, differing: list[str] | None) -> Said:
    if differing is None:
        return saw("takes_config.another", call=shown(own))
    names, more = listed(differing[:_MOST_DIFFERENCES]), len(differing) - _MOST_DIFFERENCES
    if more <= 0:
        return saw("takes_config.another_differs", call=shown(own), keys=names)
    return saw("takes_config.another_differs_more", call=shown(own), keys=names, more=str(more))


def its_own_config(question: Question) -> dict[str, Any] | None:
    """What the script reads instead of this config, as far as it can be read."""
    own = own_config(question.around.script)
    found = own.value if own and isinstance(own.value, dict) else _read(question.around.own_config)
    return found if isinstance(found, dict) else None


def _differing(question: Question, own: ConfigCall) -> list[str] | None:
    """The keys in which the script's own config differs; None where that can't be seen."""
    return _differing_of(question, own.value if isinstance(own.value, dict) else _read(question.around.own_config))


def _differing_of(question: Question, its: Any) -> list[str] | None:
    if its is None:
        return None
    try:
        found = differences(Document(json.dumps(its)), Document(json.dumps(question.config)))
    except (DocumentError, TypeError, ValueError):
        return None
    return [dotted(one.pointer) for one in found]


def _read(text: str | None) -> Any:
    try:
        return None if text is None else Document(text).value
    except DocumentError:
        return None


# ---------------------------------------------------------------------------------------------------------- accelerate
_STAND_INS = {
    "optimizer": ("DummyOptim", "optim"),
    "scheduler": ("DummyScheduler", "sch"),
}


def accelerate(question: Question) -> Verdict | None:
    """accelerate/accelerator.py: `_prepare_deepspeed`."""
    launch, script = question.launch, question.around.script
    uses = any(call.caller is Caller.ACCELERATOR for call in script.config_calls)
    by_trainer = any(call.caller is Caller.TRAINING_ARGUMENTS for call in script.config_calls)
    if launch.config_argument is not ConfigArgument.ACCELERATE or not uses or by_trainer:
        return None
    if value_of(launch.arguments, ("--cpu",)) is not None:
        return warning(saw("accelerate.cpu"), advise("accelerate.remove_cpu"))
    clashes = [block for block in _STAND_INS if _made_twice(question, block)]
    if clashes:
        return _clash(clashes)
    if launch.ranks > 1 and _on_cpu(question):
        return _alone(question)
    return ok(saw("accelerate.made_once"))


def _clash(blocks: list[str]) -> Verdict:
    """accelerate names the optimizer alone where both are made twice."""
    if len(blocks) > 1:
        return problem(saw("accelerate.two_optimizers"), advise("accelerate.remove_both"))
    if blocks == ["optimizer"]:
        return problem(saw("accelerate.two_optimizers"), advise("accelerate.remove_optimizer"))
    return problem(saw("accelerate.two_schedulers"), advise("accelerate.remove_scheduler"))


def _on_cpu(question: Question) -> bool:
    environment = question.around.machine.environment
    named = environment.target.accelerator if environment else None
    return not question.launch.elsewhere and not question.around.machine.gpus and named in (None, "cpu")


def _alone(question: Question) -> Verdict:
    """accelerate/state.py: without a GPU there is no backend, and then `num_processes = 1`."""
    ranks = str(question.launch.ranks)
    if question.config.get("train_batch_size") == "auto":
        return problem(saw("accelerate.auto_batch", ranks=ranks), advise("accelerate.no_train_batch"))
    if question.around.script.gathers:
        return problem(saw("accelerate.gather_fails", ranks=ranks), advise("accelerate.one_rank"))
    return warning(saw("accelerate.all_of_the_data", ranks=ranks), advise("accelerate.one_rank_or_test"))


def _made_twice(question: Question, block: str) -> bool:
    """Whether `prepare` is given a real one, as far as names tell, while the config has a block for it."""
    script = question.around.script
    stand_in, beginning = _STAND_INS[block]
    given: Sequence[str] = [name for name in script.prepared if beginning in name.lower()]
    return block in question.config and stand_in not in script.stand_ins and bool(given)
