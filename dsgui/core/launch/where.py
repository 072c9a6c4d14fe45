"""All places where a run can train. What dsgui does there is in `dsgui/shell/launch/where.py`, under the same names."""

from collections.abc import Mapping

from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import Here, Place

# As the page offers them. The first is meant where nothing else is said.
PLACES: tuple[type[Place], ...] = (Here, Machines, SlurmJob)
BY_NAME: Mapping[str, type[Place]] = {kind.NAME: kind for kind in PLACES}


def placeholders(nodes: int, per_node: int) -> dict[str, str]:
    """What empty fields of all these places show where so much is planned, by their names."""
    return {name: text for kind in PLACES for name, text in kind.placeholders(nodes, per_node).items()}
