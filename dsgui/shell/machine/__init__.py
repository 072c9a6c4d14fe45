"""Reads this machine and asks the Python that trains."""
