"""A config's findings: checked, folded, repaired, resolved, moved to another release, reported."""
