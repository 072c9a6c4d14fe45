"""Texts of the frame around the pages: header, tabs, language, shortcuts."""

SITE_PAGE: dict[str, str] = {
    "tab_configure": "1 · Configure",
    "tab_launch": "2 · Launch",
    "tab_runs": "3 · Runs",
    "tab_machine": "4 · Machine",
    "learn": "Learn",
    "language": "Language",
    "cpu_only": "CPU only",
    "no_deepspeed": "DeepSpeed is not installed in the training environment.",
    "asking_accelerator": "{device} (asking DeepSpeed what it supports…)",
    "dtypes": "{device}: {dtypes}",
    "has_dtype": "{dtype}",
    "no_dtype": "no {dtype}",
}
