"""The Chinese catalogue (zh-CN): the same kinds, codes and places as the English one, in modules of the same
names. What it lacks is told in English, and a test says what that is."""

from collections.abc import Mapping
from types import MappingProxyType

from dsgui.core.texts.chinese.access_texts import ACCESS
from dsgui.core.texts.chinese.adopted_texts import ADOPTED
from dsgui.core.texts.chinese.advice_texts import DIAGNOSIS_ADVICE, SET_ASIDE
from dsgui.core.texts.chinese.after_texts import AFTER
from dsgui.core.texts.chinese.check_texts import CHECK_COUNTS, CHECKS
from dsgui.core.texts.chinese.configs.config_texts import CLONING, CONFIGS, CONVERTING, FILLING, ORIGINS, YAML
from dsgui.core.texts.chinese.configs.oracle_texts import ORACLE
from dsgui.core.texts.chinese.configs.reading_texts import READING
from dsgui.core.texts.chinese.diagnosis_texts import DIAGNOSIS_MEANINGS, DIAGNOSIS_PARTS, DIAGNOSIS_TITLES
from dsgui.core.texts.chinese.error_texts import ERRORS, RESUMING
from dsgui.core.texts.chinese.field_texts import LAUNCH_FIELDS
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
from dsgui.core.texts.chinese.import_texts import IMPORTED
from dsgui.core.texts.chinese.learn import LEARNING
from dsgui.core.texts.chinese.memory_texts import (
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
from dsgui.core.texts.chinese.pages import PAGES
from dsgui.core.texts.chinese.reason_texts import REASONS
from dsgui.core.texts.chinese.request_texts import REQUESTS, SLURM
from dsgui.core.texts.chinese.run_texts import ALERTS, DOINGS, EVENTS, MARKS, NOTIFYING, PHASES, RAN, STATES
from dsgui.core.texts.chinese.slow_texts import NO_LOSS, SLOW, SLOW_ADVICE, SLOW_FIGURES
from dsgui.core.texts.chinese.terminal.command_texts import COMMANDS
from dsgui.core.texts.chinese.terminal.option_texts import ARGPARSE, OPTIONS
from dsgui.core.texts.chinese.trouble_texts import CLOCKS, DECODING, FILES, REFUSALS, SAMPLING, TROUBLES
from dsgui.core.texts.chinese.try_texts import TRY
from dsgui.core.texts.chinese.verdict_launch import HANDING, LAUNCH_ADVICE, LAUNCH_VERDICTS, LISTS, OFFERS
from dsgui.core.texts.chinese.verdict_machine import MACHINE_ADVICE, MACHINE_VERDICTS
from dsgui.core.texts.chinese.verdict_room import ROOM_ADVICE, ROOM_VERDICTS

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
        "slow": SLOW,
        "no_loss": NO_LOSS,
        "slow_figures": SLOW_FIGURES,
        "slow_advice": SLOW_ADVICE,
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
        "launch_fields": LAUNCH_FIELDS,
    }
)
