"""Checks of the arguments before a start: options that the script does not have, files that are not there, imports
that the training environment lacks. A problem where every option is known; None where there is nothing to judge."""

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import reduce

from dsgui.core.diagnosis.remedies import TF32, USE_CPU
from dsgui.core.launch.plan import ConfigArgument, StartedBy
from dsgui.core.machine.verdicts import Sentences, Status, Verdict, advise, ok, problem, saw, unknown, warning
from dsgui.core.preflight.handing_checks import Offer, Swap
from dsgui.core.preflight.script_checks import CONFIG_OPTIONS, given_twice, tf32, use_cpu
from dsgui.core.preflight.surroundings import Question
from dsgui.core.script.command_line import ANY, NOTHING, ONE, OPTIONAL, PERHAPS, SOME, Lacking, Leftover, Option
from dsgui.core.script.gone_options import instead, is_trainers, words_instead
from dsgui.core.script.imports import Absent
from dsgui.core.script.packages import PACKAGES, python_path_with
from dsgui.core.script.script_options import ArgumentsFile
from dsgui.core.script.taken import ScriptAnswers
from dsgui.core.texts.saying import Said, listed, said

_LONGEST = 60
_ALIKE, _VERY_ALIKE = 0.75, 0.82
_MOST_TOLD = 6
_MOST_LINES = 12
_MOST_IN_LABEL = 3
_OPTION_AND_VALUE = 2


def options(question: Question) -> Verdict | None:
    found, line = question.taken, question.around.script.command_line
    if not question.launch.script or question.around.script.problem or not found.options:
        return None
    known = _spelled(found.options)
    lacking = found.reading.lacking if found.sure else ()
    meant = {one.after for one in lacking if _is_number(one.after)}  # values that look like options
    left = [_unknown(one, known, question) for one in found.reading.leftovers if one.words[0] not in meant]
    told = [_lacking(one) for one in lacking] + [one for one in left if one]
    if not told:
        count = len(found.reading.given)
        return ok(saw("options.all", count=str(count))) if found.sure and count else None
    sure = found.sure and bool(line.strict or lacking)
    ends = (_ends(question),) if sure else ()
    judged = problem if sure else warning
    if len(told) == 1:
        ((seen, advice),) = told
        return judged((seen, *ends), advice)
    items = [_with_advice(*one) for one in told[:_MOST_LINES]]
    if len(told) > _MOST_LINES:
        items = [*items[:-1], saw("options.more", count=str(len(told) - _MOST_LINES + 1))]
    several = saw("options.several", count=str(len(told)))
    return replace(judged((several, *ends)), count=len(told), items=tuple(items))


def _with_advice(seen: Said, advice: Sentences) -> Said:
    """In one line."""
    return reduce(lambda line, one: saw("options.line", seen=line, advice=one), advice, seen)


def _ends(question: Question) -> Said:
    """argparse looks for what may stand for several options first, for what nobody takes last."""
    reading = question.taken.reading
    left = [word for one in reading.leftovers for word in one.words]
    if any(one.begins for one in reading.leftovers):
        return saw("options.ends")
    if reading.lacking:
        return saw("options.ends_with", words=reading.lacking[0].said)
    line = question.around.script.command_line
    if line.stops_with:
        return saw("options.ends_with", words=line.stops_with + " ".join(left))
    if line.by_dataclass:
        return saw("options.ends_not_used", words=str(left))
    if line.by_fire:
        return saw("options.ends_with", words=f"Could not consume arg: {left[0]}")
    return saw("options.ends_with", words=f"unrecognized arguments: {' '.join(left)}")


def _spelled(options: Iterable[Option]) -> dict[str, str]:
    """Every long option as its parser spells it, by its name without dashes."""
    names = [name for option in options for name in option.names if name.startswith("--")]
    return {_plain(name): name for name in reversed(names)}


