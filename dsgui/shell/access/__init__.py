"""The token, and the folders that the page may name files in."""
