"""dsgui: author, check, launch and watch DeepSpeed runs in the browser."""

__version__ = "0.1.0"  # pyproject.toml reads it here
