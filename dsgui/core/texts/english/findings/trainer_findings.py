"""Findings about the HF Trainer and accelerate."""

RULES = {
    "DS013": (
        "Values the HF Trainer compares with its arguments",
        "A number in the file must equal the Trainer's own argument: the Trainer compares the two and "
        "stops while preparing the first training step, with a list of mismatches, even where only the "
        "default differs. Pass the arguments that the note lists, or write “auto” in the file and let "
        "the arguments decide. With the arguments known, a mismatch is an error in the Trainer's own "
        "words.",
    ),
    "DS014": (
        "What accelerate requires",
        "The HF Trainer hands the file to accelerate, which reads the ZeRO stage from zero_optimization and stops"
        " when the block is not there, or is null or true; some other nulls that native DeepSpeed takes for "
        "absent stop it too. Add the block (stage 0 is plain data parallelism), and leave out what is null.",
    ),
    "DS015": (
        "The old offload switch under HF",
        "With the optimizer offloaded, accelerate swaps the Trainer's AdamW for DeepSpeed's CPU Adam, and it "
        "recognises offload by offload_optimizer alone. Under the old name cpu_offload the swap does not happen, "
        "and DeepSpeed refuses to offload an optimizer that is not its own. Rewrite the old name.",
    ),
    "DS017": (
        "Arguments that the HF Trainer does not take",
        "What the script is given for the HF Trainer is read by HfArgumentParser, then checked by "
        "TrainingArguments itself: an option without a number where one belongs, or fp16 together with bf16, ends"
        " the script before DeepSpeed is asked for anything. Correct the arguments.",
    ),
}

FINDINGS = {
    "DS013.two_types": (
        "{file} is on in the file, {arguments} by the arguments. The HF Trainer stops with “{quoted}”.",
        "Pass --{file} in place of --{arguments}, or write “auto” for both, and the arguments decide.",
    ),
    "DS013.needed": (
        "The HF Trainer compares its own arguments with these values and stops at a difference. The script needs:"
        " {options}.",
        "Pass them, or write “auto” in the config. A bundled recipe takes them from the config by itself, but for "
        "--max_steps.",
    ),
    "DS013.apart": (
        "{key}: {seen}, while {other} is {also}. The HF Trainer compares both with {name}, and stops whatever it is.",
        "Write the same value, or “auto”, which takes {name}.",
    ),
    "DS013.batch": (
        "train_batch_size: the HF Trainer stops unless --per_device_train_batch_size × --gradient_accumulation_steps × "
        "{ranks} ranks equal {seen}.",
        "Pass such arguments, or write “auto” in the config.",
    ),
    "DS013.never": (
        "{key}: the HF Trainer needs {expected} here, not {seen}.",
        "",
    ),
    "DS013.different": (
        "{key}: {seen} in the file, {wanted} from the arguments. The HF Trainer stops with “{quoted}”.",
        "",
    ),
    "DS013.in_part": (
        "{key}: {seen} in the file, {given} from the arguments. The HF Trainer stops with “{quoted}”.",
        "Set {options}, as the file has it, or write the argument’s value into the file.",
    ),
    "DS013.different_there": (
        "{key}: {seen} in the file, {wanted} from the arguments ({place}). The HF Trainer stops with “{quoted}”.",
        "",
    ),
    "DS013.default": (
        "{key}: {seen} in the file, {wanted} by the HF Trainer’s default: no argument sets {names}. The HF Trainer "
        "stops with “{quoted}”.",
        "",
    ),
    "DS013.two_types_there": (
        "{file} is on in the file, {arguments} by the arguments ({place}). The HF Trainer stops with “{quoted}”.",
        "Change it there, or write “auto” for both, and the arguments decide.",
    ),
    "DS014.no_zero_block": (
        "zero_optimization: missing; accelerate, which the HF Trainer uses, stops with “Please specify the ZeRO "
        "optimization config in the DeepSpeed config”.",
        "Add the block; stage 0 is plain data parallelism.",
    ),
    "DS014.stopped": (
        "{key}: {seen}; under the HF Trainer accelerate stops before DeepSpeed starts, with “{quoted}”.",
        "",
    ),
    "DS015.cpu_offload": (
        "zero_optimization.cpu_offload: accelerate does not know this old name, so the Trainer's own AdamW "
        "reaches ZeRO-Offload and DeepSpeed stops (ZeRORuntimeException).",
        "Use offload_optimizer with device cpu.",
    ),
    "DS017.problem": (
        "Arguments of the script: {problem}.",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS013.write_meant": "Write {meant} without quotes, or “auto”.",
    "DS013.write_auto": "Write “auto”, and the Trainer's argument decides.",
    "DS013.unquoted": "Write {wanted} without quotes, or write “auto”, which becomes {wanted}.",
    "DS013.product": (
        "Make --per_device_train_batch_size × --gradient_accumulation_steps × world size {ranks} equal {seen}, or"
        " write “auto”, which becomes {wanted}."
    ),
    "DS013.pass": "Pass {options}, or write “auto”, which becomes {wanted}.",
    "DS013.change_there": "Change {names} there, or write “auto”, which becomes {wanted}.",
    "DS013.set_there": "Set {names} there, or write “auto”, which becomes {wanted}.",
    "DS013.leave_out": "Leave out {options}, or write “auto”, which becomes {wanted}.",
    "DS013.value": "Write a value that the arguments have, or write “auto”, which becomes {wanted}.",
    "DS014.object": "Write an object, or remove it.",
    "DS014.correct": "Correct it, or remove it.",
}
