"""Pages that are used again. A process that has compiled Gradio and Plotly before shows a page at half of what it costs
a new one, so a closed context leaves its page to the next; what the context kept is gone by then: cookies, storage,
permissions, routes, listeners, scripts, history, size, look and where the mouse was."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Self
from urllib.parse import urljoin

from playwright.sync_api import Browser, BrowserContext, Error, Frame, Page

# The options of a context that a page can be given as well.
ADAPTED = {"viewport", "color_scheme", "accept_downloads"}
VIEWPORT = {"width": 1280, "height": 720}  # Playwright's own
TIMEOUT_MS = 60_000  # what only a failure takes
NOWHERE = "nothing-is-here"  # an address of the app that starts no page: leaving for about:blank would end the process


class Reusing:
    """A browser whose contexts are `Visit`s, unless their options are for a context of their own."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: list[Kept] = []

    def new_context(self, **options: Any) -> "Visit | BrowserContext":
        if not options.keys() <= ADAPTED:
            return self._begun(**options)
        kept = self._free.pop() if self._free else Kept(self._begun())
        kept.adapt(options.get("viewport", VIEWPORT), options.get("color_scheme", "light"))
        return Visit(kept, self._free.append)

    def new_page(self, **options: Any) -> Page:
        return self._browser.new_page(**options)

    def _begun(self, **options: Any) -> BrowserContext:
        context = self._browser.new_context(**options)
        context.set_default_timeout(TIMEOUT_MS)
        return context


class Kept:
    """A context with the page that stays. `_scripts`: the identifiers of what each document begins with; `_origins`:
    where the page has been, so that what is stored there goes as well."""

    def __init__(self, context: BrowserContext) -> None:
        self.context, self.page = context, context.new_page()
        self._devtools = context.new_cdp_session(self.page)
        self._devtools.send("Page.enable")  # else no script is added
        self._scripts: list[str] = []
        self._listeners: list[tuple[str, Callable[..., Any]]] = []
        self._origins: set[str] = set()
        self.page.on("framenavigated", self._been)
        self._on = self.page.on
        self.page.on = self._listen

    def adapt(self, viewport: Any, color_scheme: Any) -> None:
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(color_scheme=color_scheme, reduced_motion="null", forced_colors="null", contrast="null")

    def begin_with(self, script: str) -> None:
        """`script` runs at the beginning of each document, until `forget`."""
        added = self._devtools.send("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        self._scripts.append(added["identifier"])

    def forget(self) -> None:
        """Raises `Error` where the page is closed, or the app that it showed."""
        self.page.unroute_all(behavior="ignoreErrors")
        for name, listener in self._listeners:
            self.page.remove_listener(name, listener)
        for script in self._scripts:
            self._devtools.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
        self._listeners, self._scripts = [], []
        self._leave()
        self.context.clear_permissions()
        self.context.clear_cookies()
        self.page.mouse.move(0, 0)
        self._devtools.send("Page.resetNavigationHistory")

    def _leave(self) -> None:
        shown = self.page.url.startswith("http")
        self.page.goto(urljoin(self.page.url, f"/{NOWHERE}") if shown else "about:blank")
        if shown:
            self.page.evaluate("sessionStorage.clear(); window.name = ''")
        for origin in self._origins:
            self._devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self._origins.clear()

    def _been(self, frame: Frame) -> None:
        if frame.url.startswith("http"):
            self._origins.add(urljoin(frame.url, "/"))

    def _listen(self, name: str, listener: Callable[..., Any]) -> None:
        self._listeners.append((name, listener))
        self._on(name, listener)


class Visit:
    """What a test has of a kept page, in a context's words. `give_back` takes it when it is closed."""

    def __init__(self, kept: Kept, give_back: Callable[[Kept], None]) -> None:
        self._kept, self._give_back = kept, give_back
        self._more: list[Page] = []
        self._script, self._shown = "", False
        self.request = kept.context.request

    def add_init_script(self, script: str) -> None:
        self._kept.begin_with(script)
        self._script += f"{script};\n"

    def new_page(self) -> Page:
        if not self._shown:
            self._shown = True
            return self._kept.page
        page = self._kept.context.new_page()
        page.add_init_script(self._script)
        self._more.append(page)
        return page

    def close(self) -> None:
        for page in self._more:
            page.close()
        try:
            self._kept.forget()
        except Error:
            self._kept.context.close()
        else:
            self._give_back(self._kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Loop:
    """Playwright's event loop counts as running from its start to its end. Between the modules that use it, it must
    not: others have loops of their own."""

    def __init__(self) -> None:
        self._loop = asyncio.events._get_running_loop()

    def rest(self) -> None:
        asyncio.events._set_running_loop(None)

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        asyncio.events._set_running_loop(self._loop)
        try:
            yield
        finally:
            self.rest()
