"""Texts of 3 · Runs."""

RUNS_PAGE: dict[str, str] = {}
