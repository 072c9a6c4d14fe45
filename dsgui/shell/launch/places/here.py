"""This machine alone."""

from dsgui.shell.launch.backend import Backend


class Here(Backend):
    """The supervisor does all of it."""
