"""Texts of 4 · Machine."""

MACHINE_PAGE: dict[str, str] = {}
