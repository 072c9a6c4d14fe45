"""Texts of what several pages have."""

COMMON_PAGE: dict[str, str] = {
    "undo": "Undo",
    "redo": "Redo",
    "undo_title": "Ctrl+Z outside a text field",
    "redo_title": "Ctrl+Shift+Z outside a text field",
}
