"""Texts of reading, completing, converting and trying a config."""
