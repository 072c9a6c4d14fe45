"""Gathers what the checks before a start need to know."""
