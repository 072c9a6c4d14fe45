"""What the config in the editor takes of memory, on the Configure page: the model and how much of it at once, and the
bars that follow each edit."""

import hashlib
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from dsgui.core.config.arguments import from_words
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Finding
from dsgui.core.config.pointer import dotted
from dsgui.core.config.schema import Schema
from dsgui.core.errors import DocumentError, PlanError
from dsgui.core.launch.field import Kind, Part
from dsgui.core.launch.run_fields import BY_NAME as BY_FIELD
from dsgui.core.launch.run_fields import complete, fields_of
from dsgui.core.launch.spec import host_gib, model_of
from dsgui.core.memory.answer import Answer, CannotSay
from dsgui.core.memory.choice import ModelChoice, of_words
from dsgui.core.memory.fits.as_fixed import as_fixed, repair
from dsgui.core.memory.fits.asked import Asked, with_keys
from dsgui.core.memory.fits.cheapest import never_fits, no_change_json
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.inquiry import mend_first
from dsgui.core.memory.fits.memory_report import about, as_json, told
from dsgui.core.memory.fits.nvme import Nvme, usable
from dsgui.core.memory.fits.rehearsing import key_of
from dsgui.core.memory.fits.room import Room, room_of
from dsgui.core.memory.question import Group, Question
from dsgui.core.sizes import GIB
from dsgui.core.texts.saying import said, words
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import embedded
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.field_inputs import laid_out
from dsgui.ui.common.services import Services
from dsgui.ui.config.workbench import View

_FOLDER = "nvme"
_FIRST: dict[str, dict[str, Any]] = {"model": {"scale": 3, "min_width": 150}, "length": {"min_width": 100}}
_EVENTS = ("find", "apply", "rehearse", "cancel")
_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class MemoryPanel:
    """`fields` are the inputs by their fields' names, of the run's spec; `host` is for planning another machine.
    `script` holds the arguments typed on the Launch page, `loaded` the name of the model that the script there loads
    by itself, `answered` changes when a dry run is over, and `timer` looks for that."""

    fields: Mapping[str, Any]
    host: gr.Textbox
    script: gr.Textbox
    loaded: gr.Textbox
    panel: gr.HTML
    answered: gr.Number
    timer: gr.Timer

    @property
    def inputs(self) -> list[Any]:
        return [self.script, self.host, *self.fields.values(), self.loaded]

    @property
    def kept(self) -> list[Any]:
        """What the user said."""
        return [self.host, *self.fields.values()]

    @property
    def changes(self) -> list[Any]:
        """The events that ask something else."""
        return [component.change for component in (*self.inputs, self.answered)]


def build_memory_panel() -> MemoryPanel:
    """Must be called inside a `gr.Blocks`."""
    every = fields_of(Part.MODEL)
    with gr.Column(elem_id="memory", elem_classes="ds-memory-box"):
        with gr.Row(elem_classes="ds-memory-inputs"):
            inputs = laid_out([replace(field, beside=False) for field in every if field.name in _FIRST], _FIRST)
        panel = embedded(
            "memory/memory", "ds-memory", _EVENTS, value="", found="", rehearsed="", elem_id="memory-panel"
        )
        with gr.Accordion(words("memory_page", "more"), open=False):
            rest = [replace(field, beside=False) for field in every if field.name not in _FIRST]
            ticks = [field for field in rest if field.kind is Kind.TICK]
            with gr.Row():
                beside = [field for field in rest if field not in ticks and field.name != _FOLDER]
                inputs |= laid_out(beside, {field.name: {"min_width": 120} for field in beside})
            inputs |= laid_out(ticks, {})  # below each other: beside others their labels are cut off
            with gr.Row():
                host = _typed("host_memory", "host_hint", "host")
                inputs |= laid_out([field for field in rest if field.name == _FOLDER], {_FOLDER: {"min_width": 120}})
    fields = {field.name: inputs[field.name] for field in every}
    script, loaded = (gr.Textbox("", visible=False) for _ in range(2))
    loaded.change(_which, [loaded], [fields["model"]], **ONCE)
    return MemoryPanel(
        fields, host, script, loaded, panel, gr.Number(0, visible=False), gr.Timer(_POLL_S, active=False)
    )


def _which(loaded: str | None) -> Any:
    """An empty field says which model counts instead."""
    usual = BY_FIELD["model"].told("placeholder")
    return gr.Textbox(placeholder=words("memory_page", "loaded", model=loaded) if loaded else usual)


def _typed(label: str, hint: str, name: str) -> gr.Textbox:
    return gr.Textbox(
        "",
        label=words("memory_page", label),
        placeholder=words("memory_page", hint),
        max_lines=1,
        elem_id=f"memory-{name}",
        min_width=120,
    )


def memory_shown(services: Services, view: View, context: Context, given: Sequence[Any]) -> str:
    """The panel's value for what the page shows now; `given` are the values of the panel's inputs. A dry run that was
    asked about just this counts, and the formula stands beside it."""
    found = inquiry_for(services, view, context, given)
    if isinstance(found, CannotSay):
        return json.dumps(as_json(found))
    formula = found.fitted()
    question = found.question(formula)
    if isinstance(question, CannotSay):
        return json.dumps(as_json(formula) | _as_if_fixed(services, view, context, found))
    of = key_of(question, found.case.made(question))
    asked = found.asked(formula, services.dry_runs.known(of))
    beside = {} if asked.real is formula else _beside(asked)
    return json.dumps(_told(asked.counting, view.text, found.case) | beside | {"of": of})


