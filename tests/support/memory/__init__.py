"""What tests of the memory model share."""
