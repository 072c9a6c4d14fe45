"""The checks before a start, on the Launch page."""
