"""Texts of what several pages have."""

COMMON_PAGE: dict[str, str] = {}
