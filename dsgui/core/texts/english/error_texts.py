"""Texts of errors: where, what was seen, what was expected, what to do. {field} is a field's label as the page has it.
And why a run can't be resumed."""

from collections.abc import Mapping

ERRORS: Mapping[str, str] = {
    "run.no_universal": "{option}: {path} has no universal checkpoint, but checkpoint.load_universal is true in the "
    "config. Convert one under “After training” on that run’s page, or remove the key.",
    "try.no_prompt": "Prompt: enter the text for the model to continue.",
    "try.long_prompt": "Prompt: {count} characters. Expected at most {most}.",
    "try.template": "Template: {place} is missing. Put it where the prompt goes.",
    "try.number": "{name}: “{typed}” is not valid. Enter a number from {low} to {high}.",
    "try.busy": "A model is answering already, on the page of {run}. Wait for it or end it there.",
    "try.no_weights": "{name} contains no weights that transformers can load. Consolidate it first (dsgui after RUN "
    "consolidate), then try the result.",
    "try.device": "Device: “{typed}” is not known. Use auto, cpu or gpu.",
    "try.base_missing": "Base model: {base} is neither a folder with weights here nor in the local Hugging Face "
    "cache. Enter its folder; nothing is downloaded.",
    "after.shard_size": "Largest file: “{typed}” is not a size. Enter one such as 5GB or 500MB.",
    "after.count": "Keep {name}: “{typed}” is not a whole number. Enter 0 or more.",
    "after.dtype": "Type: “{typed}” is not known. Use fp32 or bf16.",
    "after.exists": "{to} exists already. Choose another folder; nothing is overwritten.",
    "after.no_verb": "{name} can't be used for this: it is incomplete or of another kind. Choose another.",
    "after.no_thing": "“{path}”: this run saved nothing usable under that name. Found: {names}.",
    "after.nothing_usable": "This run has saved nothing that can be used for this. “dsgui after RUN list” shows what "
    "it saved.",
    "after.no_base": "{name}: its adapter_config.json names no base model. Enter the folder of the base model.",
    "after.base_missing": "Base model: {path} is not a folder. Enter the folder of the adapter’s model.",
    "after.same_job": "A job is already writing to {to}. Wait for it or cancel it.",
    "adopted.no_folder": "Folder: nothing was entered. Enter the folder of a training, or its log.",
    "adopted.missing": "{folder}: no such folder or file. Check the path.",
    "adopted.unreadable": "{folder} can't be read ({why}). Check its permissions or choose another.",
    "adopted.own": "{folder}: this is dsgui’s own folder of runs; they are in the list already. Choose another folder.",
    "adopted.nothing": "{folder}: no training was found; {seen}. Expected trainer_state.json, TensorBoard event files, "
    "the tables of DeepSpeed’s csv_monitor, or a training’s log.",
    "adopted.nothing_in": "{folder}: nothing was added. {why}",
    "adopted.long_name": "Name: longer than {most} characters. Enter a shorter one.",
    "adopted.read_only": "{run} was trained elsewhere: dsgui only reads it. It can't be cloned, resumed or changed "
    "here.",
    "adopted.not_adopted": "{run}: dsgui started this run itself. Only runs that were trained "
    "elsewhere can be read again.",
    "adopted.gone": "{folder}: the training is no longer there; it was moved, renamed or deleted. What was read so "
    "far is kept.",
    "browse.denied": "{path}: no permission to read this folder. Choose another, or change its permissions.",
    "browse.gone": "{path}: no such folder. It was moved or deleted, or is a file. Check the path.",
    "browse.unread": "{path}: this folder can't be read ({why}). Choose another.",
    "import.points": (
        "This accelerate YAML contains no DeepSpeed config; it points to {path}. Open that file, or open "
        "the YAML by its path."
    ),
    "import.pointed": "The accelerate YAML points to {path}. {problem}",
    "import.followed": (
        "this is {path}, to which the accelerate YAML points (accelerate looks for it from where it is started)"
    ),
    "import.long_command": "This text has {count} characters; a command line may have at most {most}.",
    "import.no_config": "{path}: no DeepSpeed config was found. {notes}",
    "import.no_run": "{path}: this does not describe a run. Expected settings of LLaMA-Factory, ms-swift, axolotl or "
    "TRL, or a command line that trains. To check a config, use “dsgui validate”.",
    "import.no_training": "No command here starts a training that dsgui knows: deepspeed, accelerate launch, torchrun, "
    "python, llamafactory-cli train, swift sft, axolotl train or trl sft. Paste that command alone.",
    "import.no_json": "The DeepSpeed config in this file contains something JSON can’t express: {why}. Correct it in "
    "the file.",
    "import.no_home": "{path}: no home folder is known for this “~”. Use the full path.",
    "import.too_large": "{path}: larger than {most}. Expected a DeepSpeed config. Choose its file.",
    "import.folder": "{path}: this is a folder. Expected a file with a DeepSpeed config. Choose one.",
    "import.device": "{path}: this is a pipe or a device. Expected a file with a DeepSpeed config. Choose one.",
    "import.not_found": "{path}: file not found{where}. Check the path or use an absolute one.",
    "import.started_in": " in {folder}, where dsgui was started",
    "import.denied": "{path}: permission denied. Change its permissions or choose another file.",
    "import.not_opened": "{path}: this can't be opened ({why}). Expected a plain file. Check the path.",
    "import.no_utf8": "{path}: byte {byte} on line {line} is not text in UTF-8. Save the file as UTF-8.",
    "place.no_home": "No home folder is known: HOME is not set and this user has no entry in /etc/passwd. Set HOME, or "
    "set XDG_DATA_HOME to the folder where dsgui may keep its runs.",
    "preset.gone": "{path}: this preset no longer exists. Reload the page.",
    "preset.unknown": (
        "Preset {id}: no preset is saved here under this id. Expected “user-”, then small letters, "
        "digits and dashes, as the name of a plain file. Pick the preset from the list."
    ),
    "preset.title": "“{title}”: a preset with this title already exists. Choose another title or replace it.",
    "preset.limit": "{folder}: {most} presets is the limit. Remove one first.",
    "preset.folder": "{folder}: can't be read ({why}). Expected a folder of yours.",
    "preset.none": "{path}: this is not a preset. {problem} Repair it, or move it out of the folder.",
    "preset.not_written": (
        "{folder}: can't be written ({why}). Expected a folder of yours with free space. Free some, or "
        "correct the folder's owner and permissions."
    ),
    "preset.text": "text: {seen} was given; expected the config as text.",
    "preset.characters": "{count} characters",
    "preset.line": (
        "{name}: {seen} was given; expected {least} to {most} printable characters on one line. Change the {name}."
    ),
    "preset.title_name": "title",
    "preset.purpose_name": "purpose",
    "preset.integration": "integration: {seen} was given; expected “hf” or “native”.",
    "preset.count": "{name}: {seen} was given; expected a whole number from 1 to {most}.",
    "preset.too_long": "text: {bytes} bytes with its quotes; expected at most {most}. Shorten it.",
    "preset.file_name": "Expected a name such as “user-my-run-1.json”.",
    "preset.no_object": "It contains {seen}; expected a JSON object.",
    "preset.link": "It is a link; expected a plain file.",
    "preset.no_file": "It is a folder, a pipe or a device; expected a plain file.",
    "preset.large": "It has {bytes} bytes; expected at most {most}.",
    # a launch's fields
    "field.no_option": "{field}: “{word}” is not an option. Choose one from the list.",
    "field.no_number": "{field}: “{typed}” was given; expected a whole number up to {most}. Correct it.",
    "script.none": "Enter the path to your training script.",
    "script.folder": "Script: {path} is a folder. Select the training script inside it.",
    "script.missing": "Script: no file at {path}",
    "script.unreadable": "Script: {path} can't be read. Expected a file you may read. Check its permissions.",
    "python.no_program": "Python: {path} is not an executable program. Expected the interpreter that "
    "has DeepSpeed. Start "
    "dsgui with --python PATH.",
    "directory.missing": "Working directory: {path} is not a folder. Expected one that exists. Create it, or leave the "
    "field empty for the run's own folder.",
    "directory.unreadable": "Working directory: {path} can't be opened. Check its permissions or choose another.",
    "path.unusable": "Path “{path}” can't be used ({why}). Expected a path on this machine.",
    "place.nothing_to_check": "{place}: nothing to check before the launch. Press Launch.",
    "port.none_free": "Master port: none of {tries} ports tried is free. Enter one.",
    "port.in_use": "Master port: {port} is in use. Expected a free one. Use {free}, which is free now, or leave the "
    "field empty.",
    "port.outside": "Master port: {port} is outside {lowest} to {highest}. Enter a port in this range, or leave it "
    "empty to use a free one.",
    "notify.address": "Notify: this is not the address of a webhook. Enter one that begins with https:// or http://, "
    "without a user name.",
    "notify.options": "Notify: only secret=… and form=… may stand behind the #, and a form is one of {forms}.",
    "notify.configured": "{why} It stands in {where}.",
    "port.no_number": "Master port: “{typed}” is not a port. Enter a number from 1024 to 65535, or leave it empty.",
    "arguments.unreadable": "Arguments: “{arguments}” can't be parsed ({why}). Quote them as in a shell: close the "
    "quote or escape it with a backslash.",
    "arguments.null": "Arguments: {word} has a null character, which a command line can’t contain. Remove it.",
    "ranks.few": "Ranks: {ranks} is too few. Enter 1 or more, or select a GPU.",
    "ranks.many": "Ranks: {ranks} is more than the limit of {most}. Enter fewer.",
    "ranks.not_the_gpus": "Ranks: {ranks} ranks on {gpus} selected GPUs. Expected one rank per GPU. Select as many "
    "GPUs as ranks.",
    "gpus.twice": "GPUs: {gpus} is not a list of distinct GPU indices. Select each once.",
    "environment.bad_name": "Environment: “{name}” is not a valid environment variable. Expected letters, digits and "
    "underscores, and a value without a null character. Rename or remove it.",
    "environment.marker": "Environment: {name} is how dsgui marks a run's processes. Remove it.",
    "environment.no_equals": "Environment: line {line} has no “=”. Expected NAME=value.",
    # several machines
    "hostfile.empty": "Hostfile: add at least one host, e.g. worker-0 slots=4.",
    "hostfile.unnamed": "Hostfile: replace {hosts} with host names or addresses.",
    "hostfile.twice": "Hostfile: line {line} names {host} again. List each host once.",
    "hostfile.many": "Hostfile: it lists {count} hosts; at most {most} are supported. Remove some.",
    "hostfile.no_host": "Hostfile: line {line} is “{text}”. Expected a host and its number of GPUs, such as “worker-0 "
    "slots=4”; a range is not supported.",
    "hostfile.bad_name": "Hostfile: line {line}: “{host}” is not a valid host name. Expected letters, digits, dots, "
    "dashes and underscores. Put a user or a port into ~/.ssh/config.",
    "hostfile.bad_slots": "Hostfile: line {line}: {host} has {slots} slots. Expected 1 to {most}.",
    "filter.both": "Include and exclude can’t be combined. Clear one of them.",
    "filter.excludes_all": "Exclude: “{text}” excludes every slot. Keep at least one.",
    "filter.unreadable": "{field}: “{text}” can’t be read. Expected hosts with optional slots, such as "
    "“worker-0@worker-1:0,2”.",
    "filter.unknown_host": "{field}: “{host}” is not in the hostfile ({hosts}). Correct the name or add the host.",
    "filter.no_slot": "{field}: {host} has no slot {slot}; the hostfile gives it {count} (0 to {last}). Make them "
    "agree.",
    "ssh.torchrun": "Launcher: torchrun only starts ranks on this machine. Use deepspeed with a hostfile.",
    "ssh.local_gpus": "GPUs: local GPUs and a hostfile can’t be combined. Select GPUs of the hosts with include.",
    "ssh.secrets": "Environment: {names} can’t be passed to other hosts: the launcher writes the variables it "
    "passes on to its log and to command lines that every user there can read. Log in there, or put "
    "it into a file that only you can read and that the script loads.",
    "ssh.path_changed": "Several machines: “{word}” would be altered by the shells on the other hosts, because "
    "DeepSpeed’s launcher passes it unquoted. Paths and addresses may contain only letters, digits "
    "and @+=:,./-_. Put such a value into a file that the script reads, or rename it.",
    "ssh.word_changed": "Several machines: “{word}” would be altered by the shells on the other hosts, because "
    "DeepSpeed’s launcher passes it unquoted. Arguments and variables may contain letters, digits, "
    "spaces and @+=:,./-_. Put such a value into a file that the script reads, or rename it.",
    "ssh.config_not_put": "the config could not be copied to every host ({problems})",
    # Slurm
    "slurm.no_sbatch": "Slurm: there is no sbatch on this machine. Expected a login node of the cluster. Start dsgui "
    "there, or copy the script to it and submit it by hand.",
    "slurm.gpus_selected": "Slurm: GPUs are selected too, but Slurm allocates them. Clear that selection.",
    "slurm.bad_path": "Slurm: “{path}” can’t be used in the directives of a batch script. Expected letters, digits and "
    "@+=:,./-_ only. Rename the folder or choose another.",
    "slurm.out_of_range": "{field}: {count} is out of range. Expected 1 to {most}.",
    "slurm.bad_name": "{field}: “{word}” is not valid. Expected a name such as “gpu”.",
    "slurm.bad_cpus": "{field}: “{word}” can’t be used. Expected a number of cores, such as 16.",
    "slurm.bad_memory": "{field}: “{word}” can’t be used. Expected a whole number and one letter for its unit: K, M, G "
    "or T, such as 64G.",
    "slurm.bad_gpu_type": "{field}: “{word}” can’t be used. Expected the type alone, such as h100.",
    "slurm.type_of_none": "{field}: “{word}” is given, but no GPUs are requested. Request GPUs or clear the type.",
    "slurm.bad_time": "Time limit: “{time}” can’t be read. Expected minutes, or [days-]hours:minutes:seconds, such as "
    "“2-12:00:00”.",
    "slurm.option_unreadable": "Slurm option: “{option}” can’t be used: expected one per line, such as “--qos=high”. "
    "Change or remove it.",
    "slurm.option_set_already": "Slurm option: “{option}” can’t be used: the batch script sets it already. Change or "
    "remove it.",
    "slurm.option_excluded": "Slurm option: “{option}” can’t be used together with {field}. Clear one of them.",
    "slurm.option_type": "Slurm option: “{option}” and {field} must give the same GPU type, or neither one: sbatch "
    "doesn’t take a mix.",
    "slurm.option_per_task": "Slurm option: “{option}” can’t be used: each node has one task, with all of its GPUs. "
    "Expected {count}, as {field} says.",
    # options of the command line that don't go together
    "options.no_count": "“{text}” is not a whole number from {least} to {most}",
    "options.unfinished_word": "Finish `{word}` with a value, e.g. {example}",
    "options.no_seconds": "“{text}” is not a number of seconds from 1 to 86400",
    "options.no_ranks": "“{text}” is not a number of ranks such as 2",
    "options.no_parameters": "“{text}” is not a number of parameters such as 7B or 770M",
    "options.no_gpus": "“{text}” is not a list of GPU indices such as 0,1",
    "options.no_release": "“{text}” is not a release such as {release}",
    "options.need_config": "--script, --ranks, --model and --parameters need --config.",
    "options.of_two_places": "Where it trains: options of “{first}” and “{second}” are given. Expected those of one. "
    "Leave out the others.",
    "file.unreadable": "{what}: {path} can't be read ({why}). Expected {expected} in {folder}.",
    "options.need_hostfile": "--include, --exclude and --master-addr need --hostfile.",
    "options.need_slurm_nodes": "--partition and similar options need --slurm-nodes.",
    "options.slurm_chooses_gpus": "Slurm chooses the GPUs. Leave out --gpus, or --slurm-nodes.",
    "options.slurm_ranks": "--ranks {ranks}: with --slurm-nodes {nodes} and --gpus-per-node {gpus} there is one rank "
    "per GPU, {gpus} per node and {total} in total. Leave out --ranks, or change the others.",
    # runs
    "run.script_moved": "{script} has pointed to another file since this launch was previewed. Preview it again.",
    "run.gpus_in_use": "Not started: {devices} in use by {runs}. Choose another GPU, let it wait in the queue, or stop "
    "that run.",
    "run.devices_in_use": "Not started: {devices} in use by {runs}. Let it wait in the queue, or stop that run.",
    "run.no_supervisor": "Run {run}: its supervisor could not be started ({error}). Try again.",
    "run.supervisor_ended": "Run {run}: its supervisor ended with code {code}: {line} See {log}.",
    "run.cannot_save": "Run {run}: only a run that trains on this machine and was started with --enable_jit_checkpoint "
    "True can save on request. Use Stop.",
    "run.still_starting": "Run {run}: it is still starting and can’t be reached yet. Try again in a moment.",
    "run.nobody_to_ask": "Run {run}: it has ended, or its supervisor is gone, so the request was not sent.",
    "run.may_be_running": "Run {run} may still be running, so it can't be deleted. Stop it first.",
    "run.resume_option": "{option}: {problem}",
    "run.checkpoint": "Run {run}: {problem}",
    "run.no_such_checkpoint": "Run {run}: there is no checkpoint {path} to resume from. {why}",
    "run.no_change": "Run {run}: its diagnosis proposes no change. Use “Clone and edit”.",
    "run.changes_set_aside": "Run {run}: its diagnosis proposes no change. {why} Use “Clone and edit”.",
    "run.problems": "Not started: see the problems above. Fix them, or use --although to launch anyway.",
    "run.plan_unreadable": "Run {run}: {file} can't be read ({why}). Expected what dsgui wrote when the run was "
    "started. Delete the run, or put the file back.",
    "run.not_an_id": "Run “{run}”: not a run id. Expected one like 20260131-235959-0a1b. See the list.",
    "run.started_already": "Run {run} was started already. Follow it, or make a new one on Launch.",
    "run.no_config": "Run {run}: its ds_config.json is no config. Open its folder, or start from a preset.",
    "run.none": "Run {run} was not found in {folder}. It may have been deleted. See the list.",
    "run.many_patterns": "Run {run}: it has {count} patterns, and at most {most} are read.",
    "label.unknown": "“{what}” can't be changed on a run. Expected its name, tags, note or archive.",
    "label.unreadable": "The name, tags or note can't be read: {why}.",
    "label.long_name": "The name has {count} characters; at most {most} are kept. Shorten it.",
    "label.long_tag": "A tag has {count} characters; at most {most} are kept. Shorten it.",
    "label.long_note": "The note has {count} characters; at most {most} are kept. Shorten it.",
    "label.many_tags": "{count} tags; at most {most} are kept. Remove some.",
    "learn.not_written": "{path}: your progress in the tutorials was not written ({why}). Free some space, or make it "
    "writable.",
    "learn.no_track": "There is no tutorial “{track}”. Reload the page.",
    "learn.no_step": "There is no such step or answer in the tutorials: “{step}”. Reload the page.",
    "report.baseline": "The baseline {run} is none of the runs in the report. Expected one of them.",
    "report.many": "A report of {count} runs can't be made. Expected 1 to {most}. Choose fewer.",
    "run.no_id": "Run: the id is empty. Use one from “{dsgui} runs”, the beginning of one, or “last”.",
    "run.not_found": "Run “{run}” not found. See “{dsgui} runs” for the list.",
    "run.several": "Run “{run}”: {count} runs start with it ({runs} …). Type more of the id.",
    # the training environment's DeepSpeed
    "target.other_release": "{path}: checked for DeepSpeed {asked}, but only {installed} is installed and can be "
    "asked. Leave out --target-version, or give the --python that has it.",
    "target.not_asked": "{path}: DeepSpeed {release} could not be asked: {why}.",
    "target.no_deepspeed": "--python: {python} has no DeepSpeed to ask. Use one that does, or "
    "install it there: {python} -m "
    "pip install torch deepspeed",
    "target.no_import": "{python} did not import DeepSpeed within {seconds} s. Ask again.",
    "target.worker_says": "DeepSpeed could not be asked: {python} says {why}. Give an interpreter that has DeepSpeed "
    "(--python).",
    "target.worker_ended": "DeepSpeed could not be asked: {python} ended: {why}. Give an interpreter that has "
    "DeepSpeed (--python).",
    "target.crashed": "DeepSpeed's worker crashed twice. Ask again.",
    "token.weak": "{where}: this token can be guessed or can't be sent: {why}. Use this one: {token}",
    "token.characters": "it has characters other than printable ASCII, or a space",
    "token.short": "it has {count} characters; expected at least {least}",
    "token.repeats": "it repeats a few characters",
    "token.unreadable": "--token-file: {path} can't be read ({why}). Correct the path or its permissions.",
    "token.no_file": "--token-file: {path} is not a plain file. Expected one with the token on its one line.",
    "token.shared": "--token-file: {path} can be read or changed by others. Expected a file of yours alone. Run chmod "
    "600 {path} and, if somebody may have read it, put a new token in it.",
    "token.not_made": "--token-file: {path} can't be created ({why}). Use a file in a folder of yours.",
    "python.missing": "--python: {python} does not exist. Give the interpreter that has DeepSpeed.",
    "python.not_asked": "--python: {python} could not be asked: {why}.",
    "python.ended": "--python: {python} ended with code {code}: {line}.",
    "python.ended_silently": "--python: {python} ended with code {code}: no output.",
    "python.no_json": "--python: {python} answered “{answer}”, which is not JSON.",
    # files and folders
    "file.exists": "{path} already exists. Choose another name or remove it.",
    "file.not_written": "{path} can't be written ({why}). Choose another location.",
    "installation.unreadable": "{file} can't be read. Expected what dsgui is installed with; install it again.",
    "place.of_the_kernel": "{path}: this belongs to the kernel. Expected a plain file or folder. Choose one.",
    "place.outside": "{path}: outside the folders that dsgui may use: {folders}. Move it there, or start dsgui with "
    "--allow {allow}.",
    "place.leads_outside": "{path} (it leads to {real}): outside the folders that dsgui may use: {folders}. Move it "
    "there, or start dsgui with --allow {allow}.",
    "place.no_folder": "--allow: {path} is not a folder. Expected one that exists. Correct the path.",
    "place.no_path": "“{path}” can't be used as a path ({why}). Correct it.",
    "removal.too_deep": "{folder}: its folders are nested too deeply to be checked. Remove it by hand.",
    "removal.not_whole": "{folder}: could not be removed completely ({why}). Check the permissions of what is left in "
    "{left}, and remove it by hand.",
    "removal.link": "{folder}: not a folder of its own (a link, or gone). Nothing was removed; remove it by hand.",
    "runs_folder.not_written": "Runs folder {folder}: can't be written ({why}). Expected a folder of yours with free "
    "space. Give another with --runs-dir, or free some space.",
    # patterns for lines of output
    "pattern.many": "Patterns: at most {most} can be used. Remove one first.",
    "pattern.long": "Pattern: it has {count} characters; the limit is {most}. Keep only the part with the numbers; * "
    "matches any text.",
    "pattern.unpaired": "Pattern, character {at}: a “{brace}” is unpaired. A number is written {{name}}; for the "
    "character itself write {twice}.",
    "pattern.bad_name": "Pattern, character {at}: “{{{name}}}” is not a valid name. A name starts with a letter, "
    "followed by letters, digits and _ . / -, as in {{loss}} or {{eval/accuracy}}.",
    "pattern.no_value": "Pattern: “{text}” has no value to plot. Write {{name}} where a measured number appears, as in "
    "“step {{step}} loss {{loss}}”; step, epoch, rank and total only say where it belongs.",
    "pattern.twice": "Pattern: {{{name}}} appears twice. Give each number its own name.",
    "pattern.adjacent": "Pattern, character {at}: two numbers are adjacent, so it is unclear where the first one ends. "
    "Write the text between them.",
    # the HF Trainer's arguments
    "trainer.long": "The arguments have {count} characters; expected at most {most}.",
    "trainer.bad_json": "The arguments start like a JSON object and can't be read as one: {why}.",
    "trainer.aliases": "The arguments use YAML aliases. Expected a command line (--learning_rate 1e-4 …), a JSON "
    "object or a YAML mapping of arguments without them.",
    "trainer.unreadable": "The arguments can't be read: {why}. Expected a command line (--learning_rate 1e-4 …), a "
    "JSON object or a YAML mapping of arguments.",
    "trainer.no_mapping": "The arguments are “{text}”. Expected a command line (--learning_rate 1e-4 …), a JSON object "
    "or a YAML mapping of arguments.",
}

