"""Some tests here drive a browser."""

from tests.support.pages import app, browser, page

__all__ = ["app", "browser", "page"]
