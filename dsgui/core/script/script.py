"""What a training script's source tells before it runs: which of the launcher's arguments it takes, what will clash."""

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from dsgui.core.script.command_line import NOTHING, ONE
from dsgui.core.script.config_calls import ConfigCall, config_calls, trainers_class
from dsgui.core.script.cuda_calls import CudaCall, cuda_calls
from dsgui.core.script.in_a_run.branches import Branches
from dsgui.core.script.in_a_run.changes import Changes, changes_in
from dsgui.core.script.in_a_run.config_sets import ConfigSet, config_sets
from dsgui.core.script.in_a_run.made import file_calls, made_in_code
from dsgui.core.script.in_a_run.models_loaded import models_loaded
from dsgui.core.script.in_a_run.parts_trained import Parts, PartTrained, parts_trained
from dsgui.core.script.in_a_run.worth import Spelled, Values, variables_read
from dsgui.core.script.model_loading import loadings
from dsgui.core.script.parser_source import added, adds, called, handed_out, kept_in_attribute, names_added
from dsgui.core.script.resume_options import Resuming, resuming
from dsgui.core.script.script_options import CommandLine, command_line, own_fields
from dsgui.core.script.trees import module_tree, without_data
from dsgui.core.script.words import without_adapters

# Parsers that take --local_rank, or that let an unknown argument pass.
_TAKES_RANK = {"HfArgumentParser", "parse_known_args", "parse_args_into_dataclasses", "add_config_arguments"}
_TAKES_CONFIG = {"HfArgumentParser", "parse_args_into_dataclasses", "add_config_arguments", "parse_known_args"}
_TRAINERS = {"HfArgumentParser", "TrlParser", "parse_args_into_dataclasses"}

_FROM_FILE = {"parse_json_file", "parse_yaml_file", "parse_dict"}
_FROM_WORDS = {"parse_args_into_dataclasses", "parse_args_and_config"}
# accelerate's examples and Lightning: how a script saves.
_SAVES = re.compile(r"checkpointing[_-](?:steps|epochs?|interval|frequency|dir|path)|enable_checkpointing")
_RECOMPUTING = {"prepare_model_for_kbit_training", "prepare_model_for_int8_training"}
_GATHERS = {"gather", "gather_for_metrics"}
_STAND_INS = {"DummyOptim", "DummyScheduler"}


class Parser(Enum):
    """Who reads the script's command line, as far as its own source shows."""

    NONE = "none"
    ARGPARSE = "argparse"  # made and filled in this file
    ELSEWHERE = "elsewhere"  # argparse or another, filled elsewhere too
    DEEPSPEED = "deepspeed"  # argparse with deepspeed.add_config_arguments
    TRAINER = "trainer"  # HfArgumentParser, or TRL's
    DATACLASSES = "dataclasses"  # HfArgumentParser, with dataclasses of the script alone
    FIRE = "fire"  # python-fire, with a function of this file
    LENIENT = "lenient"  # argparse that lets unknown arguments pass