# Why a run, or a checkpoint of it, can't be resumed from.
RESUMING: Mapping[str, str] = {
    "newest_only": "This script always loads the newest checkpoint of a folder, so earlier ones can’t be chosen.",
    "newest_is_anothers": "It saved {checkpoint}, but this script always loads the newest checkpoint of a folder, and "
    "that is another run’s by now. Resume from that run.",
    "script_unreadable": "It saved {checkpoint}, but the script can’t be read any more, so how it resumes is unknown: "
    "{problem}",
    "option_unused": "The script accepts {option} but never uses it. Let it call "
    "trainer.train(resume_from_checkpoint=training_args.resume_from_checkpoint), then resume from here.",
    "by_itself": "It saved {checkpoint}. The script resumes from its output folder by itself: clone this run.",
    "option_unknown": "It saved {checkpoint}. The script loads checkpoints, but the option that names one can’t be "
    "determined from its source. Clone this run and add that option to the arguments.",
    "call_trainer": "It saved {checkpoint}, but the script has no option to resume. Let it call "
    'trainer.train(resume_from_checkpoint="{path}"), then clone this run.',
    "call_engine": "It saved {checkpoint}, but the script has no option to resume. Let it call "
    'model_engine.load_checkpoint("{folder}") after deepspeed.initialize, then clone this run.',
    "call_accelerate": "It saved {checkpoint}, but the script has no option to resume. Let it call "
    'accelerator.load_state("{path}"), then clone this run.',
    "incomplete": "{checkpoint} is incomplete: the run ended while it was being saved. Resume from an earlier one.",
    "other_ranks": "{checkpoint} was saved with {saved} ranks, but this run would use {ranks}: ZeRO can't repartition "
    "its optimizer states. Use {saved} ranks, or convert it to a universal checkpoint under “After training” on that "
    "run’s page (dsgui after RUN universal) and resume from that.",
    "may_be_removed": "It may have been removed in the meantime.",
    "not_searched": "Checkpoints not searched: {why}",
    "checkpoint_gone": "It logged a checkpoint at step {step}, but no complete one was found, so it can’t be resumed. "
    "Clone it to start over.",
    "no_checkpoint": "No complete checkpoint of this run was found, so it can’t be resumed. Clone it to start over.",
}
