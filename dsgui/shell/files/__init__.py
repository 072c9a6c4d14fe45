"""Files in general: where dsgui keeps its own, how they are replaced, which are opened."""
