"""Texts of the comparison of runs, in Chinese."""

COMPARE_PAGE: dict[str, str] = {}
