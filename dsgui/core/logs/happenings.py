"""Events in the output: checkpoints, warnings, errors. Each text only once; bounded in number and length."""

import re

from dsgui.core.logs.prefixes import launcher_prefix, logger_prefix
from dsgui.core.metrics.points import Event
from dsgui.core.texts.saying import said

TEXT_LIMIT = 300
# Of warnings and errors the first of each text are kept; a run that varies its texts without end is not followed.
MOST_TEXTS = 200
_MOST_PLACES = 64
_SAVES = re.compile(
    r"(?:\bSav(?:ing|ed) checkpoint at iteration +(?P<iteration>\d{1,15}) to"
    r"|\bSaving (?:model )?checkpoint(?: to| at| in|:)|\[Torch\] Sav(?:ed|ing)|\bSaving current state to"
    r"|\bSaved (?:state|checkpoint|model checkpoint) (?:to|in|at)|\bcheckpoint saved(?: to| in| at)?)"
    r"\s+(?P<place>\S[^\s,;]*)",
    re.IGNORECASE,
)
_FOLDER = re.compile(
    r"(?P<folder>.*?(?:checkpoint-|global_step|checkpoint_|iter_|step[-_]?)(?P<step>\d{1,15}))(?:/|\Z)"
)
_FILE = re.compile(r"/[^/]*\.(?:pt|pth|bin|safetensors|ckpt)\Z")
_PYTHON_WARNING = re.compile(r"\S:\d+: (?P<category>\w*)Warning: (?P<text>.+)")
_FOR_DEVELOPERS = ("Deprecation", "PendingDeprecation", "Future")  # of a library's next release, not of this training
_TORCH = re.compile(r"\[(?P<level>[WEF])\d{4} [\d:.]+ [^\]]*\] ?(?P<text>.+)")
_LEVEL = re.compile(r"\[(?P<bracket>WARNING|ERROR|CRITICAL)\] |(?P<start>WARNING|ERROR|CRITICAL)\b[: ]")
_PLACE_IN_CODE = re.compile(r"\A\[[\w./]+:\d+(?::[\w<>.]+)?\] ")
_RANK = re.compile(r"\A\[rank \d+\] ", re.IGNORECASE)
_OVERFLOW = "OVERFLOW! "  # DeepSpeed warns of it; that is an event of its own
_MARKS = ("WARN", "ERROR", "CRITICAL", "FATAL", "[W", "[E", "[F")
_DIGITS = re.compile(r"\d+")


class Happenings:
    """Takes lines; keeps the events until they are fetched."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._texts: set[tuple[str, str]] = set()
        self._places: dict[tuple[str, int | None], None] = {}

    def take(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def add(self, kind: str, text: str, step: int | None) -> None:
        self._events.append(Event(kind, text[:TEXT_LIMIT], step))

    def line(self, text: str, step: int | None) -> None:
        """One line, and the current step of the training."""
        if _may_save(text) and (match := _SAVES.search(text)):
            place = match["place"].strip("'\"`").rstrip(".")
            self._saves(place, text, int(match["iteration"]) if match["iteration"] else step)
        elif _OVERFLOW in text:
            return
        elif said := _warned(text):
            self.once(*said, step)

    @staticmethod
    def saved(text: str) -> bool:
        """Whether the line reports a checkpoint."""
        return _may_save(text) and bool(_SAVES.search(text))

    def overflow(self, text: str, step: int | None) -> None:
        """A step skipped in fp16."""
        self.add("overflow", _message(text), step)

    def once(self, kind: str, text: str, step: int | None) -> None:
        """Unless the same was reported before: by another rank, or at another step."""
        key = kind, _DIGITS.sub("#", text[:TEXT_LIMIT])
        if key not in self._texts and len(self._texts) < MOST_TEXTS:
            self._texts.add(key)
            self.add(kind, text, step)

    def mixed_ranks(self) -> None:
        """Once."""
        event = Event.of("warning", said("events", "mixed_ranks"))
        if (key := (event.kind, event.text)) not in self._texts:
            self._texts.add(key)
            self._events.append(event)

    def _saves(self, place: str, text: str, step: int | None) -> None:
        """A checkpoint has one file per rank, and DeepSpeed's is inside the HF Trainer's: each is reported once."""
        match = _FOLDER.match(place)
        folder = match["folder"] if match else _FILE.sub("", place).rstrip("/")
        at = int(match["step"]) if match else step
        if (folder, at) in self._places:
            return
        self._places[folder, at] = None
        if len(self._places) > _MOST_PLACES:
            del self._places[next(iter(self._places))]
        self.add("checkpoint", _message(text), at)


def _may_save(text: str) -> bool:
    return "av" in text and ("heckpoint" in text or "[Torch]" in text or "aved" in text or "urrent state" in text)


def _warned(text: str) -> tuple[str, str] | None:
    """The kind and the text of a warning or an error."""
    if "Warning: " in text and (match := _PYTHON_WARNING.search(text)):
        return None if match["category"] in _FOR_DEVELOPERS else ("warning", match["text"])
    if not any(word in text for word in _MARKS):
        return None
    bare = launcher_prefix(text)[1]
    if match := _TORCH.match(bare):
        return "warning" if match["level"] == "W" else "error", match["text"]
    level = logger_prefix(bare)[0]
    if not level and (match := _LEVEL.match(bare)):
        level = match["bracket"] or match["start"]
    if level in ("WARNING", "WARN", "ERROR", "CRITICAL", "FATAL") and (said := _message(text)):
        return "warning" if level.startswith("WARN") else "error", said
    return None


def _message(text: str) -> str:
    bare = logger_prefix(launcher_prefix(text)[1])[1]
    return _RANK.sub("", _PLACE_IN_CODE.sub("", bare)).strip()
