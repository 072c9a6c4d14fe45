"""Texts of a run's report, in Chinese."""

REPORT_PAGE: dict[str, str] = {}
