"""Texts of checks before a start, of a launch's config, script and arguments: what was seen, what to do about it, and
what one click does. {argument} is what the script is given, {words} what a program prints then."""

from collections.abc import Mapping

LAUNCH_VERDICTS: Mapping[str, str] = {
    # the config
    "config.own": "The script uses its own config, so findings about this one don't block the launch.",
    "config.none": "The script gets no config, so findings about this one don’t block the launch.",
    "config.of_script": "In the config that the script reads:",
    "config.filled": "The script writes these keys itself: {keys}.",
    "config.filled_key": "{key} (line {line})",
    "config.unreadable": "It can't be read.",
    "config.refused": "DeepSpeed would refuse it on {devices}: {first}",
    "config.refused_and_more": "DeepSpeed would refuse it on {devices}: {first} (and {more} more)",
    "config.trainer_refuses": "The HF Trainer would refuse it on {devices}: {first}",
    "config.trainer_refuses_and_more": "The HF Trainer would refuse it on {devices}: {first} (and {more} more)",
    "config.warned": "Checked for {devices}: {first}",
    "config.warned_and_more": "Checked for {devices}: {first} (and {more} more)",
    "config.checked": "checked for {devices}",
    "config.if_read": "This counts if the script reads this config.",
    "agreement.several": "{count} values of the config differ from the HF Trainer’s arguments. It stops with “{words} "
    "…”, and names each.",
    "agreement.differs": "{key}: {seen} in the file, {wanted} from the arguments.",
    "agreement.differs_there": "{key}: {seen} in the file, {wanted} from the arguments ({place}).",
    "agreement.default": "{key}: {seen} in the file, {wanted} by the HF Trainer’s default.",
    # the script
    "script.found": "{path}",
    "script.unreadable": "{path} can't be read as Python: {why}.",
    "script.newer_python": "The training environment’s is newer and may accept it.",
    "twice.no_value": "{option} has no value in the arguments: argparse ends with exit code 2, “expected one "
    "argument”.",
    "twice.given": "{option} is given twice: as {typed} in the arguments, and for this config. The last one counts, "
    "which is this config.",
    "asks_for_cuda.call": "line {line}: {call}",
    "asks_for_cuda.more": "and {count} more",
    "asks_for_cuda.found": "The script asks for a CUDA GPU ({calls}), and there is none here: it fails when it "
    "reaches such a line.",
    "tf32.cpu": "The HF Trainer stops at --tf32 on the CPU: “--tf32 requires Ampere or a newer GPU arch”.",
    "tf32.older": "{gpu} is older than Ampere, and the HF Trainer stops: “--tf32 requires Ampere or a newer GPU arch”.",
    "use_cpu.given": "given",
    "use_cpu.bf16": "Without it the HF Trainer stops at --bf16: “Your setup doesn't support bf16/gpu”.",
    "use_cpu.batch_of_one_rank": "Without it each of the {ranks} ranks acts as the only one, and DeepSpeed stops at a "
    "train_batch_size made for one rank.",
    "use_cpu.all_of_the_data": "Without it each of the {ranks} ranks acts as the only one, so every rank trains on all "
    "of the data.",
    "local_rank.torchrun": "torchrun passes none",
    "local_rank.taken": "the script takes it, or has no parser that would stop at it",
    "local_rank.not_passed": "the script doesn't accept it, so the launcher doesn't pass it (--no_local_rank)",
    "stage_3.argument": "{name}= in line {line}",
    "stage_3.refused": "{arguments} with ZeRO-3: transformers raises “{words}”",
    "stage_3.refused_if_set": "{arguments} with ZeRO-3: where it is set, transformers raises “{words}”",
    "stage_3.refused_before": "{arguments} with ZeRO-3: where it is set and transformers is older than {release}, "
    "transformers raises “{words}”",
    "stage_3.nothing_refused": "from_pretrained is given nothing that ZeRO-3 refuses",
    # how the script gets its config
    "takes_config.another_way": "The script is given {argument}, but its source suggests another way ({because}).",
    "takes_config.source_names": "its source names --deepspeed",
    "takes_config.parser_names": "its parser names --deepspeed",
    "takes_config.no_command_line": "The script doesn’t seem to read a command line; it is given {argument}.",
    "takes_config.names_none": "The script reads a command line and names no --deepspeed itself; it is given "
    "{argument}. Unless another file adds the option, it stops with exit code 2.",
    "takes_config.lets_pass": "The script lets unknown arguments pass; whether it reads its config from --deepspeed "
    "can't be determined.",
    "takes_config.by_trainer": "HfArgumentParser, or TRL's: it takes {argument}",
    "takes_config.by_deepspeed": "argparse with deepspeed.add_config_arguments: it takes {argument}",
    "takes_config.by_argparse": "argparse, made and filled in this file: it takes {argument}",
    "takes_config.by_fire": "python-fire, with a function of this file: it takes {argument}",
    "takes_config.refused": "The script is given {argument} and ends with exit code 2: “{words}”.",
    "takes_config.dataclasses_let_pass": "The script lets arguments that its dataclasses do not have pass; what it "
    "does with them is unknown.",
    "takes_config.not_in_dataclasses": "The script is given {argument}, which none of its dataclasses has: it ends "
    "with “Some specified arguments are not used by the HfArgumentParser: {words}”.",
    "takes_config.foreseen": "{because}; it is given {argument}",
    "takes_config.override_unseen": "It is given deepspeed=FILE; whether the script reads it there can't be determined "
    "from its source.",
    "takes_config.accelerate_unseen": "The environment points accelerate to the config; whether the "
    "script reads it there can't be "
    "determined from its source.",
    "takes_config.lightning_unseen": "The environment points Lightning to the config; whether the "
    "script reads it there can't be "
    "determined from its source.",
    "takes_config.placeholder": "{placeholder} among the arguments stands for the config’s path",
    "takes_config.placeholder_in_variable": "{placeholder} in an environment variable stands for the config’s path",
    "takes_config.without_deepspeed": "{call}, and {variable} is not set: the run would train without DeepSpeed.",
    "takes_config.given_nothing": "{call}, and {variable} is not set: the script gets no config.",
    "takes_config.variable_unset": "{call}, and {variable} is not set: the script ends there, or gets no config.",
    "takes_config.variable_perhaps": "{call}, and {variable} is not set: the script gets no config, unless a file that "
    "it imports sets {variable}.",
    "takes_config.own_option": "The script takes its config from {option}, which is not among the arguments.",
    "takes_config.file_names_it": "The script reads the HF Trainer’s arguments from a file, and its config is the one "
    "that “deepspeed” names there.",
    "takes_config.file_names": "The script reads the config that “deepspeed” names in {path}, {config}, not this one.",
    "takes_config.file_names_none": "{path} names no “deepspeed”: the run would train without DeepSpeed.",
    "takes_config.file_names_same": "“deepspeed” in {path} names {config}, which is the same config",
    "takes_config.finds_it": "The script finds its config itself; only {variable} in its environment names this one.",
    "takes_config.names_this": "{call}, which names this config",
    "takes_config.from_option": "the script reads {config}, from {option}",
    "takes_config.same": "{call}, which is the same config",
    "takes_config.another": "The script reads a config of its own ({call}), not this one.",
    "takes_config.another_differs": "The script reads a config of its own ({call}), not this one; they differ in "
    "{keys}.",
    "takes_config.another_differs_more": "The script reads a config of its own ({call}), not this one; they differ in "
    "{keys} and {more} more.",
    "accelerate.cpu": "--cpu: with Accelerator(cpu=True) accelerate trains without DeepSpeed.",
    "accelerate.two_optimizers": "Both the config and the script have an optimizer; accelerate stops: “You cannot "
    "specify an optimizer in the config file and in the code at the same time.”",
    "accelerate.two_schedulers": "Both the config and the script have a scheduler; accelerate stops: “You cannot "
    "specify a scheduler in the config file and in the code at the same time.”",
    "accelerate.made_once": "config and script do not both make the optimizer or the scheduler",
    "accelerate.auto_batch": "Without a GPU accelerate treats each of the {ranks} ranks as the only one: “auto” for "
    "train_batch_size becomes the batch of one rank, and DeepSpeed, which counts {ranks}, refuses it.",
    "accelerate.gather_fails": "Without a GPU accelerate treats each of the {ranks} ranks as the only one: each trains "
    "on all of the data, and gather fails for the other ranks.",
    "accelerate.all_of_the_data": "Without a GPU accelerate treats each of the {ranks} ranks as the only one: each "
    "trains on all of the data.",
    # its arguments
    "options.all": "all of {count}",
    "options.more": "And {count} more.",
    "options.several": "{count} of the arguments don’t fit the script.",
    "options.line": "{seen} {advice}",
    "options.ends": "The script ends with exit code 2.",
    "options.ends_with": "The script ends with exit code 2, “{words}”.",
    "options.ends_not_used": "The script ends with “Some specified arguments are not used by the HfArgumentParser: "
    "{words}”.",
    "options.unknown": "{option} is not an option of this script.",
    "options.unknown_to_release": "{option} is not an option of this script with transformers {release}.",
    "options.loose": "“{word}” does not belong to any option.",
    "options.ambiguous": "{option} is ambiguous: {options}.",
    "options.takes_none": "{option} takes no value.",
    "options.takes_none_behind": "{option} takes no value behind it.",
    "options.value_like_option": "{option} has no value: argparse takes {value} for an option.",
    "options.no_value": "{option} has no value.",
    "options.few_values": "{option} has too few values.",
    "values.refused": "{option} doesn’t have the value {value}: the script ends with exit code 2, “{words}”.",
    "values.refused_there": "{option} doesn’t have the value {value} ({place}): the script ends with “{words}”.",
    "arguments_file.beside": "The script reads {path} only if it is the only argument, but it is "
    "also given {words}: it "
    "ends with “Some specified arguments are not used by the HfArgumentParser: ['{path}']”.",
    "arguments_file.beside_both": "The script reads {path} only if it is the only argument, but it "
    "is also given {config} and "
    "--local_rank: it ends with “Some specified arguments are not used by the HfArgumentParser: "
    "['{path}']”.",
    "arguments_file.unreadable": "{path}: {problem}. The script can’t read its arguments there, and ends.",
    "arguments_file.no_names": "expected the arguments’ names, each with its value",
    "arguments_file.in_line": "line {line}: {words}",
    "arguments_file.found_one": "{path}: 1 argument",
    "arguments_file.found": "{path}: {count} arguments",
    "arguments_file.unknown": "{path} names {keys}, which the script does not have.",
    "arguments_file.ends": "{path} names {keys}, which the script does not have. It ends with “Some keys are not used "
    "by the HfArgumentParser: {words}”.",
    "files_in_arguments.of_arguments": "The arguments file",
    "files_in_arguments.missing": "{option}: {path} does not exist.",
    "script_imports.module": "{module} (line {line})",
    "script_imports.in_file": "{module} ({file}, line {line})",
    "script_imports.missing": "The training environment lacks {modules}, which the script imports: it ends with "
    "ModuleNotFoundError.",
    "script_imports.missing_one": "The training environment lacks a module that the script imports: it ends "
    "with ModuleNotFoundError.",
    "script_imports.missing_several": "The training environment lacks {count} modules that the script imports: it "
    "ends with ModuleNotFoundError.",
    "script_imports.gone_one": "The installed release lacks a name that the script imports: it ends with ImportError.",
    "script_imports.gone_several": "The installed release lacks {count} names that the script imports: it ends with "
    "ImportError.",
    "script_imports.refused_one": "The installed release doesn't accept an argument that the script gives: it ends "
    "with TypeError.",
    "script_imports.refused_several": "The installed release doesn't accept {count} arguments that the script gives: "
    "it ends with TypeError.",
    "script_imports.item_package": "{what}: {command}",
    "script_imports.item_own": "{what}: your own code, or another package",
    "script_imports.item_gone": "{what}: not in the installed release",
    "script_imports.item_refused": "{what}: not accepted by the installed release",
    "script_imports.gone": "The installed release lacks {names}, which the script imports: it ends with ImportError.",
    "script_imports.refused": "The installed release doesn't accept {names}: the script ends with TypeError.",
    "script_imports.unseen": "What the script imports from transformers and the like, and the arguments it gives their "
    "classes, were not checked against the installed releases: {where} may set any name.",
    "script_imports.rebound": "The arguments that the script gives to classes of transformers and the like were not "
    "checked against the installed releases: {where} may change what a name means.",
    # what DeepSpeed compiles or imports for the config
    "needs.module": "{module} (for {key})",
    "needs.optimizer": "the optimizer {name}",
    "needs.lacking": "DeepSpeed imports {modules}, which the training environment lacks: the run would stop.",
    "needs.other_path": "DeepSpeed imports {modules}, which the training environment lacks, unless "
    "this run's PYTHONPATH "
    "has it.",
    "operators.not_asked": "Whether the training environment can build {operators} is not known until it is asked: 4 · "
    "Machine and “python -m dsgui doctor” do that.",
    "operators.cannot": "This config needs {op}, and the training environment can't compile it: no reason was given.",
    "operators.cannot_because": "This config needs {op}, and the training environment can't compile it: {why}.",
    "operators.unread_archs": "DeepSpeed can’t read the run’s TORCH_CUDA_ARCH_LIST={named}; it stops as it compiles.",
    "operators.on_first_use": "{op} is compiled on first use",
    "operators.found": "{operators}",
}

