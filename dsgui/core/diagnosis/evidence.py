"""What a failure's own message names: mismatched keys, unknown options, files, models. Each `told_…` function gives
what fills the places of a signature's texts."""

import posixpath
import re
from collections.abc import Iterable
from functools import reduce

from dsgui.core.diagnosis.tracebacks import Traceback
from dsgui.core.script.words import MODEL_OPTIONS, value_of
from dsgui.core.texts.saying import Said, listed, said

MOST_SHOWN = 4
_MOST_MISMATCHES, _VALUE_SHOWN = 12, 80
_MISMATCH = re.compile(r"^- ds (?P<key>[\w.]+)=(?P<has>.*?) vs hf (?P<argument>[^=\n]+)=(?P<given>.*)", re.MULTILINE)
_OPTION = re.compile(r"--[A-Za-z][\w-]{0,100}")
_QUOTED = re.compile(r"'([^'\n]{1,300})'")
_ANGLED = re.compile(r"<([^<>\n]{1,400})>")
_PATH = re.compile(r"(?:[Dd]irectory|at|file) ((?:/|\.{1,2}/|[\w-]{1,100}/)[^\s'\n]{1,300})")
_ASKED = re.compile(r"(?:reach|cache for) '?([\w./@:-]{1,300})")
_MODULE = re.compile(r"find a module script at ([^\s']{1,300})")
_NOT_FOUND = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_IMPORTS = re.compile(r"^\s+(?:from ([\w.]+) import (\w*)|import ([\w.]+))", re.MULTILINE)
_OFFLINE = re.compile(r"(?i:offline mode is enabled|offlinemode|offline=1|outgoing traffic has been disabled)")
Words = tuple[str, ...]
Word = str | Said


def mismatches(text: str) -> list[tuple[str, str, str, str]]:
    """Each mismatch that the HF Trainer names: config key, its value, argument, its value."""
    return [(one["key"], one["has"], one["argument"].strip(), one["given"]) for one in _MISMATCH.finditer(text)]


def unknown_options(match: re.Match[str]) -> Words:
    """The options among the words that a parser did not know."""
    return tuple(dict.fromkeys(_OPTION.findall(match["words"])))


def told_mismatches(match: re.Match[str], arguments: Words) -> dict[str, Word]:
    found = [_mismatch(*one) for one in mismatches(match.string)[:_MOST_MISMATCHES]]
    return {"mismatches": reduce(_one_after_another, found) if found else _part("mismatches_unknown")}


def _mismatch(key: str, has: str, argument: str, given: str) -> Said:
    return _part("mismatch", key=key, has=has[:_VALUE_SHOWN], argument=argument, given=given[:_VALUE_SHOWN])


def _one_after_another(first: Said, then: Said) -> Said:
    return _part("mismatches", first=first, then=then)


def _part(code: str, /, **given: Word) -> Said:
    return said("diagnosis_parts", code, **given)


def told_options(match: re.Match[str], arguments: Words) -> dict[str, Word]:
    options = unknown_options(match) or (match["words"].strip()[:80],)
    shown = listed(options[:MOST_SHOWN])
    return {"options": _part("more_options", options=shown) if len(options) > MOST_SHOWN else shown}


def told_path(match: re.Match[str], arguments: Words) -> dict[str, Word]:
    """The first path or name that the message quotes; otherwise the message itself."""
    quoted, plain = _ANGLED.match(match["says"]) or _QUOTED.search(match["says"]), _PATH.search(match["says"])
    path = quoted[1] if quoted else plain[1].rstrip(".,") if plain else ""
    return {"what": path or match["says"]}


def told_model(match: re.Match[str], arguments: Words) -> dict[str, Word]:
    told = match.groupdict()
    return {"what": told["model"] or told["dataset"] or value_of(arguments, MODEL_OPTIONS) or _part("model")}


def told_hub(match: re.Match[str], arguments: Words) -> dict[str, Word]:
    """What was requested, if the message names it, and whether the run was told to stay offline. evaluate says of a
    metric's script that it does not exist, whatever the reason."""
    module, asked = _MODULE.search(match.string), _ASKED.search(match.string)
    name = posixpath.basename(module[1].rstrip(".")).removesuffix(".py") if module else asked[1] if asked else ""
    return {
        "named": _part("hub_name", name=name) if name else _part("hub_no_name"),
        "offline": _part("hub_offline" if _OFFLINE.search(match.string) else "hub_not_offline"),
        "evaluate": _part("script_to_find" if module else "no_script_to_find"),
    }


def modules_missing(tracebacks: Iterable[Traceback]) -> dict[str, tuple[str, ...]]:
    """The modules that were not found, each with what the lines of that traceback import."""
    found: dict[str, tuple[str, ...]] = {}
    for one in tracebacks:
        imported = (modules for lines in _IMPORTS.findall(one.text) for modules in _imported(*lines))
        names = [match[1] for message in one.messages if (match := _NOT_FOUND.match(message))]
        found |= dict.fromkeys(names, tuple(imported))
    return found


def _imported(source: str, name: str, module: str) -> Words:
    return (source, f"{source}.{name}") if source else (module,)


def told_module(match: re.Match[str], arguments: Words) -> dict[str, Word]:
    """evaluate lists the packages of a metric, each in quotes."""
    return {"module": match["module"] or listed(match["module2"].replace("'", "").split(", "))}


def told_needs(match: re.Match[str], arguments: Words) -> dict[str, Word]:
    needs = match["package"] or match["needs"]
    source = needs.startswith("This example")
    newer = _part("transformers_from_source") if source else needs.removesuffix(" is required")
    return {"needs": newer, "says": match[0].partition(": ")[2][:400]}


def told_name(match: re.Match[str], arguments: Words) -> dict[str, Word]:
    """Which name was requested from which module, by an import or as an attribute."""
    return {one: match[one] or match[f"{one}2"] for one in ("name", "module", "package")}