def _plain(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _unknown(left: Leftover, known: Mapping[str, str], question: Question) -> tuple[Said, Sentences] | None:
    """What is said of words left over, and what to do; None for what may be taken all the same."""
    option, sure = left.option, question.taken.sure and question.around.script.command_line.strict
    if not option:
        return _loose(left.loose) if sure and not question.around.script.command_line.positionals else None
    if left.begins:
        return _ambiguous(option, left.begins) if sure else None
    name, value = _plain(option), left.words[0].partition("=")[2] or " ".join(left.words[1:2])
    gone = _gone(name, value, known, question)
    release = question.around.version("transformers") if gone and is_trainers(name) else ""
    alike = _alike(name, known, _ALIKE if sure else _VERY_ALIKE)
    if not sure and not alike and not gone:
        return None
    seen = (
        saw("options.unknown_to_release", option=_short(option), release=release)
        if release
        else saw("options.unknown", option=_short(option))
    )
    return seen, gone or (_meant(known[alike] if alike else "", _short(option)),)


def _meant(alike: str, option: str) -> Said:
    return advise("options.did_you_mean", option=alike) if alike else advise("options.remove", option=option)


def _gone(name: str, value: str, known: Collection[str], question: Question) -> Sentences | None:
    """What to do about an option that newer releases dropped. Where a class of the script's could not be read, only for
    what was the Trainer's and is not any more: it may declare any other."""
    if not question.around.script.command_line.by_dataclass:
        return None
    if question.taken.sure:
        return instead(name, value, known)
    trainers = question.around.answers.trainers
    if not trainers or name in trainers or not is_trainers(name):
        return None
    return instead(name, value, {*known, *trainers})


def argument_offers(question: Question) -> Iterator[Offer]:
    """One click each: without the options that the script has no more or never had, under their names where they have
    one; without the config that is given twice; without --tf32 where no GPU can; with --use_cpu where ranks need it."""
    argument = question.launch.config_argument
    swaps = _swaps(question)
    if swaps:
        yield Offer(_told(swaps), argument, swaps=swaps, at="options")
    if _told_of(given_twice(question)):
        option = CONFIG_OPTIONS[argument]
        yield Offer(said("offers", "remove_from_arguments", option=option), argument, (), (option,), at="twice")
    if tf32(question):
        yield Offer(_change(TF32, ()), argument, (), (TF32,), at="tf32")
    brings_it = any(USE_CPU in new for _, new in swaps)  # one press is enough
    if _lacks_use_cpu(question) and not brings_it:
        # In the place of one that says no, where there is one.
        yield Offer(said("offers", "add", words=USE_CPU), argument, (USE_CPU,), (USE_CPU,), at="use_cpu")


def _told_of(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.status in (Status.PROBLEM, Status.WARNING)


def _lacks_use_cpu(question: Question) -> bool:
    """Where the script takes it, as far as is known: an older transformers calls it otherwise, and a file with the
    arguments takes none beside itself."""
    trainers = question.around.answers.trainers
    taken = not question.taken.file.path and (not trainers or USE_CPU.removeprefix("--") in trainers)
    return taken and _told_of(use_cpu(question))


def _told(swaps: Sequence[Swap]) -> Said:
    """Which options go, and which stand under another name then."""
    renamed = [(typed, new) for typed, new in swaps if new]
    dropped = _listed(_names(swap for swap in swaps if not swap[1]))
    words = [word for _, new in renamed for word in new]
    if not renamed or not dropped:
        return _change(_listed(_names(swaps)), words)
    shown = shlex.join(words)[:_LONGEST]
    return said("offers", "replace_and_remove", options=_listed(_names(renamed)), words=shown, gone=dropped)


def _names(swaps: Iterable[Swap]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(typed[0].partition("=")[0] for typed, _ in swaps))


def _change(gone: str | Said, words: Sequence[str]) -> Said:
    if not words:
        return said("offers", "remove", options=gone)
    return said("offers", "replace", options=gone, words=shlex.join(words)[:_LONGEST])


def _swaps(question: Question) -> tuple[Swap, ...]:
    """What is typed in vain, and the words instead; one that would set an option a second time is left to its user."""
    found: list[Swap] = []
    stay: set[str] = set()
    set_by_now = set(question.taken.reading.given)
    for left in question.taken.reading.leftovers if question.taken.sure else ():
        new = _instead_of(left, question)
        meant = _option_of(new[0], question) if new else None
        if new is None or (meant and meant.name in set_by_now):
            stay.add(left.option)
            continue
        set_by_now |= {meant.name} if meant else set()
        found.append((left.words, new))
    return tuple(swap for swap in found if swap[0][0].partition("=")[0] not in stay)  # one of each name, or none


def _option_of(word: str, question: Question) -> Option | None:
    name = word.partition("=")[0]
    return next((option for option in question.taken.options if name in option.names), None)


def _instead_of(left: Leftover, question: Question) -> tuple[str, ...] | None:
    """The words instead of an option that newer releases dropped, or of one that the script would end at: none where
    there is nothing alike. None where that is not known, or where more than the option and one value would go."""
    if not left.option or left.begins or len(left.words) > _OPTION_AND_VALUE:
        return None
    line, known = question.around.script.command_line, {option.name for option in question.taken.options}
    name, value = _plain(left.option), left.words[0].partition("=")[2] or " ".join(left.words[1:2])
    if line.by_dataclass and instead(name, value, known):
        return words_instead(name, value, known)
    if not line.strict or line.positionals:  # the word behind it may be one of these
        return None
    alike = _alike(name, spelled := _spelled(question.taken.options), _ALIKE)
    return _under_its_name(left, spelled[alike], question) if alike else ()


def _under_its_name(left: Leftover, meant: str, question: Question) -> tuple[str, ...] | None:
    """As it was typed but for the name; None where the option takes no such value, or needs one."""
    option, (_, equals, value) = _option_of(meant, question), left.words[0].partition("=")
    has_value = bool(value) or len(left.words) == _OPTION_AND_VALUE
    if option is None or option.values not in (NOTHING, ONE, PERHAPS, SOME, ANY) or (equals and not value):
        return None
    fits = not has_value if option.values == NOTHING else has_value or option.values in OPTIONAL
    return (f"{meant}={value}" if equals else meant, *left.words[1:]) if fits else None


def _listed(names: Sequence[str]) -> str | Said:
    shown, more = listed(map(_short, names[:_MOST_IN_LABEL])), len(names) - _MOST_IN_LABEL
    return said("offers", "and_more", options=shown, count=str(more)) if more > 0 else shown


def _loose(word: str) -> tuple[Said, Sentences]:
    return saw("options.loose", word=_short(word)), (advise("options.remove_word", word=_short(word)),)


def _ambiguous(option: str, begins: Collection[str]) -> tuple[Said, Sentences]:
    shown = listed(list(begins)[:_MOST_TOLD])
    return saw("options.ambiguous", option=_short(option), options=shown), (advise("options.full_name"),)


def _lacking(one: Lacking) -> tuple[Said, Sentences]:
    word, has_value, _ = one.word.partition("=")
    option, after = _short(word), _short(one.after)
    if one.option.values == NOTHING:
        if has_value:
            return saw("options.takes_none", option=option), (advise("options.alone", option=option),)
        return saw("options.takes_none_behind", option=option), (advise("options.separately"),)
    if _is_number(one.after) and one.option.values in (ONE, SOME):
        seen = saw("options.value_like_option", option=option, value=after)
        return seen, (advise("options.with_equals", option=option, value=after),)
    if one.option.values in (ONE, SOME):
        return saw("options.no_value", option=option), (advise("options.give_value"),)
    return saw("options.few_values", option=option), (advise("options.give_values", count=str(one.option.values)),)


def _is_number(word: str) -> bool:
    try:
        return bool(word) and float(word) < 0
    except ValueError:
        return False


def _alike(name: str, known: Collection[str], cutoff: float) -> str:
    found = get_close_matches(name[:_LONGEST], [one for one in known if one != "help"], n=1, cutoff=cutoff)
    return found[0] if found else ""


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"


def arguments_file(question: Question) -> Verdict | None:
    """A file of arguments: whether the script will look at it, and whether it names what there is."""
    line, file = question.around.script.command_line, question.taken.file
    if not file.path:
        return None
    if stands_beside(question):
        return problem(_beside(question, file.path), advise("arguments_file.name_config_there"))
    if not file.was_read:
        return None  # `files` tells that it is not there
    if file.problem:
        seen = saw("arguments_file.unreadable", path=file.path, problem=file.problem)
        return _grave(question)(seen, advise("arguments_file.correct"))
    known, sure = _of_file(question)
    odd = [str(key) for key in file.values if str(key) not in known]
    if odd and sure:
        ends = line.file is ArgumentsFile.ALONE or bool(line.file_groups)
        return _odd_keys(file.path, odd, known, ends)
    if len(file.values) == 1:
        return ok(saw("arguments_file.found_one", path=file.path))
    return ok(saw("arguments_file.found", path=file.path, count=str(len(file.values))))


def _of_file(question: Question) -> tuple[set[str], bool]:
    """The names that a file of arguments may have, and whether these are all."""
    answers = question.around.answers
    if question.around.script.command_line.file_groups:
        return {option.name for option in answers.made}, answers.made_known
    return {option.name for option in question.taken.options} | {"env"}, question.taken.sure


def _beside(question: Question, path: str) -> Said:
    """A file of arguments that is given something else too."""
    config, rank = _added(question)
    if config and rank:
        return saw("arguments_file.beside_both", path=path, config=config)
    return saw("arguments_file.beside", path=path, words=config or rank)


def stands_beside(question: Question) -> bool:
    """Whether a file of arguments that has to be the only one is not."""
    alone = question.around.script.command_line.file is ArgumentsFile.ALONE and bool(question.taken.file.path)
    return alone and any(_added(question))


def _odd_keys(path: str, odd: list[str], known: Collection[str], ends: bool) -> Verdict:
    advice: list[Said] = []
    for key in odd[:_MOST_TOLD]:
        advice += instead(key, "", known) or (_meant(_alike(key, known, _ALIKE), _short(key)),)
    given, what_to_do = {"path": path, "keys": listed(map(_short, odd[:_MOST_TOLD]))}, tuple(dict.fromkeys(advice))
    if not ends:
        return warning(saw("arguments_file.unknown", **given), what_to_do)
    words = str(sorted(odd)[:_MOST_TOLD])
    return problem(saw("arguments_file.ends", **given, words=words), what_to_do)


_BY_WORDS = (ConfigArgument.HF, ConfigArgument.NATIVE, ConfigArgument.OVERRIDE)


def _added(question: Question) -> tuple[str, str]:
    """What the script is given beside the arguments typed: the config, the rank."""
    launch = question.launch
    ranked = launch.passes_local_rank and launch.started_by is StartedBy.DEEPSPEED
    config = launch.config_argument.value if launch.config_argument in _BY_WORDS else ""
    return config, "--local_rank" if ranked else ""


def files(question: Question) -> Verdict | None:
    missing = question.around.missing_files
    if not missing:
        return None
    seen = (saw("files_in_arguments.missing", option=file.option, path=_short_path(place)) for file, place in missing)
    return _grave(question)(tuple(seen), advise("files_in_arguments.check_path"))


def _short_path(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:80]}…{path[-100:]}"


def imports(question: Question) -> Verdict | None:
    """What is not there: one in a sentence, several in a line each."""
    answers, unchecked = question.around.answers, tuple(_unchecked(question))
    every = (*answers.missing, *answers.gone, *answers.refused)
    if not every:
        return unknown(*unchecked) if unchecked else None
    packages = list(dict.fromkeys(PACKAGES[one.name] for one in answers.missing if one.name in PACKAGES))
    python = question.launch.target_python
    command = f"{shlex.quote(python)} -m pip install {shlex.join(packages)}" if packages and python else ""
    seen = [_named(answers)] if len(every) == 1 else list(_counted(answers))
    items = _items(answers) if len(every) > 1 else ()
    older = answers.gone or answers.refused
    advice = [
        *_from_above(answers),
        *_where_from(answers.missing, in_lines=bool(items), by_command=bool(command)),
        *([advise("script_imports.release")] if older else []),
    ]
    return replace(_grave(question)((*seen, *unchecked), tuple(advice), command), items=items)


def _named(answers: ScriptAnswers) -> Said:
    """Of a single one."""
    if answers.missing:
        return saw("script_imports.missing", modules=_place(answers.missing[0]))
    if answers.gone:
        return saw("script_imports.gone", names=_place(answers.gone[0]))
    return saw("script_imports.refused", names=_place(answers.refused[0]))


def _counted(answers: ScriptAnswers) -> Iterator[Said]:
    """Of several, which the lines below name."""
    if count := len(answers.missing):
        one, more = saw("script_imports.missing_one"), saw("script_imports.missing_several", count=str(count))
        yield one if count == 1 else more
    if count := len(answers.gone):
        one, more = saw("script_imports.gone_one"), saw("script_imports.gone_several", count=str(count))
        yield one if count == 1 else more
    if count := len(answers.refused):
        one, more = saw("script_imports.refused_one"), saw("script_imports.refused_several", count=str(count))
        yield one if count == 1 else more


def _items(answers: ScriptAnswers) -> Sentences:
    """Each with its line, and where a module is to come from."""
    lines = [_missing(one) for one in answers.missing]
    lines += [saw("script_imports.item_gone", what=_place(one)) for one in answers.gone]
    lines += [saw("script_imports.item_refused", what=_place(one)) for one in answers.refused]
    if len(lines) > _MOST_LINES:
        return (*lines[: _MOST_LINES - 1], saw("options.more", count=str(len(lines) - _MOST_LINES + 1)))
    return tuple(lines)


def _missing(one: Absent) -> Said:
    if one.above:  # the advice says where
        return _place(one)
    if one.name in PACKAGES:
        return saw("script_imports.item_package", what=_place(one), command=f"pip install {PACKAGES[one.name]}")
    return saw("script_imports.item_own", what=_place(one))


def _unchecked(question: Question) -> Iterator[Said]:
    """What was not held against the installed releases, and why."""
    rebound = question.around.script.command_line.rebound
    if question.around.answers.unseen:
        yield saw("script_imports.unseen", where=_where(question.around.answers.unseen))
    elif rebound:
        yield saw("script_imports.rebound", where=_where((rebound,)))


def _where(told: Sequence[Absent]) -> str | Said:
    """Each with its line."""
    return listed([_place(one) for one in told[:_MOST_TOLD]])


def _place(one: Absent) -> Said:
    if one.file:
        return saw("script_imports.in_file", module=one.name, file=one.file, line=str(one.line))
    return saw("script_imports.module", module=one.name, line=str(one.line))


def _from_above(answers: ScriptAnswers) -> Iterator[Said]:
    """All in one sentence: there is one PYTHONPATH."""
    there = [one for one in answers.missing if one.above]
    if not there:
        return
    folders = list(dict.fromkeys(one.above for one in there))
    names, path = listed([one.name for one in there]), python_path_with(folders, answers.python_path)
    yield advise("script_imports.above", modules=names, folders=listed(folders), path=path)
    if packages := [PACKAGES[one.name] for one in there if one.name in PACKAGES]:
        yield advise("script_imports.or_install", packages=shlex.join(packages))


def _where_from(missing: Sequence[Absent], *, in_lines: bool, by_command: bool) -> Iterator[Said]:
    """`in_lines`: each is told in a line of its own; `by_command`: what is to be installed stands below."""
    nowhere = [one.name for one in missing if not one.above]
    if in_lines:
        if not by_command and any(one in PACKAGES for one in nowhere):
            yield advise("script_imports.install_each")
        if any(one not in PACKAGES for one in nowhere):
            yield advise("script_imports.own_each")
        return
    if packages := [PACKAGES[one] for one in nowhere if one in PACKAGES]:
        yield advise("script_imports.install", packages=shlex.join(packages))
    if others := [one for one in nowhere if one not in PACKAGES]:
        yield advise("script_imports.own", modules=listed(others))


def _grave(question: Question) -> Callable[..., Verdict]:
    """Elsewhere there may be what this machine does not have."""
    return warning if question.launch.elsewhere else problem
