"""The English catalogue: kind → code → text, with named places for what differs. A module has the texts of one part.

A text is changed here and nowhere else; a code is never changed, since runs on the disk name it. The browser has the
same texts of what it tells itself (`ui/static/catalogue.js`, made by `scripts/browser_catalogue.py`)."""

from collections.abc import Mapping
from types import MappingProxyType

from dsgui.core.texts.english.check_texts import CHECKS
from dsgui.core.texts.english.fix_texts import FIXES, REMEDIES
from dsgui.core.texts.english.memory_texts import (
    MEMORY_ABOUT,
    MEMORY_CANNOT,
    MEMORY_CAUSE,
    MEMORY_CHEAPEST,
    MEMORY_FITS,
    MEMORY_MOMENTS,
    MEMORY_MOVES,
    MEMORY_NOTES,
    MEMORY_OUTSIDE,
    MEMORY_PARTS,
    MEMORY_PLACES,
    MEMORY_SOURCES,
    MEMORY_TOLD,
    MEMORY_WHEN,
)
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
        "memory_parts": MEMORY_PARTS,
        "memory_about": MEMORY_ABOUT,
        "memory_moments": MEMORY_MOMENTS,
        "memory_places": MEMORY_PLACES,
        "memory_sources": MEMORY_SOURCES,
        "memory_fits": MEMORY_FITS,
        "memory_told": MEMORY_TOLD,
        "memory_cannot": MEMORY_CANNOT,
        "memory_moves": MEMORY_MOVES,
        "memory_cheapest": MEMORY_CHEAPEST,
        "memory_notes": MEMORY_NOTES,
        "memory_outside": MEMORY_OUTSIDE,
        "memory_when": MEMORY_WHEN,
        "memory_cause": MEMORY_CAUSE,
        # What has no code.
        "plain": {"text": "{text}"},
    }
)
