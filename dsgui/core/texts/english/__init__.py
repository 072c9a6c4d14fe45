"""The English catalogue: kind → code → text, with named places for what differs. A module has the texts of one part.

A text is changed here and nowhere else; a code is never changed, since runs on the disk name it. The browser has the
same texts of what it tells itself (`ui/static/catalogue.js`, made by `scripts/browser_catalogue.py`)."""

from collections.abc import Mapping
from types import MappingProxyType

from dsgui.core.texts.english.check_texts import CHECKS
from dsgui.core.texts.english.fix_texts import FIXES, REMEDIES
from dsgui.core.texts.english.reason_texts import REASONS
from dsgui.core.texts.english.run_texts import ALERTS, DOINGS, EVENTS, MARKS, PHASES, STATES

TEXTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "states": STATES,
        "phases": PHASES,
        "doings": DOINGS,
        "alerts": ALERTS,
        "events": EVENTS,
        "marks": MARKS,
        "fixes": FIXES,
        "remedies": REMEDIES,
        "reasons": REASONS,
        "checks": CHECKS,
        # What has no code.
        "plain": {"text": "{text}"},
    }
)
