"""A launch as a value: the plan, its command, how the script gets its config, its state."""
