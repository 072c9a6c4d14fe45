"""What a training prints, line by line, as points, events and a phase."""
