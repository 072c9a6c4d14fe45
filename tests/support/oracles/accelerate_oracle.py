"""Asks the real accelerate what `accelerate launch --config_file F` makes of each YAML named on the command line.

Prints the DeepSpeed config of its plugin as JSON, or the error, one line a file."""

import json
import os
import sys

os.environ["DS_ACCELERATOR"] = "cpu"
answers, sys.stdout = sys.stdout, sys.stderr

from accelerate.commands.launch import _validate_launch_command, launch_command_parser  # noqa: E402
from accelerate.utils import DeepSpeedPlugin  # noqa: E402
from accelerate.utils.launch import prepare_deepspeed_cmd_env  # noqa: E402


def launched_environment(path):
    """As `accelerate.commands.launch.launch_command` prepares it, up to the start of the process."""
    arguments = launch_command_parser().parse_args(["--config_file", path, "--main_process_port", "0", "train.py"])
    arguments, defaults, precision_from_file = _validate_launch_command(arguments)
    fields = list(defaults.deepspeed_config) + ["mixed_precision"] * precision_from_file
    arguments.deepspeed_fields_from_accelerate_config = ",".join(fields)
    return prepare_deepspeed_cmd_env(arguments)


def answer(path):
    for name in [name for name in os.environ if name.startswith("ACCELERATE_")]:
        del os.environ[name]
    try:
        command, environment = launched_environment(path)
        os.environ.update({name: text for name, text in environment.items() if name.startswith("ACCELERATE_")})
        plugin = DeepSpeedPlugin()
        plugin.set_mixed_precision(environment["ACCELERATE_MIXED_PRECISION"])
    except Exception as error:  # noqa: BLE001 — whatever accelerate raises is the answer
        return {"error": f"{type(error).__name__}: {error}"}
    plugin.deepspeed_config.pop("steps_per_print")  # infinity
    return {"config": plugin.deepspeed_config, "command": command, "zero3_init": plugin.zero3_init_flag}


for path in sys.argv[1:]:
    print(json.dumps(answer(path)), file=answers, flush=True)
