"""Texts of a run's report."""

REPORT_PAGE: dict[str, str] = {}
