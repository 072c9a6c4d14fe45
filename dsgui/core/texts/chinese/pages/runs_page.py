"""Texts of 3 · Runs, in Chinese."""

RUNS_PAGE: dict[str, str] = {}
