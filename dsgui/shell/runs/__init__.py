"""Run directories: their paths, their state, whose turn it is, what is removed."""
