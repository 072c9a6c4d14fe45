"""Families of models: each writes its forward as transformers' modelling code does, on the tape."""
