"""What makes one run another than the next: everything it was started with, in parts, and where runs differ in it.

The config alone is not it: a learning rate on the command line, a variable, another version of a package or another
commit change a training just as well."""

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dsgui.core.access.secret_forms import is_secret_name, is_secret_option
from dsgui.core.access.secrets import MASK
from dsgui.core.config.compare import leaves, same
from dsgui.core.config.document import Document
from dsgui.core.launch.plan import Plan
from dsgui.core.runs.meaning import WHAT_TRAINS, meaning
from dsgui.core.script.words import MODEL_OPTIONS, value_of
from dsgui.core.texts.saying import words

OWN_FOLDER = "{run}"  # stands for the run's own folder, which is another for each run
_LONGEST = 300
_OWN_MODEL = "--config_name"
_ANY_DATA = frozenset({"train", "training", "train_data", "training_data", "data", "dataset", "all"})
_PART_OF_DATA = "--dataset_config_name"
_DATA_OPTIONS = ("--dataset_name", _PART_OF_DATA, "--dataset", "--train_file", "--data_path", "--data_dir")
_SHORT, _OF_CONFIG = 6, 4  # of so few differences so many are the config's

# What one run has of a part, by key; None: it was not recorded, or can't be read.
Part = Mapping[str, str] | None
Same = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a run was started with. `config` is None where it can't be read, `provenance` {} where an older dsgui
    kept none."""

    plan: Plan
    config: Document | None
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setting:
    """One key with its value in each run, None where it is not set; "" is an option without a value. `place` is that
    among all that differ, of every part: a short list has the first ones."""

    key: str
    values: tuple[str | None, ...]
    differs: bool
    place: int = 0

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "values": list(self.values)} | ({"place": self.place} if self.differs else {})


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the settings. `unknown` are the places of the runs of which nothing is known here: nobody may say that
    they are the same. `uncertain`: what is recorded is the same, and yet the code may not be."""

    code: str
    settings: tuple[Setting, ...]
    unknown: tuple[int, ...] = ()
    uncertain: bool = False

    @property
    def differs(self) -> bool:
        return any(one.differs for one in self.settings)

    def masked(self, hide: Callable[[str], str]) -> "Section":
        """With every text as it may be shown."""
        hidden = (
            replace(
                one, key=hide(one.key), values=tuple(None if value is None else hide(value) for value in one.values)
            )
            for one in self.settings
        )
        return replace(self, settings=tuple(hidden))

    def to_json(self) -> dict[str, Any]:
        """What differs apart from what is the same."""
        parts = {
            name: [one.to_json() for one in self.settings if one.differs is differs]
            for name, differs in (("differ", True), ("same", False))
        }
        return {"code": self.code, "unknown": list(self.unknown), "uncertain": self.uncertain} | parts


def searchable(run: Settings) -> dict[str, str]:
    """What a search compares: arguments and config keys with dots and without dashes, and on how much it ran. Secrets
    are not told."""
    plan = run.plan
    gpus = len(plan.gpu_indices) or (plan.ranks if plan.elsewhere else 0)
    found = {} if plan.is_adopted else {"gpus": str(gpus), "ranks": str(plan.ranks), "nodes": str(plan.nodes)}
    for code in ("arguments", "config"):
        for key, value in (_PARTS[code](run) or {}).items():
            found.setdefault(key.strip("-/").replace("/", "."), _plain(_shown(code, key, value) or ""))
    return found


def column_values(run: Settings) -> dict[str, str]:
    """What a column of the list may show, by part and key: `config:zero_optimization.stage`, `arguments:lr`. "" is an
    option without a value. Secrets are not told."""
    return {
        f"{code}:{key.strip('-/').replace('/', '.')}": _plain(shown := _shown(code, key, value) or "") or shown
        for code in ("config", "arguments")
        for key, value in (_PARTS[code](run) or {}).items()
    }


