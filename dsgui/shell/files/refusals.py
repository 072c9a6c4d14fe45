"""What the operating system refused, in words: its own are those of the C library, in English."""

import errno

from dsgui.core.texts.saying import Said, said


def os_reason(error: BaseException) -> "str | Said":
    """Why it failed, by the number of an `OSError`; else what the error says."""
    if not isinstance(error, OSError):
        return str(error) or type(error).__name__
    try:
        return said("refusals", errno.errorcode[error.errno or 0].lower())
    except KeyError:
        return error.strerror or str(error) or type(error).__name__
