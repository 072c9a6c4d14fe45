"""Texts of the shortcuts and of what the keyboard reaches."""

KEYBOARD_PAGE: dict[str, str] = {
    "title": "Keyboard shortcuts",
    "sheet": "Show this list",
    "find": "Find a field",
    "finding": "Next finding",
    "undo": "Undo the last change of the config",
    "save": "Save as preset",
    "launch": "Go to the Launch button",
    "configure_tab": "Open Configure",
    "launch_tab": "Open Launch",
    "runs_tab": "Open Runs",
    "machine_tab": "Open Machine",
    "leave_keys": "Tab",
    "leave": "Leave the JSON editor",
    "indent_keys": "Ctrl+] · Ctrl+[",
    "indent": "Indent or unindent in the JSON editor",
    "single_keys": "Use single-key shortcuts",
    "close": "Close",
    "skip": "Skip to content",
    "editor_hint": "Tab leaves the editor · Ctrl+] indents",
}
