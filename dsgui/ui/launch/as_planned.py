"""Nodes and GPUs per node on 2 · Launch start as 1 · Configure plans them, and stay the user's once they are changed;
where the two differ, a sentence says so, and a button takes the plan's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context
from dsgui.core.errors import DocumentError
from dsgui.core.launch.field import Part
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import Place
from dsgui.core.launch.planned import Planned
from dsgui.core.launch.recipes import RECIPES
from dsgui.core.launch.run_fields import BY_NAME as BY_FIELD
from dsgui.core.launch.run_fields import OWN_SCRIPT, fields_of
from dsgui.core.launch.where import BY_NAME, PLACES, placeholders
from dsgui.core.machine.hardware import Target
from dsgui.core.texts.saying import words
from dsgui.core.validation.resolve import global_batch
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import in_browser
from dsgui.ui.common.events import LOCAL, ONCE
from dsgui.ui.config.context_bar import ContextBar
from dsgui.ui.config.workbench import MAX_RANKS
from dsgui.ui.launch.desk import Desk

_KEPT = (Part.WHAT, Part.WHERE, Part.PLACE, Part.DEVICES, Part.MORE)
_NOT_KEPT = ("environment", "notify", "ranks")  # which may be secrets, or stand on 1 · Configure as well


@dataclass(frozen=True, slots=True)
class Differs:
    """What is said of it, and what the buttons say: the one that makes the run as it is planned `offers`, the one that
    `plans` as the run is; all "" where these are alike. `within`: a button among the checks presses the first, which is
    not shown itself."""

    says: str = ""
    offers: str = ""
    plans: str = ""
    within: bool = False


def compared(text: str, planned: Context, chosen: Context, place: Place, gpus_here: int) -> Differs:
    """The run against the plan, with the batch size of each."""
    if (planned.nodes, planned.gpus_per_node) == (chosen.nodes, chosen.gpus_per_node):
        return Differs()
    given = {"planned": planned.devices, "chosen": chosen.devices}
    first, second = _batch(text, planned), _batch(text, chosen)
    offers = ""
    drops_hosts = isinstance(place, Machines) and planned.nodes < chosen.nodes  # which somebody named
    if not drops_hosts and (not place.ON_THIS_MACHINE or (planned.nodes == 1 and planned.gpus_per_node <= gpus_here)):
        offers = words("launch_page", "take_plan", planned=planned.devices)
    plans = words("launch_page", "plan_as_run", chosen=chosen.devices)
    if not first or not second or first == second:
        return Differs(words("launch_page", "counts_differ", **given), offers, plans)
    batches = {"planned_batch": first, "chosen_batch": second}
    return Differs(words("launch_page", "batches_differ", **given, **batches), offers, plans)


def fills_in(asked: Mapping[str, Any], *, within: bool) -> Differs:
    """Offers a hostfile of the machines that are planned, where there is none yet."""
    nodes, gpus = as_count(asked["planned_nodes"]), as_count(asked["planned_gpus"])
    if asked["where"] != Machines.NAME or nodes < 2 or str(asked["hostfile"] or "").strip():
        return Differs()
    code = "fill_hosts" if gpus > 1 else "fill_hosts_one"
    return Differs(offers=words("launch_page", code, nodes=str(nodes), slots=str(gpus)), within=within)


def planned_for(asked: Mapping[str, Any], target: Target) -> str:
    """Says for what it is planned, where that is another device than the one of this machine and the run would train
    here, or where it is a CPU and a job requests GPUs; else ""."""
    hardware = Planned(str(asked["device"])).hardware
    if asked["where"] == SlurmJob.NAME and not asked["slurm_on_cpu"]:
        on_cpu = hardware[0].vendor == "cpu" if hardware else not target.gpus
        return words("launch_page", "planned_no_gpu") if on_cpu else ""
    if not hardware or not BY_NAME[asked["where"]].ON_THIS_MACHINE:
        return ""
    counts = [as_count(asked["planned_nodes"]), as_count(asked["planned_gpus"])]
    named = [*(str(count) for count in counts[counts[0] == 1 :]), hardware[0].title]
    code = "planned_for" if target.gpus or hardware[0].vendor == "cpu" else "planned_for_gpus"
    return words("launch_page", code, planned=" × ".join(named))


def _batch(text: str, context: Context) -> str:
    """What `train_batch_size` becomes; "" where only a script knows."""
    try:
        size = global_batch(read_document(text).value, context)
    except DocumentError:
        return ""
    return "" if size is None else f"{size:,}"


def wire_as_planned(desk: Desk, bar: ContextBar, take: gr.Button, target: Target) -> None:
    """The fields that follow the plan do so until somebody changes one, and what the empty ones show always does;
    `take` sets what the place chosen has to the plan's."""
    plan, planned = [bar.nodes, bar.gpus], [bar.nodes.change, bar.gpus.change]
    for kind in PLACES:
        ids = [field.id for field in kind.FIELDS if field.name in kind.FOLLOWS]
        follow = in_browser("launch/as_planned", "follow", MAX_RANKS, ids)
        if ids:
            gr.on(planned, None, plan, [desk[name] for name in kind.FOLLOWS], js=follow, **LOCAL)

    def shown(nodes: float | None, gpus: float | None) -> dict[gr.Textbox, gr.Textbox]:
        texts = placeholders(as_count(nodes), as_count(gpus))
        return {desk[name]: gr.Textbox(placeholder=text) for name, text in texts.items()}

    def taken(nodes: float | None, gpus: float | None, where: str, *held: Any) -> tuple[Any, ...]:
        kind, values = BY_NAME[where], dict(zip(names, held, strict=True))
        new = kind.as_planned(as_count(nodes), as_count(gpus), values)
        new |= {"gpus": _chosen(target, values["gpus"], as_count(gpus))} if kind.ON_THIS_MACHINE else {}
        return tuple(new.get(name, gr.skip()) for name in names)

    names = [*(field.name for kind in PLACES for field in kind.FIELDS), "gpus"]
    gr.on(planned, shown, plan, [desk[name] for name in placeholders(1, 1)], **ONCE)
    inputs = [desk[name] for name in names]
    take.click(taken, [*plan, desk["where"], *inputs], inputs, **ONCE)


