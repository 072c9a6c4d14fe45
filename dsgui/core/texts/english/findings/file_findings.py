"""Findings about a file as it is written, and about a move to another release."""

RULES = {
    "DS007": (
        "A default that another release changes",
        "Reported when a config is checked against another release: a key that the file leaves out has "
        "another default there, so the same file would train differently. Write the old value into the "
        "config to keep it.",
    ),
    "DS018": (
        "A file that is not strict JSON, under the HF Trainer",
        "Native DeepSpeed reads its file as hjson: comments, trailing commas, bare keys and a byte order mark "
        "pass. The HF Trainer and accelerate read the same file with json.load, which stops at each of them with "
        "a JSONDecodeError before anything else is looked at. Opened in dsgui, such a file is converted.",
    ),
    "DS019": (
        "A duplicate key",
        "DeepSpeed refuses a file in which one object has a key twice. The HF Trainer's json.load "
        "silently keeps the last, so the first value has no effect. Keep one.",
    ),
}

FINDINGS = {
    "DS007.default": (
        "{key}: not set, and its default is {before} in DeepSpeed {release} but {after} in {target}.",
        "",
    ),
    "DS018.json": (
        "The file is not strict JSON: the HF Trainer reads it with json.load, which stops with “{stop}”.",
        "",
    ),
    "DS019.kept": (
        "{twice}. The HF Trainer silently keeps the last.",
        "",
    ),
    "DS019.refused": (
        "{twice}. DeepSpeed refuses the file (ValueError: Duplicate keys).",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS007.write_down": "Write {before} into the config to keep it.",
    "DS007.set": "Set it if you rely on the old behaviour.",
    "DS018.loose": "Native DeepSpeed reads hjson and can read it. For the HF Trainer, remove comments, trailing commas "
    "and a byte order mark, and put keys and texts in double quotes. The Configure page does it when it opens the "
    "file; then download it.",
    "DS019.keep_one": "Keep one of them; the last is checked here.",
}
