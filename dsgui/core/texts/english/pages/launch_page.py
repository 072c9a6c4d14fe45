"""Texts of 2 · Launch."""

LAUNCH_PAGE: dict[str, str] = {
    # the plan of 1 · Configure, and what the run has
    "this_machine": "this machine",
    "planned_check": "Checked for something else",
    "planned_differs": "The config is checked for {planned}; this run gets {there}.",
    "planned_refused": "There it would fail: {first}",
    "planned_advice": "Plan for what the run gets in 1 · Configure, or train where the planned one is.",
    "counts_differ": "1 · Configure plans for {planned}; this run has {chosen}.",
    "batches_differ": "1 · Configure plans for {planned}, a batch of {planned_batch}; this run has {chosen}, a "
    "batch of {chosen_batch}.",
    "take_plan": "Use {planned} as planned",
    # the script's arguments, where 1 · Configure shows what the HF Trainer makes of them
    "tool_arguments": "Arguments for the script (as in 2 · Launch)",
    "tool_arguments_note": "One text on both pages: the findings take into account what the script’s TrainingArguments "
    "make of it.",
    "recipe_translation": "Bundled recipe: T5 translates number words (no download)",
    "recipe_summarization": "Bundled recipe: T5 summarizes dialogues (no download)",
    "recipe_lora": "Bundled recipe: Bloom with LoRA follows instructions (no download)",
    "recipe_pretraining": "Bundled recipe: a GPT is pre-trained with deepspeed.initialize (no download)",
    "recipe_classification": "Bundled recipe: hello world, a plain nn.Module tells digits (no download)",
    "recipe_preset": "Load its preset: {title}",
    "own_script": "My own script",
    "usual": "default: wait for GPUs and other hosts, share this machine’s CPU",
    "more": "More: launcher, queue, environment, notifications, port, folder, name",
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
