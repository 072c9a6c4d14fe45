"""The pages in each language: one `gr.Blocks` answers every event, and has a configuration for each language that a
page was asked for in. What a handler says is in the language of who sent the event."""

import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from threading import Lock
from typing import Any, cast

import gradio as gr
from gradio.context import Context, LocalContext, set_render_context

from dsgui.core.texts.languages import ENGLISH_TAG, speaking, spoken, wished

_TRIES = 8
# The last is for components that are not Gradio's own: those the browser finds by their type.
_NOT_FOR_THE_PAGE = {
    "api_info",
    "api_info_as_input",
    "api_info_as_output",
    "example_inputs",
    "component_class_id",
    "skip_api",
}
# What Gradio's server goes by; its page reads none of it.
_OF_THE_SERVER = {"preserved_by_key", "time_to_live", "delete_callback"}
_OF_NO_EVENT = {"api_description", "max_batch_size"}
_log = logging.getLogger("uvicorn.error")


class _Twin(gr.Blocks):
    """Laid out to be read, never served: without the app of its own that Gradio makes of every Blocks."""

    def queue(self, *_: Any, **__: Any) -> "_Twin":
        return self

    def __exit__(self, exc_type: type[BaseException] | None = None, *_: Any) -> None:
        if exc_type is None:
            self.fill_expected_parents()  # type: ignore[no-untyped-call]
            self.default_config.attach_load_events()
        set_render_context(None)
        Context.root_block = None


class Pages(gr.Blocks):
    """A `gr.Blocks` whose `config`, which the first page is made from, is in the language spoken. `lay_out` fills the
    Blocks it is called in; it is called once for each language, the others when first asked for."""

    def __init__(self, lay_out: Callable[[gr.Blocks], None], **arguments: Any) -> None:
        self._own: dict[str, Any] = {}
        self._of: dict[str, dict[str, Any]] = {}
        self._lay_out, self._arguments, self._making = lay_out, arguments, Lock()
        super().__init__(**arguments)
        with self:
            lay_out(self)
        _speak(self)

    @property  # type: ignore[override]
    def config(self) -> dict[str, Any]:
        """Of the whole page, in the language spoken."""
        tag = spoken()
        if tag == ENGLISH_TAG:
            return self._own
        if tag not in self._of:
            with self._making:
                if tag not in self._of:
                    self._of[tag] = self._laid_out_anew()
        return {**self._own, **self._of[tag]}

    @config.setter
    def config(self, config: dict[str, Any]) -> None:
        self._own = _without_api(config)

    def _laid_out_anew(self) -> dict[str, Any]:
        """What is shown, in the language spoken, under the same numbers: Gradio counts components for the whole
        process, so that an answer made meanwhile may take one, and then it is tried again. Raises RuntimeError."""
        for _ in range(_TRIES):
            reached, Context.id = Context.id, self._id
            try:
                with _Twin(**self._arguments) as twin:
                    self._lay_out(twin)
            finally:
                Context.id = max(Context.id, reached)
            made = _without_api(cast(dict[str, Any], twin.default_config.get_config()))
            if _shape(made) == _shape(self._own):
                return made
            _log.info("the pages were laid out while they were used: once more")
        raise RuntimeError(f"The pages in {spoken()} don't have the components of the English ones.")


def _without_api(config: dict[str, Any]) -> dict[str, Any]:
    """Without what Gradio's own clients are told of each component: nobody is answered who would ask for it
    (dsgui/ui/access), and it would be a tenth of the page. Nor what only the server goes by."""
    if "components" not in config:
        return config
    components = [_left(one, _NOT_FOR_THE_PAGE) for one in config["components"]]
    components = [one | {"props": _left(one["props"], _OF_THE_SERVER)} for one in components]
    events = [_left(one, _OF_NO_EVENT) for one in config["dependencies"]]
    return {**config, "components": components, "dependencies": events}


def _left(told: Mapping[str, Any], without: set[str]) -> dict[str, Any]:
    return {key: of for key, of in told.items() if key not in without}


def _shape(config: Mapping[str, Any]) -> list[Any]:
    """What has to be the same in every language: the components with their numbers, and the events."""
    components = [(one["id"], one["type"], one["props"].get("elem_id")) for one in config["components"]]
    events = [(one["id"], one["targets"], one["inputs"], one["outputs"]) for one in config["dependencies"]]
    return [components, events, config["layout"]]


def _speak(pages: gr.Blocks) -> None:
    """Every handler in the language of the request: what goes through Gradio's queue runs outside its context."""
    for handler in pages.fns.values():
        if handler.fn is not None:
            handler.fn = _speaking(handler.fn)


def _speaking(handler: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(handler):

        @wraps(handler)
        def generating(*given: Any, **named: Any) -> Iterator[Any]:
            tag, answers = _asked_in(), handler(*given, **named)
            while True:
                with speaking(tag):  # each step may run in another context
                    try:
                        answer = next(answers)
                    except StopIteration:
                        return
                yield answer

        return generating

    @wraps(handler)
    def answering(*given: Any, **named: Any) -> Any:
        with speaking(_asked_in()):
            return handler(*given, **named)

    return answering


def _asked_in() -> str:
    request = LocalContext.request.get(None)
    headers = getattr(request, "headers", None)
    return spoken() if headers is None else wished(headers.get("cookie", ""), headers.get("accept-language", ""))
