"""Tests here drive a browser."""

from tests.support.pages import app, app_at_once, browser, page

__all__ = ["app", "app_at_once", "browser", "page"]
