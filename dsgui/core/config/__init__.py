"""The config itself: its text, its schema, what it is checked against, and the forms it leaves in."""
