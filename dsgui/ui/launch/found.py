"""What dsgui found in a script of one's own: its framework, and how it gets the config."""

from dsgui.core.launch.handing import handing, trainers_part
from dsgui.core.launch.plan import AS_SCRIPT_READS, ConfigArgument, Plan
from dsgui.core.script.script import ScriptFacts
from dsgui.core.texts.saying import words
from dsgui.ui.common.findings_view import prose

# Where no HF Trainer trains.
_FRAMEWORKS = {
    ConfigArgument.OVERRIDE: "LLaMA-Factory",
    ConfigArgument.ACCELERATE: "accelerate",
    ConfigArgument.TRAINER: "accelerate",
    ConfigArgument.LIGHTNING: "Lightning",
}
_BY_ENVIRONMENT = (ConfigArgument.ACCELERATE, ConfigArgument.LIGHTNING)


def found_html(plan: Plan, script: ScriptFacts, reader: str) -> str:
    """One line below the script's field; "" where the source can't be read, which the checks say, and where the user
    chose the `reader`: the run gets what was chosen."""
    if script.problem or reader != AS_SCRIPT_READS:
        return ""
    found = handing(script, plan.arguments, plan.config_argument.integration)
    argument = found.argument if found else plan.config_argument
    told = f"{_framework(argument, script, plan)} · {_how(argument)}"
    if found:
        line = words("launch_page", "found", told=told, because=str(found.because))
    else:
        line = words("launch_page", "found_nothing", told=told)
    return f'<p class="ds-script-found">{prose(line)}</p>'


def _framework(argument: ConfigArgument, script: ScriptFacts, plan: Plan) -> str:
    if argument is not ConfigArgument.OVERRIDE and trainers_part(argument, script, plan.arguments).trains:
        return words("launch_page", "found_hf")
    return _FRAMEWORKS.get(argument) or words("launch_page", "found_native")


def _how(argument: ConfigArgument) -> str:
    if argument.by_itself:
        return words("launch_page", "found_by_itself")
    if argument in _BY_ENVIRONMENT:
        return words("launch_page", "found_environment")
    return words("launch_page", "found_argument", argument=argument.value)
