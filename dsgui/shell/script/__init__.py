"""What the Python that trains has for a script."""
