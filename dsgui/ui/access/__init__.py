"""The door: what is let in, how many at once, and how large."""
