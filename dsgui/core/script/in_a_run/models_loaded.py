"""Which model a script loads by its name, as far as its source and the values of its options tell: for one whose
arguments don't name it as scripts usually do."""

import ast
import re
from collections.abc import Iterable, Sequence

from dsgui.core.script.declared import dotted_name
from dsgui.core.script.in_a_run.worth import Spelled, Values
from dsgui.core.script.parser_source import called, keyword
from dsgui.core.script.words import PLACEHOLDER

# `AutoModelForCausalLM`, `T5ForConditionalGeneration`, `BertModel`; what else is loaded by a model's name is none.
_MODEL = re.compile(r"Model|LMHead|For[A-Z]")
_NO_MODEL = re.compile(r"^Peft|Peft(Model|Config)|Config|Tokenizer|Processor|Extractor")
UNKNOWN = "UNKNOWN"


def models_loaded(calls: Iterable[ast.Call], spelled: Spelled) -> tuple[str, ...]:
    """What each `….from_pretrained(name)` of a model is given, as `Spelled` writes it; `UNKNOWN` where another may be
    trained. `calls`: all of the file's."""
    of_models = [call for call in calls if _is_models(call)]
    if any(called(call) == "from_config" for call in of_models):  # it may train that one
        return (UNKNOWN,)
    loads = [call for call in of_models if called(call) == "from_pretrained"]
    parts = [UNKNOWN for call in loads if keyword(call, "subfolder") is not None]  # of something larger
    given = (_name_given(call) for call in loads)
    return tuple(dict.fromkeys((*parts, *(spelled.expression(one) or UNKNOWN for one in given if one is not None))))


def model_loaded(expressions: Sequence[str], values: Values) -> str:
    """The one model of a run whose options are worth that; "" where there are several, or nobody knows."""
    worths = [values.value(one) for one in expressions]
    named = {one for one in worths if isinstance(one, str) and one.strip() and PLACEHOLDER not in one}
    return named.pop() if len(named) == 1 and all(isinstance(one, str) for one in worths) else ""


def _is_models(call: ast.Call) -> bool:
    owner = dotted_name(getattr(call.func, "value", call)).rpartition(".")[2]
    return _MODEL.search(owner) is not None and not _NO_MODEL.search(owner)


def _name_given(call: ast.Call) -> ast.expr | None:
    given = keyword(call, "pretrained_model_name_or_path")
    return call.args[0] if given is None and call.args else given
