"""The files that grow with a run, written and searched."""
