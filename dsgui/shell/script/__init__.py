"""What the training environment has for a script."""
