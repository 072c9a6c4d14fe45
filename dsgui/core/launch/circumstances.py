"""What the config of a run is checked against. The one place that decides it: both pages, a clone and the commands ask
here, so that all of them find the same."""

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import LATEST_KNOWN, Context, Integration
from dsgui.core.launch.plan import Here, Place
from dsgui.core.launch.planned import THIS_MACHINE, Planned
from dsgui.core.machine.hardware import Target

_HERE, _AS_THERE_IS = Here(), Planned()


def run_context(
    target: Target,
    integration: Integration,
    nodes: int,
    gpus_per_node: int,
    *,
    place: Place = _HERE,
    planned: Planned = _AS_THERE_IS,
    arguments: TrainingArguments | None = None,
) -> Context:
    """What is planned counts first, then what the place has. `target` is the environment that trains. `arguments` are
    those that the HF Trainer gets, None while they are not known; natively nobody reads them."""
    own = place.ON_THIS_MACHINE and not planned.hardware
    hardware = place.hardware(target.hardware, planned.hardware)
    return Context(
        integration=integration,
        nodes=nodes,
        gpus_per_node=gpus_per_node,
        deepspeed_version=planned.version or target.version("deepspeed") or LATEST_KNOWN,
        torch_version=target.version("torch"),
        hardware=hardware,
        missing_ops=target.missing_ops if own else frozenset(),
        arguments=arguments if integration is Integration.HF else None,
        device_not_chosen=not place.ON_THIS_MACHINE and planned.device == THIS_MACHINE and not hardware,
        away=not place.COUNTS_GPUS and not hardware,
    )
