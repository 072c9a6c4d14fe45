"""What would stop a launch or make it slow, from facts."""
