"""Findings about values by themselves, and “auto”."""

RULES = {
    "DS001": (
        "A value of the wrong type or range",
        "The value is of another type than DeepSpeed expects, out of range, or not one of the allowed "
        "words. A block that is a pydantic model refuses it, or converts what can be converted (“2” to "
        "2). Elsewhere it is taken as it is and fails later, at the first step for gradient_clipping as "
        "text, or counts as true.",
    ),
    "DS003": (
        "“auto” where nobody fills it",
        "“auto” has three meanings. The HF Trainer fills it for 23 keys and accelerate stops at any other; native"
        " DeepSpeed drops it inside its pydantic blocks, which leaves the default, and fails on the text "
        "elsewhere. Write a value, or clear the key.",
    ),
}

FINDINGS = {
    "DS001.misfit": (
        "{key}: {seen} is not {expected}.",
        "",
    ),
    "DS001.converted": (
        "{key}: {seen} is not {expected}. DeepSpeed converts it.",
        "",
    ),
    "DS001.taken_for": (
        "{key}: {seen} is not {expected}. DeepSpeed takes it for {more}.",
        "",
    ),
    "DS001.not_read": (
        "{key}: {seen} is not {expected}. It is not read now. {more}",
        "",
    ),
    "DS001.counted": (
        "{key}: {seen} is not {expected}. DeepSpeed counts it as {more}.",
        "",
    ),
    "DS001.inside": (
        "{key}: {seen} does not fit: {problem}.",
        "",
    ),
    "DS001.template": (
        "This looks like a template: {named} in place of values.",
        "Put the values in, or check the file that the template's program writes.",
    ),
    "DS003.left": (
        "{key}: the HF Trainer does not fill “auto” here, and accelerate stops with “`{name}` not found in kwargs”.",
        "Write a value, or clear it.",
    ),
    "DS003.dropped": (
        "{key}: native DeepSpeed drops “auto” and uses its default, {default}.",
        "",
    ),
    "DS003.counts_as_true": (
        "{key}: “auto” is filled by the HF Trainer only; natively any text counts as true.",
        "",
    ),
    "DS003.fails": (
        "{key}: “auto” is filled by the HF Trainer only; native DeepSpeed fails on the text.",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS001.correct": "Correct it, or clear the field.",
    "DS001.meant": "Write {meant} without quotes.",
    "DS001.meant_or_default": "Write {meant} without quotes, or clear the field for DeepSpeed's default, {default}.",
    "DS001.correct_or_default": "Correct it, or clear the field for DeepSpeed's default, {default}.",
    "DS003.default": "Write a value, or clear it for the default {default}.",
    "DS003.number": "Write a value: this script calls deepspeed.initialize itself, and nothing fills in “auto”.",
    "DS003.number_steps": "Write the number of steps that the run takes: this script calls deepspeed.initialize "
    "itself, and nothing fills in “auto”.",
    "DS003.perhaps_changed": "Line {line} of the script may change it.",
    "DS003.perhaps_filled": "Line {line} of the script may fill it.",
    "DS003.write": "Write a value, or choose “HF Trainer”.",
    "DS003.write_steps": "Write the number of steps that the run takes, or choose “HF Trainer”.",
}