LAUNCH_ADVICE: Mapping[str, str] = {
    "config.correct": "Correct it first: no run can start with it.",
    "config.see_configure": "See 1 · Configure, or python -m dsgui validate.",
    "script.select": "Select the training script, or fix it.",
    "twice.remove_option": "Remove {option} from the arguments: the config is already passed.",
    "twice.remove": "Remove it from the arguments; to run with the other file, open that file.",
    "asks_for_cuda.follow": "Run it where there is a GPU, or let the script take its device from DeepSpeed: "
    "get_accelerator() of deepspeed.accelerator.",
    "tf32.remove": "Remove --tf32: TF32 needs an Ampere GPU or a newer one.",
    "use_cpu.add_to_file": 'Add "use_cpu": true to {path}: the HF Trainer looks for a GPU without it.',
    "use_cpu.add": "Add --use_cpu to the arguments: the HF Trainer looks for a GPU without it.",
    "stage_3.remove": "Remove it from from_pretrained: with ZeRO-3, DeepSpeed partitions the parameters across the "
    "ranks.",
    "takes_config.choose": "Choose how the script takes its config (Launch: “How the script takes the config”; command "
    "line: --reader), or add the option to the script.",
    "takes_config.as_it_reads": "Choose “Detect from script” (command line: --reader auto).",
    "takes_config.add_option": "Add {option} {placeholder} to the arguments: {placeholder} stands "
    "for this config’s path.",
    "values.write": "Write {value}.",
    "values.write_of_release": "Write {value}, which transformers {release} has.",
    "values.takes": "It takes {choices}.",
    "values.release_takes": "transformers {release} takes {choices}.",
    "takes_config.set_variable": "Add {variable}={placeholder} under “Environment variables”: {placeholder} stands for "
    "this config’s path.",
    "takes_config.write_into_file": "Write this config’s path as “deepspeed” into that file, or let the script read "
    'os.environ["{variable}"].',
    "takes_config.open_other": "To check that one, open it on 1 · Configure. To train with this one, pass the "
    "arguments on the command line.",
    "takes_config.read_variable": 'To train with this config, let the script read os.environ["{variable}"]. To check '
    "the other one, open it on 1 · Configure.",
    "accelerate.remove_cpu": "Remove --cpu: on a machine without a GPU accelerate trains on the CPU anyway.",
    "accelerate.remove_optimizer": "Remove optimizer from the config, or let the script make accelerate’s DummyOptim.",
    "accelerate.remove_scheduler": "Remove scheduler from the config, or let the script make accelerate’s "
    "DummyScheduler.",
    "accelerate.remove_both": "Remove optimizer and scheduler from the config, or let the script make accelerate’s "
    "DummyOptim and DummyScheduler.",
    "accelerate.no_train_batch": "Leave train_batch_size out of the config, or launch 1 rank.",
    "accelerate.one_rank": "Launch 1 rank.",
    "accelerate.one_rank_or_test": "Launch 1 rank, or use this run only as a test.",
    "options.did_you_mean": "Did you mean {option}?",
    "options.remove": "Remove {option}.",
    "options.calls_it": "This release calls it {option}.",
    "options.write_instead": "Write {words} instead.",
    "options.why_overwrite_output_dir": "The Trainer writes to a folder that exists without being told to.",
    "options.why_warmup_ratio": "There, a number below 1 is a share of all steps.",
    "options.why_logging_dir": "The environment variable TENSORBOARD_LOGGING_DIR names that folder now.",
    "options.why_save_safetensors": "Weights are always saved as safetensors.",
    "options.remove_word": "Remove “{word}”, or name its option.",
    "options.full_name": "Write the full name.",
    "options.alone": "Write {option} alone.",
    "options.separately": "Write each option separately.",
    "options.with_equals": "Write {option}={value}.",
    "options.give_value": "Give it a value.",
    "options.give_values": "Give it {count}.",
    "arguments_file.name_config_there": "Choose “Detect from script” (command line: --reader auto), and name the "
    "config in the file, as “deepspeed”. Or give what is in the file as arguments.",
    "arguments_file.correct": "Correct the file.",
    "files_in_arguments.check_path": "Check the path, or use an absolute one.",
    "script_imports.above": "{modules}: found in {folders}. Set PYTHONPATH={path} under “Environment variables”.",
    "script_imports.or_install": "Or install the package there: pip install {packages}.",
    "script_imports.install": "Install it there: pip install {packages}.",
    "script_imports.own": "If {modules} is your own code, add its folder to PYTHONPATH; otherwise install it.",
    "script_imports.install_each": "Install the packages in the training environment.",
    "script_imports.own_each": "For modules of your own, add their folder to PYTHONPATH; install other packages, too.",
    "script_imports.release": "The script was written for another release, most likely an older one: install that one, "
    "or take the script that goes with the installed one.",
    "needs.install": "pip install {module} there, or remove {key}.",
    "needs.datastates": "See github.com/DataStates/datastates-llm, or remove datastates_ckpt.",
    "operators.plain_archs": "Set TORCH_CUDA_ARCH_LIST to numbers, such as 9.0, in the run’s environment variables, or "
    "leave it empty there: DeepSpeed then asks the GPUs.",
    "operators.see_machine": "See 4 · Machine for what is missing, or choose another optimizer or no offload "
    '("torch_adam": true in optimizer.params needs no operator of DeepSpeed\'s).',
}