def _plain(value: str) -> str:
    """A word of a config without its quotes."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value


def compared(runs: Sequence[Settings]) -> tuple[Section, ...]:
    """Every part of the runs' settings, those with differences first: what trains, then of arguments and config the one
    that tells more; in each what means most first, and of that what all runs set before what few do."""
    training = _section(WHAT_TRAINS, [_training(run) for run in runs])
    others = (_section(code, [_PARTS[code](run) for run in runs]) for code in _PARTS)
    above = {"launch": {"script"}, "arguments": _told_above(runs)}
    found = [training, *(_telling_first(_without(above.get(one.code, set()), one)) for one in others)]
    return _placed(sorted(found, key=_part_order))


def unlike(sections: Sequence[Section]) -> str:
    """ "script", "model" or "data" where runs of different ones are compared: a loss or a speed of one says nothing of
    the other's. A run that names no model or no data may train the same, by its script's default; one that names a
    config of its own model does not."""
    apart = {(part.code, one.key): one for part in sections for one in part.settings if one.differs}
    if (WHAT_TRAINS, "script") in apart:
        return "script"
    named = {key for key, one in apart.items() if len({*one.values} - {None}) > 1}
    models = [one for part in sections if part.code == WHAT_TRAINS for one in part.settings if one.key == "model"]
    is_said = any(not one.differs and None not in one.values for one in models)  # its config is then its own
    if (WHAT_TRAINS, "model") in named or (not is_said and ("arguments", _OWN_MODEL) in apart):
        return "model"
    given = [apart[("arguments", option)] for option in _DATA_OPTIONS if ("arguments", option) in named]
    return "data" if any(_are_other(one.values) for one in given) else ""


def scores_compare(sections: Sequence[Section]) -> bool:
    """Whether a score of one run's evaluation says something of another's: not on other data, and of another script
    only where all are given the same data. Another model may well be held to the same test."""
    given = [one for part in sections if part.code == "arguments" for one in part.settings if one.key in _DATA_OPTIONS]
    if any(_are_other(one.values) for one in given):
        return False
    is_told = any(None not in one.values for one in given if one.key != _PART_OF_DATA)
    return is_told or unlike(sections) != "script"


def why_unlike(sections: Sequence[Section], has_scores: bool, names: Sequence[str]) -> str:
    """In a sentence, what of such runs says nothing of each other; "" where all does. Of the runs by these names that
    one is told of which alone has another script."""
    apart, scores = unlike(sections), scores_compare(sections)
    if not apart:
        return ""
    what = "losses_speeds" if scores or not has_scores else "losses_scores_speeds"
    reason = "unlike_model_data" if apart == "model" and not scores else f"unlike_{apart}"
    if apart == "script":
        told = [
            one.values for part in sections for one in part.settings if (part.code, one.key) == (WHAT_TRAINS, "script")
        ]
        known = [(name, script) for name, script in zip(names, told[0], strict=True) if script is not None]
        return _which_script(known, words("compare_page", what))
    return words("compare_page", reason, what=words("compare_page", what))


def _are_other(paths: Iterable[str | None]) -> bool:
    """Whether these data differ. The same in another folder are the same; where the file's own name says nothing, the
    folders tell, as far as they are given."""
    found = [path.rstrip("/").rpartition("/") for path in paths if path]
    names = {name for _, _, name in found}
    folders = {folder.rpartition("/")[2] for folder, _, _ in found} - {"", ".", ".."}
    says_nothing = any(name.lower().partition(".")[0] in _ANY_DATA for name in names)
    return len(names) > 1 or (says_nothing and len(folders) > 1)


def _which_script(runs: Sequence[tuple[str, str]], what: str) -> str:
    """Which run alone has another script than all the others, or that not all have the same."""
    scripts = [script for _, script in runs]
    kinds, alone = len({*scripts}), [name for name, script in runs if scripts.count(script) == 1]
    if kinds == len(scripts):
        return words("compare_page", "unlike_script", what=what)
    if kinds == 2 and alone:
        return words("compare_page", "unlike_script_one", run=alone[0], what=what)
    return words("compare_page", "unlike_script_some", what=what)


def _told_above(runs: Sequence[Settings]) -> set[str]:
    """The options that need not be told among the arguments, since what trains says all that any run gives them."""
    if any(_training(run) is None for run in runs):
        return set()
    told = [(arguments_of(run.plan.arguments), *_model(run.plan)) for run in runs]
    return {
        key
        for key in MODEL_OPTIONS
        if all(key not in given or (key == option and given[key] == model) for given, option, model in told)
    }


def _model(plan: Plan) -> tuple[str, str]:
    """The option that names the model that is trained, and that; "" where none does."""
    given = ((option, value_of(plan.arguments, (option,))) for option in MODEL_OPTIONS)
    option, model = next(((option, value) for option, value in given if value is not None), ("", ""))
    return (option, model) if model else ("", "")


def _without(keys: Collection[str], section: Section) -> Section:
    return replace(section, settings=tuple(one for one in section.settings if one.key not in keys))


def _telling_first(section: Section) -> Section:
    def order(one: Setting) -> tuple[int, int]:
        return meaning(section.code, one.key), one.values.count(None)

    return replace(section, settings=tuple(sorted(section.settings, key=order)))


def _part_order(section: Section) -> tuple[bool, bool, bool, int]:
    told = section.code in ("arguments", "config")
    most = min((meaning(section.code, one.key) for one in section.settings if one.differs), default=0)
    return not section.differs, section.code != WHAT_TRAINS, not told, most if told else 0


def _placed(sections: Sequence[Section]) -> tuple[Section, ...]:
    """With the place of each difference: what trains, then by what it means, and among the first some of the config."""
    absent = {(part.code, one.key): one.values.count(None) for part in sections for one in part.settings if one.differs}
    apart = sorted(absent, key=lambda one: (meaning(*one), absent[one]))
    first = [one for one in apart if one[0] == WHAT_TRAINS]
    first += [one for one in apart if one[0] == "config"][:_OF_CONFIG]
    first += [one for one in apart if one not in first][: _SHORT - len(first)]
    places = {one: place for place, one in enumerate(dict.fromkeys((*first, *apart)))}
    return tuple(
        replace(part, settings=tuple(replace(one, place=places.get((part.code, one.key), 0)) for one in part.settings))
        for part in sections
    )


def changes(before: Settings, after: Settings) -> list[tuple[str, Setting]]:
    """What differs from an earlier run in what a user sets, each with the code of its part; what means most first."""
    sections = (_section(code, [_PARTS[code](before), _PARTS[code](after)]) for code in _SET_BY_USERS)
    found = [(part.code, one) for part in sections if not part.unknown for one in part.settings if one.differs]
    return sorted(found, key=lambda one: meaning(one[0], one[1].key))


def _section(code: str, parts: Sequence[Part]) -> Section:
    unknown = tuple(place for place, part in enumerate(parts) if part is None)
    keys = dict.fromkeys(key for part in parts if part is not None for key in part)
    found = tuple(_setting(key, parts, _SAME.get(code, _same_words)) for key in keys)
    dirty = code == "code" and any(part and part.get("uncommitted") == "yes" for part in parts)
    return Section(
        code,
        tuple(Setting(one.key, tuple(_shown(code, one.key, v) for v in one.values), one.differs) for one in found),
        unknown,
        dirty and not unknown and not any(one.differs for one in found),
    )


def _setting(key: str, parts: Sequence[Part], equal: Same) -> Setting:
    """What is not known of one run is no difference from the others."""
    values = tuple(None if part is None else part.get(key) for part in parts)
    known = [part.get(key) for part in parts if part is not None]
    return Setting(key, values, not all(_equal(equal, known[0], other) for other in known[1:]))


def _equal(equal: Same, one: str | None, other: str | None) -> bool:
    return one == other if one is None or other is None else equal(one, other)


def _same_words(one: str, other: str) -> bool:
    """3e-4 and 0.0003 are one number."""
    return one == other or (_number(one) is not None and _number(one) == _number(other))


def _same_json(one: str, other: str) -> bool:
    """As a config's reader has them: 5e8 is 500000000, and true is not 1."""
    try:
        return one == other or same(json.loads(one), json.loads(other))
    except ValueError:
        return False


