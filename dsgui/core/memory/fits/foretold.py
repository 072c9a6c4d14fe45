"""What dsgui said of a run's memory when it was launched: kept in the run's folder (`memory.json`), and read again when
the run has ended."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.decoding import optional, sequence, text, whole
from dsgui.core.memory.answer import Component, Device, Moment, Place
from dsgui.core.memory.fits.overhead import Amount, Overhead
from dsgui.core.memory.fits.verdict import Bar, Fit, Segment
from dsgui.core.sizes import gib
from dsgui.core.texts.saying import Said, said, set_apart

_MOST_BYTES, _MOST_BARS, _MOST_PARTS, _MOST_KEYS = 1 << 60, 40, 100, 20
_COMPONENTS = frozenset(Component)


@dataclass(frozen=True, slots=True)
class Foretold:
    """`bars`: of each device every moment, as the verdict had them; `gpu_bytes` and `host_bytes` are what telemetry can
    be held to: the run's processes on one GPU, and on one machine's host. `card` and its compute `capability`: "" and
    None where none was there. `about`: the model and how much of it, in words. `told` is all that was said, as JSON.
    Where nothing could be said there are no bars."""

    fit: Fit
    bars: tuple[Bar, ...] = ()
    gpu_bytes: int | None = None
    host_bytes: int | None = None
    about: str = ""
    release: str = ""
    card: str = ""
    capability: tuple[int, int] | None = None
    ranks_per_node: int = 1
    on_cpu: bool = False
    told: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        return dict(self.told or {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Foretold":
        """Raises KeyError, TypeError or ValueError for what `to_json` did not write."""
        predicted = value.get("predicted", {})
        return cls(
            fit=Fit(text(value["fit"])),
            bars=tuple(bar for one in sequence(value.get("devices", []), len(Device)) for bar in _bars(one)),
            gpu_bytes=optional(_bytes, predicted.get("gpu_bytes")),
            host_bytes=optional(_bytes, predicted.get("host_bytes")),
            about=text(value.get("about", "")),
            release=text(value.get("release", "")),
            card="" if value.get("planned") is True else text(value.get("card", "")),
            capability=optional(_capability, value.get("capability")),
            ranks_per_node=whole(value.get("ranks_per_node", 1), 1, 1 << 17),
            on_cpu=value.get("on_cpu") is True,
            told=value,
        )

    @property
    def model(self) -> str:
        """The model that was judged, also one that only the script names; "" where it was guessed or is not known."""
        named = (self.told or {}).get("model")
        return named if isinstance(named, str) and (self.told or {}).get("guessed") is not True else ""

    @property
    def predicted(self) -> dict[str, int] | None:
        """What telemetry can be held to, by device; None where there was no number."""
        known = {"gpu_bytes": self.gpu_bytes, "host_bytes": self.host_bytes}
        return {name: count for name, count in known.items() if count is not None} or None

    def of_device(self, device: Device) -> tuple[Bar, ...]:
        return tuple(bar for bar in self.bars if bar.device is device)

    def bar(self, device: Device, moment: str = "") -> Bar | None:
        """That of a moment; of none, or of one that it does not have, the fullest."""
        own = self.of_device(device)
        named = [bar for bar in own if bar.moment == moment] or own
        return max(named, key=lambda bar: bar.amount.likely, default=None)


def held_against(predicted: Mapping[str, int] | None, peak: Mapping[str, int], ran_out: Device | None = None) -> str:
    """`GPU memory: predicted 18.2 GiB, used 18.6 GiB; …`; "" where there is nothing to compare. What the run died of
    for lack of it was no more than there is: that is said."""
    known = ((device, f"{device.value}_bytes") for device in (Device.GPU, Device.HOST))
    told = [
        said(
            "memory_told",
            "out_against" if device is ran_out else "held_against",
            place=_place(device),
            said=gib(predicted[name]),
            was=gib(peak[name]),
        )
        for device, name in known
        if predicted and name in predicted and name in peak
    ]
    return str(set_apart(told))


def _place(device: Device) -> Said:
    return said("memory_places", device.value)


def tensors_of(bar: Bar) -> int:
    """What DeepSpeed and the model allocate, without what is beside it."""
    return sum(segment.amount.likely for segment in bar.segments if segment.code in _COMPONENTS)


def beside(bar: Bar) -> int:
    """The rest: context, libraries, fragmentation."""
    return bar.amount.likely - tensors_of(bar)


def _bars(value: Mapping[str, Any]) -> Iterator[Bar]:
    device, capacity = Device(text(value["device"])), optional(_bytes, value.get("capacity"))
    for one in sequence(value["moments"], _MOST_BARS):
        parts = tuple(_segment(part) for part in sequence(one["parts"], _MOST_PARTS))
        yield Bar(device, Moment(text(one["moment"])), parts, capacity, _bytes(value.get("in_use", 0)))


def _segment(value: Mapping[str, Any]) -> Segment:
    likely = _bytes(value["bytes"])
    amount = Amount(_bytes(value.get("least", likely)), likely, _bytes(value.get("most", likely)))
    keys = tuple(text(key) for key in sequence(value.get("keys", []), _MOST_KEYS))
    return Segment(_part(text(value["part"])), Place(text(value["place"])), amount, keys)


def _part(code: str) -> str:
    """A component's or an overhead's. Raises ValueError for what another dsgui calls otherwise."""
    return code if code in _COMPONENTS else Overhead(code).value


def _capability(value: Any) -> tuple[int, int]:
    major, minor = (whole(one, 0, 99) for one in sequence(value, 2))
    return major, minor


def _bytes(value: Any) -> int:
    return whole(value, 0, _MOST_BYTES)
