"""Texts of 2 · Launch."""

LAUNCH_PAGE: dict[str, str] = {
    "recipe_translation": "Bundled recipe: T5 translates number words (no download)",
    "own_script": "My own script",
    "usual": "default: wait for GPUs and other hosts, share this machine’s CPU",
    "more": "More: launcher, queue, environment, port, folder, name",
    "if_busy_on_cpu": "If another run is active",
    "gpu": "{index}: {name}",
    "gpu_used": "{used} of {total} in use",
    "gpu_by": "by run {runs}",
    "quoted": "“{name}”",
    "check_machines": "Check machines",
    "incomplete": "The launch is incomplete: see the message above the command.",
    "host_checked": "1 host checked: {summary}",
    "hosts_checked": "{count} hosts checked: {summary}",
    "command": "The command, exactly as it will run",
    "undo": "Undo",
    "anyway": "Launch anyway",
    "launch": "Launch",
    "uses_own": "The script uses its own config, not the one from 1 · Configure.",
    "gets_none": "The script doesn’t get this config.",
    "reads_hf": "This script uses the HF Trainer, so it is checked for that; 1 · Configure checks it for the "
    "other framework.",
    "reads_native": "This script uses native DeepSpeed, so it is checked for that; 1 · Configure checks it for "
    "the other framework.",
    "config_unreadable": "The config from 1 · Configure **can’t be read: see below.**",
    "config_refused": "The config from 1 · Configure, checked for {devices}: **{judge} would refuse it: see below.**",
    "config_by_arguments": "The config from 1 · Configure, checked for {devices}, **fails with the script’s "
    "arguments: see below.**",
    "config_verdict": "The config from 1 · Configure, checked for {devices}: {verdict}.",
    "nothing_to_report": "nothing to report",
    "settings_changed": "**Not started.** The settings changed while this command was being built. Review the "
    "new command, then press Launch again.",
    "nothing_yet": "Nothing to launch yet: see the message above.",
    "not_started": "**Not started.** {why}",
    "started": "Started run {run}.",
    "preflight": "Pre-flight: {summary}",
}
