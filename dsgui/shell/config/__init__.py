"""Brings configs in: the shipped documents, the user's presets, files and uploads."""
