"""Commands for what others made: runs to import."""
