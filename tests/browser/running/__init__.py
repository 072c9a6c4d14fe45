"""Tests of 3 · Runs and of a run page in a real browser."""
