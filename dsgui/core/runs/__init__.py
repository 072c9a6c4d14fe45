"""Runs as the pages and reports show them: news, alerts, comparison, clones."""
