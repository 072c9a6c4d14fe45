"""What the server answers to requests that are none, what an installation lacks, and what Slurm is told."""

from collections.abc import Mapping

REQUESTS: Mapping[str, str] = {
    "json": "Expected JSON.",
    "object": "Expected an object with {keys}.",
    "session": "session_hash: expected up to 64 letters and digits.",
    "number": "fn_index: expected the number of an event of this page.",
    "trigger": "trigger_id: expected a whole number.",
    "event_data": "event_data: expected nothing as large as this, and no file.",
    "data": "data: expected a list of {count} values.",
    "value": "data[{place}]: not a value that this page's {kind} has.",
    "no_upload": "This file is no longer available. Upload it again.",
    "file": "Expected a file.",
    "one_file": "Expected one file in a form upload.",
    "large_file": "Expected a config of at most {most} MiB.",
    "file_name": "Expected a file called {endings}.",
    "cursor": "Invalid cursor. Reload the page.",
    "no_plotly": "The plotly package is missing. Reinstall dsgui with its [app] extra.",
    "no_file": "No such file.",
    "no_end": "A part of the request has no end.",
    "missing": "{program} needs {package}, which is not installed here. {how}",
    "make_setup": "Run “make setup” in {folder}, and start dsgui with its .venv/bin/python.",
    "install": "Install it with: {command}",
}

SLURM: Mapping[str, str] = {
    "nodes_of_job": "the nodes of Slurm job {job}",
    "ranks_per_node": "Ranks per node",
    "not_cancelled": "Slurm was asked to cancel it but has not done so yet",
    "scancel_ended": "scancel ended with code {code}",
}
