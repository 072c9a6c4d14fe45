"""Learn: the tutorials' tracks, their steps, and how a step is checked from the reader's own runs and answers."""
