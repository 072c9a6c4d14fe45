"""What comes after training, on the disk and in the environment that trained."""
