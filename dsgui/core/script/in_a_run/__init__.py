"""What a script's source tells of one run, by the values of its options and of its environment."""
