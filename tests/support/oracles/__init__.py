"""Scripts that ask DeepSpeed about the machine."""
