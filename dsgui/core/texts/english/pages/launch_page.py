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
}
