"""Texts of 2 · Launch."""

LAUNCH_PAGE: dict[str, str] = {}
