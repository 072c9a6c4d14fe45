"""Asks the real DeepSpeed, in a worker that runs in the target environment."""
