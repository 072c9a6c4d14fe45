"""Where a run trains, beside this machine: a module a place."""
