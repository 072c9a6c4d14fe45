"""The Configure page."""
