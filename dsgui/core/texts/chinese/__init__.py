"""The Chinese catalogue (zh-CN): the same kinds, codes and places as the English one, in modules of the same
names. What it lacks is told in English, and a test says what that is."""

from collections.abc import Mapping
from types import MappingProxyType

from dsgui.core.texts.chinese.pages import PAGES
from dsgui.core.texts.chinese.slow_texts import SLOW, SLOW_ADVICE, SLOW_FIGURES

TEXTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {**PAGES, "slow": SLOW, "slow_figures": SLOW_FIGURES, "slow_advice": SLOW_ADVICE}
)
