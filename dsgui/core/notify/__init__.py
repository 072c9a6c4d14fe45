"""Telling of a run elsewhere: which services, what each is sent, and how it is signed."""
