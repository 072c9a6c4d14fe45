"""Texts of what several pages have, in Chinese."""

COMMON_PAGE: dict[str, str] = {}
