"""The sheets take every colour and size from styles/design.css, whose pairs can be read in every mode."""

import re

import pytest

from dsgui.core.metrics.chart_table import COLOURS, ON_DARK
from dsgui.ui.site.pages import STATIC
from dsgui.ui.site.server import DESIGN, SHEETS, packed
from dsgui.ui.site.theme import make_theme
from tests.support.cases import each_case

OTHERS = sorted(
    {
        *SHEETS,
        STATIC / "runs" / "report.css",
        STATIC / "learn" / "learn.css",
        STATIC / "site" / "shortcuts.css",
        STATIC / "config" / "form.css",
        STATIC / "common" / "browse.css",
        STATIC / "site" / "later.css",
        STATIC / "memory" / "folds.css",
        STATIC / "runs" / "run_menu.css",
        STATIC / "runs" / "cards.css",
        STATIC / "runs" / "compare.css",
    }
)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARATION = re.compile(r"(?<=[{;\s])([a-z-]+):\s*([^;{}]+)(?=[;}])")
COLOUR = re.compile(
    r"#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch)\(|\b(?:white|black|red|green|blue|gr[ae]y|teal|orange)\b", re.I
)
LENGTH = re.compile(r"(?<![\w.-])(\d*\.?\d+)(px|rem)\b")
SCALED = re.compile(r"(?:padding|margin|(?:row-|column-)?gap|font-size|border(?:-\w+)*-radius)(?:-\w+)*")
HAIRLINE = 2  # px: no step of a scale, a line's width

TEXTS = ["text", "text-muted", "accent", "accent-2", "ok", "note", "warning", "error", "running", "waiting", "stopped"]
SOFT = ["accent", "accent-2", "ok", "note", "warning", "error", "running", "waiting", "stopped"]
GROUNDS = ["page", "surface", "sunken", "hover"]
LINES = ["border-strong", "focus-color", "accent", "error"]
ON = (("on-accent", "accent"), ("on-accent", "accent-hover"), ("on-error", "error"), ("on-error", "error-hover"))


def problems_of(sheet):
    """Each declaration whose colour or size is its own."""
    found = []
    for name, value in DECLARATION.findall(COMMENT.sub("", sheet)):
        if COLOUR.search(re.sub(r"var\(--[\w-]+\)|url\([^)]*\)", "", value)):
            found.append(f"{name}: {value} (a colour: use var(--ds-…))")
        off = [length for length, unit in LENGTH.findall(value) if unit == "rem" or float(length) > HAIRLINE]
        if SCALED.fullmatch(name) and off:
            found.append(f"{name}: {value} (off the scale: use var(--ds-space-…), -text-… or -radius-…)")
    return found


@each_case("sheet", OTHERS, ids=lambda path: path.name)
def test_a_sheet_takes_its_colours_and_sizes_from_the_design(sheet):
    assert problems_of(sheet.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "sheet",
    [".a { color: #fff; }", ".a { background: rgb(0 0 0); }", ".a { padding: 7px 0; }", ".a { font-size: 0.9rem; }"],
)
def test_a_bare_colour_or_size_is_found(sheet):
    assert len(problems_of(sheet)) == 1


def test_what_is_sent_of_a_sheet_says_the_same_in_less():
    sheet = '/* why */\n.a > .b:hover,\n.c {\n  content: "a: b"; /* x */\n  color: var(--ds-text);\n}\n'
    sheet += "@media (x) { .d { gap: 0; } }\n"
    short = '.a>.b:hover,.c{content:"a: b";color:var(--ds-text)}@media (x){.d{gap:0}}'
    assert packed(sheet).strip() == short


def test_every_property_that_is_used_is_there():
    known = set(re.findall(r"(--ds-[\w-]+):", DESIGN.read_text("utf-8")))
    for sheet in OTHERS:
        text = sheet.read_text("utf-8")
        own = set(re.findall(r"(--ds-[\w-]+):", text))
        assert set(re.findall(r"var\((--ds-[\w-]+)[,)]", text)) - known - own == set(), sheet.name
    assert set(re.findall(r"var\((--ds-[\w-]+)\)", make_theme()._get_theme_css())) <= known


def modes():
    """The properties of each mode, by its name, as colours."""
    text = COMMENT.sub("", DESIGN.read_text("utf-8"))
    plain, contrast = text.split("@media (prefers-contrast: more)")
    light, dark = map(colours, plain.split(".dark {"))
    sharp_light, sharp_dark = map(colours, contrast.split("@media")[0].split(".dark {"))
    dark = light | dark
    return {"light": light, "dark": dark, "light, contrast": light | sharp_light, "dark, contrast": dark | sharp_dark}


def colours(text):
    return dict(re.findall(r"--ds-([\w-]+):\s*(#[0-9a-f]{6})\b", text))


def luminance(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """As WCAG 2.2 reckons it."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_reckoned_as_wcag_does():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#ffffff", "#14b8a6") == pytest.approx(2.49, abs=0.01)  # the teal that buttons once had


@pytest.mark.parametrize("mode", modes())
def test_text_and_controls_can_be_read(mode):
    of = modes()[mode]
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS] + [(name, f"{name}-soft") for name in SOFT]
    faint = {pair: round(contrast(of[pair[0]], of[pair[1]]), 2) for pair in (*pairs, *ON)}
    assert {pair: ratio for pair, ratio in faint.items() if ratio < 4.5} == {}
    lines = {(line, ground): contrast(of[line], of[ground]) for line in LINES for ground in GROUNDS}
    assert {pair: ratio for pair, ratio in lines.items() if ratio < 3} == {}


def test_a_reports_curves_have_the_colours_of_the_page():
    usual, dark = DESIGN.read_text("utf-8").split("\n.dark {", 1)
    told = re.compile(r"--ds-curve-(\d): (#\w+);")
    assert {int(place): colour for place, colour in told.findall(usual)} == dict(enumerate(COLOURS))
    assert {COLOURS[int(place)]: colour for place, colour in told.findall(dark)} == ON_DARK