def _as_if_fixed(services: Services, view: View, context: Context, found: "Inquiry") -> dict[str, Any]:
    """What can be told of a config with errors: the verdict on what their fixes make of it, else which one it hangs on.
    {} where it is not about errors."""
    if isinstance(found.case.model, CannotSay) or mend_first(view.found) is None:
        return {}
    document = read_document(view.text)
    ours = {(one.rule, one.pointer) for one in services.checker.findings(document, context)}
    deepspeeds = [replace(one, fix=None) for one in view.found if (one.rule, one.pointer) not in ours]
    mended = as_fixed(document, view.found, lambda one: [*deepspeeds, *services.checker.findings(one, context)])
    if isinstance(mended, Finding):
        hangs_on = said("memory_cannot", "depends", key=dotted(mended.pointer))
        return {"why": told(hangs_on), "goto": mended.pointer} if mended.pointer else {}
    case = replace(found.case, config=mended.document.value, findings=mended.found)
    fitted = replace(found, case=case).fitted()
    if isinstance(fitted, CannotSay):
        return as_json(fitted)
    repairs = [{"pointer": one.pointer, "text": repair(one)} for one in mended.fixed]
    return as_json(fitted) | {"about": about(fitted), "as_if": repairs}


def _told(fitted: Fitted | CannotSay, text: str, case: Case) -> dict[str, Any]:
    """`never`: that no change of the config makes it fit, where that is known without looking for one."""
    if isinstance(fitted, CannotSay):
        return as_json(fitted)
    never = never_fits(fitted, case)
    told_of = as_json(fitted) | {"about": about(fitted), "asked": asked_of(fitted, text)}
    return told_of | ({"never": no_change_json(never)} if never else {})


def _beside(asked: Asked) -> dict[str, Any]:
    """The formula beside the dry run that counts, and where the two differ."""
    both = isinstance(asked.formula, Fitted) and isinstance(asked.real, Fitted)
    remarks = list(asked.remarks()) or ([said("memory_rehearsal", "agrees")] if both else [])
    return {"formula": as_json(asked.formula), "remarks": [told(one) for one in (*remarks, *asked.reserved())]}


def asked_of(fitted: Fitted, text: str) -> str:
    """The same for the same text and circumstances: what a change was found for."""
    needed = [peak.count for peak in fitted.answer.peaks]
    asked = (text, fitted.question, needed, fitted.room.gpu_bytes, fitted.room.host_bytes)
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What the page shows, and the room there is for it."""

    case: Case
    schema: Schema
    rooms: Callable[[Context, Group], Room]

    def room(self, group: Group) -> Room:
        """What there is for a group of the ranks that are planned."""
        return self.rooms(self.case.context, group)

    def fitted(self) -> Fitted | CannotSay:
        """The verdict by formula."""
        return fit(self.case, self.schema, self.room)

    def question(self, formula: Fitted | CannotSay) -> Question | CannotSay:
        """What can be asked, with a formula or without."""
        return formula.question if isinstance(formula, Fitted) else self.case.question(self.schema)

    def asked(self, formula: Fitted | CannotSay, real: Answer | None) -> Asked:
        """Both verdicts; twice the formula's where there is no other."""
        if real is None:
            return Asked(formula, formula)
        keyed = with_keys(real, formula.answer) if isinstance(formula, Fitted) else real
        return Asked(formula, fit(self.case, self.schema, self.room, lambda question, made: keyed))


def inquiry_for(services: Services, view: View, context: Context, given: Sequence[Any]) -> Inquiry | CannotSay:
    """What the page shows now."""
    names = [field.name for field in fields_of(Part.MODEL)]
    typed, host, *values, loaded = given
    if not view.text.strip():
        return CannotSay(said("memory_cannot", "blank"))
    try:
        document = read_document(view.text)
        choice = model_of(complete(dict(zip(names, values, strict=True))))
    except DocumentError:
        return CannotSay(said("memory_cannot", "mend_json"))
    except PlanError as error:
        return CannotSay(said("memory_cannot", "mend", problem=str(error)))
    nvme = usable(services.nvme_folder(choice.nvme), context)
    if isinstance(nvme, CannotSay):
        return nvme
    typed_words = _words(typed or "")
    choice = choice.over(of_words(typed_words)).over(ModelChoice(model=loaded or ""))
    case = Case(
        document.value, _with_words(context, typed_words), view.found, services.read_model(choice.model), choice
    )
    return Inquiry(case, services.checker.schema, lambda there, group: _room(services, there, group, host, nvme))


def fitted_for(
    services: Services, view: View, context: Context, given: Sequence[Any]
) -> tuple[Case, Fitted] | CannotSay:
    """The verdict by formula on what the page shows, and what it is about."""
    found = inquiry_for(services, view, context, given)
    if isinstance(found, CannotSay):
        return found
    fitted = found.fitted()
    return fitted if isinstance(fitted, CannotSay) else (found.case, fitted)


def _with_words(context: Context, typed: list[str]) -> Context:
    """The script's arguments fill what is `"auto"`, unless others are looked at."""
    if context.arguments is not None or context.integration is Integration.NATIVE or not typed:
        return context
    return replace(context, arguments=from_words(typed))


def _words(typed: str) -> list[str]:
    try:
        return shlex.split(typed)
    except ValueError:
        return []


def _room(services: Services, context: Context, group: Group, host: str | None, nvme: Nvme | None) -> Room:
    machine = services.machine.current()
    gib = host_gib(host)
    return room_of(
        context.hardware,
        machine.host,
        group,
        gpus=machine.gpus,
        host_bytes=gib * GIB if gib else None,
        sharpened=services.sharpened(),
        release=context.release,
        nvme=nvme,
    )
