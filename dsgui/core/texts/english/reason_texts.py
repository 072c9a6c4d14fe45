"""Texts of why a run is in its state: sentences, and the parts that {told}, {left}, {elsewhere}, {ended} and {signal}
stand for."""

REASONS = {
    # of a training that dsgui did not start
    "trained_elsewhere": "Trained elsewhere: dsgui reads {folder} and changes nothing in it.",
    "no_times": "Its files contain no usable times, so its curves are drawn by step or epoch.",
    "log_tells": "Its log ends with a failure{told}",
    # before it starts
    "waits_for_run": "Waits for {devices}: run “{name}” ({run}) comes first.",
    "waits_for_runs": "Waits for {devices}: run “{name}” ({run}) and {count} more come first.",
    "not_started": "It could not be started: {error}.",
    "no_memory_for_state": "It could not be started: there is no memory for its state. See supervisor.log.",
    "stopped_before_start": "Stopped before it started.",
    # how it ended
    "ended_with_code": "Ended with exit code {code}{told}",
    "ended_with_unknown_code": "It ended with an unknown exit code, since dsgui's own processes were killed too{told}",
    "only_ended": "Ended with an unknown exit code.",
    "only_ended_with_code": "Ended with exit code {code}.",
    "ranks_did_not_end_well": "The launcher ended with exit code 0, but {missing} of its {ranks} "
    "rank processes did not exit "
    "cleanly{told}",
    "launcher_asked_to_exit": "Something outside dsgui asked the launcher to exit{told}",
    "rank_killed": "Rank {rank} was killed by {signal}{told}",
    "process_killed": "A process was killed by {signal}{told}",
    "aborted_at_shutdown": "Training finished; then a process aborted (SIGABRT) during Python's shutdown, which "
    "happens when a script ends without torch.distributed.destroy_process_group().",
    "one_left_behind": "1 process it left behind was ended.",
    "some_left_behind": "{count} processes it left behind were ended.",
    "with_error": ": {error}",
    "with_error_on": " on {machine}: {error}",
    "with_meaning": ". {meaning}",
    "with_last_line": ". The last line of its output: “{line}”.",
    "with_last_line_on": " on {machine}. The last line of its output: “{line}”.",
    "with_nothing": ", without any message.",
    "with_nothing_on": " on {machine}, without any message.",
    "signal": "signal {number}",
    "signal_named": "{name} (signal {number})",
    # stopped
    "save_asked": "Asked to save a checkpoint and exit; Stop ends it without saving.",
    "saved": "It saved and exited as requested.",
    "may_not_signal": "dsgui is not allowed to signal processes {pids}, which run as another user. End them as that "
    "user; the run ends with them.",
    "not_exiting": "Processes {pids} don't exit even after SIGKILL; waiting for the kernel.",
    "only_stopped": "Stopped on request.",
    "stopped": "Stopped on request: {left}.",
    "stopped_after": "Stopped at its limit of {limit}: {left}.",
    "limit_steps": "{steps} steps",
    "limit_minutes": "{minutes} minutes",
    "limit_at": "{limit} (step {step})",
    "nothing_left": "no processes are left{elsewhere}",
    "processes_left": "processes {pids} are left{elsewhere}",
    "gpu_memory_free": "{left}, and none holds GPU memory",
    "gpu_memory_held": "{left}, but processes {pids} still hold GPU memory",
    "nowhere_else": "",
    "here_or_on": " here or on {hosts}",
    "host_not_asked": "{elsewhere}; {host} could not be asked ({problem})",
    "left_on_host": "{elsewhere}; on {host} processes {pids} are left",
    "stopped_without_supervisor": "Its supervisor was gone; Stop ended {ended}: no processes are left{elsewhere}.",
    "stopped_with_supervisor": "Its supervisor did not answer and was killed (process {pid}); Stop ended {ended}: no "
    "processes are left{elsewhere}.",
    "these_processes": "processes {pids}",
    "nothing_here": "nothing on this machine",
    # something is wrong with dsgui's own part
    "disk_refuses": "The disk is full or refuses writes: parts of this run's records are missing. The training itself "
    "is not affected.",
    "supervisor_failed": "dsgui's supervisor failed: {error}. See supervisor.log.",
    "records_missing": "Records of it are missing: dsgui's supervisor failed: {error}. See supervisor.log.",
    "supervisor_gone": "Its supervisor is gone and no process is left; how it ended is unknown. See its output.",
    "supervisor_gone_one_runs": "Its supervisor is gone, 1 process still runs; Stop ends it.",
    "supervisor_gone_some_run": "Its supervisor is gone, {count} processes still run; Stop ends them.",
    "machine_restarted": "The machine was restarted during this run.",
    "end_unknown": "How it ended is not known.",
    "some_still_run": "{count} of its processes still run; Stop ends them.",
    "state_is": "Its state is “{state}”.",
}
