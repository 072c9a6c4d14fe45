"""The Chinese catalogue (zh-CN): the same kinds, codes and places as the English one, in modules of the same
names. What it lacks is told in English, and a test says what that is."""

from collections.abc import Mapping
from types import MappingProxyType

from dsgui.core.texts.chinese.advice_texts import DIAGNOSIS_ADVICE, SET_ASIDE
from dsgui.core.texts.chinese.findings import (
    ADVICE,
    ARGUMENTS,
    FINDINGS,
    JUDGES,
    PARTS,
    RULE_EXPLANATIONS,
    RULE_TITLES,
)
from dsgui.core.texts.chinese.fix_texts import FIXES, REMEDIES
from dsgui.core.texts.chinese.pages import PAGES
from dsgui.core.texts.chinese.reason_texts import REASONS

TEXTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "findings": FINDINGS,
        "advice": ADVICE,
        "parts": PARTS,
        "judges": JUDGES,
        "arguments": ARGUMENTS,
        "rule_titles": RULE_TITLES,
        "rule_explanations": RULE_EXPLANATIONS,
        "fixes": FIXES,
        "remedies": REMEDIES,
        "reasons": REASONS,
        "diagnosis_advice": DIAGNOSIS_ADVICE,
        "set_aside": SET_ASIDE,
        **PAGES,
    }
)
