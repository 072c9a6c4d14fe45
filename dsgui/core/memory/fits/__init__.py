"""Whether a training fits: what it takes besides what DeepSpeed allocates, the room there is, and the verdict."""
