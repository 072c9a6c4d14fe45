"""Texts of 1 · Configure."""

CONFIGURE_PAGE: dict[str, str] = {}
