"""Labels, hints and messages of the pages, in Chinese: kind → code → text, a module for each page."""

from collections.abc import Mapping

from dsgui.core.texts.chinese.pages.after_page import AFTER_PAGE
from dsgui.core.texts.chinese.pages.afterwards_page import AFTERWARDS_PAGE
from dsgui.core.texts.chinese.pages.charts_page import CHARTS_PAGE
from dsgui.core.texts.chinese.pages.common_page import COMMON_PAGE
from dsgui.core.texts.chinese.pages.compare_page import COMPARE_PAGE
from dsgui.core.texts.chinese.pages.configure_page import CONFIGURE_PAGE
from dsgui.core.texts.chinese.pages.form_page import FORM_PAGE
from dsgui.core.texts.chinese.pages.goal_page import GOAL_PAGE
from dsgui.core.texts.chinese.pages.keyboard_page import KEYBOARD_PAGE
from dsgui.core.texts.chinese.pages.launch_page import LAUNCH_PAGE
from dsgui.core.texts.chinese.pages.machine_page import MACHINE_PAGE
from dsgui.core.texts.chinese.pages.memory_page import MEMORY_PAGE
from dsgui.core.texts.chinese.pages.report_page import REPORT_PAGE
from dsgui.core.texts.chinese.pages.runs_page import RUNS_PAGE
from dsgui.core.texts.chinese.pages.site_page import SITE_PAGE
from dsgui.core.texts.chinese.pages.tools_page import TOOLS_PAGE

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
