"""This machine, its cards and the environment that trains, as values, and the checks of them."""
