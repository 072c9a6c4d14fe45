"""What every report has in it: plotly.js as the `plotly` package ships it, and the report's own script and style."""

from importlib.util import find_spec
from pathlib import Path

from dsgui.core.errors import RunError
from dsgui.core.runs.report_page import Assets
from dsgui.core.texts.saying import wrong
from dsgui.shell.files.installation import missing

_OWN = Path(__file__).parents[2] / "ui" / "static"
_SHEETS = (_OWN / "styles" / "design.css", _OWN / "runs" / "report.css")


def read_assets() -> Assets:
    """Raises `RunError` where plotly is not installed. Nothing is fetched from elsewhere."""
    package = find_spec("plotly")
    if package is None or not package.submodule_search_locations:
        raise RunError(missing("plotly", "A report"))
    plotly = Path(package.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    try:
        texts = [path.read_text("utf-8") for path in (plotly, _OWN / "runs" / "report.js", *_SHEETS)]
    except OSError as error:
        raise RunError(wrong("installation.unreadable", file=str(error.filename))) from error
    plotly_js, script, design, own = texts
    return Assets(plotly_js, script, f"{design}\n{_dark_by_wish(design)}\n{own}")


def _dark_by_wish(design: str) -> str:
    """Gradio gives the app's page the class "dark"; a report follows its reader's system, and is printed light."""
    dark = design.split("\n.dark {", 1)[1].split("\n}", 1)[0]
    return f"@media screen and (prefers-color-scheme: dark) {{ :root {{{dark}\n}} }}"
