"""The one small tree of errors that mean "cannot proceed".

DsguiError
├── ArgumentsError  a text that names no arguments of the HF Trainer
├── DocumentError   a text that is not a JSON object (line and column inside)
│   └── DoubleKeyError  a key stands twice in one object
├── PatternError    a pattern for output lines that cannot be understood, or one too many
├── PlaceError      a path that leads outside the folders dsgui may use
├── PlanError       a launch request that cannot become a plan
├── PresetError     a preset of the user's that cannot be saved, found or removed
├── RunError        a run that cannot be started, found or stopped
├── TargetError     the target Python environment gave no usable answer
└── TokenError      a token that can't be read, or is no good

A wrong config is none of these: it yields findings. Messages say where, what was seen, what was expected and what to
do.
"""


class DsguiError(Exception):
    """Base of every error dsgui raises on purpose; its text is fit for the page as it is."""


class DocumentError(DsguiError):
    """The text is not a JSON object. `told` is a text, or a `Said`, told in the language of who reads it; `line`
    and `column` count from 1."""

    def __init__(self, told: object, line: int = 1, column: int = 1) -> None:
        super().__init__(told)
        self.told = told
        self.line = line
        self.column = column


class DoubleKeyError(DocumentError):
    """A key stands twice in one object of a text that is strict JSON otherwise, as far as it was read."""


class ArgumentsError(DsguiError):
    """A text that is no command line, JSON object or YAML mapping of the HF Trainer's arguments."""


class PatternError(DsguiError):
    """A user's pattern for lines of output that cannot be understood, or one more than are tried."""


class PlaceError(DsguiError):
    """A path that leads outside the folders dsgui may use, or is no path."""


class PlanError(DsguiError):
    """A launch request that cannot become a plan (missing script, bad port, unreadable argument line). `field`: the one
    of `run_fields` that it is about, "" for none that is told here."""

    def __init__(self, told: object = "", field: str = "") -> None:
        super().__init__(told)
        self.field = field


class PresetError(DsguiError):
    """A preset of the user's that cannot be saved, found or removed."""


class RunError(DsguiError):
    """A run that cannot be started, found or stopped."""


class TargetError(DsguiError):
    """The target Python environment could not be asked, or its answer made no sense."""


class TokenError(DsguiError):
    """A token that can't be read, or that could be guessed."""
