"""Texts of 1 · Configure, in Chinese."""

CONFIGURE_PAGE: dict[str, str] = {}
