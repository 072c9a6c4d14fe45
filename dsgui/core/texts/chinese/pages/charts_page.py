"""Texts of a run's charts and their toolbar, in Chinese."""

CHARTS_PAGE: dict[str, str] = {}
