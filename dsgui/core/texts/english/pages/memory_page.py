"""Texts of the memory panel of 1 · Configure."""

MEMORY_PAGE: dict[str, str] = {}
