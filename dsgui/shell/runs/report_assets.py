"""What every report has in it: plotly.js as the `plotly` package ships it, the report's own script with the page's
modules that it shares, its style, and the page's fonts."""

import base64
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from dsgui.core.errors import RunError
from dsgui.core.runs.report_page import Assets
from dsgui.core.texts.saying import wrong
from dsgui.shell.files.installation import missing

_OWN = Path(__file__).parents[2] / "ui" / "static"
# Modules in the order in which they need each other; what they import of each other stands before them then.
_SHARED = (_OWN / "common" / "format.js", _OWN / "metrics" / "limits.js", _OWN / "metrics" / "ticks.js")
_SCRIPTS = (*_SHARED, _OWN / "runs" / "report.js")
_FONTS = (  # as dsgui/ui/site/theme.py has them, which come with Gradio
    ("Source Sans Pro", "SourceSansPro", 400, "Regular"),
    ("Source Sans Pro", "SourceSansPro", 700, "Bold"),
    ("IBM Plex Mono", "IBMPlexMono", 400, "Regular"),
)
_SHEETS = (_OWN / "styles" / "design.css", _OWN / "runs" / "report.css")


def read_assets() -> Assets:
    """Raises `RunError` where plotly is not installed. Nothing is fetched from elsewhere."""
    package = find_spec("plotly")
    if package is None or not package.submodule_search_locations:
        raise RunError(missing("plotly", "A report"))
    plotly = Path(package.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    try:
        texts = [path.read_text("utf-8") for path in (plotly, *_SCRIPTS, *_SHEETS)]
    except OSError as error:
        raise RunError(wrong("installation.unreadable", file=str(error.filename))) from error
    plotly_js, *modules, design, own = texts
    return Assets(plotly_js, _joined(modules), f"{design}\n{_dark_by_wish(design)}\n{own}", "".join(_fonts()))


def _joined(modules: list[str]) -> str:
    """One script: nothing is imported in a file that stands alone."""
    bare = (re.sub(r"^export |^import [^;]*;\n", "", text, flags=re.MULTILINE) for text in modules)
    return f"(() => {{\n{''.join(bare)}}})();\n"


def _fonts() -> Iterator[str]:
    """Each as a part of the file; where one can't be read the next of the style's families is shown."""
    package = find_spec("gradio")
    for name, folder, weight, file in _FONTS:
        for place in package.submodule_search_locations or () if package else ():
            path = Path(place) / "templates" / "frontend" / "static" / "fonts" / folder / f"{folder}-{file}.woff2"
            with suppress(OSError):
                data = base64.b64encode(path.read_bytes()).decode()
                source = f"url(data:font/woff2;base64,{data}) format('woff2')"
                yield f"@font-face {{ font-family: '{name}'; font-weight: {weight}; src: {source}; }}\n"


def _dark_by_wish(design: str) -> str:
    """Gradio gives the app's page the class "dark"; a report follows its reader's system, and is printed light."""
    dark = design.split("\n.dark {", 1)[1].split("\n}", 1)[0]
    return f"@media screen and (prefers-color-scheme: dark) {{ :root {{{dark}\n}} }}"
