"""This machine, its GPUs and the training environment as values, and the checks of them."""
