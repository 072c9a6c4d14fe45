"""What one does with runs, joined for page and command line: start, follow, look up, export, report."""
