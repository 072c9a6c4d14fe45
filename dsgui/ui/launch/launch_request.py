"""What the Launch page holds, as a request."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.recipes import BY_NAME as RECIPES
from dsgui.core.launch.spec import request_of
from dsgui.core.texts.saying import words
from dsgui.ui.common.services import Services
from dsgui.ui.config.own_file import file_of
from dsgui.ui.config.standing import is_kin

_AS_CONFIGURED = {Integration.HF.value: ConfigArgument.HF, Integration.NATIVE.value: ConfigArgument.NATIVE}


def page_request(services: Services, text: str, asked: Mapping[str, Any], reader: str, preset: str) -> LaunchRequest:
    """`asked` by the fields' names; `reader` is who reads the config where neither the script nor the user says. Raises
    `PlanError`."""
    target, recipe = services.target(), services.recipes.get(asked["what"])
    script = _absolute(asked["script"] or "")
    # A recipe trains the model that its arguments name, else a small one of its own: not what somebody planned for.
    # The tick of the HF Trainer's is not on the page for one that trains natively, though it may have been set before.
    if recipe:
        by_trainer = RECIPES[asked["what"]].takes.integration is Integration.HF
        asked = {**asked, "model": "", "saves": asked["saves"] and by_trainer}
    ranks = {"ranks": 0} if target.gpus else {}  # the GPUs that are chosen are counted
    request = request_of(
        {**asked, "script": script, "output": _of_user(asked["output"] or ""), **ranks},
        text,
        target.python,
        recipe=str(recipe or ""),
        configured=_AS_CONFIGURED[reader],
        preset=preset,
    )
    if recipe:
        return replace(request, name=request.name.strip() or RECIPES[asked["what"]].title)
    return replace(request, working_directory=request.working_directory or str(Path(script).parent))


def _absolute(typed: str) -> str:
    return str(Path(_of_user(typed)).absolute()) if typed.strip() else ""


def _of_user(typed: str) -> str:
    """With ~ as this machine reads it; as typed where it names no user: what is wrong is said where it is read."""
    try:
        return str(Path(typed.strip()).expanduser()) if typed.strip() else ""
    except RuntimeError:
        return typed.strip()


def preset_of(services: Services, id: str | None, text: str | None) -> str:
    """The preset the config began as, for the list of runs; said to be edited where the text is another by now, ""
    where that is of no preset."""
    chosen = next((preset for preset in services.all_presets() if preset.id == id), None)
    if chosen is None or not is_kin(text or "", chosen.text):
        return ""
    return chosen.id if chosen.text.strip() == (text or "").strip() else f"{chosen.id} (edited)"


def config_name(services: Services, begun: str | None, text: str | None) -> str:
    """What the page calls the config that began as a preset or a file of this id, and is `text` by now."""
    if file := file_of(begun):
        return file.name if file.holds(text or "") else words("runs_page", "clone_edited", preset=file.name)
    id, _, edited = preset_of(services, begun, text).partition(" ")
    title = next((one.title for one in services.all_presets() if one.id == id), "")
    if not title:
        return words("launch_page", "own_config")
    return words("runs_page", "clone_edited", preset=title) if edited else title
