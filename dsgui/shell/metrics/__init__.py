"""Samples machines, processes and cards, here and on a run's other machines."""
