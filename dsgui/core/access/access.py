"""Who is let in: one request in, one decision out. Deny by default; `ui/access/guard.py` asks for each request.

A request is answered only when its Host is ours, it does not come from another site, it carries the token, and it asks
for something the page uses in the way the page does. What is not listed here does not exist.
"""

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

from dsgui.core.texts.saying import Said, words, wrong

JSON, FORM = "application/json", "multipart/form-data"
MAX_BODY_BYTES = 5 << 20  # the page sends its config, at most 1 Mi characters of up to 4 bytes each, with every event
FEWEST_TOKEN_CHARACTERS = 16

_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\.?\Z")
_EXCHANGED = ("token", "login")
_PORT = re.compile(r"[0-9]{1,5}\Z")  # int() of thousands of digits raises
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_READING = {"GET", "HEAD"}
# What the page and dsgui's own routes use of the server. Gradio has some sixty routes more.
_READ = {
    "/",
    "/config",
    "/favicon.ico",
    "/gradio_api/app_id",
    "/gradio_api/queue/data",
    "/gradio_api/startup-events",
    "/gradio_api/upload_progress",
    "/manifest.json",
    "/robots.txt",
    "/theme.css",
}
# As people guess them; each is a tab of the one page.
_PAGES = {"/configure", "/launch", "/runs", "/machine"}
_READ_BELOW = ("/assets/", "/dsgui/", "/gradio_api/heartbeat/", "/static/")
_WRITTEN = {"/gradio_api/queue/join": JSON, "/gradio_api/run/predict": JSON, "/gradio_api/upload": FORM}
_WRITTEN_BELOW = {"/dsgui/": JSON}
# A link followed from elsewhere: the page that opens shows, it does nothing yet.
_FOLLOWED_LINK = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@dataclass(frozen=True, slots=True)
class Request:
    """What is decided on. Header names are lower case; a header may come more than once."""

    method: str
    scheme: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.headers if key == name]

    def first(self, name: str) -> str:
        """A header's first value, or ""."""
        return next(iter(self.all(name)), "")


@dataclass(frozen=True, slots=True)
class Decision:
    """`status` 200 lets in, 303 lets in by exchanging what the address holds for a cookie, anything else refuses
    with `title` and `advice`, the texts of `code`; `problem` says more where those leave it open. `guessed`: a token
    was given, and it was wrong."""

    status: int
    code: str = "welcome"
    guessed: bool = False
    location: str = ""
    cookie: str = ""
    problem: str = ""

    @property
    def title(self) -> str:
        """In the language in use; nothing in it is the request's."""
        return words("access", f"{self.code}_title")

    @property
    def advice(self) -> str:
        """Likewise."""
        return words("access", f"{self.code}_advice", most=f"{MAX_BODY_BYTES >> 20} MiB", problem=self.problem)


