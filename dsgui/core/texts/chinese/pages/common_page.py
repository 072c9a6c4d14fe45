"""Texts of what several pages have, in Chinese."""

COMMON_PAGE: dict[str, str] = {
    "undo": "撤销",
    "redo": "重做",
    "undo_title": "在文本框外按 Ctrl+Z",
    "redo_title": "在文本框外按 Ctrl+Shift+Z",
}
