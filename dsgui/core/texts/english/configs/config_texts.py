"""Texts of reading, completing and converting a config: the YAML of accelerate, what the Trainer fills in, the native
and the Trainer's form, and the programs and files that are made of it."""

from collections.abc import Mapping

YAML: Mapping[str, str] = {
    "left_out": "{key} is left out: {why}",
    "by_script": "building the model in pieces is up to the script (deepspeed.zero.Init)",
    "launcher_at_start": "the launcher is chosen when the run is started",
    "hosts_at_start": "the hosts are given when the run is started",
    "devices_at_start": "the devices are chosen when the run is started",
    "moe_by_script": "the script names its MoE layers (set_z3_leaf_modules)",
    "embedded": "these are DeepSpeed's own keys, taken as they are; `accelerate launch` passes over them here: save "
    "them as ds_config.json and point deepspeed_config_file to it",
    "written_out": "accelerate's short keys are written out as the DeepSpeed config that it makes of them",
    "refused": "accelerate refuses {keys} beside deepspeed_config_file; what the DeepSpeed config says counts. Remove "
    "them from the YAML",
    "lost_path": "{key} is {path} here; `accelerate launch` loses it and offloads to a folder “none”",
    "not_understood": "not understood and left out: {keys}",
    # comments in the file that is written
    "the_config": "the config",
    "how": "accelerate launch --config_file THIS_FILE train.py; {config} is looked for where that is started.",
    "hostfile": "hostfile lists the machines, one “name slots=N” a line; pdsh starts the others over ssh.",
    "no_zero": "accelerate stops unless {config} has a zero_optimization block. It has none yet.",
    "precision": "fp16.enabled and bf16.enabled “auto” follow the HF Trainer's arguments; without the Trainer",
    "precision_else": "they follow `accelerate launch --mixed_precision`, which must not be written here.",
    # what is wrong with one
    "no_json": "deepspeed_config holds what JSON can't express: {why}. Correct it in the file.",
    "alias": "there is an alias (*name) here. Write the value out",
    "too_deep": "this is nested more than {most} deep",
    "twice": "{key} appears twice, {where}. Keep one",
    "too_long": "This YAML has {count} characters; the file of `accelerate config` has about a thousand, and no more "
    "than {most} are read. Open the DeepSpeed config itself.",
    "invalid": "this is not valid YAML: {why}",
    "tag": "a tag is wrong",
    "unreadable": "This YAML can't be read: {why}.",
    "no_mapping": "This YAML is not a mapping of “key: value” lines. Expected the file that `accelerate config` "
    "writes, or a DeepSpeed config in JSON.",
    "not_one": "This YAML describes no run of LLaMA-Factory, ms-swift, axolotl or TRL, and it has no deepspeed_config "
    "block. Expected their settings, or the file that `accelerate config` writes with DeepSpeed.",
    "no_keys": "deepspeed_config is {seen}, not a block of keys. Expected a block, as `accelerate config` writes it "
    "when the answer to “Do you want to use DeepSpeed?” is yes.",
    "no_block": "This YAML has no deepspeed_config block (its distributed_type is {kind}). Expected one, as "
    "`accelerate config` writes it when the answer to “Do you want to use DeepSpeed?” is yes.",
    "bad_precision": "mixed_precision: {seen} is none of {known}. Correct it in the file.",
    "no_whole_number": "{key}: {seen} is not a whole number. Correct it in the file.",
    "no_number": "{key}: {seen} is not a number. Correct it in the file.",
    "out_of_range": "{key}: {seen} is out of range. Expected 0 or more. Correct it in the file.",
}

# Where a value of the final config comes from.
ORIGINS: Mapping[str, str] = {
    "file": "file",
    "arguments": "TrainingArguments",
    "model": "model",
    "hf": "HF default",
    "accelerate": "accelerate",
    "deepspeed": "DeepSpeed default",
}

# And how it was found, or what it will be.
FILLING: Mapping[str, str] = {
    "not_given": "{what}, not given",
    "always_zero": "no argument, always 0",
    "absent": "absent is not “auto”",
    "trainer_logs": "the Trainer logs instead",
    "no_block": "no block",
    "bf16_on_rocm": "bf16 on ROCm",
    "own_optimizer": "the Trainer passes its own optimizer",
    "by_script": "what the script computes",
    "share_of_steps": "a share of the run's steps",
    "product": "{micro} × {steps} × {ranks} ranks",
    "steps": "the run's steps",
    "counted": "counted from the data and num_train_epochs",
    "no_checkpoint": "the Trainer can't add use_node_local_storage to a value that is not an object",
    "solved": "solved for {ranks} ranks",
}

CONVERTING: Mapping[str, str] = {
    # why a value stands in the native form
    "derived": "DeepSpeed derives it from train_batch_size",
    "no_path": "there is no path to fill in",
    "not_filled": "nothing fills it",
    "as_filled": "as {origin} fills it",
    "steps_counted": "the Trainer counts the steps of the run. Write the number: the scheduler can't do without",
    "default_counts": "the Trainer takes {what}; now DeepSpeed's default counts",
    "no_numbers": "the other batch keys are no numbers",
    "product": "{micro} × {steps} × world size {ranks}; for another number of ranks remove it",
    "own_optimizer": "optimizer: the file has none, and the Trainer created one (AdamW); now the script passes its own",
    # what changed for the Trainer
    "to_auto": "{key}: {value} → “auto” (TrainingArguments: {arguments})",
    "train_to_auto": "train_batch_size: {train} → “auto” (batch × accumulation × ranks must make {train})",
    "added_auto": "{key}: added as “auto” (TrainingArguments: {argument})",
    "clash": "{key} is {value}, and the Trainer has one {argument}: make them equal, or “auto”",
    "for_ranks": "train_batch_size is {train}; this is for a world size of {ranks}",
    "must_make": "{micro} × {steps} × the number of ranks must make train_batch_size, {train}",
    # comments in a native program
    "says_auto": "The config says “auto” where only the HF Trainer fills a value in: take its native form for this "
    "program.",
    "your_model": "your model",
    "your_data": "your data",
    "its_part": "each rank holds its part from the start",
    "names_none": "the config names none",
    "does_the_rest": "accumulation, clipping, loss scale and scheduler are DeepSpeed's",
}

# A config in the form, beside another or another release.
CONFIGS: Mapping[str, str] = {
    "came_with": "Came with DeepSpeed {since}; {release} does not have it.",
    "removed_in": "Removed in DeepSpeed {removed}.",
    "not_in": "Not in DeepSpeed {release}.",
    "too_long": "The text has {count} characters; a config has at most {most}.",
    "the_config": "the config",
    "my_presets": "My presets",
    "saved_here": "saved here",
    "unknown_release": "(unknown version)",
}

# What differs between a run and its clone.
CLONING: Mapping[str, str] = {
    "not_stored": "{names}: not stored; enter the value again under “Environment variables”",
    "config_unchanged": "The config was left unchanged: {why}",
    "removed": "{key} removed",
    "set": "{key} set to {value}",
    "moved": "{what}: {before} → {after}",
    "not_set": "not set",
    "set_so": "set",
    "short_micro": "micro batch {value}",
    "short_steps": "accumulation steps {value}",
    "with": "with {what}",
    "without": "without {what}",
}
