"""Telling of a run elsewhere: a short-lived process that sends, and what became of it."""