def _number(word: str) -> float | None:
    try:
        read = float(word[:40])
    except ValueError:
        return None
    return read if math.isfinite(read) else None


def _shown(code: str, key: str, value: str | None) -> str | None:
    """Compared as it is, shown without a secret."""
    if value is None:
        return None
    hides = {"arguments": is_secret_option, "config": _named_secret, "environment": _named_secret}.get(code)
    return MASK if value and hides and hides(key, value) else value[:_LONGEST]


def _named_secret(key: str, value: str) -> bool:
    return is_secret_name(key.rpartition("/")[2])


# --- the parts --------------------------------------------------------------------------------------------------------


def arguments_of(words: Iterable[str]) -> dict[str, str]:
    """A script's arguments by option, however they are spelled: `--lr=3e-4`, `--lr 3e-4`; of what is given twice both.
    A word that belongs to no option is #1, #2 …"""
    found: dict[str, list[str]] = {}
    option, loose = "", 0
    for word in words:
        name, equals, value = word.partition("=")
        if _is_option(word):
            option = _option(name)
            found.setdefault(option, []).extend([value] if equals else [])
            option = "" if equals else option
        elif option:
            found[option].append(word)
        elif equals and name.isprintable() and " " not in name:
            found.setdefault(name, []).append(value)
        else:
            loose += 1
            found[f"#{loose}"] = [word]
    return {name: " ".join(values) for name, values in found.items()}


