"""How a run ended, why it failed, and what may help."""
