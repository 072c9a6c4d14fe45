"""The token that lets people in: given, read from a file, or made; and the code of the printed address, for one use."""

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from dsgui.core.access.access import same, weakness
from dsgui.core.errors import TokenError
from dsgui.core.texts.saying import wrong
from dsgui.shell.files.refusals import os_reason

VARIABLE = "DSGUI_TOKEN"
_BYTES = 24
_LARGEST_FILE = 4096


def choose_token(given: str | None, file: Path | None) -> str:
    """`given` on the command line, in `file`, in $DSGUI_TOKEN, or a new one, in this order. The variable is removed:
    what is started from here has no use for it. Raises `TokenError`."""
    in_variable = os.environ.pop(VARIABLE, "")
    if given is not None:
        return _good("--token", given)
    if file is not None:
        return _good(str(file), _from_file(file.expanduser()))
    return _good(f"${VARIABLE}", in_variable) if in_variable else new_token()


def new_token() -> str:
    """24 random bytes as 32 characters."""
    return secrets.token_urlsafe(_BYTES)


class LoginCode:
    """What the printed address holds in the token's place: it stays in the browser's history, and is good for nothing
    once it was exchanged for a cookie. Then `announce` is given the next one."""

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self.current = new_token()

    def spend(self, offered: str) -> bool:
        """Whether `offered` is the code; it is another one from then on."""
        if not same(offered, self.current):
            return False
        self.current = new_token()
        self._announce(self.current)
        return True


def _good(where: str, token: str) -> str:
    if why := weakness(token):
        raise TokenError(wrong("token.weak", where=where, why=why, token=new_token()))
    return token


def _from_file(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return _made(path)
    except (OSError, ValueError) as error:
        raise TokenError(wrong("token.unreadable", path=str(path), why=os_reason(error))) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):  # `open` raises for a folder
        os.close(descriptor)
        raise TokenError(wrong("token.no_file", path=str(path)))
    with open(descriptor, encoding="utf-8", errors="replace") as file:
        if status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise TokenError(wrong("token.shared", path=str(path)))
        return file.read(_LARGEST_FILE).strip()


def _made(path: Path) -> str:
    token = new_token()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(token + "\n")
    except OSError as error:
        raise TokenError(wrong("token.not_made", path=str(path), why=os_reason(error))) from error
    return token
