"""Tests here drive a browser."""

from tests.support.pages import browser

__all__ = ["browser"]
