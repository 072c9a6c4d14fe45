"""What DeepSpeed's engines allocate, one model a class of optimizer: each is led through a walk as the real one is."""
