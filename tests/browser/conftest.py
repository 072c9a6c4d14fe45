"""Tests here drive a browser."""

from tests.support.pages import app, app_at_once, browser, first_page, page

__all__ = ["app", "app_at_once", "browser", "first_page", "page"]
