"""What a failure's own message names: mismatched keys, unknown options, files, models. Each `told_…` function gives the
words that a signature's sentences are filled with."""

import posixpath
import re

from dsgui.core.script.words import MODEL_OPTIONS, value_of

MOST_SHOWN = 4
_MISMATCH = re.compile(r"^- ds (?P<key>[\w.]+)=(?P<has>.*?) vs hf (?P<argument>[^=\n]+)=(?P<given>.*)", re.MULTILINE)
_OPTION = re.compile(r"--[A-Za-z][\w-]{0,100}")
_QUOTED = re.compile(r"'([^'\n]{1,300})'")
_PATH = re.compile(r"(?:[Dd]irectory|at|file) ((?:/|\.{1,2}/|[\w-]{1,100}/)[^\s'\n]{1,300})")
_ASKED = re.compile(r"(?:reach|cache for) '?([\w./@:-]{1,300})")
_MODULE = re.compile(r"find a module script at ([^\s']{1,300})")
_OFFLINE = re.compile(r"(?i:offline mode is enabled|offlinemode|offline=1|outgoing traffic has been disabled)")
Words = tuple[str, ...]


def mismatches(text: str) -> list[tuple[str, str, str, str]]:
    """Each that the HF Trainer names: key of the config, its value, the argument, the argument's value."""
    return [(one["key"], one["has"], one["argument"].strip(), one["given"]) for one in _MISMATCH.finditer(text)]


def unknown_options(match: re.Match[str]) -> Words:
    """The options among the words that a parser did not know."""
    return tuple(dict.fromkeys(_OPTION.findall(match["words"])))


def told_mismatches(match: re.Match[str], arguments: Words) -> dict[str, str]:
    found = mismatches(match.string)
    said = "; ".join(f"{key} is {has} in the config, and {argument} is {given}" for key, has, argument, given in found)
    return {"mismatches": said[:800] or "see the traceback"}


def told_options(match: re.Match[str], arguments: Words) -> dict[str, str]:
    options = unknown_options(match) or (match["words"].strip()[:80],)
    return {"options": ", ".join(options[:MOST_SHOWN]) + (" …" if len(options) > MOST_SHOWN else "")}


def told_path(match: re.Match[str], arguments: Words) -> dict[str, str]:
    """The first path or name that the message quotes; else its own words."""
    quoted, plain = _QUOTED.search(match["says"]), _PATH.search(match["says"])
    path = quoted[1] if quoted else plain[1].rstrip(".,") if plain else ""
    return {"what": f"File not found: {path}" if path else f"File not found: {match['says']}"}


def told_model(match: re.Match[str], arguments: Words) -> dict[str, str]:
    told = match.groupdict()
    return {"what": told["model"] or told["dataset"] or value_of(arguments, MODEL_OPTIONS) or "a model or data set"}


def told_hub(match: re.Match[str], arguments: Words) -> dict[str, str]:
    """What was asked for, where the message names it, and whether the run was told to stay offline."""
    module, asked = _MODULE.search(match.string), _ASKED.search(match.string)
    name = posixpath.basename(module[1].rstrip(".")).removesuffix(".py") if module else asked[1] if asked else ""
    offline = ": offline mode is on (HF_HUB_OFFLINE)" if _OFFLINE.search(match.string) else ""
    either = ". evaluate says “doesn't exist” then too" if module else ""
    return {"what": f": {name}" if name else "", "offline": offline + either}


def told_needs(match: re.Match[str], arguments: Words) -> dict[str, str]:
    needs = match["package"] or match["needs"]
    newer = "transformers from source" if needs.startswith("This example") else needs.removesuffix(" is required")
    return {"needs": newer, "says": match[0].partition(": ")[2][:400]}


def told_name(match: re.Match[str], arguments: Words) -> dict[str, str]:
    """What was asked of which module: of an import, or of an attribute."""
    return {one: match[one] or match[f"{one}2"] for one in ("name", "module", "package")}
