"""A verdict as JSON, for a program and for the page, and as text, for a terminal."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dsgui.core.config.pointer import dotted
from dsgui.core.memory.answer import CannotSay, Device
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.overhead import Amount, Overhead
from dsgui.core.memory.fits.verdict import Bar, Fit, Segment, Verdict
from dsgui.core.memory.settings import settings_of
from dsgui.core.sizes import about as about_size
from dsgui.core.sizes import beside, gib, roughly
from dsgui.core.texts.columns import padded
from dsgui.core.texts.languages import ENGLISH_TAG, speaking
from dsgui.core.texts.saying import Said, listed, set_apart, text_of, words

_WIDEST = 34
_MOST_PARTS = 3


def word(kind: str, code: str) -> str:
    """A word of the catalogue that leaves nothing open."""
    return text_of(kind, code, {})


def key_of(pointer: str) -> str:
    """A key as people write it; an argument stays as it is."""
    return dotted(pointer) if pointer.startswith("/") else pointer


def spelled(count: int) -> str:
    """`2.85 billion`."""
    for each, code in ((10**9, "billion"), (10**6, "million")):
        if count >= each:
            return words("memory_page", code, count=f"{count / each:.3g}")
    return str(count)


# ----------------------------------------------------------------------------------------------------------- JSON
def as_json(fitted: Fitted | CannotSay) -> dict[str, Any]:
    """Bytes everywhere. `fit` is `cannot_say` with a sentence `why` where there is no number."""
    if isinstance(fitted, CannotSay):
        return {"fit": Fit.UNKNOWN.value, "why": told(fitted.why)}
    verdict, question = fitted.verdict, fitted.question
    return {
        "fit": verdict.fit.value,
        "source": verdict.source.value,
        "model": question.model.name,
        "guessed": question.model.guessed,
        "guess": [told(one) for one in fitted.guesses],
        "parameters": fitted.answer.parameters,
        "trainable": fitted.answer.trainable,
        "micro_batch": question.workload.micro_batch,
        "length": question.workload.length,
        "ranks": question.group.ranks,
        "ranks_per_node": question.group.ranks_per_node,
        "release": question.release,
        "card": fitted.room.gpu,
        "planned": fitted.room.planned,
        "devices": [_device(verdict, device) for device in verdict.devices],
        "host_asked": verdict.host_asked,
        "short": [told(one) for one in verdict.short],
        "notes": [told(one) for one in verdict.notes],
    }


def told(one: Said) -> dict[str, Any]:
    """A sentence with its code."""
    return one.to_json() | {"text": str(one)}


def _device(verdict: Verdict, device: Device) -> dict[str, Any]:
    worst = verdict.worst(device)
    return {
        "device": device.value,
        "fit": verdict.fit_of(device).value,
        "capacity": worst.capacity if worst else None,
        "in_use": worst.in_use if worst else 0,
        "worst": worst.moment if worst else "",
        "moments": [_moment(bar) for bar in verdict.of(device)],
    }


def _moment(bar: Bar) -> dict[str, Any]:
    parts = [{"part": one.code, "place": one.place.value, **_amount(one.amount), **_keys(one)} for one in bar.segments]
    return {"moment": bar.moment, "fit": bar.fit.value, **_amount(bar.amount), "parts": parts}


def _amount(amount: Amount) -> dict[str, int]:
    margin = {"least": amount.low, "most": amount.high} if amount.low != amount.high else {}
    return {"bytes": amount.likely, **margin}


def _keys(segment: Segment) -> dict[str, Any]:
    return {"keys": list(segment.keys)} if segment.keys else {}


# ----------------------------------------------------------------------------------------------------------- text
def headline(fitted: Fitted, *, exact: bool = True) -> str:
    """`t5-3b fits: GPU 6.52 of 23.64 GiB, host 62.50 of 128.00 GiB`; where it need not be `exact`, as the page's bars
    have it."""
    verdict = fitted.verdict
    fit = word("memory_fits", verdict.fit.value)
    if verdict.host_asked and verdict.fit in (Fit.FITS, Fit.TIGHT):
        fit = words("memory_page", "fits_if_host", size=roughly(verdict.host_asked))
    rooms = (rooms_of if exact else rooms_roughly)(verdict)
    return words("memory_text", "headline", model=fitted.question.model.name, fit=fit, rooms=rooms)


def rooms_of(verdict: Verdict, digits: int = 2) -> str:
    """`GPU 6.52 of 23.64 GiB, host 62.50 of 128.00 GiB`."""
    return str(listed(filter(None, (_room_of(verdict, device, digits) for device in verdict.devices))))


def _room_of(verdict: Verdict, device: Device, digits: int = 2) -> str:
    worst = verdict.worst(device)
    if worst is None:
        return ""
    need, name = worst.amount.likely, word("memory_places", device.value)
    if worst.capacity is None:
        return f"{name} {gib(need, digits)}"
    has = worst.capacity
    return words("memory_text", "room", device=name, need=beside(need, has, digits), has=gib(has, digits))


def rooms_roughly(verdict: Verdict) -> str:
    """`GPU ≈ 6.5 GiB of 23.6 GiB, host ≈ 62 GiB`: as the page's bars have it."""
    bars = filter(None, map(verdict.worst, verdict.devices))
    return str(listed([f"{word('memory_places', bar.device.value)} {_need_roughly(bar)}" for bar in bars]))