LET_IN = Decision(200)


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of one server. `token` "" asks for none; `hosts` are the names it answers to besides loopback;
    `any_address` answers to each address that is a number, for a server that listens on all of them. `spend` says
    whether a login code is the right one, which is then good for nothing any more."""

    token: str
    hosts: frozenset[str] = frozenset()
    any_address: bool = False
    spend: Callable[[str], bool] = lambda code: False

    def decide(self, request: Request) -> Decision:
        """Host, site, token, then what is asked for: who is not let in learns nothing about the rest."""
        return (
            self._host(request)
            or self._site(request)
            or self._credentials(request)
            or _asked_for(request)
            or _content(request)
            or LET_IN
        )

    def _host(self, request: Request) -> Decision | None:
        given = request.all("host")
        if len(given) == 1 and self.answers_to(given[0]):
            return None
        return Decision(403, "unknown_host")

    def answers_to(self, host: str) -> bool:
        """Whether a Host header, with any port (a tunnel has its own), names this server."""
        name, port = _split_host(host)
        if name is None or not (port == "" or (_PORT.match(port) and 0 < int(port) < 65536)):
            return False
        return is_loopback(name) or name in self.hosts or (self.any_address and _address(name) is not None)

    def _site(self, request: Request) -> Decision | None:
        ours = _origin(request.scheme, request.first("host"))
        foreign = any(_origin(*_split_origin(origin)) != ours for origin in request.all("origin"))
        sites = request.all("sec-fetch-site")
        if not foreign and all(site in ("same-origin", "none") for site in sites):
            return None
        if not foreign and _is_followed_link(request):
            return None
        return Decision(403, "other_site")

    def _credentials(self, request: Request) -> Decision | None:
        if not self.token:
            return None
        first_page = request.path == "/" and request.method in _READING
        typed = first_page and _typed(request.query, "token")
        code = first_page and _typed(request.query, "login")
        bearer = [value[7:].strip() for value in request.all("authorization") if value[:7].lower() == "bearer "]
        offered = [*bearer, *([typed] if typed else [])]
        kept = _cookies(request).get(cookie_name(request), [])
        known = any([same(value, self.cookie) for value in kept] + [same(value, self.token) for value in offered])
        if known:
            return self._exchange(request) if typed or code else None
        # Whoever only looks whether the address is there (a chat program, say) does not use it up.
        if code and request.method == "GET" and self.spend(code):
            return self._exchange(request)
        return _USED_CODE if code else _no_token(guessed=bool(offered or kept))

    @property
    def cookie(self) -> str:
        """What the browser keeps: made of the token, so that who steals it has not got the token, which may be a
        password that is used elsewhere too."""
        return _cookie(self.token)

    def _exchange(self, request: Request) -> Decision:
        rest = [(k, v) for k, v in parse_qsl(request.query, keep_blank_values=True) if k not in _EXCHANGED]
        secure = "; Secure" if request.scheme == "https" else ""
        cookie = f"{cookie_name(request)}={self.cookie}; Path=/; HttpOnly; SameSite=Strict{secure}"
        return Decision(303, location="/?" + urlencode(rest) if rest else "/", cookie=cookie)


@lru_cache(maxsize=4)
def _cookie(token: str) -> str:
    return hmac.new(token.encode(), b"dsgui cookie", hashlib.sha256).hexdigest()


def cookie_name(request: Request) -> str:
    """With the port as the browser sees it: browsers keep one jar for all ports of a name."""
    port = _split_host(request.first("host"))[1] or _DEFAULT_PORTS.get(request.scheme, "")
    return f"dsgui_{port}"


def same(offered: str, right: str) -> bool:
    """Compares in a time that tells nothing about where they differ."""
    return hmac.compare_digest(offered.encode("utf-8", "surrogateescape"), right.encode("utf-8", "surrogateescape"))


def is_loopback(name: str) -> bool:
    """Whether a host name or address is reached from this machine only."""
    address = _address(name)
    return name.lower() == "localhost" if address is None else address.is_loopback


def weakness(token: str) -> Said | None:
    """Why a token chosen by a person is not good enough; None for one that is."""
    if not token.isascii() or not token.isprintable() or " " in token:
        return wrong("token.characters")
    if len(token) < FEWEST_TOKEN_CHARACTERS:
        return wrong("token.short", count=str(len(token)), least=str(FEWEST_TOKEN_CHARACTERS))
    return wrong("token.repeats") if len(set(token)) < 5 else None


def _no_token(guessed: bool) -> Decision:
    return Decision(401, "log_in", guessed)


_USED_CODE = Decision(401, "used_link", guessed=True)


def _asked_for(request: Request) -> Decision | None:
    if (page := _guessed(request)) and request.method in _READING:
        rest = [(k, v) for k, v in parse_qsl(request.query, keep_blank_values=True) if k != "tab"]
        return Decision(303, location="/?" + urlencode([("tab", page[1:]), *rest]))
    read = request.path in _READ or request.path.startswith(_READ_BELOW)
    written = _expected_type(request.path) is not None
    if not read and not written:
        return Decision(404, "not_found")
    if (read and request.method in _READING) or (written and request.method == "POST"):
        return None
    return Decision(405, "method")


def _guessed(request: Request) -> str:
    """Which of the pages, "" for none."""
    page = request.path.removesuffix("/")
    return page if page in _PAGES else ""


def _expected_type(path: str) -> str | None:
    below = (expected for prefix, expected in _WRITTEN_BELOW.items() if path.startswith(prefix))
    return _WRITTEN.get(path) or next(below, None)


def _content(request: Request) -> Decision | None:
    has_body = request.first("content-length") not in ("", "0") or request.first("transfer-encoding") != ""
    if request.method in _READING:
        return Decision(400, "no_body") if has_body else None
    given = [value.partition(";")[0].strip().lower() for value in request.all("content-type")]
    if given != [_expected_type(request.path)] or request.all("content-encoding"):
        return Decision(415, "content_type")
    length = request.first("content-length")
    if length and not (length.isascii() and length.isdecimal() and int(length[:20]) <= MAX_BODY_BYTES):
        return TOO_LARGE
    return None


TOO_LARGE = Decision(413, "too_large")
TOO_SLOW = Decision(408, "too_slow")
TOO_MANY = Decision(503, "busy")
TOO_MANY_GUESSES = Decision(429, "guesses")
BROKEN = Decision(500, "broken")
NO_SOCKETS = Decision(403, "no_sockets")


def _is_followed_link(request: Request) -> bool:
    wanted = (request.path == "/" or _guessed(request)) and request.method in _READING
    return bool(wanted) and all(request.all(name) == [value] for name, value in _FOLLOWED_LINK.items())


def _typed(query: str, name: str) -> str:
    return next((value for key, value in parse_qsl(query) if key == name), "")


def _cookies(request: Request) -> Mapping[str, Sequence[str]]:
    """Every value of each cookie; another server of this host may have set one of the same name."""
    found: dict[str, list[str]] = {}
    for header in request.all("cookie"):
        for part in header.split(";"):
            name, _, value = part.strip().partition("=")
            found.setdefault(name, []).append(value)
    return found


@lru_cache(maxsize=64)  # a page names the same ones every second
def _split_host(host: str) -> tuple[str | None, str]:
    """Name and port of a Host header, the name in small letters and without brackets; None for what is none."""
    bracketed = re.match(r"\[([0-9A-Fa-f:.]+)\](?::(.*))?\Z", host)
    if bracketed:
        return bracketed.group(1).lower(), bracketed.group(2) or ""
    name, colon, port = host.lower().partition(":")
    return (name.rstrip(".") if _NAME.match(name) and not (colon and not port) else None), port


def _split_origin(origin: str) -> tuple[str, str]:
    scheme, _, host = origin.partition("://")
    return scheme.lower(), host


def _origin(scheme: str, host: str) -> tuple[str, str, str] | None:
    name, port = _split_host(host)
    return None if name is None else (scheme, name, port or _DEFAULT_PORTS.get(scheme, ""))


@lru_cache(maxsize=64)
def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
