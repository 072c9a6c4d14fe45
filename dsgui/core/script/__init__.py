"""What a training script's source and its arguments tell before it runs."""
