"""A run's processes: who they are, how they end, what killed them."""