@dataclass(frozen=True, slots=True)
class ScriptFacts:
    """`strict`: it has a parser of its own that stops at an argument it does not know (argparse, click, typer, fire).
    `options`: those its own `add_argument` calls name, and whether each takes a value. `breaks_stage_3`: keyword
    arguments of model loading that ZeRO-3 surely can't live with (transformers/modeling_utils.py); `may_break_stage_3`:
    those that may not be given, or before transformers knows of it. `tells_transformers`: it makes a HfDeepSpeedConfig
    itself.
    `config_calls`: those that bring DeepSpeed its config; `stand_ins`: accelerate's for an optimizer and a scheduler
    that the config has; `prepared`: the names that are given to accelerate's `prepare`; `gathers`: it collects tensors
    of all ranks with it. `resuming`: how it goes on from a checkpoint. `sets_use_cpu`: its source names
    that argument of the HF Trainer; `by_file`: an argparse of its own reads the command line, and the HF Trainer's
    arguments are in a file. `recomputes`: its source names gradient checkpointing, `turns_recomputing_on`: it may do so
    whatever its options say; `builds_divided`: it builds the model within `deepspeed.zero.Init`. `parts`: where it
    leaves a part of the model untrained. `variables`: those of the environment that it reads. `config_sets`: what it
    writes into its config. `asks_for_cuda`: where it does so whatever the machine has. `models`: the names of those it
    loads, as expressions. `problem`: why the source could not be read as Python, or ""."""

    strict: bool = False
    takes_local_rank: bool = False
    takes_deepspeed: bool = False
    breaks_stage_3: tuple[tuple[str, int], ...] = ()
    problem: str = ""
    parser: Parser = Parser.NONE
    options: Mapping[str, bool] = field(default_factory=dict)
    may_break_stage_3: tuple[tuple[str, int], ...] = ()
    tells_transformers: bool = False
    parts: Parts = field(default_factory=Parts)
    variables: frozenset[str] = frozenset()
    config_sets: tuple[ConfigSet, ...] = ()
    config_calls: tuple[ConfigCall, ...] = ()
    stand_ins: frozenset[str] = frozenset()
    prepared: frozenset[str] = frozenset()
    gathers: bool = False
    command_line: CommandLine = field(default_factory=CommandLine)
    resuming: Resuming = field(default_factory=Resuming)
    sets_use_cpu: bool = False
    by_file: bool = False
    recomputes: bool = False
    turns_recomputing_on: bool = False
    builds_divided: bool = False
    asks_for_cuda: tuple[CudaCall, ...] = ()
    models: tuple[str, ...] = ()

    @property
    def passes_local_rank(self) -> bool:
        """Whether --local_rank may be given to it: only a strict parser that does not name it would stop."""
        return self.takes_local_rank or not self.strict

    def values_of(self, option: str) -> str:
        """How many values follow one of its `options`, as argparse's nargs say it."""
        if not self.options[option]:
            return NOTHING
        return next((one.values for one in self.command_line.own if option in one.names), ONE)

    def text_defaults(self, options: Collection[str]) -> tuple[str, ...]:
        """What its own parser takes for these where they are not given, as far as the source spells it out."""
        own = (one.default for one in self.command_line.own if not set(options).isdisjoint(one.names))
        return tuple(sorted({value for value in own if isinstance(value, str) and value}))

    def part_trained(self, arguments: Sequence[str], values: Values) -> PartTrained:
        """Whether these arguments leave a part of the model untrained, as far as the source shows. `values`: what its
        options are worth then."""
        return self.parts.trained(values, without_adapters=without_adapters(arguments))


