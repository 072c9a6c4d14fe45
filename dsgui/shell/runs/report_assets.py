"""What every report has in it: plotly.js as the `plotly` package ships it, and the report's own script and style."""

from importlib.util import find_spec
from pathlib import Path

from dsgui.core.errors import RunError
from dsgui.core.runs.report_page import Assets
from dsgui.core.texts.saying import wrong
from dsgui.shell.files.installation import missing

_OWN = Path(__file__).parents[2] / "ui" / "static"


def read_assets() -> Assets:
    """Raises `RunError` where plotly is not installed. Nothing is fetched from elsewhere."""
    package = find_spec("plotly")
    if package is None or not package.submodule_search_locations:
        raise RunError(missing("plotly", "A report"))
    plotly = Path(package.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    try:
        return Assets(*(path.read_text("utf-8") for path in (plotly, _OWN / "report.js", _OWN / "report.css")))
    except OSError as error:
        raise RunError(wrong("installation.unreadable", file=str(error.filename))) from error
