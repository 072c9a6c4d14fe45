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
        f"{_READER}: DeepSpeedConfig; pydantic models of each block",
        _made_elsewhere,
        (_ERROR, _WARNING, _NOTE),
    ),
    Rule(
        "DS002",
        _MODEL,
        _made_elsewhere,
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS003",
        "accelerate/utils/dataclasses.py: DeepSpeedPlugin; deepspeed/runtime/config_utils.py",
        _made_elsewhere,
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS004",
        f"{_READER}: DeepSpeedConfig",
        _made_elsewhere,
        (_WARNING, _NOTE),
    ),
    Rule(
        "DS005",
        f"{_MODEL}; {_READER}",
        _made_elsewhere,
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS006",
        _MODEL,
        _made_elsewhere,
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS007",
        "deepspeed/runtime/constants.py; pydantic models of each block",
        _made_elsewhere,
        (_NOTE,),
    ),
    Rule(
        "DS008",
        f"{_MODEL}; {_READER}",
        _made_elsewhere,
        (_ERROR, _WARNING),
    ),
    Rule(
        "DS018",
        "accelerate/utils/deepspeed.py: HfDeepSpeedConfig",
        _made_elsewhere,
    ),
    Rule(
        "DS019",
        "deepspeed/runtime/config_utils.py: dict_raise_error_on_duplicate_keys",
        _made_elsewhere,
        (_ERROR, _WARNING),
    ),
)
