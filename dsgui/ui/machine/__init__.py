"""The Machine page."""
