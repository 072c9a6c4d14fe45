"""Texts of the start from a goal, in Chinese."""

GOAL_PAGE: dict[str, str] = {}