# What tells how a script gets its config, as its source or its arguments have it.
HANDING: Mapping[str, str] = {
    "placeholder": "{placeholder} stands among the arguments",
    "llama_factory_file": "LLaMA-Factory reads {file}, and what follows it as key=value",
    "llama_factory": "LLaMA-Factory, line {line}",
    "file": "all arguments are in {file}",
    "trainer": "HfArgumentParser, or TRL's",
    "deepspeed": "deepspeed.add_config_arguments",
    "parser_with_value": "its parser names --deepspeed, with a value",
    "parser_with_both": "its parser names --deepspeed and --deepspeed_config",
    "by_file": "the HF Trainer’s arguments are in a file",
    "call": "line {line}: {caller} is given {config}",
    "given_none": "line {line}: {caller}, given no config",
    "lightning": "Lightning’s DeepSpeed strategy",
}

# What the button beside a check says: it changes how the config is passed, or the arguments.
OFFERS: Mapping[str, str] = {
    "pass_as_read": "Pass the config as the script reads it",
    "add": "Add {words} to the arguments",
    "add_variable": "Add {words} to the environment variables",
    "loads_its_own": "The script loads its own config",
    "remove": "Remove {options}",
    "replace": "Replace {options} with {words}",
    "replace_and_remove": "Replace {options} with {words}, remove {gone}",
    "and_more": "{options} and {count} more",
    "remove_from_arguments": "Remove {option} from the arguments",
}

# How what stands beside each other in one sentence is set apart.
LISTS: Mapping[str, str] = {"comma": "{first}, {then}", "semicolon": "{first}; {then}"}