def script_facts(source: str) -> ScriptFacts:
    """Reads the source, runs nothing. What it imports from other files is not followed."""
    try:
        return _facts(without_data(module_tree(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        return ScriptFacts(problem=f"{getattr(error, 'msg', None) or error}{line}")


def _facts(tree: ast.Module) -> ScriptFacts:
    names, texts, calls = set[str](), set[str](), list[ast.Call]()
    nodes = list(ast.walk(tree))
    spelled = Spelled(nodes)
    branches = Branches(nodes, spelled)
    for node in nodes:
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.alias):
            names.add(node.name.rpartition(".")[2])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, ast.Call):
            calls.append(node)
    by_file = bool(names & _FROM_FILE and {"ArgumentParser", "HfArgumentParser"} <= names and not names & _FROM_WORDS)
    reads = names - {"HfArgumentParser"} if by_file else names
    parser, makes = _parser(nodes, reads, calls), trainers_class(nodes)
    breakers = loadings(calls, None if parser is Parser.TRAINER else makes, branches, spelled.scopes)
    of_line = command_line(
        tree,
        nodes,
        whole=parser is not Parser.NONE and not names & {"click", "typer", "fire"},
        by_dataclass=parser is Parser.TRAINER,
        lenient="parse_known_args" in names,
        made=made_in_code(nodes, makes, branches, spelled),
        files=file_calls(calls, branches, spelled),
    )
    words = replace(of_line, changes=changes_in(spelled.scopes, spelled.held, makes))
    if words.by_fire:
        parser = Parser.FIRE
    fields = own_fields(words) or ()
    alone = bool(fields) and all(option.name != "deepspeed" for option in fields)
    if alone:
        parser, reads = Parser.DATACLASSES, reads - _TRAINERS
        texts |= {option.name for option in fields}
    return ScriptFacts(
        strict=(alone and words.strict) or "parse_args" in names or bool(names & {"click", "typer", "fire"}),
        takes_local_rank=bool(reads & _TAKES_RANK) or _mentions(texts, "local_rank") or _mentions(texts, "local-rank"),
        takes_deepspeed=bool(reads & _TAKES_CONFIG) or _mentions(texts, "deepspeed"),
        breaks_stage_3=tuple((one.keyword, one.line) for one in breakers if one.sure),
        parser=parser,
        options={
            name: option.values != NOTHING
            for option in (
                *(one for call in calls for one in added(call)),
                *(fields if alone else ()),
                *(words.own if words.by_fire else ()),
            )
            for name in option.names
        },
        may_break_stage_3=tuple((one.keyword, one.line) for one in breakers if not one.sure),
        tells_transformers="HfDeepSpeedConfig" in names,
        parts=parts_trained(nodes, branches, spelled),
        variables=variables_read(nodes),
        config_sets=config_sets(branches, spelled),
        config_calls=config_calls(nodes, calls, spelled),
        stand_ins=frozenset(names & _STAND_INS),
        gathers=bool(names & _GATHERS),
        prepared=frozenset(name for call in calls for name in _prepared(call)),
        command_line=words,
        resuming=resuming(nodes, by_trainer=parser is Parser.TRAINER),
        sets_use_cpu=_sets_use_cpu(names, texts, calls),
        by_file=by_file,
        recomputes=_recomputes(names | texts, calls),
        turns_recomputing_on=_turns_recomputing_on(calls, words.changes),
        builds_divided=bool(names & {"HfDeepSpeedConfig", "OnDevice"}) or any(map(_is_zero_init, calls)),
        asks_for_cuda=cuda_calls(tree),
        models=models_loaded(calls, spelled),
    )


def _recomputes(words: set[str], calls: list[ast.Call]) -> bool:
    """`model.gradient_checkpointing_enable()`, `--gradient_checkpointing`, `torch.utils.checkpoint.checkpoint(…)`. Of
    text only what may be an option: no sentence, and nothing about saving."""
    given = {keyword.arg for call in calls for keyword in call.keywords if keyword.arg}
    named = (word for word in words | given if "checkpointing" in word and " " not in word.strip())
    return any(not _SAVES.search(word) for word in named) or any(called(call) == "checkpoint" for call in calls)


def _turns_recomputing_on(calls: list[ast.Call], changes: Changes) -> bool:
    """`model.gradient_checkpointing_enable()`, `prepare_model_for_kbit_training(model)`, which does so, and
    `args.gradient_checkpointing = True`."""
    by_call = any(called(call) in _RECOMPUTING or _recomputes({called(call)}, [call]) for call in calls)
    return by_call or changes.any or "gradient_checkpointing" in changes.names


def _is_zero_init(call: ast.Call) -> bool:
    """`deepspeed.zero.Init(…)`, `zero.Init(…)`, `Init(…)`."""
    return called(call) == "Init"


def _sets_use_cpu(names: set[str], texts: set[str], calls: list[ast.Call]) -> bool:
    """`TrainingArguments(use_cpu=…)`, `args.use_cpu = …`, `{"use_cpu": …}`."""
    given = any(keyword.arg == "use_cpu" for call in calls for keyword in call.keywords)
    return given or "use_cpu" in names or _mentions(texts, "use_cpu")


def _parser(nodes: Sequence[ast.AST], names: set[str], calls: list[ast.Call]) -> Parser:
    if names & _TRAINERS:
        return Parser.TRAINER
    if "parse_known_args" in names:
        return Parser.LENIENT
    if "add_config_arguments" in names:
        return Parser.DEEPSPEED
    if "parse_args" not in names:
        return Parser.ELSEWHERE if names & {"click", "typer", "fire"} else Parser.NONE
    made = [call for call in calls if called(call) == "ArgumentParser"]
    plain = made and all(keyword.arg != "parents" for call in made for keyword in call.keywords)
    named = all(names_added(call)[:1] for call in calls if adds(call))
    followed = not kept_in_attribute(nodes) and not handed_out(nodes, calls)
    return Parser.ARGPARSE if plain and named and followed else Parser.ELSEWHERE


def _prepared(call: ast.Call) -> list[str]:
    return [word.id for word in call.args if isinstance(word, ast.Name)] if called(call) == "prepare" else []


def _mentions(texts: set[str], option: str) -> bool:
    return any(text.lstrip("-") == option for text in texts)
