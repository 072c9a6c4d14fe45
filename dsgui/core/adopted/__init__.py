"""Trainings that dsgui did not start: which files of a folder tell of a run, and what they tell."""
