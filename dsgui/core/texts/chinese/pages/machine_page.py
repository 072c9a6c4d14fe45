"""Texts of 4 · Machine, in Chinese."""

MACHINE_PAGE: dict[str, str] = {}
