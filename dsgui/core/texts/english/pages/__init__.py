"""Labels, hints and messages of the pages: kind → code → text. A module has the texts of one page, in one kind of the
module's name: `site_page.py` has SITE_PAGE, which is the kind "site_page"."""

from collections.abc import Mapping

from dsgui.core.texts.english.pages.after_page import AFTER_PAGE
from dsgui.core.texts.english.pages.afterwards_page import AFTERWARDS_PAGE
from dsgui.core.texts.english.pages.charts_page import CHARTS_PAGE
from dsgui.core.texts.english.pages.common_page import COMMON_PAGE
from dsgui.core.texts.english.pages.compare_page import COMPARE_PAGE
from dsgui.core.texts.english.pages.configure_page import CONFIGURE_PAGE
from dsgui.core.texts.english.pages.form_page import FORM_PAGE
from dsgui.core.texts.english.pages.goal_page import GOAL_PAGE
from dsgui.core.texts.english.pages.keyboard_page import KEYBOARD_PAGE
from dsgui.core.texts.english.pages.launch_page import LAUNCH_PAGE
from dsgui.core.texts.english.pages.machine_page import MACHINE_PAGE
from dsgui.core.texts.english.pages.memory_page import MEMORY_PAGE
from dsgui.core.texts.english.pages.report_page import REPORT_PAGE
from dsgui.core.texts.english.pages.runs_page import RUNS_PAGE
from dsgui.core.texts.english.pages.site_page import SITE_PAGE
from dsgui.core.texts.english.pages.tools_page import TOOLS_PAGE

PAGES: Mapping[str, Mapping[str, str]] = {
    "common_page": COMMON_PAGE,
    "site_page": SITE_PAGE,
    "after_page": AFTER_PAGE,
    "afterwards_page": AFTERWARDS_PAGE,
    "tools_page": TOOLS_PAGE,
    "goal_page": GOAL_PAGE,
    "configure_page": CONFIGURE_PAGE,
    "form_page": FORM_PAGE,
    "memory_page": MEMORY_PAGE,
    "keyboard_page": KEYBOARD_PAGE,
    "launch_page": LAUNCH_PAGE,
    "runs_page": RUNS_PAGE,
    "compare_page": COMPARE_PAGE,
    "charts_page": CHARTS_PAGE,
    "report_page": REPORT_PAGE,
    "machine_page": MACHINE_PAGE,
}
