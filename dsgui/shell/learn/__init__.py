"""Learn: what the reader has done, kept on the disk."""
