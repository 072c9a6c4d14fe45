"""Tests of what a script does in one run."""
