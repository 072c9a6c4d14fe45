"""Texts of a run's charts and their toolbar."""

CHARTS_PAGE: dict[str, str] = {}
