"""What the schema's own findings mean. They are made in `values.py` and `keys.py` here, a key at a time."""

from collections.abc import Iterator

from dsgui.core.config.context import Context
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.rules.base import Config, Rule

_ERROR, _WARNING, _NOTE = Severity
_MODEL, _READER = "deepspeed/runtime/config_utils.py: DeepSpeedConfigModel", "deepspeed/runtime/config.py"


def _made_elsewhere(config: Config, context: Context) -> Iterator[Finding]:
    return iter(())


# Found by comparing two releases (`core/validation/migration.py`), so there is no one config to show for it.
COMPARING = {"DS007"}

RULES = (
    Rule(
        "DS001",
        "A value of the wrong type or range",
        f"{_READER}: DeepSpeedConfig; pydantic models of each block",
        _made_elsewhere,
        "The value is of another type than DeepSpeed expects, out of range, or none of the allowed words. A block that "
        "is a pydantic model refuses it, or converts what can be converted (“2” to 2). Elsewhere it is taken as it is "
        "and fails later, at the first step for gradient_clipping as a text, or counts as true.",
        (_ERROR, _WARNING, _NOTE),
    ),
    Rule(
        "DS002",
        "An unknown key where DeepSpeed is strict",
        _MODEL,
        _made_elsewhere,
        "zero_optimization, fp16, bf16 and the other blocks that are pydantic models refuse keys that they do not "
        "have, so a misspelling stops the run at once. A key that says “auto” is dropped before the check and passes "
        "natively.",
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS003",
        "“auto” where nobody fills it",
        "accelerate/utils/dataclasses.py: DeepSpeedPlugin; deepspeed/runtime/config_utils.py",
        _made_elsewhere,
        "“auto” has three meanings. The HF Trainer fills it for 23 keys and accelerate stops at any other; native "
        "DeepSpeed drops it inside its pydantic blocks, which leaves the default, and fails on the text elsewhere. "
        "Write a value, or clear the key.",
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS004",
        "A key that DeepSpeed ignores",
        f"{_READER}: DeepSpeedConfig",
        _made_elsewhere,
        "At the top level and in the open blocks (optimizer, scheduler, aio …) DeepSpeed looks for the keys it knows "
        "and passes over the rest without a word: a misspelt key simply does nothing. It is a warning where a known "
        "key is near, and a note otherwise, since other programs keep keys of their own there.",
        (_WARNING, _NOTE),
    ),
    Rule(
        "DS005",
        "A key of another release",
        f"{_MODEL}; {_READER}",
        _made_elsewhere,
        "The key came with a later DeepSpeed than the one checked for, or was removed before it. Strict blocks refuse "
        "it; elsewhere it is ignored, except for whole blocks whose removal DeepSpeed reports and stops at, such as "
        "amp or elasticity in 0.19.8.",
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS006",
        "An old name of a key",
        _MODEL,
        _made_elsewhere,
        "DeepSpeed still reads the old name and hands its value to the new one. A file that says both is refused, even "
        "where the values agree. Rewrite it; the meaning stays.",
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS007",
        "A default that another release changes",
        "deepspeed/runtime/constants.py; pydantic models of each block",
        _made_elsewhere,
        "Said where a config is moved to another release: a key that the file leaves out has another default there, so "
        "the same file would train differently. Write the old value down to keep what you have.",
        (_NOTE,),
    ),
    Rule(
        "DS008",
        "A key in the wrong block",
        f"{_MODEL}; {_READER}",
        _made_elsewhere,
        "The key exists, but in another block. At the top level and in open blocks DeepSpeed ignores it without a "
        "word, so ZeRO keys beside zero_optimization, say, do nothing; strict blocks refuse it. Move it to where it "
        "is read.",
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS018",
        "A file that is not strict JSON, under the HF Trainer",
        "accelerate/utils/deepspeed.py: HfDeepSpeedConfig",
        _made_elsewhere,
        "Native DeepSpeed reads its file as hjson: comments, trailing commas, bare keys and a byte order mark pass. "
        "The HF Trainer and accelerate read the same file with json.load, which stops at each of them with a "
        "JSONDecodeError before anything else is looked at. Opened in dsgui, such a file is converted.",
    ),
    Rule(
        "DS019",
        "A key that stands twice",
        "deepspeed/runtime/config_utils.py: dict_raise_error_on_duplicate_keys",
        _made_elsewhere,
        "DeepSpeed refuses a file in which one object has a key twice. The HF Trainer's json.load keeps the last and "
        "says nothing, so the value that stands first has no effect. Keep one.",
        (_ERROR, _WARNING),
    ),
)
