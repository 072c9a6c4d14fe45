"""Starts runs: here, over ssh and through Slurm."""
