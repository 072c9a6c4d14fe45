"""What stands in findings: phrases that are put together, who judges a config, and what is wrong with the arguments of
a script (without the full stop)."""

# What several rules advise.
ADVICE = {
    "did_you_mean": "Did you mean {near}?",
    "rename_first": "{wrong} looks like {meant} misspelt: rename it first, or what it holds stays unread.",
    "remove_it": "Remove it.",
    "move_it": "Move it.",
    "close_the_quote": "Close the quote.",
    "correct_argument": "Correct the argument.",
    "correct_arguments": "Correct the arguments.",
    "correct_it": "Correct it.",
    "leave_one_out": "Leave one out.",
    "unquote_number": "Write the number without quotes; YAML reads 1e-4 as text and 1.0e-4 as a number.",
}

PARTS = {
    "own_cpu": "this machine’s CPU",
    "this_gpu": "GPU {gpus}",
    "these_gpus": "GPUs {gpus}",
    "or": "{first} or {second}",
    "in_place": "{what} ({place})",
    "and": "{first} and {second}",
    "and_more": "{names} and {rest} more",
    "none": "none",
    "solved": "{value} (solved by DeepSpeed)",
    "world_size": "world size {ranks}",
    "data_parallel_size": "data-parallel size {ranks}",
    "no_option": "neither --fp16 nor --bf16",
    "another_type": "another type",
    "twice": "{key}: the key appears twice, {where}",
    "on_line": "on line {line}",
    "on_lines": "on lines {first} and {second}",
    "deepspeed_release": "DeepSpeed {release}",
    "rank": "{count} rank",
    "ranks": "{count} ranks",
    "ranks_on": "{ranks} on {hosts}",
    "cpu_rank": "{count} CPU rank",
    "cpu_ranks": "{count} CPU ranks",
    "gpu": "{count} GPU",
    "gpus": "{count} GPUs",
    "on_nodes": "{nodes} nodes × {each}",
    "whole_number": "a whole number",
    "number": "a number",
    "true_or_false": "true or false",
    "list": "a list",
    "list_of_numbers": "a list of {count} numbers",
    "object": "an object",
    "text": "text",
    "one_of": "one of {choices}",
    "or_auto": "{expected}, or “auto”",
    "above": "{expected} above {low}",
    "from": "{expected} of {low} or more",
    "at_most": "{expected} at most {high}",
    "below": "{expected} below {high}",
    "and_at_most": "{expected} and at most {high}",
    "and_below": "{expected} and below {high}",
}

# Who may stop a config, by the package that raises; _first: at the beginning of a sentence.
JUDGES = {
    "transformers": "the HF Trainer",
    "accelerate": "accelerate",
    "deepspeed": "DeepSpeed",
    "transformers_first": "The HF Trainer",
    "accelerate_first": "accelerate",
    "deepspeed_first": "DeepSpeed",
}

ARGUMENTS = {
    "problem": "{says}. {advises}",
    "words": "The arguments can't be split into words: {error}",
    "no_value": "{option}: no value follows; expected {expected}",
    "unread": "{option}: “{seen}” was given; expected {expected}",
    "other_type": "{name}: {seen} is not {expected}",
    "unusable": "{name}: {seen} is not a usable number",
    "too_low": "{name}: {seen} was given; expected {least} or more",
    "in_line": "{file}, line {line}",
    "in_file": "{file}",
    "both_types": "fp16 and bf16 are both on: “At most one of fp16 and bf16 can be True, but not both”",
    "both_evaluations": "fp16_full_eval and bf16_full_eval are both on; the Trainer takes at most one",
}
