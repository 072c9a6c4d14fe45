"""What an import from another tool is told as."""

from collections.abc import Mapping

IMPORTED: Mapping[str, str] = {
    "settings": "{tool} settings",
    "command": "a command line of {what}",
    "launched": "a command line of {what}, started with {launcher}",
    "config_at": "DeepSpeed config: {path} (“{named}” in the import)",
    "config_inside": "DeepSpeed config: written inside the import",
    "config_of_options": "DeepSpeed config: as accelerate derives it from the launcher’s options",
    "no_config": "No DeepSpeed config is named; the editor keeps its own (command line: pass --config)",
    "config_unreadable": "DeepSpeed config not loaded from {path}. {problem}",
    "needs_config": "Still needed: the DeepSpeed config {file}. It is not here; open it by its path. "
    "Until then the editor keeps the config it had",
    "stands_in": "DeepSpeed config: {file} is not here. The editor has the preset “{preset}” in its place: the same "
    "ZeRO stage and offload; communication settings may differ. Open the file by its path to use it",
    "needs_named": "Still needed: the DeepSpeed config “{name}”. It is {tool}’s own file {file}; open it by its path. "
    "Until then the editor keeps the config it had",
    "needs_accelerate": "Still needed: the accelerate YAML {file}. It is not here; open it by its path. "
    "Until then the editor keeps the config it had",
    "needs_settings": "Still needed: the settings file {file}. It is not here, so its settings are unknown; open it by "
    "its path",
    "settings_at": "Settings: {path}",
    "settings_unreadable": "Settings not read from {path}. {problem}",
    "needs_script": "Still needed: the script. Enter the path of {tool}’s {file} on 2 · Launch",
    "needs_own_script": "Still needed: the script {file}. Enter its path on 2 · Launch",
    "needs_file": "Still needed: {tool} reads its settings from a file. Enter its path under Arguments on 2 · Launch",
    "arguments": "Training arguments: {arguments}",
    "computed": "Set by {tool} when it starts, so not checked: {names}",
    "defaults_unknown": "Whatever is not set has {tool}’s defaults, which differ by release; they are not checked",
    "ranks": "Ranks per node: {ranks}; nodes: {nodes}",
    "nodes": "Nodes: {nodes}; choose the ranks on 2 · Launch",
    "hosts_at": "Hosts: {path}",
    "hostfile": "Hosts: those of {file}, which is not here",
    "needs_hostfile": "How many nodes there are depends on the hostfile {file}, which is not here",
    "hostfile_unreadable": "Hosts not read from {path}. {problem}",
    "ranks_alone": "Ranks per node: {ranks}",
    "config_written": "DeepSpeed config: {file}, as the script itself writes it",
    "settings_written": "Settings: {file}, as the script itself writes it",
    "written_unknown": "{file} was not read: the script itself writes it, with values that only a shell can tell: "
    "{names}",
    "depends": "Depends on a condition that only a shell can tell, so check it: {what}",
    "in_front": "Left out in front of the launcher: {what}",
    "choose_nodes": "Choose the hosts on 2 · Launch",
    "passed": "Passed to {tool} unchanged: {names}",
    "cut": "A shell would end the command before {option}: a comment stands there, “\\” is missing, or a blank follows "
    "it. dsgui reads the rest as part of the command",
    "unread": "Not understood: {what}",
    "and_more": "{names} and {count} more",
    "opened": "Opened {name}: {kind}. 2 · Launch is filled in; nothing is started.",
    "told": "{name}: {kind}",
    "start_with": "Start it with:",
    "pasted": "the pasted text",
    "paste": "Import from LLaMA-Factory, ms-swift, axolotl, TRL or a shell",
    "paste_label": "YAML or command line",
    "paste_hint": "accelerate launch --config_file zero2.yaml train.py --bf16 True …",
    "paste_open": "Import",
    "enter_text": "Paste a YAML or a command line first.",
    "is_run": "This is {kind}. Paste it under “{button}” below the editor: that also fills in 2 · Launch.",
}
