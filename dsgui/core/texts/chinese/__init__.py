"""The Chinese catalogue (zh-CN): the same kinds, codes and places as the English one, in modules of the same
names. What it lacks is told in English, and a test says what that is."""

from collections.abc import Mapping
from types import MappingProxyType

from dsgui.core.texts.chinese.pages import PAGES

TEXTS: Mapping[str, Mapping[str, str]] = MappingProxyType({**PAGES})
