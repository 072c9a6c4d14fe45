"""Texts of the memory panel of 1 · Configure, in Chinese."""

MEMORY_PAGE: dict[str, str] = {}
