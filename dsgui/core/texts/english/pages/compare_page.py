"""Texts of the comparison of runs."""

COMPARE_PAGE: dict[str, str] = {}
