"""Texts of the frame around the pages: header, tabs, language, shortcuts."""

SITE_PAGE: dict[str, str] = {}
