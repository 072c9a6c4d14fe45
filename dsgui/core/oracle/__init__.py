"""What the real DeepSpeed answered, as values, and beside dsgui's own findings."""
