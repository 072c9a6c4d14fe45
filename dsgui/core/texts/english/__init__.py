"""The English catalogue: kind → code → text, with named places for what differs. A module has the texts of one part.

A text is changed here and nowhere else; a code is never changed, since runs on the disk name it. The browser has the
same texts of what it tells itself (`ui/static/texts/catalogue.js`, made by `scripts/browser_catalogue.py`)."""

from collections.abc import Mapping
from types import MappingProxyType

from dsgui.core.texts.english.access_texts import ACCESS
from dsgui.core.texts.english.adopted_texts import ADOPTED
from dsgui.core.texts.english.advice_texts import DIAGNOSIS_ADVICE, SET_ASIDE
from dsgui.core.texts.english.after_texts import AFTER
from dsgui.core.texts.english.check_texts import CHECK_COUNTS, CHECKS
from dsgui.core.texts.english.configs.config_texts import CLONING, CONFIGS, CONVERTING, FILLING, ORIGINS, YAML
from dsgui.core.texts.english.configs.oracle_texts import ORACLE
from dsgui.core.texts.english.configs.reading_texts import READING
from dsgui.core.texts.english.diagnosis_texts import DIAGNOSIS_MEANINGS, DIAGNOSIS_PARTS, DIAGNOSIS_TITLES
from dsgui.core.texts.english.error_texts import ERRORS, RESUMING
from dsgui.core.texts.english.findings import (
    ADVICE,
    ARGUMENTS,
    FINDINGS,
    JUDGES,
    PARTS,
    RULE_EXPLANATIONS,
    RULE_TITLES,
)
from dsgui.core.texts.english.fix_texts import FIXES, REMEDIES
from dsgui.core.texts.english.import_texts import IMPORTED
from dsgui.core.texts.english.learn import LEARNING
from dsgui.core.texts.english.memory_texts import (
    MEMORY_ABOUT,
    MEMORY_BEYOND,
    MEMORY_CANNOT,
    MEMORY_CAUSE,
    MEMORY_CHEAPEST,
    MEMORY_FITS,
    MEMORY_MOMENTS,
    MEMORY_MOVES,
    MEMORY_NEEDS,
    MEMORY_NOTES,
    MEMORY_OUTSIDE,
    MEMORY_PARTS,
    MEMORY_PLACES,
    MEMORY_REHEARSAL,
    MEMORY_SOURCES,
    MEMORY_STAGES,
    MEMORY_TEXT,
    MEMORY_TOLD,
    MEMORY_WHEN,
)
from dsgui.core.texts.english.pages import PAGES
from dsgui.core.texts.english.reason_texts import REASONS
from dsgui.core.texts.english.request_texts import REQUESTS, SLURM
from dsgui.core.texts.english.run_texts import ALERTS, DOINGS, EVENTS, MARKS, NOTIFYING, PHASES, RAN, STATES
from dsgui.core.texts.english.slow_texts import NO_LOSS, SLOW, SLOW_ADVICE, SLOW_FIGURES
from dsgui.core.texts.english.terminal.command_texts import COMMANDS
from dsgui.core.texts.english.terminal.option_texts import ARGPARSE, OPTIONS
from dsgui.core.texts.english.trouble_texts import CLOCKS, DECODING, FILES, REFUSALS, SAMPLING, TROUBLES
from dsgui.core.texts.english.try_texts import TRY
from dsgui.core.texts.english.verdict_launch import HANDING, LAUNCH_ADVICE, LAUNCH_VERDICTS, LISTS, OFFERS
from dsgui.core.texts.english.verdict_machine import MACHINE_ADVICE, MACHINE_VERDICTS
from dsgui.core.texts.english.verdict_room import ROOM_ADVICE, ROOM_VERDICTS

TEXTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "states": STATES,
        "phases": PHASES,
        "doings": DOINGS,
        "alerts": ALERTS,
        "events": EVENTS,
        "notifying": NOTIFYING,
        "ran": RAN,
        "marks": MARKS,
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
        "diagnosis_titles": DIAGNOSIS_TITLES,
        "diagnosis_meanings": DIAGNOSIS_MEANINGS,
        "diagnosis_advice": DIAGNOSIS_ADVICE,
        "diagnosis_parts": DIAGNOSIS_PARTS,
        "set_aside": SET_ASIDE,
        "slow": SLOW,
        "no_loss": NO_LOSS,
        "slow_figures": SLOW_FIGURES,
        "slow_advice": SLOW_ADVICE,
        "checks": CHECKS,
        "check_counts": CHECK_COUNTS,
        "verdicts": {**MACHINE_VERDICTS, **LAUNCH_VERDICTS, **ROOM_VERDICTS},
        "verdict_advice": {**MACHINE_ADVICE, **LAUNCH_ADVICE, **ROOM_ADVICE},
        "handing": HANDING,
        "offers": OFFERS,
        "lists": LISTS,
        "errors": ERRORS,
        "resuming": RESUMING,
        "memory_parts": MEMORY_PARTS,
        "memory_about": MEMORY_ABOUT,
        "memory_moments": MEMORY_MOMENTS,
        "memory_places": MEMORY_PLACES,
        "memory_sources": MEMORY_SOURCES,
        "memory_fits": MEMORY_FITS,
        "memory_told": MEMORY_TOLD,
        "memory_text": MEMORY_TEXT,
        "memory_rehearsal": MEMORY_REHEARSAL,
        "memory_cannot": MEMORY_CANNOT,
        "memory_moves": MEMORY_MOVES,
        "memory_cheapest": MEMORY_CHEAPEST,
        "memory_notes": MEMORY_NOTES,
        "memory_stages": MEMORY_STAGES,
        "memory_outside": MEMORY_OUTSIDE,
        "memory_needs": MEMORY_NEEDS,
        "memory_beyond": MEMORY_BEYOND,
        "memory_when": MEMORY_WHEN,
        "memory_cause": MEMORY_CAUSE,
        **PAGES,
        "after": AFTER,
        "adopted": ADOPTED,
        "try": TRY,
        "commands": COMMANDS,
        "options": OPTIONS,
        "argparse": ARGPARSE,
        "reading": READING,
        "requests": REQUESTS,
        "slurm": SLURM,
        "oracle": ORACLE,
        "yaml": YAML,
        "origins": ORIGINS,
        "filling": FILLING,
        "converting": CONVERTING,
        "configs": CONFIGS,
        "cloning": CLONING,
        "troubles": TROUBLES,
        "files": FILES,
        "decoding": DECODING,
        "refusals": REFUSALS,
        "sampling": SAMPLING,
        "clocks": CLOCKS,
        "access": ACCESS,
        "imported": IMPORTED,
        **LEARNING,
        # What has no code.
        "plain": {"text": "{text}"},
    }
)
