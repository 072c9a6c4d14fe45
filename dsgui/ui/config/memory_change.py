"""From a red memory bar to the cheapest change that fits: found on a press, applied on another."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from dsgui.core.config.arguments import from_words
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.filling import ACCUMULATION, ARGUMENTS, MICRO, TRAIN, fill
from dsgui.core.config.findings import Change, Fix
from dsgui.core.config.pointer import lookup
from dsgui.core.errors import DocumentError
from dsgui.core.machine.hardware import card_named
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.beyond import as_json as beyond_json
from dsgui.core.memory.fits.beyond import beyond
from dsgui.core.memory.fits.cheapest import OPTIONS, as_json, cheapest, in_bf16
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.rules.trainer import needed_options
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, as_told
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import tell_if_unanswered
from dsgui.ui.common.events import CHANGED_TEXT, LIVE, ONCE, details
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import UNSEEN, ContextBar, Launched
from dsgui.ui.config.memory_panel import MemoryPanel, asked_of, inquiry_for, memory_shown
from dsgui.ui.config.workbench import MAX_RANKS, View, Workbench, make_context

_MOST_EDITS = 40
_OPTIONS = frozenset({*OPTIONS, *(f"--{name}" for names in ARGUMENTS.values() for name in names)})
_BATCH = tuple(f"--{ARGUMENTS[key][0]}" for key in (MICRO, ACCUMULATION))
_TYPES = ("--fp16", "--bf16")
_VALUE = re.compile(r"[\w.+-]{0,40}", re.ASCII)
_OF_ARGUMENTS = ("arguments", "checkpointing")  # what a change says that the script is to be given
_TICKS = ("checkpointing", "zero_init")  # boxes of the panel that say what the script does


def wire_memory_change(
    memory: MemoryPanel,
    text: gr.Code,
    bar: Sequence[Any],
    parts: tuple[Services, Workbench],
) -> None:
    """`parts` are what the handler asks. What applies a change: `wire_applied`."""
    services, workbench = parts

    def find(text: str | None, *bar_and_memory: Any) -> Any:
        context = make_context(services.target(), *bar_and_memory[: len(bar)])
        view = workbench.show(text or "", context)
        given, launched = bar_and_memory[len(bar) :], bar_and_memory[len(bar) - 1]
        # With the bars, which stand for something else where an answer to an edit got lost.
        bars = memory_shown(services, view, context, given)
        return gr.update(found=change_found(services, view, context, given, launched), value=bars)

    # A press while the page looks by itself, for what stood there before, waits for that.
    tell_if_unanswered(memory.panel.find(find, [text, *bar, *memory.inputs], [memory.panel], **LIVE), "change")


def wire_applied(
    panels: Sequence[gr.HTML], memory: MemoryPanel, page: tuple[gr.Code, gr.HTML, ContextBar], arguments: gr.Textbox
) -> None:
    """A press on one of the `panels` applies a change; `page` is the text, the form and what is planned for;
    `arguments` are the script's, on the Launch page."""
    text, form, bar = page
    fields = [memory.fields["lora_rank"], bar.device, bar.gpus, bar.nodes]
    changed = [text, form, *(memory.fields[name] for name in _TICKS), arguments, *fields]
    for panel in panels:
        panel.apply(applied, [text, arguments], changed, **ONCE)


def applied(text: str | None, arguments: str | None, event: gr.EventData) -> tuple[Any, ...]:
    """The text, the form, the panel's ticks, the script's arguments and the fields with the change that was
    pressed."""
    chosen = details(event)
    edited = with_edits(text or "", chosen.get("changes"))
    beside = with_given(arguments or "", chosen.get("given"))
    return edited, CHANGED_TEXT, *ticked(chosen.get("ticks")), beside, *planned_now(chosen.get("fields"))


def change_found(
    services: Services, view: View, context: Context, given: Sequence[Any], launched: Launched = UNSEEN
) -> str:
    """The cheapest change for what the page shows, as JSON; `asked` says what it is about."""
    found = inquiry_for(services, view, context, given)
    fitted = found if isinstance(found, CannotSay) else found.fitted()
    if isinstance(found, CannotSay) or isinstance(fitted, CannotSay):
        return ""
    case, document = found.case, read_document(view.text)
    cheaper = cheapest(fitted, case, document, services.checker)
    change = as_json(cheaper, in_bf16(cheaper, fitted, case, document, services.checker)) or {}
    told = _handed_on(change, context, view.text, given, launched)
    is_short = isinstance(cheaper, Said) and fitted.verdict.fit is Fit.SHORT
    others = beyond(case, document, services.checker, found.rooms) if is_short else ()
    offers = [_handed_on(beyond_json(one), one.planned(context), view.text, given, launched) for one in others]
    return json.dumps({"asked": asked_of(fitted, view.text), **told, "beyond": offers})


def _handed_on(
    change: dict[str, Any], context: Context, text: str, given: Sequence[Any], launched: Launched
) -> dict[str, Any]:
    return handed_on(change, context, text, given[0]) if launched.takes_options else change


