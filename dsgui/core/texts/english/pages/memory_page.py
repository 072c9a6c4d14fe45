"""Texts of the memory panel of 1 · Configure."""

MEMORY_PAGE: dict[str, str] = {
    "ladder": "Faster and leaner configs",
    "ladder_looking": "Working out what else there is…",
    "ladder_about": "The same model, batch and ranks. Time is relative to this config and estimated, not measured; "
    "memory is the fullest moment.",
    "ladder_change": "Change",
    "ladder_time": "Time",
    "ladder_apply": "Apply",
    "ladder_apply_this": "Apply: {moves}",
    "ladder_as_is": "This config",
}
