"""Runs as other tools describe them: their settings files and command lines."""