def handed_on(change: Mapping[str, Any], context: Context, text: str, typed: str | None) -> dict[str, Any]:
    """`change` of the config's `text`, as JSON, with `given`: what its press adds to the arguments `typed`, and what
    the changed config needs beside, where the HF Trainer reads them. Where that would not agree, and where a script of
    another kind or a file has the arguments, the user has to tell the script."""
    asked = [str(one) for one in change.get("arguments", ())]
    if not asked or context.integration is Integration.NATIVE or not _takes_more(typed or ""):
        return dict(change)
    config = read_document(with_edits(text, change.get("changes"))).value
    given = _agreeing(asked, config, context, shlex.split(typed or ""))
    if not given:
        return dict(change)
    by_user = [one for one in change.get("script", ()) if one.get("code") not in _OF_ARGUMENTS]
    return {**change, "given": given, "script": by_user}


def _agreeing(asked: list[str], config: Mapping[str, Any], context: Context, typed: list[str]) -> list[str]:
    """`asked`, and what the config needs beside that nobody gave; [] where the Trainer would refuse it all the same,
    and not without `asked`."""
    needed = [one for one in needed_options(config) if _given(one, typed, asked) is None]
    is_typed = any(option in words for words in (typed, asked) for option in _TYPES)
    given = [*asked, *(one for one in needed if one not in _TYPES or not is_typed)]
    whole, steps = lookup(config, TRAIN), _given(_BATCH[1], typed, given) or "1"
    if isinstance(whole, int) and steps.isdecimal() and _given(_BATCH[0], typed, given) is None:
        each, rest = divmod(whole, context.world_size * max(int(steps), 1))
        given += [f"{_BATCH[0]} {each}"] if each and not rest else []
    before = _refused(config, context, typed) if typed else set()
    return given if _refused(config, context, _words(typed, given)) <= before else []


def _words(typed: list[str], given: list[str]) -> list[str]:
    return [*typed, *" ".join(given).split()]


def _given(option: str, typed: list[str], given: list[str]) -> str | None:
    """The value of an option, which may be written with one."""
    return value_of(_words(typed, given), (option.partition(" ")[0],))


def _refused(config: Mapping[str, Any], context: Context, words: list[str]) -> set[str]:
    """The keys that the Trainer finds to differ from these arguments."""
    return {one.pointer for one in fill(config, from_words(words), context).mismatches}


def with_given(arguments: str, given: Any) -> Any:
    """The arguments with the options that a page sent, each in its place where it was given, else at the end; as they
    are where it sent none that a change has."""
    if not isinstance(given, list) or not given or not _takes_more(arguments):
        return gr.skip()
    text = arguments
    for one in given[:_MOST_EDITS]:
        option, _, value = str(one).partition(" ")
        if option in _OPTIONS and _VALUE.fullmatch(value):
            text = _with_option(text, option, str(one))
    return text


def _with_option(text: str, option: str, whole: str) -> str:
    """All else stays as somebody wrote it. The last mention counts, and the others do not contradict it."""
    name = re.escape(option.removeprefix("--")).replace("_", "[-_]")
    between = r"(?:=|(?:\s|\\\n)+)"
    found = re.compile(rf"(?<!\S)--{name}(?:{between}(?!-(?![\d.])|\\)\S+)?(?!\S)")
    if found.search(text):
        return found.sub(lambda _: whole, text)
    return f"{text.rstrip().removesuffix(chr(92)).rstrip()} {whole}".strip()


def _takes_more(typed: str) -> bool:
    """Not where a file or other words have the arguments, nor behind a “--”: Launch says what is wrong with what is no
    command line."""
    try:
        words = shlex.split(typed)
    except ValueError:
        return False
    return "--" not in words and (not words or words[0].startswith("-"))


def ticked(names: Any) -> tuple[Any, ...]:
    """For each box whether it is ticked now, or stays as it is."""
    wanted = names if isinstance(names, list) else []
    return tuple(True if name in wanted else gr.skip() for name in _TICKS)


def planned_now(fields: Any) -> tuple[Any, ...]:
    """LoRA's rank, the device, and how many of it on how many nodes, as a page sent them; each stays as it is where it
    sent none that a change has."""
    sent = fields if isinstance(fields, dict) else {}
    counts = [sent.get(name) for name in ("lora_rank", "gpus", "nodes")]
    rank, *ranks = (one if type(one) is int and 1 <= one <= MAX_RANKS else None for one in counts)
    device = sent.get("device")
    shown = (str(rank) if rank else None, device if card_named(str(device)) else None, *ranks)
    return tuple(gr.skip() if one is None else one for one in shown)


def with_edits(text: str, edits: Any) -> str:
    """`text` with the edits that a page sent; as it is where they are none of it."""
    try:
        return Fix(as_told(""), tuple(map(_change, edits[:_MOST_EDITS]))).apply(read_document(text)).text
    except (DocumentError, KeyError, TypeError, ValueError):
        return text


def _change(edit: Mapping[str, Any]) -> Change:
    return Change(str(edit["pointer"]), json.dumps(edit["value"]))
