"""Reads this machine and asks the training environment."""
