"""Texts of what several pages have."""

COMMON_PAGE: dict[str, str] = {
    "more_findings": "{count} more are not shown.",
    "form_waits": "The form keeps its last valid state; nothing you typed is lost.",
    "unreadable_json": "The JSON can’t be read yet",
    "convert": "Convert to strict JSON",
    "word_error": "Error",
    "word_warning": "Warning",
    "word_note": "Note",
    "count_error": "{count} error",
    "counts_error": "{count} errors",
    "count_warning": "{count} warning",
    "counts_warning": "{count} warnings",
    "count_note": "{count} note",
    "counts_note": "{count} notes",
    "refused": "{judge} would refuse this: {counts}",
    "passes": "Checks pass",
    "passes_with": "Checks pass ({counts})",
    "checked_for": "Checked for {subject}",
    "show_field": "Show this field in the form",
    "about_rule": "{rule}: about this rule",
}
