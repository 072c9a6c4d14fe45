"""Runs as pages and reports tell of them: news, alerts, comparison, clones."""
