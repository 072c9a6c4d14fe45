"""Texts of 2 · Launch, in Chinese."""

LAUNCH_PAGE: dict[str, str] = {}
