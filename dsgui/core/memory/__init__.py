"""What a training takes: bytes of a GPU and of the host, by part and moment, before it is launched."""
