"""Texts of the frame around the pages: header, tabs, language, shortcuts, in Chinese."""

SITE_PAGE: dict[str, str] = {}
