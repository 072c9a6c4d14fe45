"""The web server, its routes, and the pages as one app."""