def _is_option(word: str) -> bool:
    return word.startswith("-") and word not in ("-", "--") and _number(word) is None


def _option(name: str) -> str:
    """--learning-rate is --learning_rate to every parser that scripts use."""
    dashes = name[: len(name) - len(name.lstrip("-"))]
    return dashes + name.lstrip("-").replace("-", "_")


def _arguments(run: Settings) -> Part:
    if run.plan.is_adopted and not run.plan.arguments:
        return None
    return {key: _elsewhere(run.plan, value) for key, value in arguments_of(run.plan.arguments).items()}


def _config(run: Settings) -> Part:
    return None if run.config is None else leaves(run.config)


def _environment(run: Settings) -> Part:
    if run.plan.is_adopted:
        return None
    return {**run.plan.environment, **dict.fromkeys(run.plan.secret_names, MASK)}


def _training(run: Settings) -> Part:
    plan = run.plan
    if plan.is_adopted:
        return None
    told = {"script": plan.script, "model": _model(plan)[1]}
    return {key: value for key, value in told.items() if value}


def _launch(run: Settings) -> Part:
    plan = run.plan
    if plan.is_adopted:
        return None
    told = {
        "script": plan.script,
        "ranks": str(plan.ranks),
        "devices": str(plan.place.devices(plan)),
        "where": plan.place.NAME,
        "nodes": str(plan.nodes),
        "launcher": plan.started_by.value,
        "reader": plan.config_argument.value,
        "directory": _elsewhere(plan, plan.working_directory),
        "python": plan.target_python,
    }
    return {key: value for key, value in told.items() if value}


def _elsewhere(plan: Plan, value: str) -> str:
    return value.replace(plan.run_directory, OWN_FOLDER) if plan.run_directory else value


def _versions(run: Settings) -> Part:
    known = run.provenance
    if not known:
        return None
    versions = known.get("versions") or {}
    told = {"Python": known.get("python"), **versions}
    return {name: str(version) for name, version in told.items() if version}


def _code(run: Settings) -> Part:
    if not run.provenance:
        return None
    git = run.provenance.get("git") or {}
    dirty = None if git.get("dirty") is None else "yes" if git["dirty"] else "no"
    told = {"commit": git.get("commit"), "branch": git.get("branch"), "uncommitted": dirty}
    return {name: str(value) for name, value in told.items() if value}


_PARTS: Mapping[str, Callable[[Settings], Part]] = {
    "arguments": _arguments,
    "config": _config,
    "environment": _environment,
    "launch": _launch,
    "code": _code,
    "versions": _versions,
}
_SET_BY_USERS = ("arguments", "config", "environment", "launch")
_SAME: Mapping[str, Same] = {"config": _same_json}
