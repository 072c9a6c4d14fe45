"""Where a run can train besides this machine: one module per place."""
