"""What dsgui does at each place where a run can train. The places themselves are in `dsgui/core/launch/where.py`, by
the same names."""

from collections.abc import Mapping

from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import Here as ThisMachine
from dsgui.core.launch.plan import Plan
from dsgui.shell.launch.backend import Backend
from dsgui.shell.launch.places.here import Here
from dsgui.shell.launch.places.slurm import Slurm
from dsgui.shell.launch.places.ssh import Ssh

BACKENDS: Mapping[str, Backend] = {ThisMachine.NAME: Here(), Machines.NAME: Ssh(), SlurmJob.NAME: Slurm()}


def backend_of(plan: Plan) -> Backend:
    """Of the place where the plan trains."""
    return BACKENDS[plan.place.NAME]
