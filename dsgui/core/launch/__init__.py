"""A launch as a value: the plan, its command, its config's way into the script, its state."""
