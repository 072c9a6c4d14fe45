"""Texts of what is wrong with a run's folder or its supervisor, of files, and of what is missing in the samples."""

from collections.abc import Mapping

TROUBLES: Mapping[str, str] = {
    "deleted": "Its folder was deleted while it ran: its records are no longer kept. The training continues.",
    "moved": "Its folder was moved while it ran; it is now {folder}. Recording continues there.",
    "damaged": "Damaged: {what}.",
    "another_version": "{file} was written by another version of dsgui.",
    "damage_found": "{what}.",
    "more_damage": "And {count} more.",
    "folder_unreadable": "the folder can't be read: {why}",
    "unreadable": "{file} can't be read: {why}",
    "invalid": "{file} has an unexpected value: {seen}",
    "no_file": "{file} is {kind}, where a file was expected",
    "not_shown": "{file} has {bytes} bytes and is not shown",
    "large_points": "{file} has {bytes} bytes; reports and comparisons use the first 256 MiB",
    "strange_points": "{file} contains points of no known curve",
    "suspended": "Its supervisor (process {pid}) is suspended, by SIGSTOP or a debugger: nothing new is recorded, and "
    "the training waits once its output fills the pipe. Resume it with kill -CONT {pid}; Stop works as well.",
    "silent": "Its supervisor (process {pid}) has not answered for {seconds} s: it hangs, or its disk does. Stop ends "
    "the run without it.",
    "end_not_taken": "The run has ended, but its folder can't be written ({why}). Its final state is kept in {place} "
    "until the folder can be written.",
}

# What a file is, and why it can't be read.
FILES: Mapping[str, str] = {
    "file": "a file",
    "folder": "a folder",
    "link": "a link",
    "dead_link": "a link that leads nowhere",
    "pipe": "a named pipe",
    "socket": "a socket",
    "device": "a device",
    "none": "no file",
    "null": "it has a null character",
    "long_header": "{file} has a header of {bytes} bytes",
    "irregular": "{path} is not a regular file but {kind}",
    "too_large": "it has {bytes} bytes; at most {most} are read",
    "large": "{file} is too large",
    "too_deep": "it is nested more than {most} deep",
    "no_object": "it is not a JSON object",
    "key_missing": "{key} is missing",
    "unexpected": "found {seen}; expected {expected}",
    "bad_json": "it is not valid JSON ({why})",
    "anothers_plan": "it is the plan of run {run}",
    "not_writable": "it is not writable",
}

# What the operating system says, by errno's name: `shell/files/refusals.py`.
REFUSALS: Mapping[str, str] = {
    "eperm": "Operation not permitted",
    "enoent": "No such file or directory",
    "eio": "Input/output error",
    "eacces": "Permission denied",
    "ebusy": "Device or resource busy",
    "eexist": "File exists",
    "exdev": "Invalid cross-device link",
    "enotdir": "Not a directory",
    "eisdir": "Is a directory",
    "einval": "Invalid argument",
    "emfile": "Too many open files",
    "enfile": "Too many open files in system",
    "efbig": "File too large",
    "enospc": "No space left on device",
    "erofs": "Read-only file system",
    "enametoolong": "File name too long",
    "eloop": "Too many levels of symbolic links",
    "edquot": "Disk quota exceeded",
    "estale": "Stale file handle",
    "etimedout": "Connection timed out",
    "eaddrinuse": "Address already in use",
    "eaddrnotavail": "Cannot assign requested address",
    "econnrefused": "Connection refused",
    "ehostunreach": "No route to host",
    "enomem": "Cannot allocate memory",
    "enoexec": "Exec format error",
    "enotempty": "Directory not empty",
    "etxtbsy": "Text file busy",
}

# What is seen and what is expected in "unexpected": `core/decoding.py`.
DECODING: Mapping[str, str] = {
    "value": "{it}",
    "object": "an object of {it}",
    "list": "a list of {it}",
    "long_number": "a long number",
    "text": "a text",
    "number": "a number",
    "whole": "a whole number of {it}",
    "list_of_most": "a list of at most {it}",
    "json_number": "a JSON number",
    "state": "the state of a run",
}

# What the samples of a run lack.
SAMPLING: Mapping[str, str] = {
    "no_driver": "No NVIDIA driver found; showing host memory only.",
    "driver_silent": "The NVIDIA driver has not answered since {since}; GPU readings are missing.",
    "driver_failed": "GPU readings failed ({why}).",
    "disk_silent": "The disk of {folder} has not answered since {since}.",
    "slurm_nodes": "The readings are those of this machine. The nodes of a Slurm job are not sampled.",
    "on_node": "{node}: {note}",
    "more_nodes": "The same for {count} more hosts.",
    "node_problem": "{node} provides no readings ({why}).",
    "node_silent": "{node} has not answered since {since}; its readings are missing.",
    "no_ssh": "ssh can't be started ({why})",
    "agent_ended": "its agent ended",
    "ended_with_code": "code {code}",
}

# What holds a GPU's clocks down.
CLOCKS: Mapping[str, str] = {
    "idle": "idle",
    "application": "clocks set by an application",
    "power_cap": "power cap",
    "hardware": "slowed by hardware",
    "sync": "in step with other GPUs",
    "hot_driver": "hot (slowed by the driver)",
    "hot_hardware": "hot (slowed by hardware)",
    "power_brake": "power brake",
    "display": "clocks set for a display",
}
