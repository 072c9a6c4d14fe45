"""Reads the folders of trainings that dsgui did not start. Nothing here writes into one."""