def wire_plan_as_run(bar: ContextBar, replan: gr.Button, previewed: gr.State) -> None:
    """`replan` has 1 · Configure plan for what is `previewed`."""

    def plan_as_run(made: Any) -> tuple[Any, Any]:
        plan = getattr(made, "plan", None)
        if plan is None:
            return gr.skip(), gr.skip()
        nodes = max(plan.place.nodes, 1)
        return nodes, max(plan.ranks // nodes, 1)

    replan.click(plan_as_run, [previewed], [bar.nodes, bar.gpus], **ONCE)


def wire_own_script(desk: Desk, *events: Any) -> None:
    """Where a model is planned, no recipe trains it: a script of one's own is chosen, unless somebody chose the
    recipe."""
    script, field = (OWN_SCRIPT, BY_FIELD["what"].id), BY_FIELD["model"].id
    planned = in_browser("launch/as_planned", "scriptFor", *script)
    typed = in_browser("launch/as_planned", "scriptOnceTyped", field, *script)
    for event, js in (*((one, planned) for one in events), (desk["model"].change, typed)):
        event(None, [desk["model"]], [desk["what"]], js=js, **LOCAL)


def wire_recipe(desk: Desk, bar: ContextBar) -> None:
    """While nobody chose a recipe, it is the first of the framework that is configured: another would be refused."""
    firsts = {one.takes.integration.value: (one.name, one.arguments) for one in reversed(RECIPES)}
    js = in_browser("launch/as_planned", "recipeFor", firsts, BY_FIELD["what"].id)
    held = [desk[name] for name in ("what", "model", "arguments", "parent")]
    bar.integration.change(None, [bar.integration, *held], [desk["what"], desk["arguments"]], js=js, **LOCAL)


def keep_over_reload(desk: Desk, recalled: Any) -> None:
    """What stands on the page, but for variables and addresses, which may be secrets. `recalled`: an event after which
    the config is what it was."""
    kept = [field for part in _KEPT for field in fields_of(part) if field.name not in _NOT_KEPT]
    fields, ids = [desk[field.name] for field in kept], [field.id for field in kept]
    remember = in_browser("launch/kept_desk", "remember")
    gr.on([field.change for field in fields], None, fields, None, js=remember, **LOCAL)
    recalled(None, fields, fields, js=in_browser("launch/kept_desk", "recall", ids), **LOCAL)


def as_count(value: float | None) -> int:
    """What is empty or out of range counts as 1."""
    return min(max(int(value or 1), 1), MAX_RANKS)


def _chosen(target: Target, chosen: Sequence[str], count: int) -> list[str]:
    """That many of this machine's GPUs, those chosen already first."""
    known = [str(gpu.index) for gpu in target.gpus]
    return sorted([*(one for one in known if one in chosen), *(one for one in known if one not in chosen)][:count])
