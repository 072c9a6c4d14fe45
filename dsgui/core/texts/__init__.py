"""What codes are in words: a catalogue for each language."""