def _need_roughly(bar: Bar) -> str:
    need = about_size(bar.amount.likely, bar.capacity)
    return need if bar.capacity is None else words("memory_page", "of", bytes=need, total=gib(bar.capacity))


def as_text(fitted: Fitted | CannotSay) -> str:
    """A table of the fullest moment of each device, with the keys that govern each part."""
    if isinstance(fitted, CannotSay):
        return _line(word("memory_fits", Fit.UNKNOWN.value), fitted.why) + "\n"
    lines = [headline(fitted), str(set_apart([about(fitted), _judged_by(fitted)]))]
    noted = word("memory_text", "note")
    for device in fitted.verdict.devices:
        lines += ["", *_table(fitted.verdict, device)]
    lines += [
        "",
        *(f"{one}" for one in fitted.verdict.short),
        *(_line(noted, one) for one in (*_planned(fitted), *fitted.verdict.notes)),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _planned(fitted: Fitted) -> tuple[Said, ...]:
    """Of a typed size `about` says it."""
    return tuple(one for one in fitted.guesses if one.code != "guessed")


def about(fitted: Fitted) -> str:
    """What the verdict is about, in words."""
    question, answer = fitted.question, fitted.answer
    work = question.workload
    model: list[str | Said] = [words("memory_text", "parameters", count=spelled(answer.parameters))]
    if answer.trainable != answer.parameters:
        model.append(words("memory_text", "trained", count=spelled(answer.trainable)))
    named = str(listed(model))
    if question.model.guessed:
        named = words("memory_text", "with_guess", model=named)
    batch = words("memory_text", "batch", batch=str(work.micro_batch), length=str(work.length))
    return str(set_apart([named, _precision(fitted), batch, _ranks(fitted)]))


def _precision(fitted: Fitted) -> str:
    """What the weights are in, and what torch casts to where that is another."""
    settings = settings_of(fitted.question.config, fitted.question.release)
    if not settings.autocast or settings.autocast == settings.precision:
        return settings.precision
    return words("memory_text", "autocast", weights=settings.precision, to=settings.autocast)


def _ranks(fitted: Fitted) -> str:
    """How many train; on GPUs they are counted as those."""
    group, one = fitted.question.group, fitted.question.group.ranks == 1
    if fitted.room.on_cpu:
        counted = words("memory_text", "rank" if one else "ranks", count=str(group.ranks))
    else:
        counted = words("memory_text", "gpu" if one else "gpus", count=str(group.ranks))
    return words("memory_text", "on_nodes", ranks=counted, nodes=str(group.nodes)) if group.nodes > 1 else counted


def _line(head: str, text: "str | Said") -> str:
    return words("commands", "line", file=head, line=text)


def _judged_by(fitted: Fitted) -> str:
    source, release = word("memory_sources", fitted.verdict.source.value), fitted.question.release
    if fitted.is_asked:
        return words("memory_text", "asked", source=source, release=release)
    return str(set_apart([f"DeepSpeed {release}", source]))


def _table(verdict: Verdict, device: Device) -> Iterator[str]:
    worst = verdict.worst(device)
    if worst is None:
        return
    given = {"room": _room_of(verdict, device), "moment": word("memory_moments", worst.moment)}
    fullest = words("memory_text", "fullest", **given)
    yield fullest if device is Device.NVME else _line(fullest, word("memory_fits", verdict.fit_of(device).value))
    whole = max(worst.amount.likely, worst.capacity or 0)
    for segment in sorted(worst.segments, key=lambda one: -one.amount.likely):
        keys = listed(map(key_of, segment.keys[:3]))
        yield f"  {padded(_part(segment), _WIDEST)}{_range(segment.amount, whole):>14}  {keys}".rstrip()
    yield f"  {padded(word('memory_text', 'by_moment'), _WIDEST)}{_moments(verdict.of(device), whole)}"


def _part(segment: Segment) -> str:
    part = word("memory_parts", segment.code)
    return words("memory_text", "pinned", part=part) if segment.place.value == "pinned" else part


def _range(amount: Amount, whole: int) -> str:
    """What is likely, in GiB where the table's `whole` is said so; with a margin both ends."""
    if amount.low == amount.high:
        return beside(amount.likely, whole, 2)
    return f"{beside(amount.low, whole, 2)}–{beside(amount.high, whole, 2)}"


def _moments(bars: Iterable[Bar], whole: int) -> str:
    return " · ".join(f"{word('memory_moments', bar.moment)} {beside(bar.amount.likely, whole, 2)}" for bar in bars)


def kept(memory: Fitted | CannotSay | None) -> Foretold | None:
    """What the run's folder keeps of it; None where no model was named, or one beyond all bounds."""
    if memory is None:
        return None
    with speaking(ENGLISH_TAG):  # it is written to disk
        told = as_json(memory)
        if isinstance(memory, Fitted):
            told |= {"about": about(memory), "on_cpu": memory.room.on_cpu, "predicted": foretold(memory)}
            told |= {"capability": list(memory.room.capability)} if memory.room.capability else {}
    try:
        return Foretold.from_json(told)
    except ValueError:
        return None


def foretold(fitted: Fitted) -> dict[str, int]:
    """What telemetry can be held to, in bytes: the run's processes on one GPU, and on one machine's host."""
    verdict = fitted.verdict
    gpu, host = verdict.worst(Device.GPU), verdict.worst(Device.HOST)
    around = (Overhead.SYSTEM, Overhead.IN_USE)
    own = [one.amount.likely for one in host.segments if one.code not in around] if host else []
    return ({"gpu_bytes": gpu.amount.likely} if gpu else {}) | {"host_bytes": sum(own)}


def in_lines(fitted: Fitted | CannotSay) -> list[str]:
    """The verdict and what is too small, for a report on other things."""
    if isinstance(fitted, CannotSay):
        lines: list[str | Said] = [_line(word("memory_fits", Fit.UNKNOWN.value), fitted.why)]
    else:
        lines = [headline(fitted), *fitted.guesses, *fitted.verdict.short]
    return [_line(word("options", "memory_group"), line) for line in lines]


def remedies(fitted: Fitted, named: Callable[[str], str] = key_of) -> str:
    """`Largest on the GPU: optimizer states ≈ 26 GiB, …. Changed by zero_optimization.stage, ….` of the device that is
    too full; "" where none is. `named`: what is said of a key."""
    verdict = fitted.verdict
    full = [device for device in verdict.devices if verdict.fit_of(device) in (Fit.SHORT, Fit.TIGHT)]
    worst = verdict.worst(full[0]) if full else None
    if worst is None:
        return ""
    governed = sorted((one for one in worst.segments if one.keys), key=lambda one: -one.amount.likely)
    largest = governed[:_MOST_PARTS]
    if not largest:
        return ""
    parts = [f"{_part(one)} {about_size(one.amount.likely)}" for one in largest]
    keys = dict.fromkeys(named(key) for one in largest for key in one.keys[:2])
    given = {"parts": listed(parts), "keys": listed(list(keys)[:_MOST_PARTS])}
    return words("memory_text", "largest", device=word("memory_places", worst.device.value), **given)
