"""Texts of the start from a goal."""

GOAL_PAGE: dict[str, str] = {}
