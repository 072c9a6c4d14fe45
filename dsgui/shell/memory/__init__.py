"""Asks the real DeepSpeed what a training takes: its engine, on tensors that have no storage."""
