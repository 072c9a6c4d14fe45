"""The config itself: its text, its schema, what it is checked against, and its export formats."""
