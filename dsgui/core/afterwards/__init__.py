"""What comes after training: weights out of checkpoints, merged adapters, and which checkpoints may go."""
